"""Import and export (contract I)."""

import shutil
import sys
import tempfile
from collections import Counter
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import IO, TYPE_CHECKING, Final

import click

from logoadmin.atomic_files import atomic_file
from logoadmin.domain.kernel.errors import InvalidLines, LogoAdminError
from logoadmin.domain.kernel.kinds import KINDS
from logoadmin.domain.kernel.records import Kind
from logoadmin.entrypoints.cli.css import explained
from logoadmin.entrypoints.cli.gallery import (
    command_settings,
    database_option,
    gallery_at,
    gallery_for_dry_run,
    owner,
    show_password,
    show_request,
)
from logoadmin.entrypoints.cli.lines import command_of
from logoadmin.entrypoints.one_line import on_one_line

if TYPE_CHECKING:
    from logoadmin.domain.kernel.access import Owner
    from logoadmin.domain.kernel.records import Imported
    from logoadmin.domain.logo_admin import LogoAdmin

# What a file of records does not hold; docs/backup.md lists it as well.
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


_CSV_KIND: Final = click.Choice(["author", "theme", "logo"])
_ARTWORKS: Final = frozenset({Kind.LOGO, Kind.THEME})
_MOST_NAMED: Final = 5
_INACTIVE: Final = "They are switched off; switch on those that are ready"


@click.command("import")
@click.argument("file", type=click.Path(allow_dash=True))
@database_option
@click.option("--dry-run", is_flag=True, help="Check whether FILE can be imported, and change nothing.")
@click.option("--kind", type=_CSV_KIND, help="FILE is CSV, with records of this kind.")
@click.option("--charset", help="The encoding of a CSV file, such as cp1251; UTF-8 by default.")
def import_(file: str, database: str | None, dry_run: bool, kind: str | None, charset: str | None) -> None:
    """Import records from FILE, one JSON object per line, or CSV; - is standard input.

    Either all of them are created or changed, or none. Every bad line is reported.
    """
    from logoadmin.domain.changes.import_export import ImportRecords

    command = command_of(ImportRecords, {"dry_run": dry_run, "kind": kind, "charset": charset})
    if kind is None and (charset is not None or file.endswith((".csv", ".tsv"))):
        raise click.UsageError("Name the kind of the records in a CSV file with --kind.")
    caller = owner()
    with _lines_of(file) as lines:
        opening = gallery_for_dry_run(database) if dry_run else gallery_at(database, "empty", administrator=False)
        with opening as gallery, _progress(lines) as progress:
            try:
                imported = gallery.import_export.load(command, lines, caller, progress)
            except InvalidLines as error:
                _show_problems(file, error)
                raise
    _show_imported(imported)
    if not dry_run:
        if any(counts.created or counts.amended for counts in imported.counts.values()):
            show_request(caller)
        # After the import, because a user in the file may have the name of the first administrator.
        with gallery_at(database, "empty") as gallery:
            show_password(gallery.admin_password)
            _show_unpublished(gallery, caller)


class _RewindingFile:
    """A file whose lines can be read several times."""

    def __init__(self, source: IO[bytes]) -> None:
        self._source = source
        self._start = source.tell()

    def __iter__(self) -> Iterator[bytes]:
        """Yield the lines from the start."""
        self._source.seek(self._start)
        yield from self._source


@contextmanager
def _lines_of(file: str) -> Iterator[_RewindingFile]:
    """Open a file; a pipe, which can be read only once, is copied to the disk first."""
    with click.open_file(file, "rb") as source:
        if source.seekable():
            yield _RewindingFile(source)
            return
        with tempfile.TemporaryFile() as copy:
            shutil.copyfileobj(source, copy)
            copy.seek(0)
            yield _RewindingFile(copy)


def _show_problems(file: str, error: InvalidLines) -> None:
    for line in error.lines:
        for problem in line.problems:
            where = ".".join(map(str, problem.loc))
            text = f"{file}:{line.number}: {where + ': ' if where else ''}{problem.msg}"
            click.echo(on_one_line(text), err=True)


def _show_imported(imported: "Imported") -> None:
    done = []
    for kind, counts in imported.counts.items():
        became = {"created": counts.created, "amended": counts.amended, "unchanged": counts.unchanged}
        outcomes = ", ".join(f"{count} {outcome}" for outcome, count in became.items() if count)
        if outcomes:
            done.append(f"{_counted(counts.lines, kind)} ({outcomes})")
    click.echo(f"{'Could import' if imported.dry_run else 'Imported'} {', '.join(done) or 'nothing'}")
    if imported.without_password:
        click.echo(
            f"{_counted(imported.without_password, 'new user')} without a password cannot sign in: "
            "set one with logoadmin user password USER, or import a file made with export --with-password-hashes",
            err=True,
        )


def _show_unpublished(gallery: "LogoAdmin", caller: "Owner") -> None:
    """Print which of the artworks that an import changed readers do not get, why, and what helps (contract I5)."""
    from logoadmin.domain.changes.history import ListChanges
    from logoadmin.domain.publication.publication_service import ShowPublication

    listed = gallery.changes.list(ListChanges(request_id=str(caller.request_id)))
    changed = {(change.kind, change.id): change.after for change in listed if change.kind in _ARTWORKS and change.after}
    if not changed:
        return
    reasons = dict.fromkeys((key for key, after in changed.items() if not after["active"]), _INACTIVE)
    for each in gallery.publication.status(ShowPublication()).left_out:
        if (each.kind, each.id) in changed:
            reasons[each.kind, each.id] = explained(each)
    for reason, count in Counter(reasons.values()).items():
        ids = [f"{kind} {id_}" for (kind, id_), why in reasons.items() if why == reason]
        more = f" and {count - _MOST_NAMED} more" if count > _MOST_NAMED else ""
        text = f"Not published: {', '.join(ids[:_MOST_NAMED])}{more}: {reason}"
        click.echo(on_one_line(text), err=True)


def _counted(count: int, noun: str) -> str:
    return f"{count} {noun}{'' if count == 1 else 's'}"


@contextmanager
def _progress(lines: _RewindingFile) -> Iterator[Callable[[], None]]:
    """Show a progress bar in a terminal."""
    if not sys.stderr.isatty():
        yield lambda: None
        return
    with click.progressbar(length=sum(1 for _ in lines), label="Importing", file=sys.stderr) as bar:
        yield lambda: bar.update(1)


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
    counted = (_counted(count, kind) for kind, count in counts.items() if count)
    click.echo(f"Exported {', '.join(counted) or 'nothing'}", err=True)


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
