"""The commands that create, list and remove the service keys of users (contract C5)."""

import json
import time
from dataclasses import asdict

import click

from logoadmin.domain.kernel.errors import LogoAdminError, NotPermitted
from logoadmin.domain.kernel.limits import MAX_KEY_SECONDS
from logoadmin.entrypoints.cli.gallery import database_option, gallery_at
from logoadmin.entrypoints.cli.help import Commands
from logoadmin.entrypoints.cli.lines import command_of, day_of, json_option, print_lines
from logoadmin.entrypoints.cli.roles import scope_option, scopes_of
from logoadmin.entrypoints.cli.users import found_user
from logoadmin.entrypoints.one_line import as_json_line, on_one_line

_DAY = 86_400
_LINE = "{:>10}  {:<10}  {:<10}  {:<10}  {:<30}  {}"


@click.group(cls=Commands)
def key() -> None:
    """Create, list and remove service keys, with which scripts act for users.

    USER is a user id or a username; name:7 is the user named 7.
    """


@key.command("create")
@click.argument("named", metavar="USER")
@click.argument("name")
@scope_option
@click.option(
    "--days",
    type=click.IntRange(1, MAX_KEY_SECONDS // _DAY),
    metavar="N",
    help="Days until the key expires.  [default: never]",
)
@click.option("--json", "as_json", is_flag=True, help="Print one JSON object, with every field.")
@database_option
def key_create(
    named: str, name: str, scope: tuple[str, ...] | None, days: int | None, as_json: bool, database: str | None
) -> None:
    """Create a key named NAME for a user, and print it, this once.

    The user must hold all of its scopes. USER is a user id or a username; name:7 is the user named 7.
    """
    from logoadmin.domain.identity.service_keys import CreateKey

    if not scope:
        raise click.UsageError("Name what the key may do with --scope, such as --scope logos:write.")
    asked = {"name": name, "scope": scopes_of(scope), "expires_in": None if days is None else days * _DAY}
    command = command_of(CreateKey, asked)
    with gallery_at(database, "never") as gallery:
        user = found_user(gallery, named)
        try:
            # Anyone who runs a command has access to the database, so no sign-in is asked of the user.
            made = gallery.acting_as(user.user_id, signed_in_at=int(time.time())).keys.create(command)
        except NotPermitted:
            raise LogoAdminError(f"User {user.user_id} does not hold all scopes of the key") from None
    if as_json:
        click.echo(as_json_line(json.dumps(asdict(made))))
    else:
        click.echo(made.key)
    until = "never expires" if made.expires_at is None else f"expires on {day_of(made.expires_at)}"
    text = f"Key {made.key_id} of {user.username} {until}. It is shown only once"
    click.echo(on_one_line(text), err=True)


@key.command("list")
@click.argument("named", metavar="USER")
@json_option
@database_option
def key_list(named: str, as_json: bool, database: str | None) -> None:
    """Print the keys of a user: id, when made, when it expires, when last used, scopes and name.

    USER is a user id or a username; name:7 is the user named 7. Dates are in UTC.
    """
    from logoadmin.domain.identity.service_keys import ListKeys
    from logoadmin.domain.identity.sessions.session_records import ServiceKey

    with gallery_at(database, "never") as gallery:
        keys = gallery.acting_as(found_user(gallery, named).user_id).keys.list(ListKeys())
    if as_json:
        print_lines(ServiceKey, keys)
        return
    click.echo(_LINE.format("key_id", "created", "expires", "last used", "scope", "name"))
    for each in keys:
        days = ("never" if at is None else day_of(at) for at in (each.created_at, each.expires_at, each.last_used_at))
        click.echo(on_one_line(_LINE.format(each.key_id, *days, " ".join(each.scope), each.name)))


@key.command("remove")
@click.argument("named", metavar="USER")
@click.argument("key_id", type=int)
@database_option
def key_remove(named: str, key_id: int, database: str | None) -> None:
    """Remove a key of a user; it becomes invalid at once.

    USER is a user id or a username; name:7 is the user named 7.
    """
    from logoadmin.domain.identity.service_keys import RemoveKey

    command = command_of(RemoveKey, {"key_id": key_id})
    with gallery_at(database, "never") as gallery:
        user = found_user(gallery, named)
        gallery.acting_as(user.user_id).keys.remove(command)
    click.echo(on_one_line(f"Removed key {key_id} of {user.username}"))
