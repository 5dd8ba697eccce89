"""The commands that create users and give them passwords."""

import sys

import click

from logoadmin.entrypoints.cli.gallery import database_option, gallery_at


@click.group()
def user() -> None:
    """Create users and give them passwords."""


@user.command("create")
@click.argument("user_id", type=int)
@click.argument("username")
@click.option("--avatar", help="The avatar.")
@click.option("--role", "role_id", type=int, help="The id of the role.  [default: 1, member]")
@database_option
def user_create(user_id: int, username: str, avatar: str | None, role_id: int | None, database: str | None) -> None:
    """Create a user; the password is asked for, or read from standard input."""
    from logoadmin.domain.services.roles import GetRole
    from logoadmin.domain.services.users import AmendUser, CreateUser

    with gallery_at(database, "never") as gallery:
        if role_id is not None:
            gallery.roles.get(GetRole(role_id=role_id))
        command = CreateUser(user_id=user_id, username=username, avatar=avatar, password=_new_password())

        def create() -> None:
            gallery.users.create(command)
            if role_id is not None:
                gallery.users.amend(AmendUser(user_id=user_id, role_id=role_id))

        # Both or neither: nobody is left behind with a role that was not meant.
        gallery.together(create)
    click.echo(f"Created user {user_id}")


@user.command("password")
@click.argument("user_id", type=int)
@database_option
def user_password(user_id: int, database: str | None) -> None:
    """Give a user a new password, asked for or read from standard input; their sessions end."""
    from logoadmin.domain.services.users import GetUser, SetPassword

    with gallery_at(database, "never") as gallery:
        gallery.users.get(GetUser(user_id=user_id))
        gallery.users.set_password(SetPassword(user_id=user_id, password=_new_password()))
    click.echo(f"Changed the password of user {user_id}")


def _new_password() -> str:
    """Ask for a password; it is never an argument, which everybody on the machine could read."""
    if sys.stdin.isatty():
        password: str = click.prompt("Password", hide_input=True, confirmation_prompt=True, err=True)
        return password
    return sys.stdin.readline().rstrip("\n")
