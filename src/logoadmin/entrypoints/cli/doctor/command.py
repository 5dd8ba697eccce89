"""The command, which prints one line per check."""

import sys
from collections import Counter
from collections.abc import Iterator
from typing import TYPE_CHECKING, Any, Final

import click

from logoadmin.domain.model.checks import Result, Verdict, wrong
from logoadmin.domain.model.errors import SettingsError
from logoadmin.entrypoints.cli.serve import serve_options
from logoadmin.entrypoints.one_line import on_one_line

if TYPE_CHECKING:
    from logoadmin.settings import SettingsInForce

_WIDTHS: Final = (8, 17)
_COLOURS: Final = {Verdict.OK: "green", Verdict.WARNING: "yellow", Verdict.WRONG: "red"}


@click.command()
@serve_options
@click.option(
    "--url",
    metavar="URL",
    help="Public URL of the service, as https://gallery.example/gallery: also check its proxy.",
)
def doctor(url: str | None, **flags: Any) -> None:
    """Check settings, keys, addresses, database, disk and clock, and suggest remedies.

    Prints one line per check: ok, warning or wrong. Exits with 1 if anything is wrong. Changes no record. Accepts the
    options of serve. Run it as the user of the service, in its directory and with its environment, before or while the
    service runs.
    """
    counted: Counter[Verdict] = Counter()
    for result in _results(flags, url):
        counted[result.verdict] += 1
        click.echo(_line(result))
    warnings = counted[Verdict.WARNING]
    click.echo(
        f"{counted[Verdict.WRONG]} wrong, {warnings} warning{'' if warnings == 1 else 's'}, {counted[Verdict.OK]} ok"
    )
    if counted[Verdict.WRONG]:
        sys.exit(1)


def _results(flags: dict[str, Any], url: str | None) -> Iterator[Result]:
    from logoadmin.entrypoints.cli.doctor.settings_checks import check_settings
    from logoadmin.settings import settings_in_force

    try:
        in_force = settings_in_force(**flags)
    except SettingsError as error:
        yield wrong("settings", str(error), "correct them; logoadmin config shows where each comes from")
        return
    yield from check_settings(in_force)
    yield from _check_the_rest(in_force, url)


def _check_the_rest(in_force: "SettingsInForce", url: str | None) -> Iterator[Result]:
    from logoadmin.entrypoints.cli.doctor.port_checks import check_ports
    from logoadmin.maintenance import check_database

    settings = in_force.settings
    yield from check_ports(settings)
    try:
        yield from check_database(settings)
    except SettingsError as error:
        yield wrong("database", str(error), "correct the setting database")
    if url is not None:
        from logoadmin.entrypoints.cli.doctor.proxy_checks import check_proxy

        yield from check_proxy(settings, url)


def _line(result: Result) -> str:
    verdict = click.style(f"{result.verdict.value:<{_WIDTHS[0]}}", fg=_COLOURS[result.verdict])
    text = f"{result.text}; {result.cure}" if result.cure else result.text
    # A path may contain control characters, which must not reach the terminal.
    return f"{verdict} {result.check:<{_WIDTHS[1]}} {on_one_line(text)}"
