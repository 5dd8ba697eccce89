"""Importing and exporting records as files (contract I)."""

import shutil
import sys
import tempfile
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import ExitStack, contextmanager, nullcontext, suppress
from pathlib import Path
from typing import IO, TYPE_CHECKING, Final

import click

from logoadmin.atomic_files import atomic_file
from logoadmin.domain.kernel.errors import InvalidLines, LogoAdminError
from logoadmin.entrypoints.cli.copies import explained
from logoadmin.entrypoints.cli.gallery import (
    command_of,
    command_settings,
    database_option,
    gallery_at,
    gallery_for_dry_run,
    gallery_in_memory,
    owner,
    show_password,
    show_request,
)
from logoadmin.text_files import on_one_line

if TYPE_CHECKING:
    from logoadmin.domain.changes.import_export import Imported, ImportRecords
    from logoadmin.domain.changes.import_source import RawLine
    from logoadmin.domain.kernel.access import Owner
    from logoadmin.domain.kernel.errors import BadLine
    from logoadmin.domain.logo_admin import LogoAdmin

# Data that a file of records does not contain.
NOT_EXPORTED: Final = (
    "the history and the version numbers",
    "blocks",
    "the keys that sign tokens and the gallery",
    "sessions",
    "service keys",
    "second factors",
    "single sign-on identities",
    "preferences",
    "pictures",
    "proposals",
    "unsent notices",
    "the shared settings",
    "sign-in events",
    "stored responses and counts of failed sign-ins",
)
# Not derived from the kinds, which are slow to import.
_KINDS: Final = ("role", "user", "author", "theme", "logo")
_CSV_KIND: Final = click.Choice(["author", "theme", "logo"])
_MOST_NAMED: Final = 5
_MOST_NAME: Final = 64
_picture = click.Path(exists=True, dir_okay=False, path_type=Path)
_INACTIVE: Final = "inactive; activate works that are ready"


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
    type=click.Choice(_KINDS),
    help="Export only records of this kind; can be repeated.",
)
def export(
    file: str, database: str | None, with_password_hashes: bool, force: bool, kinds: tuple[str, ...], form: str | None
) -> None:
    """Export records to FILE, one JSON object per line.

    FILE may be -, for standard output. An import needs the records that others refer to: roles of users, and authors of
    themes and logos.
    """
    from logoadmin.domain.changes.import_export import ExportRecords
    from logoadmin.domain.kernel.records import Kind

    command = command_of(ExportRecords, {"kind": tuple(map(Kind, kinds)), "format": form})
    _refuse_database(file, database)
    if not force and file != "-" and Path(file).is_file():
        raise LogoAdminError(f"{file} exists; name another file, or overwrite it with --force")
    with gallery_at(database, "never") as gallery, _target(file) as target:
        click.echo(f"Left out: {', '.join(NOT_EXPORTED)}. logoadmin move copies everything", err=True)
        if not with_password_hashes and "user" in (kinds or _KINDS):
            click.echo(
                "Password hashes are left out: after an import, users cannot sign in until their passwords are set "
                "(--with-password-hashes includes the hashes)",
                err=True,
            )
        counts = gallery.import_export.dump(command, target.write, with_password_hashes=with_password_hashes)
    exported = (counted(count, kind) for kind, count in counts.items() if count)
    click.echo(f"Exported {', '.join(exported) or 'nothing'}", err=True)


def _refuse_database(file: str, database: str | None) -> None:
    """Refuse to overwrite the exported database."""
    from logoadmin.maintenance import files_of_database

    if Path(file).resolve() in files_of_database(command_settings(database)):
        raise click.UsageError(f"{file} is the database; name another file.")


@contextmanager
def _target(file: str) -> Iterator[IO[str]]:
    """Write a file that only its owner may read, and that gets its name once it is complete and on disk.

    Raises:
        OSError: with the name of the file, which the system omits if a write fails.
    """
    path = Path(file)
    try:
        with ExitStack() as stack:
            if file == "-":
                sys.stdout.reconfigure(encoding="utf-8")  # type: ignore[union-attr]  # as it is outside of tests
                target: IO[str] = sys.stdout
            else:
                # A device or a pipe cannot be replaced by a file.
                is_special = path.exists() and not path.is_file()
                part = path if is_special else stack.enter_context(atomic_file(path))
                target = stack.enter_context(part.open("w", encoding="utf-8", newline=""))
            yield target
            target.flush()
    except OSError as error:
        name = "standard output" if file == "-" else file
        raise OSError(error.errno, error.strerror or str(error), error.filename or name) from None


