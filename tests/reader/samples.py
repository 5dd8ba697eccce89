"""A gallery in two versions, with long CSS, for tests of what programs do with it."""

import base64
from dataclasses import replace
from typing import Final

from tests.reader.publisher import NOW, Files, Publication, artwork, author, long_css, sha256, withdrawal

LONG: Final = "h2 { content: '\u00e9' } ".encode() * 100
ONE: Final = Publication(
    1,
    authors=[author(1)],
    logos=[artwork("logo", 1, 1), artwork("logo", 2, target="wiki")],
    themes=[artwork("theme", 1, **long_css(LONG)), artwork("theme", 2, custom_css="h1 {}")],
)
TWO: Final = replace(
    ONE,
    version=2,
    issued=NOW + 60,
    logos=[ONE.logos[0], artwork("logo", 3)],
    withdrawn=[withdrawal("logo", 2, "malware", NOW + 50)],
)
SHEETS: Final = {f"css/{sha256(LONG)}.css": LONG}


def encoded(files: Files) -> dict[str, str]:
    """Return files for JavaScript."""
    return {path: base64.b64encode(answer.body).decode() for path, answer in files.items()}
