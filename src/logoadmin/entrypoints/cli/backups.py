"""Backup, restore, and moving to another database (contract K4, K9)."""

import os
from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING, Final

import click

from logoadmin.domain.kernel.errors import LogoAdminError
from logoadmin.entrypoints.cli.gallery import command_settings, database_option, show_line

if TYPE_CHECKING:
    from logoadmin.settings import Settings

# Settings whose loss would lock users out; unless they are set, the database holds the keys.
_SECRETS: Final = ("factor_key", "token_key", "oidc_client_secret")


@click.command()
@click.argument("file", type=click.Path(path_type=Path), required=False)
@click.option("--dumped", is_flag=True, help="Another program made the backup: only record its time, for metrics.")
@click.option(
    "--keep",
    type=click.IntRange(1),
    metavar="N",
    help="Keep N backups in the directory FILE, including this one. Use one directory per gallery.",
)
@database_option
def backup(file: Path | None, keep: int | None, database: str | None, *, dumped: bool) -> None:
    """Back up the gallery to FILE, even while it is served.

    The backup is complete and consistent, and verified before it gets its name; nothing is overwritten. In a
    directory, it is named after the database and the time, in UTC. For a database server, this prints the command to
    use. Also prints the files with settings and keys that are not in the backup.
    """
    from logoadmin.maintenance import back_up, back_up_into, files_of_database, record_backup

    if (file is None) is not dumped:
        raise click.UsageError("Name a file, or use --dumped.")
    if file is None:
        record_backup(command_settings(database))
        click.echo("Recorded the time of the backup")
        return
    if str(file) == "-":  # standard output in other commands, but a backup is read again to verify it
        raise click.UsageError("A backup cannot go to standard output: name a file or a directory.")
    if keep is not None and not file.is_dir():
        raise click.UsageError(f"--keep requires a directory, and {file} is not one.")
    settings = command_settings(database)
    if not files_of_database(settings):  # then backing up is an error, with the command to use
        _show_companions(settings)
    if file.is_dir():
        file = back_up_into(settings, file, keep)
    else:
        back_up(settings, file)
    click.echo(f"Backed up to {file} and verified. Keep it safe: it contains the token keys and the password hashes")
    _show_companions(settings)
    try:
        record_backup(settings)
    except LogoAdminError as error:
        show_line(f"logoadmin: its time is not in the metrics: {error.explained}", err=True)


def _show_companions(settings: "Settings") -> None:
    """Print the files and settings that this installation needs in addition to its database, without secrets."""
    companions = list(_companions(settings))
    if companions:
        click.echo("Not in it, and needed to restore this installation; keep copies apart from the backup:")
    for companion in companions:
        show_line(f"  {companion}")


def _companions(settings: "Settings") -> Iterator[str]:
    """Yield the files with settings and keys, and the secrets that are not in files."""
    sources = settings.sources
    for file in sorted({source for source in sources.values() if os.sep in source}):
        names = ", ".join(name for name in _SECRETS if sources.get(name) == file)
        yield f"{file} (settings{f', with {names}' if names else ''})"
    for name in _SECRETS:
        if name in sources and os.sep not in sources[name]:
            yield f"the value of {name}, from {sources[name]}"
    for file in settings.token_key_files:
        yield f"{os.path.abspath(file)} (token_key_files)"
    if settings.gallery_key_file is not None:
        yield f"{os.path.abspath(settings.gallery_key_file)} (gallery_key_file)"


@click.command()
@click.argument("file", type=click.Path(dir_okay=False, path_type=Path), required=False)
@click.option("--loaded", is_flag=True, help="The backup was loaded with another program: only skip ids.")
@database_option
def restore(file: Path | None, loaded: bool, database: str | None) -> None:
    """Create the database from FILE, a backup.

    The backup was made by logoadmin backup. Nothing is overwritten. Tables of an earlier version are upgraded. Ids that
    may have been issued since the backup are skipped. For a database server, this prints the command to load the
    backup; run --loaded after it.
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
    """Move the whole gallery to another, empty database.

    The databases may be of different kinds. Everything is copied unchanged and compared row by row; if anything fails,
    nothing is moved. Nobody can write meanwhile. Afterwards, no program serves the old database.
    """
    from logoadmin.maintenance import move

    address = move(command_settings(database), target, _show_progress)
    click.echo(f"Moved to {address}. Set database to its URL, and start the services again")


def _show_progress(done: str, table: str, rows: int) -> None:
    click.echo(f"{table}: {rows} row{'' if rows == 1 else 's'} {done}", err=True)
