"""Pictures as records name them: by a URL whose path alone decides which one it is (contract P2, P5)."""

import re
from collections.abc import Iterable, Iterator
from typing import Final
from urllib.parse import urlsplit

from logoadmin.domain.kernel.kinds import KINDS, PICTURE_FIELDS, PICTURE_FOLDER
from logoadmin.domain.kernel.limits import MAX_ID
from logoadmin.domain.kernel.records import Change, Kind
from logoadmin.ports.storage import UnitOfWork

PICTURE: Final = "[0-9a-f]{64}"
_NAMED: Final = re.compile(rf"(?:.*/)?{PICTURE_FOLDER}({PICTURE})(?:-320)?\.webp", re.ASCII | re.DOTALL)


def picture_path(picture: str, *, thumbnail: bool = False) -> str:
    """Return the path of a picture, relative to the URL of the service or to the published gallery."""
    return f"{PICTURE_FOLDER}{picture}{'-320' if thumbnail else ''}.webp"


def picture_names(pictures: Iterable[str]) -> list[str]:
    """Return the paths of pictures and of their thumbnails."""
    return [picture_path(picture, thumbnail=small) for picture in pictures for small in (False, True)]


def picture_of(url: str | None) -> str | None:
    """Return the picture that a URL names by its path; None for other URLs."""
    if url is None or PICTURE_FOLDER not in url:
        return None
    try:
        match = _NAMED.fullmatch(urlsplit(url).path)
    except ValueError:  # an invalid host
        return None
    return None if match is None else match[1]


def pictures_of(change: Change) -> Iterator[str]:
    """Yield the pictures that a change names."""
    field = PICTURE_FIELDS.get(change.kind)
    for snapshot in (change.before, change.after):
        picture = picture_of(snapshot.get(field)) if field and snapshot else None
        if picture is not None:
            yield picture


def taken_down(uow: UnitOfWork) -> frozenset[str]:
    """Return the pictures that blocked artworks name, also removed ones, and no other record."""
    blocked = {(each.kind, each.id) for each in uow.publication.withdrawals.blocked(MAX_ID)}
    if not blocked:
        return frozenset()
    named, named_elsewhere, remaining = set[str](), set[str](), {*blocked}
    for picture, kind, id_ in uow.gallery.pictures.namings():
        (named if (kind, id_) in blocked else named_elsewhere).add(picture)
        remaining.discard((kind, id_))
    for kind, id_ in remaining:
        if uow.records(KINDS[kind]).get(id_) is None and (last := picture_of(_last_url(uow, kind, id_))):
            named.add(last)
    return frozenset(named - named_elsewhere)


def _last_url(uow: UnitOfWork, kind: Kind, id_: int) -> str | None:
    """Return the URL that a removed record had."""
    change_id = uow.changes.last_of(kind, id_)
    change = uow.changes.get(change_id) if change_id else None
    url = None if change is None or change.before is None else change.before.get(PICTURE_FIELDS[kind])
    return url if isinstance(url, str) else None
