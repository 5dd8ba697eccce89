"""Publishing: bringing files up to date so that readers see the last publication or this one (contract L1)."""

import base64
import binascii
import errno
import json
import re
from collections.abc import Callable, Collection, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, replace
from typing import Any, Final

from logoadmin.domain.kernel.errors import StartError
from logoadmin.domain.kernel.kinds import PICTURE_FOLDER
from logoadmin.domain.publication.files.gallery_keys import DAY
from logoadmin.domain.publication.files.index import canonical, sha256, unpacked_fingerprints
from logoadmin.domain.publication.files.page import ASSET, PAGE, is_page
from logoadmin.domain.publication.files.pointer import Pointer, parsed
from logoadmin.domain.publication.files.user_style_files import STYLES, write_styles
from logoadmin.domain.publication.files.user_styles import USER_STYLE
from logoadmin.domain.publication.publication_records import POINTER, READER, Publication, PublishedIndex
from logoadmin.ports.publication.gallery_files import GalleryFiles

# Until when files that the current pointer no longer names stay, what the pointer was made of, and how many active
# records are not in the index.
STATE: Final = ".publication.json"
# The indexes from which differences lead to the next one.
INDEXES: Final = ".indexes.json"
# Gives its space to the pointer when the disk is full.
SPARE: Final = ".spare"
_SPARE_BYTES: Final = 16_384
_FULL: Final = (errno.ENOSPC, errno.EDQUOT)
# Locked by the process that publishes here in the background.
LEASE: Final = ".lease"
_MADE_OF: Final = "made_of"
_LEFT_OUT: Final = "left_out"
# While nothing changes, a pointer is left alone for as long, or until half of its validity is over; readers may still
# ask for older indexes and differences.
_RENEWED_AFTER: Final = DAY
_OLD_STAY: Final = 2 * DAY
_SHA256: Final = re.compile("[0-9a-f]{64}")
_IMMUTABLE: Final = "|".join(
    (
        r"(?:[0-9]{1,19}|from-[0-9]{1,19}|withdrawn)-[0-9a-f]{16}\.json",
        r"css/[0-9a-f]{64}\.css",
        r"pictures/[0-9a-f]{64}(?:-320)?\.webp",
    )
)
_CHANGING: Final = "|".join((USER_STYLE, ASSET, *map(re.escape, (READER, PAGE))))
_OURS: Final = re.compile(
    "|".join((_IMMUTABLE, _CHANGING, *map(re.escape, (STATE, INDEXES, STYLES, LEASE, SPARE, POINTER)))), re.ASCII
)
IMMUTABLE_NAME: Final = re.compile(_IMMUTABLE, re.ASCII)
# Files without a hash in their names, besides the pointer.
CHANGING_NAME: Final = re.compile(_CHANGING, re.ASCII)
# Readers need these for as long as they may have an index that names them.
_NAMED_BY_INDEX: Final = ("css/", PICTURE_FOLDER)
# A program that was killed leaves hidden files, see atomic_files; of the name in a folder, the last part.
_LEFTOVER: Final = re.compile(r"((?:css|logos|pictures|themes)/)?\.(?P<name>.+)\.[a-z0-9_]{8}")
_CURE: Final = "name an empty folder, or one that logoadmin publish wrote"


@dataclass(frozen=True, slots=True)
class Blocks:
    """The blocks of one moment.

    Attributes:
        gallery: the UUID of the gallery.
        epoch: see :class:`~logoadmin.domain.publication.files.pointer.Pointer`.
        version: the id of the last change.
        blocked: the newest blocked entries.
        pictures: the names of the pictures that may be published; others were taken down or removed.
        styles: the names of the user styles of all blocked records.
    """

    gallery: str
    epoch: int
    version: int
    blocked: Sequence[Mapping[str, Any]]
    pictures: Collection[str] = ()
    styles: Sequence[str] = ()


