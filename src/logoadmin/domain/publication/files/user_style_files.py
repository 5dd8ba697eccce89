"""The files with user styles, of which only those are written whose artworks have changed (contract Q3)."""

import json
from bisect import bisect_left
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from functools import partial
from typing import Any, Final

from logoadmin.domain.kernel.kinds import KINDS
from logoadmin.domain.kernel.records import Kind
from logoadmin.domain.publication.css.targets import Targets
from logoadmin.domain.publication.files.index import Index, canonical, sha256
from logoadmin.domain.publication.files.user_styles import StyledArtwork, style_name, user_style
from logoadmin.domain.publication.publication_records import StyleFile
from logoadmin.ports.publication.gallery_files import GalleryFiles

# What each file was made of.
STYLES: Final = ".styles.json"
# Stands before what cannot be a user style.
_NONE: Final = "-"
# Raised with each change of what this program makes of an artwork.
_FORM: Final = 2


@dataclass(frozen=True, slots=True)
class UserStyles:
    """The user styles of a publication.

    Attributes:
        index: its index.
        sheets: its pinned sheets by their SHA-256.
        versions: the versions of the artworks that get a user style, by kind and id.
        targets: the targets with pages.
        gallery: the UUID of the gallery.
        url: see :func:`~logoadmin.domain.publication.files.user_styles.user_style`, like the next one.
    """

    index: Index
    sheets: Mapping[str, str]
    versions: Mapping[tuple[Kind, int], int]
    targets: Targets
    gallery: str
    url: str | None
    has_page: bool

    def __iter__(self) -> Iterator[StyleFile]:
        """Yield a file for each artwork, one at a time."""
        for (kind, id_), version in self.versions.items():
            record = self._record(KINDS[kind].plural, id_)
            authors = [self._record("authors", each)["username"] for each in record.get("author_ids", ())]
            css = record.get("custom_css", "")
            artwork = StyledArtwork(kind, id_, version, record["name"], authors, css)
            target = self.targets.get(record["target"])
            if target is None:
                continue
            make = partial(user_style, artwork, target, self.sheets, self.gallery, self.url, has_page=self.has_page)
            made_of = repr((_FORM, artwork, target, self.gallery, self.url, self.has_page))
            yield StyleFile(style_name(kind, id_), sha256(made_of.encode())[:16], make)

    def _record(self, section: str, id_: int) -> Any:
        found = self.index.sections[section]
        return json.loads(found.record(bisect_left(found.fingerprints.ids, id_)))


def write_styles(files: GalleryFiles, styles: Iterable[StyleFile]) -> set[str]:
    """Write the user styles that have changed; return the names of all.

    Whenever a program is killed, no file counts as made of what it is not made of.

    Raises:
        OSError: a file cannot be read or written.
    """
    stored, known = {*files.names()}, _known(files)
    made: dict[str, str] = {}
    changed = []
    for style in styles:
        before = known.get(style.name)
        if before == f"{_NONE}{style.made_of}" or (before == style.made_of and style.name in stored):
            made[style.name] = before
        else:
            changed.append(style)
    _note(files, made)
    files.write_many(_changed(files, changed, made))
    _note(files, made)
    return {name for name, made_of in made.items() if not made_of.startswith(_NONE)}


def _changed(files: GalleryFiles, styles: Iterable[StyleFile], made: dict[str, str]) -> Iterator[tuple[str, bytes]]:
    """Yield the files that have changed, and note what all are made of."""
    for style in styles:
        content = style.make()
        made[style.name] = style.made_of if content is not None else f"{_NONE}{style.made_of}"
        if content is not None and files.read(style.name) != content.encode():
            yield style.name, content.encode()


def _note(files: GalleryFiles, made: Mapping[str, str]) -> None:
    content = canonical(made)
    if (files.read(STYLES) or b"{}") != content:
        files.write(STYLES, content)


def _known(files: GalleryFiles) -> Mapping[str, Any]:
    """Return what the files were made of; a damaged file counts as missing."""
    try:
        found = json.loads(files.read(STYLES) or b"{}")
    except (ValueError, RecursionError):
        return {}
    return found if isinstance(found, dict) else {}
