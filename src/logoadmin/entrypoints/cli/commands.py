"""The command ``logoadmin`` with its exit codes, and the subcommands that have no separate module."""

import json
import os
import sys
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from io import TextIOWrapper
from itertools import islice
from typing import Any, Final, NoReturn

import click

from logoadmin.domain.kernel.access import Policy
from logoadmin.domain.kernel.errors import InvalidLines, LogoAdminError, SettingsError
from logoadmin.entrypoints.cli.backups import backup, move, restore
from logoadmin.entrypoints.cli.copies import css, pictures
from logoadmin.entrypoints.cli.doctor import doctor, healthcheck
from logoadmin.entrypoints.cli.gallery import (
    changing,
    command_of,
    command_settings,
    database_option,
    gallery_at,
    print_lines,
    show_line,
    show_start,
)
from logoadmin.entrypoints.cli.import_export import export, import_
from logoadmin.entrypoints.cli.publish import gallery_key, publish
from logoadmin.entrypoints.cli.serve import config, serve
from logoadmin.entrypoints.cli.users import user

_USAGE: Final = 2
_FAILURE: Final = 1
_INTERRUPTED: Final = 130


@click.group(context_settings={"help_option_names": ["-h", "--help"]})
@click.version_option(package_name="logoadmin")
def cli() -> None:
    """Administer a gallery of site logos and themes.

    Every setting can also be set in the environment, as in LOGOADMIN_DATABASE, or in logoadmin.toml.
    """


@cli.command()
@database_option
def init(database: str | None) -> None:
    """Create the tables and the first administrator. Tables of an earlier version are upgraded."""
    with gallery_at(database, "always") as gallery:
        click.echo(f"The database at {gallery.server} is ready")
        show_start(gallery)


@cli.command()
@click.option("--after", type=click.IntRange(0), help="Only events after this one, in the chosen order.")
@click.option("--limit", type=click.IntRange(1, sys.maxsize), help="At most this many events.")
@click.option("--order", type=click.Choice(["asc", "desc"]), default="desc", help="asc prints the oldest first.")
@click.option("--user", "user_id", type=int, metavar="ID", help="Only events of this user.")
@database_option
def events(database: str | None, limit: int | None, **options: Any) -> None:
    """Print sign-ins and other account events, newest first. Each is a line of JSON."""
    from logoadmin.domain.identity.records import SignInEvent
    from logoadmin.domain.identity.sign_in_events import ListEvents

    command = command_of(ListEvents, options)
    with gallery_at(database, "never") as gallery:
        print_lines(SignInEvent, islice(gallery.events.list(command), limit))


@cli.command()
@click.argument("change_id", type=int, required=False)
@click.option("--request", "request_id", metavar="ID", help="Undo all changes of a request or a command, or none.")
@database_option
def revert(change_id: int | None, request_id: str | None, database: str | None) -> None:
    """Undo a change, or everything that a request changed. This makes new changes; the history stays."""
    from logoadmin.domain.changes.history import Revert, RevertRequest

    if (change_id is None) == (request_id is None):
        raise click.UsageError("Name a change, or a request with --request.")
    with changing(database) as (gallery, caller):
        if request_id is not None:
            count = sum(
                1 for _ in gallery.changes.revert_request(command_of(RevertRequest, {"request_id": request_id}), caller)
            )
            click.echo(f"Undid request {request_id} with {count} change{'' if count == 1 else 's'}")
        if change_id is not None:
            change = gallery.changes.revert(command_of(Revert, {"change_id": change_id}), caller)
            click.echo(f"Undid change {change_id} with change {change.change_id}: {change.action}, id {change.id}")


@cli.command()
@database_option
def notify(database: str | None) -> None:
    """Send a trial notice to each URL of notify_urls.

    Prints whether each URL, by its number, accepted the notice. The exit code is 1 if any did not, or if the setting
    is empty.
    """
    with gallery_at(database, "never") as gallery:
        failures = [*gallery.notices.trials()]
    for number, failure in enumerate(failures, 1):
        show_line(f"URL {number}: {failure or 'accepted'}", err=bool(failure))
    if not failures:
        click.echo("notify_urls names no URL, so no notices are sent", err=True)
    if not failures or any(failures):
        sys.exit(1)


