"""The commands that list, create, change and remove users."""

import contextlib
import sys
from collections.abc import Sequence
from typing import TYPE_CHECKING

import click

from logoadmin.domain.kernel.errors import InvalidInput, LogoAdminError, NotFound
from logoadmin.entrypoints.cli.gallery import changing, database_option, gallery_at, print_lines, show_line
from logoadmin.text_files import decoded

if TYPE_CHECKING:
    from logoadmin.domain.identity.records import ListedFactor
    from logoadmin.domain.kernel.records import Role, User
    from logoadmin.domain.logo_admin import LogoAdmin


@click.group()
def user() -> None:
    """List, create, change and remove users.

    USER is a user id or a username; name:7 is the user named 7. Roles are named the same way.
    """


@user.command("list")
@database_option
def user_list(database: str | None) -> None:
    """Print all users as JSON Lines."""
    from logoadmin.domain.identity.users import ListUsers
    from logoadmin.domain.kernel.records import User

    with gallery_at(database, "never") as gallery:
        print_lines(User, gallery.users.list(ListUsers()))


@user.command("create")
@click.argument("user_id", type=int)
@click.argument("username")
@click.option("--avatar", help="The avatar.")
@click.option("--role", "role_id", type=int, default=1, help="The id of the role.  [default: 1, member]")
@database_option
def user_create(user_id: int, username: str, avatar: str | None, role_id: int, database: str | None) -> None:
    """Create a user. The password is prompted for, or read from standard input."""
    from logoadmin.domain.identity.roles import GetRole
    from logoadmin.domain.identity.users import CreateUser

    with changing(database) as (gallery, caller):
        gallery.roles.get(GetRole(role_id=role_id))  # fails before the password prompt if the role does not exist
        password = _new_password()
        command = CreateUser(user_id=user_id, username=username, avatar=avatar, role_id=role_id, password=password)
        gallery.users.create(command, caller)
        click.echo(f"Created user {user_id}")


@user.command("password")
@click.argument("named", metavar="USER")
@click.option(
    "--factors",
    "fate",
    type=click.Choice(["keep", "remove"]),
    help="Whether the user keeps their second factors.  [default: ask; keep if there is no terminal]",
)
@database_option
def user_password(named: str, fate: str | None, database: str | None) -> None:
    """Set the password of a user.

    It is prompted for, or read from standard input. The sessions of the user end.

    USER is a user id or a username; name:7 is the user named 7.
    """
    from logoadmin.domain.identity.factors import RemoveUserFactors
    from logoadmin.domain.identity.users import SetPassword

    with changing(database, undoable=False) as (gallery, caller):
        found = _found_user(gallery, named)
        factors = len(_factors(gallery, found.user_id))
        command = SetPassword(user_id=found.user_id, password=_new_password())
        is_lost = factors > 0 and (fate or _asked_fate(factors)) == "remove"

        def change(atomic: "LogoAdmin") -> None:
            atomic.users.set_password(command, caller)
            if is_lost:
                atomic.factors.remove_all(RemoveUserFactors(user_id=found.user_id), caller)

        gallery.atomic(change)
        note = f"; {_count(factors)} removed" if is_lost else f"; {_count(factors)} kept" if factors else ""
        click.echo(f"Changed the password of user {found.user_id}{note}")


@user.command("code")
@click.argument("named", metavar="USER")
@database_option
def user_code(named: str, database: str | None) -> None:
    """Print a code with which a user signs in once.

    It replaces password and second factor, is valid for 10 minutes, and invalidates any previous one. The user's other
    sessions end when it is used. USER is a user id or a username; name:7 is the user named 7.
    """
    from logoadmin.domain.identity.one_time_sign_in import CreateSignInCode

    with gallery_at(database, "never") as gallery:
        found = _found_user(gallery, named)
        created = gallery.sign_in_codes.create(CreateSignInCode(user_id=found.user_id))
        click.echo(created.code)
        show_line(f"{found.username} signs in with it once within 10 minutes, at {gallery.public_url.base}", err=True)


