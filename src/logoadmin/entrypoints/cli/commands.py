"""All commands as one: those with a module of their own, and here the short ones."""

import json

import click

from logoadmin.domain.model.access import Policy
from logoadmin.entrypoints.cli.gallery import command_settings, database_option, gallery_at, show_password
from logoadmin.entrypoints.cli.import_export import export, import_
from logoadmin.entrypoints.cli.serve import access_option, serve
from logoadmin.entrypoints.cli.users import user


@click.group(context_settings={"help_option_names": ["-h", "--help"]})
@click.version_option(package_name="logoadmin")
def cli() -> None:
    """Administration of a gallery of site logos and themes.

    Every setting can also be made in the environment, as LOGOADMIN_DATABASE, or in logoadmin.toml.
    """


@cli.command()
@database_option
def init(database: str | None) -> None:
    """Make the tables and the first administrator, or bring older tables up to date."""
    with gallery_at(database, "always") as gallery:
        click.echo(f"The database at {gallery.server} is ready")
        show_password(gallery.admin_password)


@cli.command()
@click.option("--after", type=click.IntRange(0), default=0, help="The last change that is known already.  [default: 0]")
@database_option
def changes(after: int, database: str | None) -> None:
    """Print what happened as JSON Lines, the oldest change first."""
    from pydantic import TypeAdapter

    from logoadmin.domain.model.records import Change
    from logoadmin.domain.services.changes import ListChanges

    line = TypeAdapter(Change).serializer.to_json
    with gallery_at(database, "never") as gallery:
        for change in gallery.changes.list(ListChanges(after=after)):
            click.echo(line(change))


@cli.command()
@click.argument("change_id", type=int)
@database_option
def revert(change_id: int, database: str | None) -> None:
    """Undo a change, as a new change."""
    from logoadmin.domain.services.changes import Revert

    with gallery_at(database, "never") as gallery:
        change = gallery.changes.revert(Revert(change_id=change_id))
    click.echo(f"Undid change {change_id} by change {change.change_id}: {change.action}, id {change.id}")


@cli.command()
@access_option
def openapi(access: str | None) -> None:
    """Print the OpenAPI document."""
    from logoadmin.entrypoints.http_api.openapi import openapi_document
    from logoadmin.settings import load_settings

    document = openapi_document(load_settings(access=access).access or Policy.OPEN)
    click.echo(json.dumps(document, indent=2, sort_keys=True))


@cli.group("token-key")
def token_key() -> None:
    """Look after the keys in the database that sign access tokens."""


@token_key.command()
@database_option
def rotate(database: str | None) -> None:
    """Rotate the keys in the database; nobody is signed out."""
    from logoadmin.bootstrap import rotate_keys

    if rotate_keys(command_settings(database)):
        click.echo("Rotated the keys in the database; nobody is signed out.")
        click.echo("Restart the running services, one after the other, before you rotate again.")
    else:
        click.echo("The database is of an earlier version: it got its next key only now, and nobody is signed out.")
        click.echo("Restart the running services, one after the other, and then rotate again to use that key.")


for command in (serve, import_, export, user):
    cli.add_command(command)
