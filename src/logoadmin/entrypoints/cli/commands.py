"""The command ``logoadmin``, and the subcommands without a module of their own."""

import json
import sys
from collections.abc import Iterable
from datetime import UTC, datetime
from itertools import islice
from typing import TYPE_CHECKING, Any, Final, TypeVar

import click

from logoadmin.domain.kernel.access import Policy
from logoadmin.domain.kernel.kinds import ARTWORK_KINDS, LOGOS
from logoadmin.domain.kernel.records import Kind
from logoadmin.entrypoints.cli.backups import backup, move, restore
from logoadmin.entrypoints.cli.check import check
from logoadmin.entrypoints.cli.config import config
from logoadmin.entrypoints.cli.doctor import doctor
from logoadmin.entrypoints.cli.gallery import (
    changing,
    command_settings,
    database_option,
    gallery_at,
    show_start,
)
from logoadmin.entrypoints.cli.healthcheck import healthcheck
from logoadmin.entrypoints.cli.help import Commands
from logoadmin.entrypoints.cli.import_export import export, import_
from logoadmin.entrypoints.cli.keys import key
from logoadmin.entrypoints.cli.lines import command_of, json_option, print_lines
from logoadmin.entrypoints.cli.moments import Moment
from logoadmin.entrypoints.cli.pictures import pictures
from logoadmin.entrypoints.cli.publish import gallery_key, publish
from logoadmin.entrypoints.cli.roles import role
from logoadmin.entrypoints.cli.serve import serve
from logoadmin.entrypoints.cli.users import user
from logoadmin.entrypoints.one_line import on_one_line

if TYPE_CHECKING:
    from logoadmin.domain.identity.events.event_records import SignInEvent

Entry = TypeVar("Entry")

_EVENT_LINE: Final = "{:>10}  {:<19}  {:<19}  {}"


_TASKS: Final = {
    "Set up and serve": ("init", "serve", "config", "doctor", "healthcheck", "token-key"),
    "People and rights": ("user", "role", "key", "events"),
    "History": ("changes", "revert"),
    "Publish": ("publish", "block", "check", "notify", "gallery-key"),
    "Copy and move": ("import", "export", "pictures", "backup", "restore", "move"),
    "For programs": ("openapi", "completion"),
}


@click.group(cls=Commands, tasks=_TASKS, context_settings={"help_option_names": ["-h", "--help"]})
@click.version_option(package_name="logoadmin")
def cli() -> None:
    """Administer a gallery of site logos and themes.

    Every setting can also be set in the environment, as in LOGOADMIN_DATABASE, or in logoadmin.toml.
    """


@cli.command()
@database_option
def init(database: str | None) -> None:
    """Create the tables and the first administrator, or upgrade older tables."""
    with gallery_at(database, "always") as gallery:
        click.echo(f"The database at {gallery.server} is ready")
        show_start(gallery)


@cli.command()
@click.option("--after", type=click.IntRange(0), help="Only changes after this one, in the chosen order.")
@click.option("--limit", type=click.IntRange(1), help="At most this many changes.")
@click.option("--order", type=click.Choice(["asc", "desc"]), default="asc", help="desc prints the newest first.")
@click.option("--kind", type=click.Choice([kind.value for kind in Kind]), help="Only changes of records of this kind.")
@click.option("--id", type=int, help="Only changes of the record of that kind with this id.")
@click.option("--user", "user_id", type=int, metavar="ID", help="Only changes by this user.")
@click.option("--action", help="Only this action, such as logo.removed.")
@click.option("--request", "request_id", metavar="ID", help="Only changes by this request or command.")
@click.option(
    "--since",
    type=Moment(ends=False),
    metavar="TIME",
    help="Only changes from then on: yesterday, 2026-11-20, '2026-11-20 14:30' (UTC), '3 days ago' or Unix seconds.",
)
@click.option("--until", type=Moment(ends=True), metavar="TIME", help="Only changes up to then; a day counts in full.")
@database_option
def changes(database: str | None, limit: int | None, **asked: Any) -> None:
    """Print the history as JSON Lines, the oldest change first."""
    from logoadmin.domain.changes.history import ListChanges
    from logoadmin.domain.kernel.records import Change

    command = command_of(ListChanges, asked)
    with gallery_at(database, "never") as gallery:
        print_lines(Change, _first(gallery.changes.list(command), limit))


@cli.command()
@click.option("--after", type=click.IntRange(0), help="Only events after this one, in the chosen order.")
@click.option("--limit", type=click.IntRange(1), help="At most this many events.")
@click.option("--order", type=click.Choice(["asc", "desc"]), default="desc", help="asc prints the oldest first.")
@click.option("--user", "user_id", type=int, metavar="ID", help="Only events of this user.")
@json_option
@database_option
def events(database: str | None, limit: int | None, *, as_json: bool, **asked: Any) -> None:
    """Print sign-ins and what else happened to accounts, the newest event first; times are in UTC."""
    from logoadmin.domain.identity.events.event_list import ListEvents
    from logoadmin.domain.identity.events.event_records import SignInEvent

    command = command_of(ListEvents, asked)
    with gallery_at(database, "never") as gallery:
        found = _first(gallery.events.list(command), limit)
        if as_json:
            print_lines(SignInEvent, found)
            return
        click.echo(_EVENT_LINE.format("event_id", "at", "event", "user, client and factor"))
        for event in found:
            at = f"{datetime.fromtimestamp(event.at, UTC):%Y-%m-%d %H:%M:%S}"
            click.echo(on_one_line(_EVENT_LINE.format(event.event_id, at, event.event, _details(event))))