def is_unchanged(files: GalleryFiles, state: str, now: int) -> bool:
    """Return whether the files were made of a state of the gallery, and their pointer need not be renewed.

    Args:
        files: the files.
        state: as in :attr:`~logoadmin.domain.publication.publication_records.Publication.state`.
        now: Unix time.

    Raises:
        OSError: a file cannot be read.
    """
    content = files.read(POINTER)
    if content is None or _state(files).get(_MADE_OF) != _made_of(state, content):
        return False
    pointer = parsed(content)
    patience = min(_RENEWED_AFTER, (pointer.expires - pointer.issued) / 2)
    return pointer.paths <= set(files.names()) and 0 <= now - pointer.issued < patience


def is_complete(files: GalleryFiles) -> bool:
    """Return whether the files have every record that was active; False if that is not known.

    Raises:
        OSError: a file cannot be read.
    """
    return _state(files).get(_LEFT_OUT) == 0


def earlier_indexes(files: GalleryFiles) -> Sequence[PublishedIndex]:
    """Return the indexes that readers may have, the newest first; a damaged list counts as missing.

    Raises:
        OSError: a file cannot be read.
    """
    found = []
    try:
        for entry in json.loads(files.read(INDEXES) or b"[]"):
            index = PublishedIndex(entry["version"], entry["sha256"], base64.b64decode(entry["fingerprints"]))
            unpacked_fingerprints(index.fingerprints)
            if type(index.version) is not int or _SHA256.fullmatch(index.sha256) is None:
                return ()
            found.append(index)
    except (ValueError, TypeError, KeyError, binascii.Error, RecursionError):
        return ()
    return found


def _written(indexes: Sequence[PublishedIndex]) -> bytes:
    return canonical(
        [
            {
                "version": each.version,
                "sha256": each.sha256,
                "fingerprints": base64.b64encode(each.fingerprints).decode(),
            }
            for each in indexes
        ]
    )


def clear_another_gallery(files: GalleryFiles, gallery: str) -> None:
    """Remove the publication of another gallery, such as that of a deleted database; the caller has locked the files.

    Args:
        files: files that belong to one service alone.
        gallery: the UUID of its gallery.

    Raises:
        OSError: a file cannot be read or removed.
    """
    content = files.read(POINTER)
    if content is None:
        return
    try:
        if parsed(content).gallery == gallery:
            return
    except ValueError:  # damaged
        pass
    files.remove(POINTER)
    for name in files.names():
        if name != LEASE and (_OURS.fullmatch(name) or _is_leftover(name)):
            files.remove(name)


def publish_blocks(
    files: GalleryFiles, sources: Blocks, sign: Callable[[Pointer], bytes], now: int, expires: int
) -> None:
    """Remove the user styles of blocked records, and name newly blocked ones in the pointer to the last index.

    So they reach readers also where there is no space for another index. The pictures of blocked records, and those
    that were removed, leave at once (contract P5), and so do user styles. The caller has locked the files.

    Args:
        files: the files.
        sources: the blocks.
        sign: returns the content of a pointer.
        now: Unix time.
        expires: until when the pointer is valid.

    Raises:
        StartError: these are other files, or a newer publication; nothing was changed.
        OSError: a file cannot be read or written.
    """
    names = _ours(files)
    old = _published(files, names, sources)
    for name in names:
        is_picture = name.startswith(PICTURE_FOLDER) and IMMUTABLE_NAME.fullmatch(name) is not None
        if name not in sources.pictures if is_picture else name in sources.styles:
            files.remove(name)
    if old is not None and old.epoch == sources.epoch and _is_new(sources.blocked, old.blocked):
        pointer = replace(old, issued=max(now, old.issued), expires=expires, blocked=sources.blocked)
        _write_on_full_disk(files, sign(pointer), pointer, names)
        _keep_spare(files)


