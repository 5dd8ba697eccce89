"""The gallery that a command works on, which is there after it (contract H2, H3)."""

import secrets
import time
from contextlib import suppress
from typing import TYPE_CHECKING

import click

from logoadmin.domain.model.access import Owner
from logoadmin.domain.model.errors import SettingsError, StorageUnavailable, TablesMissing

if TYPE_CHECKING:
    from logoadmin.bootstrap import Create
    from logoadmin.domain.logo_admin import LogoAdmin
    from logoadmin.settings import Settings

database_option = click.option(
    "--database",
    metavar="URL",
    help="sqlite:///FILE or mysql+pymysql://USER:PASSWORD@HOST:PORT/NAME.  [default: sqlite:///logoadmin.db]",
)


def owner() -> Owner:
    """Return who asks on the command line; all that a command changes is of one request, which can be undone (G4)."""
    return Owner(secrets.token_hex(8))


def show_request(caller: Owner, *, undoable: bool = True) -> None:
    """Say by what id the history knows what a command did, and how to undo it."""
    how = f"; logoadmin revert --request {caller.request_id} undoes it" if undoable else ""
    click.echo(f"Request {caller.request_id}{how}", err=True)


def gallery_at(database: str | None, create: "Create", *, administrator: bool = True) -> "LogoAdmin":
    """Open the gallery of a command, which waits for the database as long as it takes."""
    from logoadmin.bootstrap import open_gallery

    return open_gallery(command_settings(database), create=create, administrator=administrator, interactive=False)


def gallery_for_dry_run(database: str | None) -> "LogoAdmin":
    """Open the gallery for a dry run, which makes nothing: where there is no database, an empty one in memory."""
    from logoadmin.bootstrap import MEMORY, open_gallery
    from logoadmin.settings import settings_of

    try:
        return gallery_at(database, "never")
    except TablesMissing:
        return open_gallery(settings_of(database=MEMORY), administrator=False)


def command_settings(database: str | None) -> "Settings":
    """Return the settings of a command, which name a database that is there after it."""
    from logoadmin.bootstrap import MEMORY
    from logoadmin.settings import load_settings

    settings = load_settings(database=database)
    if settings.database.get_secret_value() == MEMORY:
        raise SettingsError("A database in memory ends with the command: set database to another URL")
    return settings


def warn_of_clock(gallery: "LogoAdmin") -> None:
    """Say if the last change was made after now: what was given for a time then ends at the wrong one."""
    from logoadmin.domain.model.limits import CLOCK_SKEW
    from logoadmin.domain.services.changes import ListChanges

    # Who cannot read it now says so elsewhere.
    with suppress(StorageUnavailable):
        for last in gallery.changes.list(ListChanges(order="desc", limit=1)):
            ahead = last.at - time.time()
            if ahead > CLOCK_SKEW:
                told = f"The last change was made {ahead:.0f} s after now: set the clocks of all machines by NTP"
                click.echo(f"logoadmin: {told}, or tokens and sessions end at the wrong time", err=True)


def show_password(password: str | None) -> None:
    """Say the first administrator's password if it was made up, on standard output, where no log goes."""
    if password is not None:
        click.echo(f'The first administrator is "admin" with the password {password}')
        click.echo("It is shown this once. Another one: logoadmin user password admin")