@cli.command()
@click.option(
    "--access",
    type=click.Choice([policy.value for policy in Policy]),
    help="The policy to describe.  [default: the configured one, or else guarded]",
)
def openapi(access: str | None) -> None:
    """Print the OpenAPI document."""
    from logoadmin.entrypoints.http_api.openapi import openapi_document
    from logoadmin.settings import load_settings

    policy = load_settings().access if access is None else Policy(access)
    document = openapi_document(policy or Policy.GUARDED)
    click.echo(json.dumps(document, indent=2, sort_keys=True))


@cli.group("token-key")
def token_key() -> None:
    """Manage the keys in the database that sign access tokens."""


@token_key.command()
@database_option
def rotate(database: str | None) -> None:
    """Rotate the keys in the database.

    Nobody is signed out if the running services were restarted since the last rotation, and its tokens have expired.
    """
    from logoadmin.domain.identity.sign_in_rules import ACCESS_TOKEN_SECONDS
    from logoadmin.maintenance import rotate_keys

    settings = command_settings(database)
    since_last = rotate_keys(settings)
    click.echo("Rotated the keys in the database.")
    if since_last is None or since_last >= ACCESS_TOKEN_SECONDS:
        click.echo(
            "Nobody is signed out. Before you rotate again, restart all services one by one and wait 15 minutes."
        )
        return
    click.echo(
        f"logoadmin: the last rotation was only {since_last} s ago. Users with older access tokens have to refresh "
        "them. Services that were not restarted since then reject tokens of services that start now: restart all of "
        "them",
        err=True,
    )


@cli.command()
@click.argument("shell", metavar="SHELL", type=click.Choice(["bash", "zsh", "fish"]))
@click.pass_context
def completion(context: click.Context, shell: str) -> None:
    """Print the completion script for SHELL."""
    from click.shell_completion import get_completion_class

    # The names that click expects when the script calls it.
    name = "logoadmin"
    found = get_completion_class(shell)
    assert found is not None  # noqa: S101 (click has a class for each of the choices)
    click.echo(found(context.find_root().command, {}, name, f"_{name.upper()}_COMPLETE").source())


for command in (
    *(serve, import_, export, pictures, publish, gallery_key, css),
    *(backup, restore, move, user, config, doctor, healthcheck),
):
    cli.add_command(command)


def main() -> None:
    """Run the command line and exit: 0 for success, 1 for failure, 2 for invalid usage or settings."""
    with _standard_streams():
        _run()


@contextmanager
def _standard_streams() -> Iterator[None]:
    """Replace standard streams that the parent process closed."""
    with ExitStack() as opened:
        for name, mode in (("stdin", "r"), ("stdout", "w"), ("stderr", "w")):
            if getattr(sys, name) is None:
                setattr(sys, name, opened.enter_context(open(os.devnull, mode, encoding="utf-8")))
        for stream in (sys.stdout, sys.stderr):
            if isinstance(stream, TextIOWrapper):  # a terminal may not support every character
                stream.reconfigure(errors="backslashreplace")
        yield


def _run() -> NoReturn:
    try:
        cli.main(standalone_mode=False)
    except click.exceptions.Exit as stop:
        sys.exit(stop.exit_code)
    except click.exceptions.NoArgsIsHelpError as error:
        click.echo(error.format_message(), err=True)
        sys.exit(_USAGE)
    except click.UsageError as error:
        command = error.ctx.command_path if error.ctx else "logoadmin"
        message = " ".join(error.format_message().split())  # click puts choices on separate lines
        _exit(_USAGE, f"{message.rstrip('.?')}. See: {command} --help")
    except click.Abort:
        _exit(_INTERRUPTED, "Interrupted")
    except InvalidLines as error:
        _exit(_FAILURE, f"{error}; nothing was imported")
    except OSError as error:
        text = error.strerror or str(error)
        _exit(_FAILURE, text if error.filename is None else f"{error.filename or repr('')}: {text}")
    except SettingsError as error:
        _exit(_USAGE, str(error))
    except LogoAdminError as error:
        _exit(_FAILURE, error.explained)
    sys.exit(0)


def _exit(code: int, text: str) -> NoReturn:
    show_line(f"logoadmin: {text}", err=True)
    sys.exit(code)
