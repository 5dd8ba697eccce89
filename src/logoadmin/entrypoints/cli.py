"""The command line (contract H1 to H3, I)."""

import functools
import ipaddress
import json
import os
import sys
import tempfile
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import IO, Any, Final, NoReturn, TypeVar

import click

from logoadmin.domain.access import Policy
from logoadmin.domain.errors import InvalidLines, LogoAdminError, SettingsError, StorageUnavailable, TablesMissing

Function = TypeVar("Function", bound=Callable[..., Any])

_USAGE: Final = 2
_FAILURE: Final = 1
_INTERRUPTED: Final = 130

_database = click.option(
    "--database",
    metavar="URL",
    help="sqlite:///FILE or mysql+pymysql://USER:PASSWORD@HOST:PORT/NAME.  [default: sqlite:///logoadmin.db]",
)
_access = click.option(
    "--access", type=click.Choice([policy.value for policy in Policy]), help="Who needs a token.  [default: open]"
)


def main() -> NoReturn:
    """Run the command of this process's arguments and exit: 0 for done, 1 for failed, 2 for asked wrongly."""
    try:
        cli.main(standalone_mode=False)
    except click.exceptions.Exit as stop:
        sys.exit(stop.exit_code)
    except click.exceptions.NoArgsIsHelpError as error:
        click.echo(error.format_message(), err=True)
        sys.exit(_USAGE)
    except click.UsageError as error:
        command = error.ctx.command_path if error.ctx else "logoadmin"
        _exit(_USAGE, f"{error.format_message()} See: {command} --help")
    except click.Abort:
        _exit(_INTERRUPTED, "Interrupted")
    except InvalidLines as error:
        _exit(_FAILURE, f"{error}; nothing was imported")
    except StorageUnavailable as error:
        _exit(_FAILURE, f"{error}; make sure that it is there, and that --database names it rightly")
    except OSError as error:
        _exit(_FAILURE, f"{error.filename}: {error.strerror}" if error.filename else str(error))
    except SettingsError as error:
        _exit(_USAGE, str(error))
    except LogoAdminError as error:
        _exit(_FAILURE, str(error))
    sys.exit(0)


def _exit(code: int, text: str) -> NoReturn:
    click.echo(f"logoadmin: {text}", err=True)
    sys.exit(code)


@click.group(context_settings={"help_option_names": ["-h", "--help"]})
@click.version_option(package_name="logoadmin")
def cli() -> None:
    """Administration of a gallery of site logos and themes.

    Every setting can also be made in the environment, as LOGOADMIN_DATABASE, or in logoadmin.toml.
    """


@cli.command()
@click.option("--host", help="The address to listen on.  [default: 127.0.0.1]")
@click.option("--port", type=click.IntRange(0, 65535), help="The port to listen on, 0 for any.  [default: 8000]")
@click.option(
    "--database",
    metavar="URL",
    help="sqlite:///FILE, mysql+pymysql://USER:PASSWORD@HOST:PORT/NAME, or memory: to try things out.  "
    "[default: sqlite:///logoadmin.db]",
)
@_access
@click.option("--workers", type=click.IntRange(1, 64), help="How many processes answer.  [default: 1]")
@click.option(
    "--trusted-proxies",
    metavar="ADDRESSES",
    help="Proxies whose X-Forwarded-For is believed: addresses and networks, separated by commas.  [default: none]",
)
@click.option("--root-path", metavar="PREFIX", help="What a proxy takes off the paths, as /gallery.  [default: none]")
@click.option(
    "--log-level",
    type=click.Choice(["debug", "info", "warning", "error"]),
    help="What is logged; info has a line for each request.  [default: warning]",
)
def serve(**flags: Any) -> None:
    """Serve the gallery over HTTP.

    An embedded database that is empty gets its tables and its first administrator.
    """
    from logoadmin.bootstrap import MEMORY, open_gallery
    from logoadmin.entrypoints.http_api.app import http_application
    from logoadmin.entrypoints.server import listen
    from logoadmin.entrypoints.server import serve as run
    from logoadmin.settings import load_settings

    settings = load_settings(**flags)
    if settings.access is None and not _is_loopback(settings.host):
        raise SettingsError(
            f"Listening on {settings.host} lets others in: say who may do what with --access guarded, "
            "or with --access open if everybody who reaches it may change the gallery"
        )
    if settings.workers > 1 and settings.database.get_secret_value() == MEMORY:
        raise SettingsError("Memory cannot be shared between processes: use --workers 1, or a database")
    # The address first: what is made in a new database is made for a service that runs.
    with listen(settings.host, settings.port) as listener, open_gallery(settings) as gallery:
        _show_password(gallery.admin_password)
        shared: dict[str, Any] = {"origins": settings.origins, "cache_seconds": settings.cache_seconds}
        several = functools.partial(_worker, settings, shared)
        factory = several if settings.workers > 1 else lambda: http_application(gallery, **shared)
        run(
            factory,
            listener,
            workers=settings.workers,
            log_level=settings.log_level,
            listening=lambda address: click.echo(f"logoadmin listens on {address}\nRead and try it at {address}/docs"),
            trusted_proxies=settings.trusted_proxies,
            root_path=settings.root_path,
        )


