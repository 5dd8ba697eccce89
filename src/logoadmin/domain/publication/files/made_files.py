"""Files made of records, of which only those are written whose records have changed (contract Q1, Q3)."""

import json
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping
from typing import Any, Final

from logoadmin.domain.publication.files.file_names import MADE
from logoadmin.domain.publication.files.index import canonical
from logoadmin.domain.publication.publication_records import MadeFile
from logoadmin.ports.gallery_files import GalleryFiles

# Stands before what has no file.
_NONE: Final = "-"


def outdated(files: GalleryFiles, stored: Collection[str], made: Iterable[MadeFile]) -> Iterator[MadeFile]:
    """Yield those that are missing, or made of something else.

    Args:
        files: the files.
        stored: the names of existing files.
        made: what should exist.

    Raises:
        OSError: a file cannot be read.
    """
    known = notes_in(files.read(MADE))
    return (each for each in made if not _is_current(each, known, stored))


def write_made(
    files: GalleryFiles, stored: Collection[str], made: Iterable[MadeFile], go_on: Callable[[], bool]
) -> set[str] | None:
    """Write those that have changed; return the names of all, or None if something else must be done first.

    Whenever a program is killed, no file counts as made of what it is not made of. What was written counts, also if
    the rest fails.

    Args:
        files: the files.
        stored: the names of existing files.
        made: what should exist.
        go_on: is asked before each file, and returns whether to go on.

    Raises:
        OSError: a file cannot be read or written.
    """
    noted = files.read(MADE) or b"{}"
    known = notes_in(noted)
    current: dict[str, str] = {}
    changed = []
    for each in made:
        if _is_current(each, known, stored):
            current[each.name] = known[each.name]
        else:
            changed.append(each)
    if (unchanged := canonical(current)) != noted:
        files.write(MADE, unchanged)
    left = len(changed)
    if changed:
        written = len(current)
        try:
            files.write_many(_changed(files, changed, current, go_on))
        finally:
            files.write(MADE, canonical(current))
        left -= len(current) - written
    if left:
        return None
    return {name for name, made_of in current.items() if not made_of.startswith(_NONE)}


def _is_current(each: MadeFile, known: Mapping[str, Any], stored: Collection[str]) -> bool:
    before, made_of = known.get(each.name), each.made_of
    return before == f"{_NONE}{made_of}" or (before == made_of and each.name in stored)


def _changed(
    files: GalleryFiles, changed: Iterable[MadeFile], current: dict[str, str], go_on: Callable[[], bool]
) -> Iterator[tuple[str, bytes]]:
    """Yield the files that have changed; note what each is made of once it is written."""
    for each in changed:
        if not go_on():
            return
        content = each.content()
        if content is not None and files.read(each.name) != content:
            yield each.name, content
        current[each.name] = each.made_of if content is not None else f"{_NONE}{each.made_of}"


def notes_in(content: bytes | None) -> Mapping[str, Any]:
    """Return the members of a file with notes of the publisher; a damaged file counts as missing."""
    try:
        found = json.loads(content or b"{}")
    except (ValueError, RecursionError):
        return {}
    return found if isinstance(found, dict) else {}