def _write_on_full_disk(files: GalleryFiles, content: bytes, pointer: Pointer, names: Collection[str]) -> None:
    """Write a pointer that names the files of the last one; files that it does not name make room, the oldest first."""
    unneeded: list[str] | None = None
    while True:
        try:
            return files.write(POINTER, content)
        except OSError as error:
            if error.errno not in _FULL or unneeded == []:
                raise
            if unneeded is None:
                index = (files.read(str(pointer.index["path"])) or b"").decode()
                found = {name for name in names if IMMUTABLE_NAME.fullmatch(name) and name not in pointer.paths}
                unneeded = [SPARE, *filter(_is_leftover, files.names())]
                unneeded += files.oldest_first(name for name in found if not _is_named(name, index))
        files.remove(unneeded.pop(0))


def _is_named(name: str, index: str) -> bool:
    """Return whether an index names a style sheet or a picture; it has their hashes."""
    match = _SHA256.search(name)
    return match is not None and match[0] in index


def _keep_spare(files: GalleryFiles) -> None:
    """Keep some space, if there is any."""
    if files.read(SPARE) is None:
        with suppress(OSError):
            files.write(SPARE, bytes(_SPARE_BYTES))


def publish(files: GalleryFiles, publication: Publication, now: int) -> None:
    """Bring files up to date; the caller has locked them.

    Whatever fails, and whenever a program is killed, the pointer and all files that it names are whole: immutable files
    come first, the pointer last. Sheets and pictures of an unexpired pointer stay, older indexes for two days.

    Args:
        files: the files.
        publication: the new content.
        now: Unix time.

    Raises:
        StartError: these are other files, or a newer publication; nothing was changed.
        OSError: a file cannot be read, written or removed.
    """
    names = files.names()
    old = _published(files, _ours(files), parsed(publication.pointer))
    others = _others(files, names, publication)
    for name in filter(_is_leftover, names):
        files.remove(name)
    stored = {name for name in names if IMMUTABLE_NAME.fullmatch(name)}
    kept = _kept(_state(files), stored, old, publication, now)
    unneeded = stored - kept.keys() - publication.files.keys()
    # Those to which the last pointer does not lead make room for the new ones.
    leads_to = frozenset[str]() if old is None else old.paths
    needed_until_then = {name for name in unneeded if name.startswith(_NAMED_BY_INDEX) or name in leads_to}
    for name in unneeded - needed_until_then:
        files.remove(name)
    styles = _write(files, publication, kept, stored)
    for name in (*needed_until_then, *(name for name in others if name not in styles)):
        files.remove(name)
    _keep_spare(files)


def _write(
    files: GalleryFiles, publication: Publication, kept: Mapping[str, int], stored: Collection[str]
) -> Collection[str]:
    """Write what has changed, the pointer last; return the names of the user styles."""
    changed = _changed(files, publication, stored)
    made_of = _made_of(publication.state, publication.pointer)
    state = canonical({**kept, _MADE_OF: made_of, _LEFT_OUT: len(publication.left_out)})
    indexes = _written(publication.indexes)
    for name, content in ((STATE, state), (INDEXES, indexes)):
        if content != files.read(name):
            files.write(name, content)
    for name in sorted(changed, key=_order):
        # Otherwise a picture that was removed meanwhile.
        if name != PAGE and (part := publication.files.get(name)) is not None:
            files.write(name, part)
    styles = write_styles(files, publication.styles)
    if PAGE in changed:
        files.write(PAGE, publication.files[PAGE])
    files.write(POINTER, publication.pointer)
    return styles


def _others(files: GalleryFiles, names: Collection[str], publication: Publication) -> list[str]:
    """Return the files that the pointer does not name and the publication may lack; what a page loads comes last.

    Raises:
        StartError: there is a page of somebody else in place of ours.
    """
    kept = {READER, *publication.files}
    if PAGE in names and not _has_our_page(files):
        if PAGE in publication.files:
            raise StartError(f"The folder holds another {PAGE}", "remove it, or set gallery_page to false")
        kept.update(name for name in names if name == PAGE or re.fullmatch(ASSET, name))
    others = (name for name in names if CHANGING_NAME.fullmatch(name) and name not in kept)
    return sorted(others, key=_order, reverse=True)


