"""The commands that copy pictures and style sheets from elsewhere, and move pictures as files (contract L5, P3, P4)."""

import json
import re
import sys
from collections.abc import Iterator
from dataclasses import asdict
from pathlib import Path
from typing import TYPE_CHECKING, Final

import click

from logoadmin.domain.kernel.errors import Conflict, InvalidInput, TooLargeToStore
from logoadmin.entrypoints.cli.gallery import database_option, gallery_at, owner, show_line, show_request

if TYPE_CHECKING:
    from logoadmin.domain.kernel.access import Owner
    from logoadmin.domain.logo_admin import LogoAdmin
    from logoadmin.domain.publication.publication_records import LeftOut

_NAME: Final = re.compile(r"([0-9a-f]{64})\.webp", re.ASCII)
_NOT_EXPORTED: Final = "it is not named as logoadmin pictures export names files; send it in the console"
_folder = click.Path(exists=True, file_okay=False, path_type=Path)


@click.group()
def pictures() -> None:
    """List, mirror, export and import pictures."""


@pictures.command()
@click.option("--dry-run", is_flag=True, help="Only print the external pictures.")
@database_option
def mirror(database: str | None, *, dry_run: bool) -> None:
    """Copy the external pictures of active logos and themes, and use the copies.

    All records change in one request, which can be undone. Pictures that cannot be copied are printed with the reason,
    and the exit code is then 1.
    """
    from logoadmin.domain.gallery.picture_mirror import NameCopies, PictureMirror

    with gallery_at(database, "never") as gallery:
        found = PictureMirror(gallery.pictures)
        if dry_run:
            for each in found.foreign():
                show_line(f"{each.kind} {each.id} ({each.name}): {each.url}")
            return
        copies = []
        for each in found.copies():
            copies.append(each)
            if each.failure:
                show_line(f"Not copied: {each.kind} {each.id} ({each.name}): {each.failure}", err=True)
        caller = owner()
        changed = found.name(NameCopies(copies=tuple(copies)), caller)
    _show_copied(changed, sum(bool(each.failure) for each in copies), caller)


def _show_copied(changed: int, failed: int, caller: "Owner") -> None:
    click.echo(f"{changed} changed, {failed} not copied")
    if changed:
        show_request(caller)
    if failed:
        sys.exit(1)


@pictures.command("list")
@database_option
def list_(database: str | None) -> None:
    """List the stored pictures as JSON Lines: their sizes, their senders, and the records that name them."""
    from logoadmin.domain.gallery.picture_commands import ListPictures

    with gallery_at(database, "never") as gallery:
        for picture in gallery.pictures.list(ListPictures()):
            click.echo(json.dumps(asdict(picture)))


@pictures.command("export")
@click.argument("directory", type=click.Path(file_okay=False, path_type=Path))
@database_option
def export_(directory: Path, database: str | None) -> None:
    """Write all stored pictures into DIRECTORY, except existing files. Creates DIRECTORY if needed."""
    from logoadmin.atomic_files import atomic_file
    from logoadmin.domain.gallery.picture_commands import GetPicture

    written = 0
    with gallery_at(database, "never") as gallery:
        directory.mkdir(exist_ok=True)
        for picture in _stored(gallery):
            target = directory / f"{picture}.webp"
            if not target.exists():
                content, _ = gallery.pictures.get(GetPicture(picture=picture))
                with atomic_file(target) as part:
                    part.write_bytes(content)
                written += 1
    click.echo(f"{written} written")


@pictures.command("import")
@click.argument("directory", type=_folder)
@database_option
def import_(directory: Path, database: str | None) -> None:
    """Store the pictures in DIRECTORY, which were exported from a gallery.

    Pictures that no record names within a day are removed again. The exit code is 1 if a file was refused.
    """
    added = refused = 0
    with gallery_at(database, "never") as gallery:
        for path in sorted(directory.iterdir()):
            try:
                match = _NAME.fullmatch(path.name)
                if match is None:
                    raise Conflict(_NOT_EXPORTED)
                added += gallery.pictures.restore(match[1], path.read_bytes())
            except (InvalidInput, Conflict, TooLargeToStore) as error:
                text = error.problems[0].msg if isinstance(error, InvalidInput) else str(error)
                show_line(f"Refused: {path.name}: {text}", err=True)
                refused += 1
    click.echo(f"{added} added, {refused} refused")
    if refused:
        sys.exit(1)


def _stored(gallery: "LogoAdmin") -> Iterator[str]:
    after = ""
    while page := gallery.pictures.stored(after):
        yield from page
        after = page[-1]


@click.group()
def css() -> None:
    """Change the CSS of logos and themes."""


@css.command()
@click.option("--dry-run", is_flag=True, help="Fetch the style sheets and print the result, but change nothing.")
@database_option
def inline(database: str | None, *, dry_run: bool) -> None:
    """Copy the style sheets that logos and themes import into their CSS.

    All records change in one request, which can be undone. Imports that cannot be copied are printed with the reason;
    their records stay as they are, and the exit code is then 1.
    """
    from logoadmin.domain.publication.css.css_service import ArtworkImports, UseCopies

    with gallery_at(database, "never") as gallery:
        imports = ArtworkImports(gallery.css)
        found = []
        for each in imports.copies():
            found.append(each)
            for failed in each.failed:
                text = f"Not copied: {each.kind} {each.id} ({each.name}): {failed.url}: {failed.reason}"
                show_line(text, err=True)
            if dry_run and each.copy:
                show_line(f"{each.kind} {each.id} ({each.name}): {', '.join(each.urls)}")
        failures = sum(not each.copy for each in found)
        if dry_run:
            sys.exit(bool(failures))
        caller = owner()
        changed = imports.use(UseCopies(artworks=tuple(found)), caller)
    _show_copied(changed, failures, caller)


def explained(record: "LeftOut") -> str:
    """Return why a record is not published, with a command that helps if there is one."""
    return f"{record.reason}, for example with logoadmin css inline" if record.code == "import" else record.reason