@click.command("import")
@click.argument("files", metavar="FILE...", nargs=-1, required=True, type=click.Path(allow_dash=True))
@database_option
@click.option("--dry-run", is_flag=True, help="Check whether FILE can be imported, and change nothing.")
@click.option("--skip-invalid", is_flag=True, help="Import the valid lines, and print the others; the exit code is 1.")
@click.option("--target", help="The target of user styles, instead of the one that their pages choose.")
@click.option(
    "--picture", type=_picture, help="The picture for new user styles without one of the same name beside them."
)
@click.option("--kind", type=_CSV_KIND, help="Read FILE as CSV with records of this kind.")
@click.option("--charset", help="The encoding of a CSV file, such as cp1251; UTF-8 by default.")
def import_(
    files: tuple[str, ...],
    database: str | None,
    *,
    dry_run: bool,
    skip_invalid: bool,
    target: str | None,
    picture: Path | None,
    kind: str | None,
    charset: str | None,
) -> None:
    """Import records or user styles from FILE.

    FILE has one JSON object per line, or is CSV or a user style; it may be -, for standard input. Either all records
    are created or changed, or none. Every bad line is reported. Several FILEs must be user styles, whose names end with
    .user.css.
    """
    from logoadmin.domain.changes.import_export import ImportRecords
    from logoadmin.entrypoints.cli.import_files import style_lines

    command = command_of(ImportRecords, {"dry_run": dry_run, "kind": kind, "charset": charset})
    _check_options(files, kind=kind, charset=charset, of_styles=target or picture)
    caller = owner()
    skipped: list[BadLine] | None = [] if skip_invalid else None
    with _opened_source(files) as source, ExitStack() as stack:
        # After opening the file, so that nothing is created if it does not exist.
        opening = gallery_for_dry_run(database) if dry_run else gallery_at(database, "empty", administrator=False)
        gallery = stack.enter_context(opening)
        read = source or style_lines([*map(Path, files)], gallery, target=target, picture=picture)
        lines = stack.enter_context(_with_pictures(read, command, gallery))
        progress = stack.enter_context(_progress(lines))
        command = command.model_copy(update={"kind": None})
        imported = _load(gallery, command, files, lines, caller, progress, skipped)
    _show_imported(imported)
    if not dry_run:
        _show_changes(database, imported, caller)
    if skipped:
        sys.exit(1)


def _load(
    gallery: "LogoAdmin",
    command: "ImportRecords",
    files: tuple[str, ...],
    lines: "Iterable[RawLine]",
    caller: "Owner",
    progress: Callable[[], None],
    skipped: "list[BadLine] | None",
) -> "Imported":
    """Import the lines and print the problems of invalid ones; add these to ``skipped`` unless it is None."""
    try:
        imported = gallery.import_export.load(command, lines, caller, progress, skipped=skipped)
    except InvalidLines as error:
        _show_problems(files, error.lines, {})
        raise
    if skipped:
        _show_problems(files, skipped, _names(lines, {line.number for line in skipped}))
        click.echo(f"logoadmin: {counted(len(skipped), 'line')} skipped", err=True)
    return imported


def _check_options(
    files: tuple[str, ...], *, kind: str | None, charset: str | None, of_styles: str | Path | None
) -> None:
    if _are_styles(files):
        if kind is not None or charset is not None:
            raise click.UsageError("User styles have no --kind and no --charset.")
        return
    if len(files) > 1:
        raise click.UsageError("Name one FILE; only user styles, which end with .user.css, can be several.")
    if of_styles is not None:
        raise click.UsageError("Only user styles, which end with .user.css, have a --target and a --picture.")
    if kind is None and (charset is not None or files[0].endswith((".csv", ".tsv"))):
        raise click.UsageError("Name the kind of the records in a CSV file with --kind.")


def _are_styles(files: tuple[str, ...]) -> bool:
    return all(file.endswith(".user.css") for file in files)


class _RewindingFile:
    """A file whose lines can be read several times, and its folder."""

    def __init__(self, source: IO[bytes], folder: Path) -> None:
        self._source, self.folder = source, folder
        self._start = source.tell()

    def __iter__(self) -> Iterator[bytes]:
        """Return the lines from the start."""
        self._source.seek(self._start)
        # An iterator of the file itself would close it if the iteration stops early.
        return iter(self._source.readline, b"")


@contextmanager
def _opened_source(files: tuple[str, ...]) -> Iterator[_RewindingFile | None]:
    """Open a file of records; None for user styles. A pipe, which can be read only once, is copied to disk."""
    if _are_styles(files):
        yield None
        return
    with click.open_file(files[0], "rb") as source:
        folder = Path() if files[0] == "-" else Path(files[0]).parent
        if source.seekable():
            yield _RewindingFile(source, folder)
            return
        with tempfile.TemporaryFile() as copy:
            shutil.copyfileobj(source, copy)
            copy.seek(0)
            yield _RewindingFile(copy, folder)