def _has_our_page(files: GalleryFiles) -> bool:
    return is_page(files.read(PAGE) or b"")


def _changed(files: GalleryFiles, publication: Publication, stored: Collection[str]) -> list[str]:
    """Return the names of the files to write; a picture is read from the database only if it is missing."""
    return [
        name
        for name in publication.files
        if (name not in stored if name.startswith(PICTURE_FOLDER) else files.read(name) != publication.files[name])
    ]


def _made_of(state: str, pointer: bytes) -> str:
    """Return what a pointer was made of; the state file is written before the pointer, to which it must fit."""
    return sha256(state.encode() + pointer)


def _is_new(blocked: Sequence[Mapping[str, Any]], before: Sequence[Mapping[str, Any]]) -> bool:
    """Return whether records are blocked that were not, whose reasons a short pointer may lack."""
    known = {(entry["kind"], entry["id"], entry["at"]) for entry in before}
    return any((entry["kind"], entry["id"], entry["at"]) not in known for entry in blocked)


def _ours(files: GalleryFiles) -> set[str]:
    return {name for name in files.names() if not _is_leftover(name)}


def _order(name: str) -> tuple[bool, bool, bool, str]:
    """Order files so that those that others name come first."""
    return name == PAGE, CHANGING_NAME.fullmatch(name) is not None, not name.startswith(_NAMED_BY_INDEX), name


def _is_leftover(name: str) -> bool:
    match = _LEFTOVER.fullmatch(name)
    return match is not None and _OURS.fullmatch(f"{match[1] or ''}{match['name']}") is not None


def _published(files: GalleryFiles, names: Collection[str], new: Pointer | Blocks) -> Pointer | None:
    """Return the pointer of an earlier publication, None if there is none.

    Raises:
        StartError: the files are not ours to change.
    """
    content = files.read(POINTER)
    if content is None:
        ours = {name for name in names if _OURS.fullmatch(name) and (name != PAGE or _has_our_page(files))}
        foreign = sorted({*names} - ours)
        if foreign:
            raise StartError(f"The folder holds other files, such as {foreign[0]}", _CURE)
        return None
    try:
        old = parsed(content)
    except ValueError:
        raise StartError(f"{POINTER} in the folder is not that of a published gallery", _CURE) from None
    if old.gallery != new.gallery:
        raise StartError("The folder holds another gallery, whose readers would not accept this one", _CURE)
    if (old.epoch, old.version) > (new.epoch, new.version):
        text = f"The folder holds version {old.version} of this gallery, which is newer than version {new.version}"
        raise StartError(text, "check the setting database; after loading a backup run logoadmin restore --loaded")
    return old


def _state(files: GalleryFiles) -> Mapping[str, Any]:
    """Return the state file's entries; a damaged file counts as missing."""
    try:
        state = json.loads(files.read(STATE) or b"{}")
    except (ValueError, RecursionError):
        return {}
    found = state.items() if isinstance(state, dict) else ()
    return {name: value for name, value in found if type(value) is (str if name == _MADE_OF else int)}


def _kept(
    state: Mapping[str, Any], stored: Collection[str], old: Pointer | None, publication: Publication, now: int
) -> dict[str, int]:
    """Return until when earlier pointers name stored files, where the expiry of the new one does not cover that.

    A file without an entry is named by the last pointer, or was left by a program that was killed.
    """
    new = parsed(publication.pointer)
    last = new.expires if old is None else old.expires
    until = {name: state.get(name, last) for name in stored}
    # Style sheets and pictures are needed for as long as a reader may have the index.
    for name in until.keys() - publication.files.keys():
        if not name.startswith(_NAMED_BY_INDEX):
            until[name] = min(until[name], now + _OLD_STAY)
    # After a kill the last pointer still counts, so its expiry must cover it as well.
    covered = min(new.expires, last)
    return {name: end for name, end in until.items() if end > now and (name not in publication.files or end > covered)}
