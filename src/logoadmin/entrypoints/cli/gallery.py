"""The gallery that a command works on, which is there after it (contract H2, H3)."""

from typing import TYPE_CHECKING

import click

from logoadmin.domain.model.errors import SettingsError, TablesMissing

if TYPE_CHECKING:
    from logoadmin.bootstrap import Create
    from logoadmin.domain.logo_admin import LogoAdmin
    from logoadmin.settings import Settings

database_option = click.option(
    "--database",
    metavar="URL",
    help="sqlite:///FILE or mysql+pymysql://USER:PASSWORD@HOST:PORT/NAME.  [default: sqlite:///logoadmin.db]",
)


def gallery_at(database: str | None, create: "Create", *, administrator: bool = True) -> "LogoAdmin":
    """Open the gallery of a command, which waits for the database as long as it takes."""
    from logoadmin.bootstrap import open_gallery

    return open_gallery(command_settings(database), create=create, administrator=administrator, interactive=False)


def gallery_for_dry_run(database: str | None) -> "LogoAdmin":
    """Open the gallery for a dry run, which makes nothing: where there is no database, an empty one in memory."""
    from logoadmin.bootstrap import MEMORY, open_gallery
    from logoadmin.settings import settings_of

    try:
        return gallery_at(database, "never")
    except TablesMissing:
        return open_gallery(settings_of(database=MEMORY), administrator=False)


def command_settings(database: str | None) -> "Settings":
    """Return the settings of a command, which name a database that is there after it."""
    from logoadmin.bootstrap import MEMORY
    from logoadmin.settings import load_settings

    settings = load_settings(database=database)
    if settings.database.get_secret_value() == MEMORY:
        raise SettingsError("Memory ends with the command: name a database with --database")
    return settings


def show_password(password: str | None) -> None:
    """Say the first administrator's password if it was made up, on standard output, where no log goes."""
    if password is not None:
        click.echo(f'The first administrator is "admin" with the password {password}')
        click.echo("It is shown this once. Another one: logoadmin user password admin")
