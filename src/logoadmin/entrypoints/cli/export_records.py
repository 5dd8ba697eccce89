"""The export of records to files (contract I)."""

import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import IO, Final

import click

from logoadmin.atomic_files import atomic_file
from logoadmin.domain.kernel.errors import LogoAdminError
from logoadmin.domain.kernel.kinds import KINDS
from logoadmin.domain.kernel.records import Kind
from logoadmin.entrypoints.cli.gallery import command_settings, database_option, gallery_at
from logoadmin.entrypoints.cli.import_records import counted
from logoadmin.entrypoints.cli.lines import command_of

# What a file of records does not contain.
NOT_EXPORTED: Final = (
    "the history and the version numbers",
    "blocks",
    "the keys that sign tokens and the gallery",
    "sessions",
    "service keys",
    "second factors",
    "identities of single sign-on",
    "preferences",
    "pictures",
    "proposals",
    "notices that were not sent yet",
    "the settings for everybody",
    "sign-in events",
    "stored responses and counts of failed sign-ins",
)


@click.command()
@click.argument("file", type=click.Path(allow_dash=True, dir_okay=False))
@database_option
@click.option(
    "--with-password-hashes", is_flag=True, help="Include password hashes, so that users keep their passwords."
)
@click.option("--force", is_flag=True, help="Overwrite FILE if it exists.")
@click.option(
    "--format",
    "form",
    type=click.Choice(["jsonl", "csv"]),
    help="JSON Lines, the default, or CSV, which has the records of one --kind: author, theme or logo.",
)
@click.option(
    "--kind",
    "kinds",
    multiple=True,
    type=click.Choice([kind.value for kind in KINDS]),
    help="Export only records of this kind; can be repeated.",
)
def export(
    file: str, database: str | None, with_password_hashes: bool, force: bool, kinds: tuple[str, ...], form: str | None
) -> None:
    """Export records to FILE, one JSON object per line; - is standard output.

    An import needs the records that others refer to: roles of users, and authors of themes and logos.
    """
    from logoadmin.domain.changes.import_export import ExportRecords

    command = command_of(ExportRecords, {"kind": tuple(map(Kind, kinds)), "format": form})
    _refuse_database(file, database)
    if not force and file != "-" and Path(file).is_file():
        raise LogoAdminError(f"{file} exists; name another file, or overwrite it with --force")
    with gallery_at(database, "never") as gallery, _target(file) as target:
        click.echo(f"Left out: {', '.join(NOT_EXPORTED)}. logoadmin move copies everything", err=True)
        if not with_password_hashes and Kind.USER in (command.kind or KINDS):
            click.echo(
                "Password hashes are left out: after an import, users cannot sign in until their passwords are set "
                "(--with-password-hashes includes the hashes)",
                err=True,
            )
        counts = gallery.import_export.dump(command, target.write, with_password_hashes=with_password_hashes)
    exported = (counted(count, kind) for kind, count in counts.items() if count)
    click.echo(f"Exported {', '.join(exported) or 'nothing'}", err=True)


def _refuse_database(file: str, database: str | None) -> None:
    """Refuse to overwrite the database that is exported."""
    from logoadmin.maintenance import files_of_database

    if Path(file).resolve() in files_of_database(command_settings(database)):
        raise click.UsageError(f"{file} is the database; name another file.")


@contextmanager
def _target(file: str) -> Iterator[IO[str]]:
    """Write a file that gets its name when it is complete and on the disk, and that only its owner may read.

    Raises:
        OSError: with the name of the file, which the system omits when a write fails.
    """
    try:
        with _opened(file) as target:
            yield target
            target.flush()
    except OSError as error:
        name = "standard output" if file == "-" else file
        raise OSError(error.errno, error.strerror or str(error), error.filename or name) from None


@contextmanager
def _opened(file: str) -> Iterator[IO[str]]:
    if file == "-":
        sys.stdout.reconfigure(encoding="utf-8")  # type: ignore[union-attr]  # as it is outside of tests
        yield sys.stdout
        return
    path = Path(file)
    if path.exists() and not path.is_file():  # a device or a pipe cannot be replaced by a file
        with path.open("w", encoding="utf-8", newline="") as target:
            yield target
        return
    with atomic_file(path) as part, part.open("w", encoding="utf-8", newline="") as target:
        yield target
