"""Bring files up to date, so that readers always see either the last publication or the new one (contract L1)."""

import json
import re
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, replace
from itertools import chain
from typing import Any, Final

from logoadmin.domain.kernel.errors import StartError
from logoadmin.domain.publication.files.blocking import is_full, replace_pages
from logoadmin.domain.publication.files.file_names import (
    ASSET_NAME,
    CHANGING_NAME,
    IMMUTABLE_NAME,
    LEASE,
    LEFTOVER,
    MADE,
    OURS,
    SPARE,
    STATE,
)
from logoadmin.domain.publication.files.gallery_keys import DAY, Identity
from logoadmin.domain.publication.files.index import canonical, sha256
from logoadmin.domain.publication.files.pointer import Pointer, parsed, signed
from logoadmin.domain.publication.publication_records import PAGE, POINTER, READER, GeneratedFile, Publication
from logoadmin.ports.gallery_files import GalleryFiles
from logoadmin.ports.gallery_page import GalleryPage

# Prefix of the fingerprint of a file that should not exist.
_NONE: Final = "-"


def outdated(files: GalleryFiles, stored: Collection[str], made: Iterable[GeneratedFile]) -> Iterator[GeneratedFile]:
    """Return the files that are not stored, or were made of something else."""
    known = notes_in(files.read(MADE))
    return (each for each in made if not _is_current(each, known, stored))


def write_generated(
    files: GalleryFiles, stored: Collection[str], made: Iterable[GeneratedFile], go_on: Callable[[], bool]
) -> set[str] | None:
    """Write the changed files while ``go_on`` returns true; return the names of all files, or None if it stopped.

    Whenever the program is killed, the notes are true of every file in them. Files written before a failure are noted.
    """
    notes = files.read(MADE) or b"{}"
    known = notes_in(notes)
    current: dict[str, str] = {}
    changed = []
    for each in made:
        if _is_current(each, known, stored):
            current[each.name] = known[each.name]
        else:
            changed.append(each)
    if (unchanged := canonical(current)) != notes:
        files.write(MADE, unchanged)
    all_ = len(current) + len(changed)
    if changed:
        try:
            files.write_many(_changed(files, changed, current, go_on))
        finally:
            files.write(MADE, canonical(current))
    if len(current) < all_:
        return None
    return {name for name, fingerprint in current.items() if not fingerprint.startswith(_NONE)}


def _is_current(each: GeneratedFile, known: Mapping[str, Any], stored: Collection[str]) -> bool:
    before, fingerprint = known.get(each.name), each.fingerprint
    return before == f"{_NONE}{fingerprint}" or (before == fingerprint and each.name in stored)


def _changed(
    files: GalleryFiles, changed: Iterable[GeneratedFile], current: dict[str, str], go_on: Callable[[], bool]
) -> Iterator[tuple[str, bytes]]:
    """Yield the files that have changed; note the fingerprint of each once it is written."""
    for each in changed:
        if not go_on():
            return
        content = each.content()
        if content is not None and files.read(each.name) != content:
            yield each.name, content
        current[each.name] = each.fingerprint if content is not None else f"{_NONE}{each.fingerprint}"


def notes_in(content: bytes | None) -> Mapping[str, Any]:
    """Return the members of a file with the publisher's notes; a damaged file counts as missing."""
    try:
        found = json.loads(content or b"{}")
    except (ValueError, RecursionError):
        return {}
    return found if isinstance(found, dict) else {}


# Readers may have an earlier pointer: the files that it references stay this long.
OLD_STAY: Final = 14 * DAY

_HASH: Final = re.compile(b"(?<![0-9a-f])[0-9a-f]{64}(?![0-9a-f])")
_CURE: Final = "name an empty folder, or one that logoadmin publish wrote"


@dataclass(frozen=True, slots=True)
class Blocks:
    """The current blocks, after the last change."""

    identity: Identity
    version: int
    blocked: Sequence[Mapping[str, Any]]  # the newest entries
    pictures: Collection[str] = ()  # those that may be published; others were taken down or removed
    styles: Collection[str] = ()  # the user styles of all blocked records
    pages: Iterable[GeneratedFile] = ()  # these replace the pages of blocked records


