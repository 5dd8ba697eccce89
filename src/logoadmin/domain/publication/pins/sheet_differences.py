"""The difference between two pinned style sheets, for the people who accept one of them (contract L5)."""

import re
from collections.abc import Iterable, Iterator, Sequence
from difflib import SequenceMatcher
from itertools import zip_longest
from typing import Final

from logoadmin.domain.publication.pins.import_trees import sheet_name
from logoadmin.domain.publication.pins.pinned_css import ReadsPins, Unpinned, closure

MOST_BYTES: Final = 64 * 1024
CUT: Final = "The rest of the difference is left out.\n"

# A minified sheet is a single line; it is broken where a person would break it.
_LONG_LINE: Final = 200
_PIECE: Final = re.compile(r"[^;{}]*[;{}]?")
# Matching more lines than this may take longer than a request should.
_MOST_LINES: Final = 2_000
_CONTEXT: Final = 3


def difference(pins: ReadsPins, pinned: str, offered: str) -> str:
    """Return what changes if one sheet takes the place of another, with all that they import.

    Args:
        pins: where the sheets are.
        pinned: the SHA-256 of the one.
        offered: the SHA-256 of the other.

    Returns:
        A unified difference of at most 64 KiB in UTF-8. Long lines are broken after braces and semicolons.
    """
    try:
        before, after = dict(closure(pins, [pinned])), dict(closure(pins, [offered]))
    except Unpinned as error:
        return f"{error}\n"
    gone = [(sha, css) for sha, css in before.items() if sha not in after]
    new = [(sha, css) for sha, css in after.items() if sha not in before]
    pairs = zip_longest(gone, new, fillvalue=("", ""))
    return _limited(line for old, fresh in pairs for line in _compared(old, fresh))


def text_difference(old: tuple[str, str], new: tuple[str, str]) -> str:
    """Return what changes from one text to another, each given by its SHA-256 and itself, as :func:`difference` does.

    A SHA-256 that is empty stands for no text.
    """
    return _limited(_compared(old, new))


def _limited(lines: Iterable[str]) -> str:
    parts: list[str] = []
    left = MOST_BYTES - len(CUT)
    for line in lines:
        left -= len(line.encode()) + 1
        if left < 0:
            return f"{''.join(parts)}{CUT}"
        parts.append(f"{line}\n")
    return "".join(parts)


def _compared(old: tuple[str, str], new: tuple[str, str]) -> Iterator[str]:
    """Yield the lines of the difference between two sheets, each given by its SHA-256 and its text."""
    for mark, where, (sha, _) in (("---", "pinned", old), ("+++", "offered", new)):
        yield f"{mark} {where}/{sheet_name(sha)}" if sha else f"{mark} none"
    before, after = _lines(old[1]), _lines(new[1])
    start = max(_common(before, after) - _CONTEXT, 0)
    end = max(_common(before[start:][::-1], after[start:][::-1]) - _CONTEXT, 0)
    before, after = before[start : len(before) - end], after[start : len(after) - end]
    if max(len(before), len(after)) > _MOST_LINES:
        groups = [[("replace", 0, len(before), 0, len(after))]]
    else:
        groups = [*SequenceMatcher(None, before, after).get_grouped_opcodes(_CONTEXT)]
    for group in groups:
        (_, old_from, _, new_from, _), (_, _, old_to, _, new_to) = group[0], group[-1]
        yield f"@@ -{_range(start, old_from, old_to)} +{_range(start, new_from, new_to)} @@"
        for tag, old_from, old_to, new_from, new_to in group:
            if tag == "equal":
                yield from (f" {line}" for line in before[old_from:old_to])
            else:
                yield from (f"-{line}" for line in before[old_from:old_to])
                yield from (f"+{line}" for line in after[new_from:new_to])


def _range(start: int, first: int, end: int) -> str:
    """Return the lines of a part as unified differences number them."""
    return f"{start + first + (first < end)},{end - first}"


def _lines(css: str) -> list[str]:
    """Return the lines of a sheet, long ones in pieces."""
    found: list[str] = []
    for line in css.splitlines():
        found += [line] if len(line) <= _LONG_LINE else filter(None, _PIECE.findall(line))
    return found


def _common(one: Sequence[str], other: Sequence[str]) -> int:
    """Return the number of lines at the start that two texts share."""
    pairs = enumerate(zip(one, other, strict=False))
    return next((place for place, (left, right) in pairs if left != right), min(len(one), len(other)))
