"""The commands that create, list and change roles (contract D, J7)."""

from collections.abc import Iterable
from typing import TYPE_CHECKING, Any

import click
from click.shell_completion import CompletionItem

from logoadmin.domain.kernel.access import Scope
from logoadmin.domain.kernel.errors import NotFound
from logoadmin.domain.kernel.limits import MAX_NAME
from logoadmin.entrypoints.cli.gallery import changing, database_option, gallery_at
from logoadmin.entrypoints.cli.help import Commands
from logoadmin.entrypoints.cli.lines import command_of, json_option, print_lines
from logoadmin.entrypoints.one_line import on_one_line

if TYPE_CHECKING:
    from logoadmin.domain.identity.role_effects import RoleEffect
    from logoadmin.domain.kernel.records import Role
    from logoadmin.domain.logo_admin import LogoAdmin


def _scopes(_context: click.Context, _parameter: click.Parameter, typed: str) -> list[CompletionItem]:
    return [CompletionItem(scope.value) for scope in Scope if scope.value.startswith(typed)]


scope_option = click.option(
    "--scope",
    multiple=True,
    default=None,
    metavar="SCOPES",
    shell_complete=_scopes,
    help="A scope, such as logos:write, or several, separated by commas; can be repeated.",
)


def scopes_of(given: Iterable[str]) -> tuple[str, ...]:
    """Return the scopes of an option."""
    return tuple(scope.strip() for part in given for scope in part.split(",") if scope.strip())


@click.group(cls=Commands)
def role() -> None:
    """Create, list and change roles.

    ROLE is a role id or a name; name:7 is the role named 7.
    """


@role.command("create")
@click.argument("name")
@scope_option
@database_option
def role_create(name: str, scope: tuple[str, ...] | None, database: str | None) -> None:
    """Create a role named NAME, by default without scopes."""
    from logoadmin.domain.identity.roles import CreateRole

    command = command_of(CreateRole, {"name": name, "scope": scopes_of(scope or ())})
    with changing(database) as (gallery, caller):
        made = gallery.roles.create(command, caller)
        click.echo(on_one_line(f"Created role {made.role_id}, {made.name}: {_listed(made.scope)}"))


@role.command("list")
@json_option
@database_option
def role_list(as_json: bool, database: str | None) -> None:
    """Print all roles: id, name and scopes."""
    from logoadmin.domain.identity.roles import ListRoles
    from logoadmin.domain.kernel.records import Role

    with gallery_at(database, "never") as gallery:
        roles = gallery.roles.list(ListRoles())
        if as_json:
            print_lines(Role, roles)
            return
        found = [(each.role_id, on_one_line(each.name), " ".join(each.scope)) for each in roles]
    width = max(len("name"), *(len(name) for _, name, _ in found))
    for role_id, name, scope in (("role_id", "name", "scope"), *found):
        click.echo(f"{role_id:>10}  {name:<{width}}  {scope}".rstrip())


@role.command("set")
@click.argument("named", metavar="ROLE")
@click.option("--name", help="The new name.")
@scope_option
@click.option("--dry-run", is_flag=True, help="Print whose rights would change, and change nothing.")
@database_option
def role_set(named: str, name: str | None, scope: tuple[str, ...] | None, dry_run: bool, database: str | None) -> None:
    """Change the name of a role, or replace all of its scopes; --scope "" leaves none.

    The rights of its users change at once. The last role whose users may do everything keeps its scope. ROLE is a
    role id or a name; name:7 is the role named 7.
    """
    from logoadmin.domain.identity.roles import AmendRole

    if name is None and not scope:
        raise click.UsageError("Name what to change with --name or --scope.")
    changes: dict[str, Any] = {"name": name, "scope": scopes_of(scope) if scope else None}
    command = command_of(AmendRole, {"role_id": 0, **changes})  # before the database is opened
    if dry_run:
        with gallery_at(database, "never") as gallery:
            found = found_role(gallery, named)
            _show_effect(gallery.roles.preview(command.model_copy(update={"role_id": found.role_id})))
        return
    with changing(database) as (gallery, caller):
        found = found_role(gallery, named)
        changed = gallery.roles.amend(command.model_copy(update={"role_id": found.role_id}), caller)
        click.echo(on_one_line(f"Role {changed.role_id} is {changed.name}: {_listed(changed.scope)}"))


def _show_effect(effect: "RoleEffect") -> None:
    role = effect.role
    click.echo(on_one_line(f"Role {role.role_id} would be {role.name}: {_listed(role.scope)}"))
    for user in effect.users:
        gains, loses = _listed(user.gains, "nothing"), _listed(user.loses, "nothing")
        click.echo(on_one_line(f"User {user.user_id}, {user.username}, gains {gains} and loses {loses}"))


def _listed(scope: Iterable[str], none: str = "no scopes") -> str:
    return " ".join(scope) or none


def found_role(gallery: "LogoAdmin", named: str) -> "Role":
    """Return the role that an argument names, by id or by name.

    Raises:
        NotFound: no role has it.
    """
    from logoadmin.domain.identity.roles import GetRole, ListRoles

    if is_id(named):
        return gallery.roles.get(GetRole(role_id=int(named)))
    roles = {role.name: role for role in gallery.roles.list(ListRoles())}
    role = roles.get(named) or roles.get(named.removeprefix("name:"))
    if role is None:
        raise NotFound("Role", named)
    return role


def is_id(text: str) -> bool:
    """Return whether a text is an id; longer digits are not, and int() refuses thousands of them."""
    return text.isascii() and text.isdecimal() and len(text) <= MAX_NAME
