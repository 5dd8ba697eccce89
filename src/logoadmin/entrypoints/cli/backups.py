"""Whole copies of a gallery, and galleries made of them (contract K4)."""

from pathlib import Path

import click

from logoadmin.entrypoints.cli.gallery import command_settings, database_option


@click.command()
@click.argument("file", type=click.Path(path_type=Path))
@click.option(
    "--keep",
    type=click.IntRange(1),
    metavar="N",
    help="Keep so many in the directory FILE, this one among them, and remove the oldest. Give each gallery its own.",
)
@database_option
def backup(file: Path, keep: int | None, database: str | None) -> None:
    """Make FILE a whole copy of the gallery at one moment, also while it is served.

    It is verified before it has its name, and never overwrites another. In a directory, the file is named after the
    database and the time, in UTC. For a server, this says the command that does it.
    """
    from logoadmin.maintenance import back_up, back_up_into

    if str(file) == "-":  # elsewhere that is standard output, which would get the sentence below and no copy
        raise click.UsageError("A copy is a file, which is verified: name one, or a directory.")
    if file.is_dir():
        file = back_up_into(command_settings(database), file, keep)
    elif keep is not None:
        raise click.UsageError(f"--keep takes a directory, and {file} is none.")
    else:
        back_up(command_settings(database), file)
    click.echo(f"{file} is a whole copy, and verified. Keep it safe: it holds the keys for tokens and password hashes")


@click.command()
@click.argument("file", type=click.Path(dir_okay=False, path_type=Path), required=False)
@click.option("--loaded", is_flag=True, help="A copy was loaded into the database otherwise: pass over ids alone.")
@database_option
def restore(file: Path | None, loaded: bool, database: str | None) -> None:
    """Make the database of FILE, which logoadmin backup made, where there is none.

    Tables of an earlier version are brought up to date. Ids that may have been given since the backup are passed over.
    A server is loaded by its own program, which this says; --loaded does the rest then.
    """
    from logoadmin.maintenance import restore, restore_loaded

    if (file is None) is not loaded:
        raise click.UsageError("Name one file, or say --loaded.")
    if file is None:
        restore_loaded(command_settings(database))
        click.echo("The database is ready. Ids go on beyond all that may have been given since the copy was made")
    else:
        restore(command_settings(database), file)
        click.echo(f"The database is that of {file}. Ids go on beyond all that may have been given since")
