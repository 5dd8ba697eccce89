"""Names that look alike: the skeletons of Unicode Technical Standard 39, without regard to case (contract O7)."""

import unicodedata
from collections.abc import Mapping
from functools import lru_cache
from typing import Final

# Around texts that are written from right to left.
_MARK: Final = "\u200e"


def looks(name: str) -> frozenset[str]:
    """Return what a name looks like; two names look alike if they have something of this in common.

    A capital I looks like an l, but is an i in lower case: both count.
    """
    return frozenset((_skeleton(_skeleton(name).casefold()), _skeleton(name.casefold())))


def _skeleton(text: str) -> str:
    """Return the skeleton of a text (UTS 39 §4); full-width letters and the like become the usual ones before."""
    decomposed = unicodedata.normalize("NFKD", "".join(filter(str.isprintable, text)))
    return unicodedata.normalize("NFD", decomposed.translate(_prototypes()))


@lru_cache(1)
def _prototypes() -> Mapping[int, str]:
    """Return the prototype of every character that looks like another character or text."""
    # Imported here: it reads a megabyte, and most processes never compare names.
    from confusable_homoglyphs.confusables import confusables_data

    likes = {key.strip(_MARK): [each["c"].strip(_MARK) for each in found] for key, found in confusables_data.items()}
    return {ord(key): _prototype(key, likes) for key in likes if len(key) == 1}


def _prototype(character: str, likes: Mapping[str, list[str]]) -> str:
    """Return the centre of the characters that look alike: the library lists each pair both ways."""
    if len(likes[character]) > 1:
        return character
    (other,) = likes[character]
    if len(likes.get(other, ())) > 1 or len(other) > 1:
        return other
    return min(character, other)