def _worker(settings: Any, shared: Any) -> Any:
    """Make the application of one worker process."""
    from logoadmin.bootstrap import open_gallery
    from logoadmin.entrypoints.http_api.app import http_application

    return http_application(open_gallery(settings, create="never"), **shared)


def _is_loopback(host: str) -> bool:
    if host == "localhost":
        return True
    try:
        return ipaddress.ip_address(host).is_loopback
    except ValueError:
        return False


def _show_password(password: str | None) -> None:
    """Say the password that was made up, on standard output, where no log goes."""
    if password is not None:
        click.echo(f'The first administrator is "admin" with the password {password}')
        click.echo("It is shown this once. Another one: logoadmin user password 2000000000")


@cli.command()
@_database
def init(database: str | None) -> None:
    """Make the tables and the first administrator, or bring older tables up to date."""
    with _gallery(database, "always") as gallery:
        click.echo(f"The database at {gallery.server} is ready")
        _show_password(gallery.admin_password)


@cli.command("import")
@click.argument("file", type=click.Path(allow_dash=True))
@_database
@click.option("--dry-run", is_flag=True, help="Find out whether it can be imported, and change nothing.")
def import_(file: str, database: str | None, dry_run: bool) -> None:
    """Import records from FILE, one a line as JSON; - is standard input.

    All of them are created or amended, or none: every line that cannot be is reported.
    """
    from logoadmin.domain.services.transfer import ImportLines

    with click.open_file(file, "rb") as source:
        lines = source.readlines()
    opened = _rehearsal(database) if dry_run else _gallery(database, "empty", administrator=False)
    with opened as gallery, _progress(len(lines)) as progress:
        try:
            imported = gallery.transfer.load(ImportLines(dry_run=dry_run), lines, progress=progress)
        except InvalidLines as error:
            for line in error.lines:
                for problem in line.problems:
                    where = ".".join(map(str, problem.loc))
                    click.echo(f"{file}:{line.number}: {where + ': ' if where else ''}{problem.msg}", err=True)
            raise
    counted = ", ".join(
        f"{count} {kind}{'' if count == 1 else 's'}" for kind, count in imported.counts.items() if count
    )
    click.echo(f"{'Could import' if dry_run else 'Imported'} {counted or 'nothing'}")
    if not dry_run:
        # Only now, and only if the file brought nobody: somebody in it may have the first administrator's name.
        with _gallery(database, "empty") as gallery:
            _show_password(gallery.admin_password)


@contextmanager
def _progress(length: int) -> Iterator[Callable[[], None]]:
    """Show how far it is, where a person watches."""
    if not sys.stderr.isatty():
        yield lambda: None
        return
    with click.progressbar(length=length, label="Importing", file=sys.stderr) as bar:
        yield lambda: bar.update(1)


@cli.command()
@click.argument("file", type=click.Path(allow_dash=True, dir_okay=False))
@_database
@click.option("--with-password-hashes", is_flag=True, help="Let users keep their passwords where this is imported.")
def export(file: str, database: str | None, with_password_hashes: bool) -> None:
    """Export all records to FILE, one a line as JSON; - is standard output."""
    from logoadmin.domain.services.transfer import ExportLines

    with _gallery(database, "never") as gallery, _whole_file(file) as target:
        count = gallery.transfer.dump(ExportLines(with_password_hashes=with_password_hashes), target.write)
    click.echo(f"Exported {count} records", err=True)


@contextmanager
def _whole_file(file: str) -> Iterator[IO[str]]:
    """Write a file that appears under its name when it is whole, and that only its owner may read."""
    if file == "-":
        sys.stdout.reconfigure(encoding="utf-8")  # type: ignore[union-attr]  # as it is outside of tests
        yield sys.stdout
        return
    path = Path(file).resolve()
    if path.exists() and not path.is_file():  # a device or a pipe, which has no other file in its place
        with path.open("w", encoding="utf-8") as target:
            yield target
        return
    try:
        handle, part = tempfile.mkstemp(prefix=f".{path.name}.", dir=path.parent)
    except OSError as error:
        raise OSError(error.errno, error.strerror, file) from None
    try:
        with os.fdopen(handle, "w", encoding="utf-8") as target:
            yield target
        Path(part).replace(path)
    except BaseException:
        Path(part).unlink(missing_ok=True)
        raise


