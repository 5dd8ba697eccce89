"""The commands that list, create, change and remove users."""

import contextlib
import sys
from typing import TYPE_CHECKING

import click

from logoadmin.domain.model.errors import InvalidInput, LogoAdminError, NotFound
from logoadmin.domain.model.limits import MAX_NAME
from logoadmin.entrypoints.cli.gallery import changing, database_option, gallery_at
from logoadmin.entrypoints.one_line import on_one_line

if TYPE_CHECKING:
    from logoadmin.domain.logo_admin import LogoAdmin
    from logoadmin.domain.model.access import Owner
    from logoadmin.domain.model.records import Role, User
    from logoadmin.domain.services.users import CreateUser


@click.group()
def user() -> None:
    """List, create, change and remove users.

    USER is a user id or a username; name:7 is the user named 7. Roles are named the same way.
    """


@user.command("list")
@database_option
def user_list(database: str | None) -> None:
    """Print all users: id, role and name."""
    from logoadmin.domain.services.roles import ListRoles
    from logoadmin.domain.services.users import ListUsers

    with gallery_at(database, "never") as gallery:
        roles = {role.role_id: on_one_line(role.name) for role in gallery.roles.list(ListRoles())}
        width = max(len("role"), *map(len, roles.values()))
        click.echo(f"{'user_id':>10}  {'role':<{width}}  username")
        for one in gallery.users.list(ListUsers()):
            role = roles.get(one.role_id, str(one.role_id))
            click.echo(f"{one.user_id:>10}  {role:<{width}}  {on_one_line(one.username)}")


@user.command("create")
@click.argument("user_id", type=int)
@click.argument("username")
@click.option("--avatar", help="The avatar.")
@click.option("--role", "role_id", type=int, help="The id of the role.  [default: 1, member]")
@database_option
def user_create(user_id: int, username: str, avatar: str | None, role_id: int | None, database: str | None) -> None:
    """Create a user; the password is prompted for, or read from standard input."""
    from logoadmin.domain.services.roles import GetRole
    from logoadmin.domain.services.users import CreateUser

    with changing(database) as (gallery, caller):
        if role_id is not None:
            gallery.roles.get(GetRole(role_id=role_id))
        command = CreateUser(user_id=user_id, username=username, avatar=avatar, password=_new_password())
        # Both or neither: nobody is left behind with a role that was not meant.
        gallery.atomic(lambda atomic: _create(atomic, command, role_id, caller))
        click.echo(f"Created user {user_id}")


def _create(gallery: "LogoAdmin", command: "CreateUser", role_id: int | None, caller: "Owner") -> None:
    from logoadmin.domain.services.users import AmendUser

    gallery.users.create(command, caller)
    if role_id is not None:
        gallery.users.amend(AmendUser(user_id=command.user_id, role_id=role_id), caller)


@user.command("password")
@click.argument("named", metavar="USER")
@database_option
def user_password(named: str, database: str | None) -> None:
    """Set the password of a user, prompted for or read from standard input; their sessions end.

    USER is a user id or a username; name:7 is the user named 7.
    """
    from logoadmin.domain.services.users import SetPassword

    with changing(database, undoable=False) as (gallery, caller):
        found = _found(gallery, named)
        gallery.users.set_password(SetPassword(user_id=found.user_id, password=_new_password()), caller)
        click.echo(f"Changed the password of user {found.user_id}")


@user.command("role")
@click.argument("named", metavar="USER")
@click.argument("role", metavar="ROLE")
@database_option
def user_role(named: str, role: str, database: str | None) -> None:
    """Give a user another role; it takes effect at once.

    USER and ROLE are ids or names; name:7 is the one named 7. The last user who may do everything keeps their role.
    """
    from logoadmin.domain.services.users import AmendUser

    with changing(database) as (gallery, caller):
        found, role_found = _found(gallery, named), _found_role(gallery, role)
        gallery.users.amend(AmendUser(user_id=found.user_id, role_id=role_found.role_id), caller)
        click.echo(on_one_line(f"User {found.user_id} has role {role_found.role_id}, {role_found.name}"))


@user.command("remove")
@click.argument("named", metavar="USER")
@database_option
def user_remove(named: str, database: str | None) -> None:
    """Remove a user; their sessions and service keys end at once.

    USER is a user id or a username; name:7 is the user named 7. The last user who may do everything is not removed.
    """
    from logoadmin.domain.services.users import RemoveUser

    with changing(database) as (gallery, caller):
        found = _found(gallery, named)
        gallery.users.remove(RemoveUser(user_id=found.user_id), caller)
        click.echo(on_one_line(f"Removed user {found.user_id}, {found.username}"))


def _found_role(gallery: "LogoAdmin", named: str) -> "Role":
    """Return the role that an argument names, by id or by name."""
    from logoadmin.domain.services.roles import GetRole, ListRoles

    if _is_id(named):
        return gallery.roles.get(GetRole(role_id=int(named)))
    roles = {role.name: role for role in gallery.roles.list(ListRoles())}
    role = roles.get(named) or roles.get(named.removeprefix("name:"))
    if role is None:
        raise NotFound("Role", named)
    return role


def _found(gallery: "LogoAdmin", named: str) -> "User":
    """Return the user that an argument names, by id or by name."""
    from logoadmin.domain.services.users import FindUser, GetUser

    if _is_id(named):
        try:
            return gallery.users.get(GetUser(user_id=int(named)))
        except (NotFound, InvalidInput) as error:
            raise LogoAdminError(f"{error}; use name:{named} for the user named {named}") from None
    name = named.removeprefix("name:")
    if not _is_id(name):
        # A username may be name:bob; name:7 always means the user named 7.
        with contextlib.suppress(NotFound, InvalidInput):
            return gallery.users.find(FindUser(username=named))
    return gallery.users.find(FindUser(username=name))


def _is_id(text: str) -> bool:
    """Whether it is an id; longer digits are not, and int() refuses thousands of them."""
    return text.isascii() and text.isdecimal() and len(text) <= MAX_NAME


def _new_password() -> str:
    """Prompt for a password; an argument could be read by every user of the machine."""
    if sys.stdin.isatty():
        password: str = click.prompt("Password", hide_input=True, confirmation_prompt=True, err=True)
        return password
    return sys.stdin.readline().rstrip("\r\n")
