"""The file names of a published gallery, which distinguish its files from others (contract L2, Q1)."""

import re
from typing import Final

from logoadmin.domain.publication.publication_records import FEED, PAGE, POINTER, READER, SITEMAP

# The state that the pointer was made of, and how many active records are not in the index.
STATE: Final = ".publication.json"
# Removed to make space for the pointer when the disk is full.
SPARE: Final = ".spare"
# Locked by the process that publishes here in the background.
LEASE: Final = ".lease"
# The fingerprint of each generated file; see publishing.
MADE: Final = ".made.json"
# The folder of a page: an id, or the id that an artwork had elsewhere. Neither can name another folder or file, also
# where file names ignore case.
PAGE_ID: Final = r"(?!\.)(?![^/]*\.(?i:user\.css)/)[A-Za-z0-9._~-]{1,128}"
CHECKS: Final = "checks/"

# The names of our files, each as a folder and a last part.
_HASHED: Final = (
    ("", r"(?:[0-9]{1,19}|withdrawn)-[0-9a-f]{16}\.json"),
    ("css/", r"[0-9a-f]{64}\.css"),
    ("pictures/", r"[0-9a-f]{64}(?:-320)?\.webp"),
)
_STYLE: Final = r"[0-9]{1,19}\.user\.css"
# Files that the page loads besides the reader, published unchanged.
_ASSET: Final = r"page(?:-[a-z]{1,40}){0,2}\.(?:css|js|woff2)"
_UNHASHED: Final = (
    *(("logos/", _STYLE), ("themes/", _STYLE)),
    *((folder, re.escape(PAGE)) for folder in (rf"(?:logos|themes)/{PAGE_ID}/", r"authors/[0-9]{1,19}/", CHECKS)),
    *(("", each) for each in (_ASSET, READER, PAGE, FEED, SITEMAP)),
)
_OTHERS: Final = tuple(("", re.escape(name)) for name in (STATE, MADE, LEASE, SPARE, POINTER))


def _names(*parts: tuple[str, str], form: str = "{}{}") -> re.Pattern[str]:
    return re.compile("|".join(form.format(*part) for part in parts), re.ASCII)


IMMUTABLE_NAME: Final = _names(*_HASHED)
# Files without a hash in their names, except the pointer.
CHANGING_NAME: Final = _names(*_UNHASHED)
ASSET_NAME: Final = _names(("", _ASSET))
OURS: Final = _names(*_HASHED, *_UNHASHED, *_OTHERS)
# A killed program leaves hidden files; see atomic_files.
LEFTOVER: Final = _names(*_HASHED, *_UNHASHED, *_OTHERS, form=r"{}\.{}\.[a-z0-9_]{{8}}")
