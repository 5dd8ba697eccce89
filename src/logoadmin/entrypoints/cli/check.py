"""The command ``check``, which compares pinned style sheets with what their origins have (contract L5)."""

import sys
from collections import Counter
from typing import TYPE_CHECKING, Final

import click

from logoadmin.domain.kernel.errors import LogoAdminError, SettingsError
from logoadmin.entrypoints.cli.gallery import database_option, gallery_at
from logoadmin.entrypoints.one_line import on_one_line

if TYPE_CHECKING:
    from logoadmin.domain.publication.pins.pinned_imports import CheckedRecord, PinnedImport

_CHANGED: Final = 1
_NOT_ASKED: Final = 4


@click.command()
@database_option
def check(database: str | None) -> None:
    """Compare the pinned style sheets of active logos and themes with what their origins have.

    Prints the name, the URL and the difference of each import whose origin has changed. Changes no record: accept a
    sheet in the console. Exits with 1 if an origin has changed, otherwise with 4 if one could not be asked.
    """
    counted: Counter[str] = Counter()
    try:
        with gallery_at(database, "never") as gallery:
            for record in gallery.pins.check_all():
                for each in record.imports:
                    counted.update(_report(record, each))
    except SettingsError:
        raise
    except LogoAdminError as error:
        click.echo(on_one_line(f"logoadmin: {error.explained}"), err=True)
        sys.exit(_NOT_ASKED)
    imports, changed, failed = (counted[what] for what in ("import", "changed", "not asked"))
    click.echo(f"{imports} import{'' if imports == 1 else 's'}, {changed} changed, {failed} not asked")
    if changed or failed:
        sys.exit(_CHANGED if changed else _NOT_ASKED)


def _report(record: "CheckedRecord", checked: "PinnedImport") -> list[str]:
    """Print the change and the failure of an import, and return the words under which it is counted."""
    where = on_one_line(f"{record.kind} {record.id} {record.name}: {checked.url}")
    found = ["import"]
    if checked.difference is not None:
        found.append("changed")
        click.echo(f"{where} has changed")
        for line in checked.difference.splitlines():
            click.echo(on_one_line(line))
    if checked.failure is not None:
        found.append("not asked")
        click.echo(f"{where} could not be fetched: {on_one_line(checked.failure)}", err=True)
    return found