@contextmanager
def _with_pictures(
    source: "_RewindingFile | Iterable[RawLine]", command: "ImportRecords", gallery: "LogoAdmin"
) -> Iterator["Iterable[RawLine]"]:
    """Yield the lines of a file or of user styles, with URLs in place of the pictures that they name.

    A dry run stores pictures in a temporary gallery in memory.
    """
    from logoadmin.domain.changes.csv_lines import CsvLines
    from logoadmin.entrypoints.cli.import_files import FILES, LinesWithPictures

    # User styles and their pictures may be in any folder.
    folder = source.folder if isinstance(source, _RewindingFile) else Path("/")
    lines = source if command.kind is None else CsvLines(source, command.kind, command.charset, FILES)
    with gallery_in_memory() if command.dry_run else nullcontext(gallery) as keeper:
        yield LinesWithPictures(lines, folder, keeper)


def _show_problems(files: tuple[str, ...], bad: "Sequence[BadLine]", names: Mapping[int, str]) -> None:
    """Print problems with file and line, and with the name of the record if known."""
    for line in sorted(bad, key=lambda line: line.number):
        place = files[line.number - 1] if _are_styles(files) else f"{files[0]}:{line.number}"
        name = names.get(line.number)
        for problem in line.problems:
            where = ".".join(map(str, problem.loc))
            text = f"{place}: {f'{name}: ' if name else ''}{where + ': ' if where else ''}{problem.msg}"
            click.echo(on_one_line(text), err=True)


def _names(lines: "Iterable[RawLine]", numbers: set[int]) -> dict[int, str]:
    """Return the names of the records on some lines, as far as they are readable."""
    from logoadmin.domain.kernel.command import strict_json

    names = {}
    for number, line in enumerate(lines, start=1):
        if number in numbers and isinstance(line, str | bytes | dict):
            with suppress(ValueError):
                values = line if isinstance(line, dict) else strict_json(line)
                if isinstance(values, dict):
                    names[number] = str(values.get("name") or values.get("username") or "")[:_MOST_NAME]
    return names


def _show_imported(imported: "Imported") -> None:
    done = []
    for kind, counts in imported.counts.items():
        became = {"created": counts.created, "amended": counts.amended, "unchanged": counts.unchanged}
        outcomes = ", ".join(f"{count} {outcome}" for outcome, count in became.items() if count)
        if outcomes:
            done.append(f"{counted(counts.total, kind)} ({outcomes})")
    click.echo(f"{'Could import' if imported.dry_run else 'Imported'} {', '.join(done) or 'nothing'}")
    if imported.without_password:
        click.echo(
            f"{counted(imported.without_password, 'new user')} without a password cannot sign in: "
            "set one with logoadmin user password USER, or import a file made with export --with-password-hashes",
            err=True,
        )


def _show_changes(database: str | None, imported: "Imported", caller: "Owner") -> None:
    if any(counts.created or counts.amended for counts in imported.counts.values()):
        show_request(caller)
    # After the import, because a user in the file may have the name of the first administrator.
    with gallery_at(database, "empty") as gallery:
        show_password(gallery.admin_password)
        _show_unpublished(gallery, caller)


def _show_unpublished(gallery: "LogoAdmin", caller: "Owner") -> None:
    """Print which of the imported artworks are not published, why, and what helps (contract I5)."""
    from logoadmin.domain.changes.history import ListChanges

    listed = gallery.changes.list(ListChanges(request_id=str(caller.request_id)))
    changed = {
        (change.kind, change.id): change.after for change in listed if change.kind in ("logo", "theme") and change.after
    }
    if not changed:
        return
    reasons = dict.fromkeys((key for key, after in changed.items() if not after["active"]), _INACTIVE)
    reasons |= {(each.kind, each.id): explained(each) for each in gallery.publication.left_out(changed)}
    for reason, count in Counter(reasons.values()).items():
        ids = [f"{kind} {id_}" for (kind, id_), why in reasons.items() if why == reason]
        more = f" and {count - _MOST_NAMED} more" if count > _MOST_NAMED else ""
        text = f"Not published: {', '.join(ids[:_MOST_NAMED])}{more}: {reason}"
        click.echo(on_one_line(text), err=True)


def counted(count: int, noun: str) -> str:
    """Return a number with its noun, such as ``2 lines``."""
    return f"{count} {noun}{'' if count == 1 else 's'}"


@contextmanager
def _progress(lines: "Iterable[RawLine]") -> Iterator[Callable[[], None]]:
    """Show progress bars in a terminal, while lines and their pictures are read, and while they are stored."""
    if not sys.stderr.isatty():
        yield lambda: None
        return
    with click.progressbar(lines, label="Reading", file=sys.stderr) as reading:
        length = sum(1 for _ in reading)
    with click.progressbar(length=length, label="Importing", file=sys.stderr) as bar:
        yield lambda: bar.update(1)
