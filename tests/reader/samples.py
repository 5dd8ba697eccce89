"""A gallery in two versions, with pinned sheets, for tests of what programs do with it."""

import base64
from dataclasses import replace
from typing import Final

from tests.reader.publisher import NOW, Files, Publication, artwork, author, sha256, withdrawal

INNER: Final = "h2{content:'\u00e9'}".encode()
OUTER: Final = f'@import "{sha256(INNER)}.css"; h1{{}}'.encode()
# Each import of it counts for ten million bytes.
MANY: Final = f'@import "{sha256(INNER)}.css";'.encode() * 10_000
_BOMB: Final = f"@import url(css/{sha256(MANY)}.css);" * 2
_PINNED: Final = f"@import url(css/{sha256(OUTER)}.css);"
ONE: Final = Publication(
    1,
    authors=[author(1)],
    logos=[artwork("logo", 1, 1), artwork("logo", 2, target="wiki")],
    themes=[artwork("theme", 1, custom_css=_PINNED), artwork("theme", 2, custom_css=_PINNED * 21 + _BOMB)],
)
TWO: Final = replace(
    ONE,
    version=2,
    issued=NOW + 60,
    logos=[ONE.logos[0], artwork("logo", 3)],
    earlier=[ONE],
    withdrawn=[withdrawal("logo", 2, "malware", NOW + 50)],
)
SHEETS: Final = {f"css/{sha256(sheet)}.css": sheet for sheet in (INNER, OUTER, MANY)}


def encoded(files: Files) -> dict[str, str]:
    """Return files for JavaScript."""
    return {path: base64.b64encode(answer.body).decode() for path, answer in files.items()}
