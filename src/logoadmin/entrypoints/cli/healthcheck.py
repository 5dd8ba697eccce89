"""The health check, for container platforms (contract K1, K4)."""

from typing import Final

import click

from logoadmin.domain.kernel.errors import SettingsError, StartError
from logoadmin.domain.kernel.limits import MAX_PORT

_TIMEOUT: Final = 2.0
_MOST_SHOWN: Final = 300


@click.command()
@click.option("--live", is_flag=True, help="Check only that the process responds, not the database.")
@click.option("--host", help="The address that serve listens on.  [default: 127.0.0.1]")
@click.option("--port", type=click.IntRange(0, MAX_PORT), help="Its port.  [default: 8000]")
def healthcheck(live: bool, host: str | None, port: int | None) -> None:
    """Check the service with these settings on this machine; exit with 0 if it is healthy, or with 1."""
    from logoadmin.entrypoints.cli.http_get import local_url
    from logoadmin.settings import load_settings

    try:
        settings = load_settings(host=host, port=port)
    except SettingsError as error:
        raise StartError(str(error)) from None  # container platforms reserve exit code 2
    if settings.port == 0:
        raise StartError("Port 0 is any free port: give the port of the service with --port")
    where = f"{local_url(settings.host, settings.port)}{'/livez' if live else '/readyz'}"
    fault = _fault_at(where)
    if fault is not None:
        raise StartError(f"{where}: {fault}")
    click.echo(f"{where}: ok")


def _fault_at(url: str) -> str | None:
    """Return the fault, or None if the service is healthy; another program may have responded."""
    from logoadmin.entrypoints.cli.http_get import http_get

    try:
        answer = http_get(url, timeout=_TIMEOUT)
    except OSError as error:
        return error.strerror or str(error)
    if answer.is_well:
        return None
    detail = str(answer.json.get("detail", "")) if isinstance(answer.json, dict) else ""
    return f"{answer.status} {detail[:_MOST_SHOWN] or 'from something that is not logoadmin'}"
