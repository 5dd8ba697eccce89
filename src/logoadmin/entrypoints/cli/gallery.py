"""Opens the gallery for a command (contract H2, H3); options and output that several commands share."""

import secrets
import time
from collections.abc import Iterable, Iterator, Mapping
from contextlib import contextmanager, suppress
from typing import TYPE_CHECKING, Any, TypeVar

import click

from logoadmin.checks import LET_IN, NO_ADMINISTRATOR
from logoadmin.domain.kernel.access import Occasion, Owner, Source
from logoadmin.domain.kernel.errors import InvalidInput, SettingsError, StorageUnavailable, TablesMissing
from logoadmin.text_files import as_json_line, on_one_line

if TYPE_CHECKING:
    from logoadmin.domain.kernel.command import Command
    from logoadmin.domain.logo_admin import LogoAdmin
    from logoadmin.settings import Settings
    from logoadmin.starting import Create

AnyCommand = TypeVar("AnyCommand", bound="Command")
database_option = click.option(
    "--database",
    metavar="URL",
    help="sqlite:///FILE or mysql+pymysql://USER:PASSWORD@HOST:PORT/NAME.  [default: sqlite:///logoadmin.db]",
)


def show_line(text: str, *, err: bool = False) -> None:
    """Print a text on one line, since names and paths may contain characters that control a terminal."""
    click.echo(on_one_line(text), err=err)


def owner() -> Owner:
    """Return the caller for a command, whose changes share a request id by which they can be undone (contract G4)."""
    return Owner(secrets.token_hex(8), Occasion(Source.COMMAND_LINE))


def show_request(caller: Owner, *, undoable: bool = True) -> None:
    """Print the request id of a command's changes, and how to undo them."""
    how = f"; logoadmin revert --request {caller.request_id} undoes it" if undoable else ""
    click.echo(f"Request {caller.request_id}{how}", err=True)


@contextmanager
def changing(database: str | None, *, undoable: bool = True) -> Iterator[tuple["LogoAdmin", Owner]]:
    """Open the gallery for a command that changes records, and show its request id at the end."""
    caller = owner()
    with gallery_at(database, "never") as gallery:
        yield gallery, caller
    show_request(caller, undoable=undoable)


def gallery_at(database: str | None, create: "Create", *, administrator: bool = True) -> "LogoAdmin":
    """Open the gallery for a command, which waits for a slow database."""
    from logoadmin.bootstrap import open_gallery

    return open_gallery(command_settings(database), create=create, administrator=administrator, interactive=False)


def gallery_for_dry_run(database: str | None) -> "LogoAdmin":
    """Open the gallery for a dry run, which creates nothing; an empty gallery in memory if no database exists."""
    try:
        return gallery_at(database, "never")
    except TablesMissing as error:
        if error.existed:
            raise
        return gallery_in_memory()


def gallery_in_memory() -> "LogoAdmin":
    """Open an empty, temporary gallery, whose pictures have the same URLs as in the service."""
    from logoadmin.bootstrap import open_gallery
    from logoadmin.settings import load_settings, settings_of
    from logoadmin.starting import MEMORY

    loaded = load_settings()
    urls = {"public_url": loaded.public_url, "port": loaded.port, "root_path": loaded.root_path}
    return open_gallery(settings_of(database=MEMORY, **urls), administrator=False)


def command_settings(database: str | None) -> "Settings":
    """Return the settings for a command, which needs a database that outlives it."""
    from logoadmin.settings import load_settings
    from logoadmin.starting import MEMORY

    settings = load_settings(database=database)
    if settings.database.get_secret_value() == MEMORY:
        raise SettingsError("A database in memory ends with the command: set database to another URL")
    return settings


def show_start(gallery: "LogoAdmin", *, in_memory: bool = False) -> None:
    """Print the generated password of the first administrator, if any, and the warnings about the gallery.

    A gallery in memory ends with the program, so that no other command can change the password.
    """
    show_password(gallery.admin_password, in_memory=in_memory)
    _warn_of_clock(gallery)
    _warn_of_lockout(gallery)


def _warn_of_clock(gallery: "LogoAdmin") -> None:
    """Warn if the last change is in the future, since tokens and sessions then expire at the wrong time."""
    from logoadmin.domain.changes.history import ListChanges
    from logoadmin.domain.kernel.access import CLOCK_SKEW

    # Database failures are reported elsewhere.
    with suppress(StorageUnavailable):
        for last in gallery.changes.list(ListChanges(order="desc", limit=1)):
            ahead = last.at - time.time()
            if ahead > CLOCK_SKEW:
                text = f"The last change is {ahead:.0f} s in the future: synchronise the clocks of all machines by NTP"
                click.echo(f"logoadmin: {text}, or tokens and sessions expire at the wrong time", err=True)


def _warn_of_lockout(gallery: "LogoAdmin") -> None:
    """Warn if no user with all rights can sign in; such settings are not rejected (contract B4, O4)."""
    with suppress(StorageUnavailable):
        if not gallery.has_administrator():
            click.echo(f"logoadmin: {NO_ADMINISTRATOR}; {LET_IN}", err=True)


def show_password(password: str | None, *, in_memory: bool = False) -> None:
    """Print the generated password of the first administrator, if any, to standard output, which is not the log."""
    if password is not None:
        click.echo(f'The first administrator is "admin" with the password {password}')
        click.echo("It is shown only once" + ("" if in_memory else ". To change it: logoadmin user password admin"))


def command_of(command: type[AnyCommand], options: Mapping[str, Any]) -> AnyCommand:
    """Return a command with the options that are not None."""
    try:
        return command(**{name: value for name, value in options.items() if value is not None})
    except InvalidInput as error:
        raise click.UsageError(str(error)) from None


def print_lines(listed: type, entries: Iterable[Any]) -> None:
    """Print entries as JSON Lines, without characters that control a terminal."""
    from pydantic import TypeAdapter

    line = TypeAdapter(listed).serializer.to_json
    for entry in entries:
        click.echo(as_json_line(line(entry).decode()).encode())