@cli.command()
@click.option("--after", type=click.IntRange(0), default=0, help="The last change that is known already.  [default: 0]")
@_database
def changes(after: int, database: str | None) -> None:
    """Print what happened as JSON Lines, the oldest change first."""
    from pydantic import TypeAdapter

    from logoadmin.domain.records import Change
    from logoadmin.domain.services.changes import ListChanges

    line = TypeAdapter(Change).serializer.to_json
    with _gallery(database, "never") as gallery:
        for change in gallery.changes.list(ListChanges(after=after)):
            click.echo(line(change))


@cli.command()
@click.argument("change_id", type=int)
@_database
def revert(change_id: int, database: str | None) -> None:
    """Undo a change, as a new change."""
    from logoadmin.domain.services.changes import Revert

    with _gallery(database, "never") as gallery:
        change = gallery.changes.revert(Revert(change_id=change_id))
    click.echo(f"Undid change {change_id} by change {change.change_id}: {change.action}, id {change.id}")


@cli.command()
@_access
def openapi(access: str | None) -> None:
    """Print the OpenAPI document."""
    from logoadmin.entrypoints.http_api.openapi import openapi_document
    from logoadmin.settings import load_settings

    click.echo(json.dumps(openapi_document(load_settings(access=access).access or Policy.OPEN), indent=2))


@cli.group()
def user() -> None:
    """Create users and give them passwords."""


@user.command("create")
@click.argument("user_id", type=int)
@click.argument("username")
@click.option("--avatar", help="The avatar.")
@click.option("--role", "role_id", type=int, help="The id of the role.  [default: 1, member]")
@_database
def user_create(user_id: int, username: str, avatar: str | None, role_id: int | None, database: str | None) -> None:
    """Create a user; the password is asked for, or read from standard input."""
    from logoadmin.domain.services.roles import GetRole
    from logoadmin.domain.services.users import AmendUser, CreateUser

    with _gallery(database, "never") as gallery:
        if role_id is not None:
            gallery.roles.get(GetRole(role_id=role_id))
        command = CreateUser(user_id=user_id, username=username, avatar=avatar, password=_new_password())
        gallery.users.create(command)
        if role_id is not None:
            gallery.users.amend(AmendUser(user_id=user_id, role_id=role_id))
    click.echo(f"Created user {user_id}")


@user.command("password")
@click.argument("user_id", type=int)
@_database
def user_password(user_id: int, database: str | None) -> None:
    """Give a user a new password, asked for or read from standard input; their sessions end."""
    from logoadmin.domain.services.users import GetUser, SetPassword

    with _gallery(database, "never") as gallery:
        gallery.users.get(GetUser(user_id=user_id))
        gallery.users.set_password(SetPassword(user_id=user_id, password=_new_password()))
    click.echo(f"Changed the password of user {user_id}")


@cli.group("token-key")
def token_key() -> None:
    """Look after the keys in the database that sign access tokens."""


@token_key.command()
@_database
def rotate(database: str | None) -> None:
    """Rotate the keys in the database; nobody is signed out."""
    from logoadmin.bootstrap import rotate_keys

    if rotate_keys(_lasting_settings(database)):
        click.echo("Rotated the keys in the database; nobody is signed out.")
        click.echo("Restart the running services, one after the other, before you rotate again.")
    else:
        click.echo("The database is of an earlier version: it got its next key only now, and nobody is signed out.")
        click.echo("Restart the running services, one after the other, and then rotate again to use that key.")


def _new_password() -> str:
    """Ask for a password; it is never an argument, which everybody on the machine could read."""
    if sys.stdin.isatty():
        password: str = click.prompt("Password", hide_input=True, confirmation_prompt=True, err=True)
        return password
    return sys.stdin.readline().rstrip("\n")


def _rehearsal(database: str | None) -> Any:
    """Open the gallery for a dry run, which makes nothing: where there is no database, an empty one in memory."""
    from logoadmin.bootstrap import MEMORY, open_gallery
    from logoadmin.settings import settings_of

    try:
        return _gallery(database, "never")
    except TablesMissing:
        return open_gallery(settings_of(database=MEMORY, admin_password="unused"))  # noqa: S106 (of nobody, in memory)


def _gallery(database: str | None, create: Any, *, administrator: bool = True) -> Any:
    """Open the gallery of a command, which may take its time."""
    from logoadmin.bootstrap import open_gallery

    return open_gallery(_lasting_settings(database), create=create, administrator=administrator, patient=True)


def _lasting_settings(database: str | None) -> Any:
    """Return the settings of a command, which name a database that is there after it."""
    from logoadmin.bootstrap import MEMORY
    from logoadmin.settings import load_settings

    settings = load_settings(database=database)
    if settings.database.get_secret_value() == MEMORY:
        raise SettingsError("Memory ends with the command: name a database with --database")
    return settings
