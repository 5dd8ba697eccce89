"""The names of the files of a published gallery, which distinguish them from other files (contract L2, Q1)."""

import re
from typing import Final

from logoadmin.domain.publication.publication_records import FEED, PAGE, POINTER, READER, SITEMAP

# The sources of the pointer, and how many active records are not in the index.
STATE: Final = ".publication.json"
# Gives its space to the pointer when the disk is full.
SPARE: Final = ".spare"
# Locked by the process that publishes here in the background.
LEASE: Final = ".lease"
# The sources of each file, see publishing.
MADE: Final = ".made.json"
# The folder of a page: an id, or the id that an artwork had elsewhere, none of which leads to other folders or files,
# also where names in capitals are the same.
PAGE_ID: Final = r"(?!\.)(?![^/]*\.(?i:user\.css)/)[A-Za-z0-9._~-]{1,128}"
CHECKS: Final = "checks/"

# The names of our files: of each, the folder and the last part.
_HASHED: Final = (
    ("", r"(?:[0-9]{1,19}|withdrawn)-[0-9a-f]{16}\.json"),
    ("css/", r"[0-9a-f]{64}\.css"),
    ("pictures/", r"[0-9a-f]{64}(?:-320)?\.webp"),
)
_STYLE: Final = r"[0-9]{1,19}\.user\.css"
# Files that the page loads besides the reader; these are published as they are.
_ASSET: Final = r"page(?:-[a-z]{1,40})?\.(?:css|js|woff2)"
_UNHASHED: Final = (
    *(("logos/", _STYLE), ("themes/", _STYLE)),
    *((folder, re.escape(PAGE)) for folder in (rf"(?:logos|themes)/{PAGE_ID}/", r"authors/[0-9]{1,19}/", CHECKS)),
    *(("", each) for each in (_ASSET, READER, PAGE, FEED, SITEMAP)),
)
_OTHERS: Final = tuple(("", re.escape(name)) for name in (STATE, MADE, LEASE, SPARE, POINTER))


def _names(*parts: tuple[str, str], form: str = "{}{}") -> re.Pattern[str]:
    return re.compile("|".join(form.format(*part) for part in parts), re.ASCII)


IMMUTABLE_NAME: Final = _names(*_HASHED)
# Files without a hash in their names, besides the pointer.
CHANGING_NAME: Final = _names(*_UNHASHED)
ASSET_NAME: Final = _names(("", _ASSET))
OURS: Final = _names(*_HASHED, *_UNHASHED, *_OTHERS)
# A program that was killed leaves hidden files, see atomic_files.
LEFTOVER: Final = _names(*_HASHED, *_UNHASHED, *_OTHERS, form=r"{}\.{}\.[a-z0-9_]{{8}}")
