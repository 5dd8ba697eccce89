"""Whether the service is well, for platforms that ask with a command (contract K1, K4)."""

from typing import Final

import click

from logoadmin.domain.model.errors import SettingsError, StartError
from logoadmin.domain.model.limits import MAX_PORT

_TIMEOUT: Final = 2.0
_MOST_SHOWN: Final = 300


@click.command()
@click.option("--live", is_flag=True, help="Ask only whether the process answers, not whether the database does, too.")
@click.option("--host", help="The address that serve listens on.  [default: 127.0.0.1]")
@click.option("--port", type=click.IntRange(0, MAX_PORT), help="Its port.  [default: 8000]")
def healthcheck(live: bool, host: str | None, port: int | None) -> None:
    """Ask the service of these settings, on this machine, whether it is well; exit with 0 if it is, or else with 1."""
    from logoadmin.entrypoints.cli.http_client import local_url
    from logoadmin.settings import load_settings

    try:
        settings = load_settings(host=host, port=port)
    except SettingsError as error:
        raise StartError(str(error)) from None  # 2 is not for health checks to exit with
    if settings.port == 0:
        raise StartError("Port 0 is any port: say with --port which one the service has")
    where = f"{local_url(settings.host, settings.port)}{'/livez' if live else '/readyz'}"
    fault = _fault_at(where)
    if fault is not None:
        raise StartError(f"{where}: {fault}")
    click.echo(f"{where}: ok")


def _fault_at(url: str) -> str | None:
    """Return what is wrong, None if the service is well; another program may have answered."""
    from logoadmin.entrypoints.cli.http_client import http_get

    try:
        answer = http_get(url, timeout=_TIMEOUT)
    except OSError as error:
        return error.strerror or str(error)
    if answer.is_well:
        return None
    detail = str(answer.json.get("detail", "")) if isinstance(answer.json, dict) else ""
    return f"{answer.status} {detail[:_MOST_SHOWN] or 'from something that is not logoadmin'}"