def _first(entries: Iterable[Entry], limit: int | None) -> Iterable[Entry]:
    return islice(entries, None if limit is None else min(limit, sys.maxsize))


def _details(event: "SignInEvent") -> str:
    """Return the user, client, factor, count and who did it."""
    user = "no user" if event.user_id is None else f"{event.user_name or '-'} ({event.user_id})"
    often = "" if event.count == 1 else f"{event.count} times"
    by = "" if event.by_user_id is None else f"by {event.by_user_name or '-'} ({event.by_user_id})"
    return "  ".join(filter(None, (user, event.address, event.factor, often, by)))


@cli.command()
@click.argument("change_id", type=int, required=False)
@click.option(
    "--request", "request_id", metavar="ID", help="Undo everything that a request or a command changed, or nothing."
)
@database_option
def revert(change_id: int | None, request_id: str | None, database: str | None) -> None:
    """Undo a change, or everything that a request changed, with new changes."""
    from logoadmin.domain.changes.history import Revert, RevertRequest

    if (change_id is None) == (request_id is None):
        raise click.UsageError("Name a change, or a request with --request.")
    with changing(database) as (gallery, caller):
        if request_id is not None:
            made = sum(
                1 for _ in gallery.changes.revert_request(command_of(RevertRequest, {"request_id": request_id}), caller)
            )
            click.echo(f"Undid request {request_id} with {made} change{'' if made == 1 else 's'}")
        if change_id is not None:
            change = gallery.changes.revert(command_of(Revert, {"change_id": change_id}), caller)
            click.echo(f"Undid change {change_id} with change {change.change_id}: {change.action}, id {change.id}")


@cli.command()
@database_option
def notify(database: str | None) -> None:
    """Send a trial to each URL of notify_urls, and print by its number whether it was accepted.

    The exit code is 1 if any was not, or if the setting names none.
    """
    with gallery_at(database, "never") as gallery:
        failures = [*gallery.notices.trials()]
    for number, failure in enumerate(failures, 1):
        click.echo(on_one_line(f"URL {number}: {failure or 'accepted'}"), err=bool(failure))
    if not failures:
        click.echo("notify_urls names no URL, so no notices are sent", err=True)
    if not failures or any(failures):
        sys.exit(1)


@cli.command()
@click.argument("kind", metavar="KIND", type=click.Choice([kind.kind.value for kind in ARTWORK_KINDS]))
@click.argument("id_", metavar="ID", type=int)
@click.option("--reason", required=True, help="Why, for readers of the gallery.")
@database_option
def block(kind: str, id_: int, reason: str, database: str | None) -> None:
    """Switch a logo or theme off, and have readers of the published gallery stop applying it."""
    from logoadmin.domain.gallery.artworks import BlockLogo, BlockTheme

    with changing(database) as (gallery, caller):
        if kind == LOGOS.kind:
            name = gallery.logos.block(BlockLogo(logo_id=id_, reason=reason), caller).name
        else:
            name = gallery.themes.block(BlockTheme(theme_id=id_, reason=reason), caller).name
        click.echo(on_one_line(f"Blocked {kind} {id_}: {name}"))


@cli.command()
@click.option(
    "--access",
    type=click.Choice([policy.value for policy in Policy]),
    help="The policy that it describes.  [default: the configured one, or else guarded]",
)
def openapi(access: str | None) -> None:
    """Print the OpenAPI document."""
    from logoadmin.entrypoints.http_api.openapi import openapi_document
    from logoadmin.settings import load_settings

    document = openapi_document(load_settings(access=access).access or Policy.GUARDED)
    click.echo(json.dumps(document, indent=2, sort_keys=True))


@cli.group("token-key", cls=Commands)
def token_key() -> None:
    """Manage the keys in the database that sign access tokens."""


@token_key.command()
@database_option
def rotate(database: str | None) -> None:
    """Rotate the keys in the database.

    Nobody is signed out if the running services were restarted since the last rotation, and its tokens have expired.
    """
    from logoadmin.maintenance import rotate_keys

    settings = command_settings(database)
    since_last = rotate_keys(settings)
    click.echo("Rotated the keys in the database.")
    if since_last is None or since_last >= settings.access_token_seconds:
        click.echo("Nobody is signed out. Restart the running services one by one before you rotate again.")
        return
    click.echo(
        f"logoadmin: the keys were also rotated {since_last} s ago. Signed out until they refresh: users whose access "
        "token is from before that. Services that were not restarted in between do not accept tokens of those that "
        "start now: restart all of them",
        err=True,
    )


@cli.command()
@click.argument("shell", metavar="SHELL", type=click.Choice(["bash", "zsh", "fish"]))
@click.pass_context
def completion(context: click.Context, shell: str) -> None:
    """Print a script that makes SHELL complete commands, options and their values."""
    from click.shell_completion import get_completion_class

    # These are the names that click uses when the script calls it.
    name = "logoadmin"
    found = get_completion_class(shell)
    assert found is not None  # noqa: S101 (click has a class for each of the choices)
    click.echo(found(context.find_root().command, {}, name, f"_{name.upper()}_COMPLETE").source())


_IN_MODULES: Final = (
    *(serve, import_, export, pictures, publish, gallery_key, check),
    *(backup, restore, move, user, role, key, config, doctor, healthcheck),
)
for command in _IN_MODULES:
    cli.add_command(command)