class Destination:
    """The files of the last publication, which the caller has locked. Each method may raise OSError."""

    def __init__(self, files: GalleryFiles, page: GalleryPage, now: int) -> None:
        """Read the state of the files; ``page`` recognizes the page of a gallery."""
        self._files, self._page, self._now = files, page, now
        self._names = {*files.names()}
        self.latest = files.read(POINTER)
        self._state = notes_in(files.read(STATE))

    @property
    def is_complete(self) -> bool:
        """Whether the files have every record that was active; False if unknown."""
        return self._state.get("left_out") == 0

    def is_unchanged(self, state: str) -> bool:
        """Return whether the files were made of this state of the gallery, and their pointer is younger than a day."""
        if self.latest is None or self._state.get("made_of") != _fingerprint(state, self.latest):
            return False
        pointer = parsed(self.latest)
        max_age = min(DAY, (pointer.expires - pointer.issued) / 2)
        return pointer.paths <= self._names and 0 <= self._now - pointer.issued < max_age

    def clear_another_gallery(self, gallery: str) -> None:
        """Remove the publication of another gallery, such as that of a deleted database."""
        if self.latest is None:
            return
        with suppress(ValueError):  # damaged
            if parsed(self.latest).gallery == gallery:
                return
        self._remove({POINTER})
        self._remove({each for each in self._names if OURS.fullmatch(each) or LEFTOVER.fullmatch(each)} - {LEASE})
        self.latest, self._state = None, {}

    def publish_blocks(self, blocks: Blocks, expires: int) -> None:
        """Withdraw blocked records: remove their files, and add new blocks to the pointer to the last index.

        In this way, blocks reach readers even if the disk has no space for another index. Pictures of blocked records,
        removed pictures and user styles are deleted first (contract P5). The pages that list the records follow, then
        their own pages, and the pointer last.

        Raises:
            StartError: these are other files, or a newer publication; nothing was changed.
        """
        identity = blocks.identity
        old = self._last_pointer(identity.gallery, identity.epoch, blocks.version)
        pictures = {each for each in self._names if each.startswith("pictures/") and IMMUTABLE_NAME.fullmatch(each)}
        self._remove((pictures - {*blocks.pictures}) | (self._names & {*blocks.styles}))
        if old is not None:
            replace_pages(self._files, self._names, [*outdated(self._files, self._names, blocks.pages)])
        if old is not None and old.epoch == identity.epoch and _is_new(blocks.blocked, old.blocked):
            issued = max(self._now, old.issued)
            pointer = replace(old, issued=issued, expires=expires, blocked=blocks.blocked)
            self._write_on_full_disk(signed(pointer, identity.keys), pointer)
            self._keep_spare()

    def publish(self, publication: Publication, go_on: Callable[[], bool] = lambda: True) -> bool:
        """Bring the files up to date; return whether they are.

        Whatever fails, and whenever the program is killed, the pointer and all files that it references are whole:
        immutable files are written first, the pointer last, and earlier files stay for a while.

        ``go_on`` is called from time to time, and returns whether to go on; files already written stay.

        Raises:
            StartError: these are other files, or a newer publication; nothing was changed.
        """
        new = parsed(publication.pointer)
        old = self._last_pointer(new.gallery, new.epoch, new.version)
        others = self._others(publication)
        self._remove({name for name in self._names if LEFTOVER.fullmatch(name)})
        hashed = {name for name in self._names if IMMUTABLE_NAME.fullmatch(name)}
        self._expire(old, hashed.difference(publication.files, publication.pictures))
        fingerprint = _fingerprint(publication.state, publication.pointer)
        # Before the pointer, which it must match.
        state = {"made_of": fingerprint, "left_out": len(publication.left_out), "verdicts": publication.verdicts}
        self._write(STATE, canonical(state))
        self._files.write_many(self._changed(publication))
        made = write_generated(self._files, self._names, chain.from_iterable(publication.made), go_on)
        if made is None:
            return False
        page = publication.files.get(PAGE)
        if page is not None and page != self._files.read(PAGE):
            self._write(PAGE, page)
        self._write(POINTER, publication.pointer)
        self.latest = publication.pointer
        self._remove(name for name in others if name not in made)
        self._keep_spare()
        return True

    def _last_pointer(self, gallery: str, epoch: int, version: int) -> Pointer | None:
        """Return the pointer of an earlier publication, or None; StartError if the files are not ours to change."""
        if self.latest is None:
            ours = {name for name in self._names if OURS.fullmatch(name) or LEFTOVER.fullmatch(name)}
            if PAGE in ours and not self._has_our_page():
                ours.remove(PAGE)
            if foreign := sorted(self._names - ours):
                raise StartError(f"The folder holds other files, such as {foreign[0]}", _CURE)
            return None
        try:
            old = parsed(self.latest)
        except ValueError:
            raise StartError(f"{POINTER} in the folder is not that of a published gallery", _CURE) from None
        if old.gallery != gallery:
            raise StartError("The folder holds another gallery, whose readers would not accept this one", _CURE)
        if (old.epoch, old.version) > (epoch, version):
            text = f"The folder holds version {old.version} of this gallery, which is newer than version {version}"
            raise StartError(text, "check the setting database; after loading a backup run logoadmin restore --loaded")
        return old

    def _others(self, publication: Publication) -> list[str]:
        """Return the changing files to remove unless they are generated; the page comes before the files that it loads.

        StartError if somebody else's page is in place of ours.
        """
        needed = {READER, *publication.files}
        if PAGE in self._names and not self._has_our_page():
            if PAGE in publication.files:
                raise StartError(f"The folder holds another {PAGE}", "remove it, or set gallery_page to false")
            needed |= {name for name in self._names if name == PAGE or ASSET_NAME.fullmatch(name)}
        others = (name for name in self._names if CHANGING_NAME.fullmatch(name) and name not in needed)
        return sorted(others, key=PAGE.__ne__)

    def _has_our_page(self) -> bool:
        return self._page.is_page(self._files.read(PAGE) or b"")

    def _changed(self, publication: Publication) -> Iterator[tuple[str, bytes]]:
        """Yield the files to write before the page; files in folders are immutable, so existing ones are skipped."""
        for name in publication.pictures:
            if name not in self._names and (content := publication.read_picture(name)) is not None:
                yield name, content
        for name, content in publication.files.items():
            is_stored = name in self._names and ("/" in name or self._files.read(name) == content)
            if name != PAGE and not is_stored:
                yield name, content

    def _expire(self, old: Pointer | None, unneeded: Collection[str]) -> None:
        """Remove files unreferenced for :data:`OLD_STAY`, which starts now for files of the last pointer."""
        referenced = self._referenced(old, unneeded)
        self._files.touch(referenced, self._now)
        self._remove(self._files.oldest_first({*unneeded} - referenced, before=self._now - OLD_STAY))

    def _referenced(self, pointer: Pointer | None, names: Collection[str]) -> set[str]:
        """Return the files that a pointer references; its index has the hashes of files in folders."""
        if pointer is None:
            return set()
        found = pointer.paths.intersection(names)
        if in_folders := {name for name in names if "/" in name}:
            index = self._files.read(str(pointer.index["path"])) or b""
            hashes = {*_HASH.findall(index)}
            found |= {name for name in in_folders if not hashes.isdisjoint(_HASH.findall(name.encode()))}
        return {*found}

    def _write(self, name: str, content: bytes) -> None:
        self._files.write(name, content)
        self._names.add(name)

    def _write_on_full_disk(self, content: bytes, pointer: Pointer) -> None:
        """Write a pointer to the files of the last one; remove other files to make space, the oldest first."""
        unneeded: list[str] | None = None
        while True:
            try:
                self._write(POINTER, content)
                self.latest = content
                return
            except OSError as error:
                if not is_full(error) or unneeded == []:
                    raise
            if unneeded is None:
                hashed = {name for name in self._names if IMMUTABLE_NAME.fullmatch(name)}
                unneeded = [SPARE, *(name for name in self._names if LEFTOVER.fullmatch(name))]
                unneeded += self._files.oldest_first(hashed - self._referenced(pointer, hashed))
            self._remove({unneeded.pop(0)})

    def _keep_spare(self) -> None:
        """Reserve some space, if there is any."""
        if SPARE not in self._names:
            with suppress(OSError):
                self._write(SPARE, bytes(16_384))

    def _remove(self, names: Iterable[str]) -> None:
        for name in names:
            self._files.remove(name)
            self._names.discard(name)


def _fingerprint(state: str, pointer: bytes) -> str:
    """Return a hash of a pointer and the state that it was made of."""
    return sha256(state.encode() + pointer)


def _is_new(blocked: Sequence[Mapping[str, Any]], before: Sequence[Mapping[str, Any]]) -> bool:
    """Return whether there are new blocks; reasons are not compared, because a pointer may lack them."""
    known = {(entry["kind"], entry["id"], entry["at"]) for entry in before}
    return any((entry["kind"], entry["id"], entry["at"]) not in known for entry in blocked)
