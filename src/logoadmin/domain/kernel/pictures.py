"""Pictures as records name them: by a URL whose path alone decides which one it is (contract P2)."""

import re
from collections.abc import Iterable, Mapping
from typing import Any, Final
from urllib.parse import urlsplit

from logoadmin.domain.kernel.kinds import PICTURE_FIELDS, PICTURE_FOLDER

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


def pictures_in(kind: str, values: Mapping[str, Any] | None) -> frozenset[str]:
    """Return the pictures that the values of a record name; none without values."""
    picture = picture_of(values.get(PICTURE_FIELDS[kind])) if values and kind in PICTURE_FIELDS else None
    return frozenset() if picture is None else frozenset({picture})