@user.command("factors")
@click.argument("named", metavar="USER")
@click.option("--remove", is_flag=True, help="Remove all of them, and the recovery codes; the user's sessions end.")
@database_option
def user_factors(named: str, remove: bool, database: str | None) -> None:
    """Print the second factors of a user as JSON Lines.

    USER is a user id or a username; name:7 is the user named 7.
    """
    from logoadmin.domain.identity.factors import RemoveUserFactors
    from logoadmin.domain.identity.records import ListedFactor

    with gallery_at(database, "never") as gallery:
        found = _found_user(gallery, named)
        if remove:
            removed = gallery.factors.remove_all(RemoveUserFactors(user_id=found.user_id)).removed
            click.echo(f"Removed {_count(removed)} of user {found.user_id}")
            return
        print_lines(ListedFactor, _factors(gallery, found.user_id))


@user.command("role")
@click.argument("named", metavar="USER")
@click.argument("role", metavar="ROLE")
@database_option
def user_role(named: str, role: str, database: str | None) -> None:
    """Give a user another role; it takes effect at once.

    USER and ROLE are ids or names; name:7 is the one named 7. The last user who may do everything keeps their role.
    """
    from logoadmin.domain.identity.users import AmendUser

    with changing(database) as (gallery, caller):
        found, role_found = _found_user(gallery, named), _found_role(gallery, role)
        gallery.users.amend(AmendUser(user_id=found.user_id, role_id=role_found.role_id), caller)
        show_line(f"User {found.user_id} has role {role_found.role_id}, {role_found.name}")


@user.command("remove")
@click.argument("named", metavar="USER")
@database_option
def user_remove(named: str, database: str | None) -> None:
    """Remove a user; their sessions and service keys end at once.

    USER is a user id or a username; name:7 is the user named 7. The last user who may do everything is not removed.
    """
    from logoadmin.domain.identity.users import RemoveUser

    with changing(database) as (gallery, caller):
        found = _found_user(gallery, named)
        gallery.users.remove(RemoveUser(user_id=found.user_id), caller)
        show_line(f"Removed user {found.user_id}, {found.username}")


def _factors(gallery: "LogoAdmin", user_id: int) -> "Sequence[ListedFactor]":
    from logoadmin.domain.identity.factors import ListUserFactors

    return gallery.factors.list_of_user(ListUserFactors(user_id=user_id))


def _asked_fate(factors: int) -> str:
    """Ask whether to remove the second factors; without a terminal, keep them."""
    if not sys.stdin.isatty():
        return "keep"
    text = f"The user has {_count(factors)}, needed with the password. Remove, because they are lost?"
    return "remove" if click.confirm(text, err=True) else "keep"


def _count(factors: int) -> str:
    return f"{factors} second factor{'' if factors == 1 else 's'}"


def _found_user(gallery: "LogoAdmin", named: str) -> "User":
    """Return the user with the id or name of an argument."""
    from logoadmin.domain.identity.users import FindUser, GetUser

    if _is_id(named):
        try:
            return gallery.users.get(GetUser(user_id=int(named)))
        except (NotFound, InvalidInput) as error:
            raise LogoAdminError(f"{error}; use name:{named} for the user named {named}") from None
    name = named.removeprefix("name:")
    if not _is_id(name):
        # A username may be "name:bob", but name:7 always means the user named 7.
        with contextlib.suppress(NotFound, InvalidInput):
            return gallery.users.find(FindUser(username=named))
    return gallery.users.find(FindUser(username=name))


def _found_role(gallery: "LogoAdmin", named: str) -> "Role":
    """Return the role with the id or name of an argument."""
    from logoadmin.domain.identity.roles import GetRole, ListRoles

    if _is_id(named):
        return gallery.roles.get(GetRole(role_id=int(named)))
    roles = {role.name: role for role in gallery.roles.list(ListRoles())}
    role = roles.get(named) or roles.get(named.removeprefix("name:"))
    if role is None:
        raise NotFound("Role", named)
    return role


def _is_id(text: str) -> bool:
    """Return whether a text is an id; longer digit strings are not, and int() rejects thousands of digits."""
    from logoadmin.domain.kernel.limits import MAX_NAME

    return text.isascii() and text.isdecimal() and len(text) <= MAX_NAME


def _new_password() -> str:
    """Prompt for a password, since every user of the machine could read an argument."""
    if sys.stdin.isatty():
        password: str = click.prompt("Password", hide_input=True, confirmation_prompt=True, err=True)
        return password
    return decoded(sys.stdin.buffer.readline(), "The password").rstrip("\r\n")
