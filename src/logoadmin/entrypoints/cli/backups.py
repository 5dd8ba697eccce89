"""Backup, restore, and the move to another database (contract K4, K9)."""

from pathlib import Path

import click

from logoadmin.entrypoints.cli.gallery import command_settings, database_option


@click.command()
@click.argument("file", type=click.Path(path_type=Path))
@click.option(
    "--keep",
    type=click.IntRange(1),
    metavar="N",
    help="Keep N backups in the directory FILE, including this one. Use one directory per gallery.",
)
@database_option
def backup(file: Path, keep: int | None, database: str | None) -> None:
    """Back up the gallery to FILE, also while it is served.

    The backup is complete, of one moment, and verified before it gets its name; it overwrites nothing. In a directory,
    it is named after the database and the time, in UTC. For a database server, this prints the command to use.
    """
    from logoadmin.maintenance import back_up, back_up_into

    if str(file) == "-":  # standard output for other commands; a backup is read again to verify it
        raise click.UsageError("A backup cannot go to standard output: name a file or a directory.")
    if file.is_dir():
        file = back_up_into(command_settings(database), file, keep)
    elif keep is not None:
        raise click.UsageError(f"--keep requires a directory, and {file} is not one.")
    else:
        back_up(command_settings(database), file)
    click.echo(f"Backed up to {file} and verified. Keep it safe: it contains the token keys and the password hashes")


@click.command()
@click.argument("file", type=click.Path(dir_okay=False, path_type=Path), required=False)
@click.option("--loaded", is_flag=True, help="The backup was loaded with another program: only skip ids.")
@database_option
def restore(file: Path | None, loaded: bool, database: str | None) -> None:
    """Create the database from FILE, a backup made by logoadmin backup.

    Nothing is overwritten. Tables of an earlier version are upgraded. Ids that may have been issued since the backup
    are skipped. For a database server, this prints the command to load the backup; run --loaded after it.
    """
    from logoadmin.maintenance import restore, restore_loaded

    if (file is None) is not loaded:
        raise click.UsageError("Name a file, or use --loaded.")
    if file is None:
        restore_loaded(command_settings(database))
        click.echo("The database is ready. New ids start above any that may have been issued since the backup")
    else:
        restore(command_settings(database), file)
        click.echo(f"Restored from {file}. New ids start above any that may have been issued since the backup")


@click.command()
@click.option("--to", "target", metavar="URL", required=True, help="The database to move to, which must be empty.")
@database_option
def move(target: str, database: str | None) -> None:
    """Move the whole gallery to another, empty database of any kind.

    Everything is copied, compared row by row, and stays what it was; if anything fails, nothing is moved. Nobody can
    write meanwhile. Afterwards no program serves the old database any more.
    """
    from logoadmin.maintenance import move

    address = move(command_settings(database), target, _show_progress)
    click.echo(f"Moved to {address}. Set database to its URL, and start the services again")


def _show_progress(done: str, table: str, rows: int) -> None:
    click.echo(f"{table}: {rows} row{'' if rows == 1 else 's'} {done}", err=True)
