"""Publishing: bringing files up to date so that readers see the last publication or this one (contract L1)."""

import json
import re
from collections.abc import Collection, Mapping
from typing import Final

from logoadmin.domain.model.errors import StartError
from logoadmin.domain.model.publication import POINTER, READER, Publication
from logoadmin.domain.publication.index import canonical
from logoadmin.domain.publication.pointer import Pointer, parsed
from logoadmin.ports.gallery_files import GalleryFiles

# Until when files that the current pointer no longer names are named by an earlier one that has not expired.
STATE: Final = ".publication.json"
_IMMUTABLE: Final = r"(?:\d+|from-\d+|withdrawn)-[0-9a-f]{16}\.json|css/[0-9a-f]{64}\.css"
_OURS: Final = re.compile(rf"{_IMMUTABLE}|{re.escape(READER)}|{re.escape(STATE)}|{re.escape(POINTER)}")
_IMMUTABLE_NAME: Final = re.compile(_IMMUTABLE)
# A program that was killed leaves hidden files, see atomic_files; of the name in css, the last part.
_LEFTOVER: Final = re.compile(r"(css/)?\.(?P<name>.+)\.[a-z0-9_]{8}")
_CURE: Final = "name an empty folder, or one that logoadmin publish wrote"


def publish(files: GalleryFiles, publication: Publication, now: int) -> bool:
    """Bring files up to date; the caller has locked them.

    Whatever fails, and whenever a program is killed, the pointer and all files that it names are whole: immutable files
    come first, the pointer comes last. Files that an unexpired pointer names stay.

    Args:
        files: the files.
        publication: the new content.
        now: Unix time.

    Returns:
        Whether anything but the pointer changed.

    Raises:
        StartError: these are other files, or a newer publication; nothing was changed.
        OSError: a file cannot be read, written or removed.
    """
    names = files.names()
    leftovers = {name for name in names if _is_leftover(name)}
    old = _published(files, set(names) - leftovers, parsed(publication.pointer))
    for name in leftovers:
        files.remove(name)
    stored = {name for name in names if _IMMUTABLE_NAME.fullmatch(name)}
    kept = _kept(_state(files), stored, old, publication, now)
    wanted = publication.files.items()
    changed = [name for name, content in wanted if files.read(name) != content]
    state = canonical(kept)
    if state != (files.read(STATE) or b"{}"):
        files.write(STATE, state)
    for name in sorted(changed, key=_order):
        files.write(name, publication.files[name])
    files.write(POINTER, publication.pointer)
    for name in stored - kept.keys() - publication.files.keys():
        files.remove(name)
    return bool(changed)


def _order(name: str) -> tuple[bool, bool, str]:
    """Order files so that those that others name come first."""
    return name == READER, not name.startswith("css/"), name


def _is_leftover(name: str) -> bool:
    match = _LEFTOVER.fullmatch(name)
    return match is not None and _OURS.fullmatch(f"{match[1] or ''}{match['name']}") is not None


def _published(files: GalleryFiles, names: Collection[str], new: Pointer) -> Pointer | None:
    """Return the pointer of an earlier publication, None if there is none.

    Raises:
        StartError: the files are not ours to change.
    """
    content = files.read(POINTER)
    if content is None:
        foreign = sorted(name for name in names if _OURS.fullmatch(name) is None)
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


def _state(files: GalleryFiles) -> Mapping[str, int]:
    """Return what the state file says; a broken one is as none."""
    try:
        state = json.loads(files.read(STATE) or b"{}")
    except (ValueError, RecursionError):
        return {}
    found = state.items() if isinstance(state, dict) else ()
    return {name: until for name, until in found if type(until) is int}


def _kept(
    state: Mapping[str, int], stored: Collection[str], old: Pointer | None, publication: Publication, now: int
) -> dict[str, int]:
    """Return until when earlier pointers name stored files, where the expiry of the new one does not cover that.

    A file without an entry is named by the last pointer, or was left by a program that was killed.
    """
    new = parsed(publication.pointer)
    last = new.expires if old is None else old.expires
    until = {name: state.get(name, last) for name in stored}
    # After a kill the last pointer still counts, so its expiry must cover it as well.
    covered = min(new.expires, last)
    return {name: end for name, end in until.items() if end > now and (name not in publication.files or end > covered)}
