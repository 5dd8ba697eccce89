"""All commands as one: those with a module of their own, and here the short ones."""

import json
from itertools import islice
from typing import Any

import click

from logoadmin.domain.model.access import Policy
from logoadmin.domain.model.errors import InvalidInput
from logoadmin.domain.model.records import Kind
from logoadmin.entrypoints.cli.backups import backup, restore
from logoadmin.entrypoints.cli.completion import completion
from logoadmin.entrypoints.cli.config import config
from logoadmin.entrypoints.cli.doctor import doctor
from logoadmin.entrypoints.cli.gallery import (
    command_settings,
    database_option,
    gallery_at,
    owner,
    show_password,
    show_request,
    warn_of_clock,
)
from logoadmin.entrypoints.cli.healthcheck import healthcheck
from logoadmin.entrypoints.cli.import_export import export, import_
from logoadmin.entrypoints.cli.serve import access_option, serve
from logoadmin.entrypoints.cli.users import user
from logoadmin.entrypoints.one_line import as_json_line


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
        warn_of_clock(gallery)


@cli.command()
@click.option("--after", type=click.IntRange(0), help="Only what follows this change, in the order asked for.")
@click.option("--limit", type=click.IntRange(1), help="No more than so many changes.")
@click.option("--order", type=click.Choice(["asc", "desc"]), default="asc", help="desc prints the newest first.")
@click.option(
    "--kind", type=click.Choice([kind.value for kind in Kind]), help="Only what happened to records of this kind."
)
@click.option("--id", type=int, help="Only what happened to the record of that kind with this id.")
@click.option("--user", "user_id", type=int, metavar="ID", help="Only what this user did.")
@click.option("--action", help="Only this, such as logo.removed.")
@click.option("--request", "request_id", metavar="ID", help="Only what this request or command did.")
@click.option("--since", type=int, metavar="TIME", help="Only from this time on, as Unix time in seconds.")
@click.option("--until", type=int, metavar="TIME", help="Only up to this time.")
@database_option
def changes(database: str | None, limit: int | None, **asked: Any) -> None:
    """Print what happened as JSON Lines, the oldest change first."""
    from pydantic import TypeAdapter

    from logoadmin.domain.model.records import Change
    from logoadmin.domain.services.changes import ListChanges

    line = TypeAdapter(Change).serializer.to_json
    try:
        command = ListChanges(**{name: value for name, value in asked.items() if value is not None})
    except InvalidInput as error:
        raise click.UsageError("; ".join(f"--{problem.loc[0]}: {problem.msg}" for problem in error.problems)) from None
    with gallery_at(database, "never") as gallery:
        for change in islice(gallery.changes.list(command), limit):
            click.echo(as_json_line(line(change).decode()).encode())


@cli.command()
@click.argument("change_id", type=int, required=False)
@click.option("--request", "request_id", metavar="ID", help="Undo all that a request or a command changed, or nothing.")
@database_option
def revert(change_id: int | None, request_id: str | None, database: str | None) -> None:
    """Undo a change, or all that a request changed, as new changes."""
    from logoadmin.domain.services.changes import Revert, RevertRequest

    caller = owner()
    if (change_id is None) == (request_id is None):
        raise click.UsageError("Name one change, or a request with --request.")
    with gallery_at(database, "never") as gallery:
        if request_id is not None:
            made = sum(1 for _ in gallery.changes.revert_request(RevertRequest(request_id=request_id), caller))
            click.echo(f"Undid request {request_id} by {made} change{'' if made == 1 else 's'}")
        if change_id is not None:
            change = gallery.changes.revert(Revert(change_id=change_id), caller)
            click.echo(f"Undid change {change_id} by change {change.change_id}: {change.action}, id {change.id}")
    show_request(caller)


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
    from logoadmin.maintenance import rotate_keys

    if rotate_keys(command_settings(database)):
        click.echo("Rotated the keys in the database; nobody is signed out.")
        click.echo("Restart the running services, one after the other, before you rotate again.")
    else:
        click.echo("The database is of an earlier version: it got its next key only now, and nobody is signed out.")
        click.echo("Restart the running services, one after the other, and then rotate again to use that key.")


for command in (serve, import_, export, backup, restore, user, config, doctor, healthcheck, completion):
    cli.add_command(command)
