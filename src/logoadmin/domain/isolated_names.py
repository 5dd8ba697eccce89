"""Names in other texts, isolated so that they do not change the text direction around them (contract Q3, R6)."""

import unicodedata
from typing import Final

# They only change the text direction, some of them beyond the end of a name.
_CONTROLS: Final = dict.fromkeys(map(ord, "\u061c\u200e\u200f\u202a\u202b\u202c\u202d\u202e\u2066\u2067\u2068\u2069"))
_RIGHT_TO_LEFT: Final = frozenset({"R", "AL", "AN"})


def isolated(name: str) -> str:
    """Return a name for use in a text; right-to-left names are isolated (UAX 9)."""
    plain = name.translate(_CONTROLS)
    turns = any(unicodedata.bidirectional(each) in _RIGHT_TO_LEFT for each in plain)
    return f"\u2068{plain}\u2069" if turns else plain
