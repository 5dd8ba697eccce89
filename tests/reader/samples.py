"""A gallery in two versions, with long CSS, for tests of programs that read it."""

import base64
from dataclasses import replace
from typing import Final

from tests.reader.publisher import NOW, Files, Publication, artwork, author, long_css, sha256, withdrawal

# With a screenshot that is a picture of the gallery, and one that is elsewhere.
DETAILS: Final = {
    "text": "*Northern* lights\n",
    "tags": ["dark", "\u043d\u043e\u0447\u044c"],
    "screenshots": [
        {"path": "pictures/a.webp", "thumbnail": "pictures/a-320.webp", "width": 2, "height": 1, "ground": "dark"},
        {"url": "https://pictures.example/thread.png", "alt": "A thread"},
    ],
    "origin": "aurora-17",
}
LONG: Final = "h2 { content: '\u00e9' } ".encode() * 100
ONE: Final = Publication(
    1,
    authors=[author(1)],
    logos=[artwork("logo", 1, 1, details=DETAILS), artwork("logo", 2, target="wiki")],
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
