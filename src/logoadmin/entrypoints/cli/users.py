"""The commands that show users, create them and give them passwords."""

import contextlib
import functools
import sys
from typing import TYPE_CHECKING

import click

from logoadmin.domain.model.errors import InvalidInput, LogoAdminError, NotFound
from logoadmin.domain.model.limits import MAX_NAME
from logoadmin.entrypoints.cli.gallery import database_option, gallery_at, owner, show_request
from logoadmin.entrypoints.one_line import on_one_line

if TYPE_CHECKING:
    from logoadmin.domain.logo_admin import LogoAdmin
    from logoadmin.domain.model.access import Owner
    from logoadmin.domain.model.records import User
    from logoadmin.domain.services.users import CreateUser


@click.group()
def user() -> None:
    """Show users, create them and give them passwords.

    USER is the number of a user, or the name; name:7 is the user who is called 7.
    """


@user.command("list")
@database_option
def user_list(database: str | None) -> None:
    """Print all users: number, role and name."""
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
    """Create a user; the password is asked for, or read from standard input."""
    from logoadmin.domain.services.roles import GetRole
    from logoadmin.domain.services.users import CreateUser

    with gallery_at(database, "never") as gallery:
        if role_id is not None:
            gallery.roles.get(GetRole(role_id=role_id))
        command = CreateUser(user_id=user_id, username=username, avatar=avatar, password=_new_password())
        # Both or neither: nobody is left behind with a role that was not meant.
        caller = owner()
        gallery.atomic(functools.partial(_create, gallery, command, role_id, caller))
    click.echo(f"Created user {user_id}")
    show_request(caller)


def _create(gallery: "LogoAdmin", command: "CreateUser", role_id: int | None, caller: "Owner") -> None:
    from logoadmin.domain.services.users import AmendUser

    gallery.users.create(command, caller)
    if role_id is not None:
        gallery.users.amend(AmendUser(user_id=command.user_id, role_id=role_id), caller)


@user.command("password")
@click.argument("named", metavar="USER")
@database_option
def user_password(named: str, database: str | None) -> None:
    """Give a user a new password, asked for or read from standard input; their sessions end.

    USER is their number or their name; name:7 is the user who is called 7.
    """
    from logoadmin.domain.services.users import SetPassword

    with gallery_at(database, "never") as gallery:
        found = _found(gallery, named)
        caller = owner()
        gallery.users.set_password(SetPassword(user_id=found.user_id, password=_new_password()), caller)
    click.echo(f"Changed the password of user {found.user_id}")
    show_request(caller, undoable=False)


def _found(gallery: "LogoAdmin", named: str) -> "User":
    """Return the user whom an argument names, by number or by name."""
    from logoadmin.domain.services.users import FindUser, GetUser

    # What is longer is no number of a user, and int() refuses thousands of digits.
    if _is_number(named) and len(named) <= MAX_NAME:
        try:
            return gallery.users.get(GetUser(user_id=int(named)))
        except (NotFound, InvalidInput) as error:
            raise LogoAdminError(f"{error}; a user who is called {named} is name:{named}") from None
    name = named.removeprefix("name:")
    if not _is_number(name):
        # Somebody may be called name:bob; only name:7 must mean the same whoever there is.
        with contextlib.suppress(NotFound, InvalidInput):
            return gallery.users.find(FindUser(username=named))
    return gallery.users.find(FindUser(username=name))


def _is_number(text: str) -> bool:
    return text.isascii() and text.isdecimal()


def _new_password() -> str:
    """Ask for a password; it is never an argument, which everybody on the machine could read."""
    if sys.stdin.isatty():
        password: str = click.prompt("Password", hide_input=True, confirmation_prompt=True, err=True)
        return password
    return sys.stdin.readline().rstrip("\r\n")
