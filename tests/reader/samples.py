"""A gallery in two versions, with pinned sheets, for tests of what programs do with it."""

import base64
from dataclasses import replace
from typing import Final

from tests.reader.publisher import NOW, Files, Publication, artwork, author, importing, sha256, withdrawal

INNER: Final = "h2{content:'\u00e9'}".encode()
OUTER: Final = f'@import "{sha256(INNER)}.css"; h1{{}}'.encode()
# Each import of it counts for ten million bytes.
MANY: Final = f'@import "{sha256(INNER)}.css";'.encode() * 10_000
_BOMB: Final = f"@import url(css/{sha256(MANY)}.css);" * 2
_PINNED: Final = f"@import url(css/{sha256(OUTER)}.css);"
# No import of theirs: no such sheet is pinned for them.
_LOOKS_PINNED: Final = f"/* css/{'0' * 64}.css */"
ONE: Final = Publication(
    1,
    authors=[author(1)],
    logos=[artwork("logo", 1, 1), artwork("logo", 2, target="wiki")],
    themes=[
        artwork("theme", 1, custom_css=_PINNED, css=importing(OUTER)),
        artwork("theme", 2, custom_css=_PINNED * 21 + _BOMB, css=importing(OUTER, MANY)),
        artwork("theme", 3, custom_css=_LOOKS_PINNED + _PINNED, css=importing(OUTER)),
        artwork("theme", 4, custom_css=_LOOKS_PINNED),
    ],
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
