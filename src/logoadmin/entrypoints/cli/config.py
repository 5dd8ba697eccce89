"""The settings in force (contract K4)."""

import json
import re
from collections.abc import Iterator
from typing import TYPE_CHECKING, Any, Final

import click

from logoadmin.domain.kernel.errors import SettingsError
from logoadmin.entrypoints.cli.serve import check_address, serve_options
from logoadmin.entrypoints.one_line import on_one_line

if TYPE_CHECKING:
    from logoadmin.settings import Settings

_HIDDEN: Final = "***"
_FILE: Final = re.compile(r"memory:|sqlite:///[^?]*")
# A password may contain any @ but the last; options may contain one of a password, and then hide everything.
_SERVER: Final = re.compile(r"(\w[\w+]*://)[^?]*@((?:[\w.-]+|\[[0-9A-Fa-f:.]+\])(?::\d+)?/[\w-]*)(\?[^@]*)?", re.ASCII)


@click.command()
@serve_options
def config(**flags: Any) -> None:
    """Print every setting in force and where it comes from; secrets are masked.

    Accepts the options of serve, to try them out. Settings that serve would refuse are reported on standard error.
    """
    from pydantic import SecretStr

    from logoadmin.settings import load_settings

    settings = load_settings(**flags)
    for problem in _refusals(settings):
        click.echo(on_one_line(f"logoadmin: serve refuses these settings: {problem}"), err=True)
    values = {name: _HIDDEN if isinstance(value, SecretStr) else value for name, value in settings}
    values |= settings.model_dump(mode="json", exclude={name for name, value in values.items() if value == _HIDDEN})
    values["database"] = without_password(settings.database.get_secret_value())
    values["public_url"] = settings.effective_public_url.base
    for name, value in values.items():
        source = settings.sources.get(name, "default")
        click.echo(on_one_line(f"{name}  {written(value) or 'none'}  {source}"))


def written(value: Any) -> str:
    """Return a setting as it is written in an environment variable; "" for nothing."""
    match value:
        case list():
            return ",".join(map(str, value))
        case dict():
            return json.dumps(value, ensure_ascii=False) if value else ""
        case bool():
            return str(value).lower()
        case _:
            return "" if value is None else str(value)


def without_password(url: str) -> str:
    """Return the URL of a database without user, password and options; "***" if they cannot be told apart."""
    if _FILE.fullmatch(url):
        return url
    found = _SERVER.fullmatch(url)
    return _HIDDEN if found is None else f"{found[1]}{_HIDDEN}@{found[2]}"


def _refusals(settings: "Settings") -> Iterator[str]:
    """Yield what keeps the service from starting with these settings, each of which is valid."""
    from logoadmin.maintenance import check_keys, files_of_database

    for check in (check_address, check_keys, files_of_database):
        try:
            check(settings)
        except SettingsError as error:
            yield str(error)
