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

_DEFAULT: Final = "default"
# The URL of a file, or of a database on a local server without user and password.
_FILE: Final = re.compile(r"sqlite:///[^?]*|\w[\w+]*:///[\w.-]*")
# The URL of a server; a password may contain any @ but the last.
_SERVER: Final = re.compile(
    r"(?P<kept>\w[\w+]*://[^:/@]*)(?P<password>.*)@(?P<server>(\[[^]/]*\]|[^]:/[]*)(:\d*)?(/.*)?)", re.DOTALL
)
# Options of the driver; one of them may be a password.
_OPTION: Final = re.compile(r"([a-z_]+=).*", re.DOTALL)


@click.command()
@serve_options
@click.option("--json", "as_json", is_flag=True, help="Print one JSON object, for programs.")
def config(as_json: bool, **flags: Any) -> None:
    """Print every setting in force and where it comes from; secrets are masked.

    Accepts the options of serve, to try them out. Settings that serve would refuse are reported on standard error.
    """
    from logoadmin.settings import load_settings

    settings = load_settings(**flags)
    for problem in _refusals(settings):
        click.echo(on_one_line(f"logoadmin: serve refuses these settings: {problem}"), err=True)
    if as_json:
        click.echo(json.dumps(_for_programs(settings), indent=2))
        return
    lines = [(name, _written(value), _source(settings, name)) for name, value in _shown(settings).items()]
    names, values = (max(len(line[column]) for line in lines) for column in (0, 1))
    for name, value, origin in lines:
        click.echo(f"{name:<{names}}  {value:<{min(values, 40)}}  {origin}")


def _refusals(settings: "Settings") -> Iterator[str]:
    """Yield what keeps the service from starting with these settings, each of which is valid."""
    from logoadmin.maintenance import check_keys, files_of_database

    for check in (check_address, check_keys, files_of_database):
        try:
            check(settings)
        except SettingsError as error:
            yield str(error)


def _for_programs(settings: "Settings") -> dict[str, Any]:
    return {name: {"value": value, "from": _source(settings, name)} for name, value in _shown(settings).items()}


def _source(settings: "Settings", name: str) -> str:
    return settings.sources.get(name, _DEFAULT)


def _shown(settings: "Settings") -> dict[str, Any]:
    """Return the settings as JSON values, with secrets masked."""
    from logoadmin.settings.shown import shown

    return {**shown(settings), "database": without_password(settings.database.get_secret_value())}


def without_password(url: str) -> str:
    """Return the URL of a database without its secrets, even if it is malformed."""
    from logoadmin.bootstrap import MEMORY
    from logoadmin.settings.shown import HIDDEN

    if url == MEMORY or _FILE.fullmatch(url):
        return url
    before, mark, options = url.partition("?")
    found = _SERVER.fullmatch(before)
    if found is None or "@" in options:  # either may be part of a password
        return HIDDEN
    password = f":{HIDDEN}" if found["password"] else ""
    return f"{found['kept']}{password}@{found['server']}{mark}" + "&".join(
        _OPTION.sub(rf"\1{HIDDEN}", option) if _OPTION.fullmatch(option) else HIDDEN
        for option in (options.split("&") if mark else ())
    )


def _written(value: Any) -> str:
    from logoadmin.settings.shown import written

    return on_one_line(written(value) or "none")
