"""The URLs of a style sheet as absolute ones; everything else stays as it is (contract L5)."""

from string import hexdigits
from typing import Final

from tinycss2.ast import StringToken

from logoadmin.domain.publication.css.addresses import Use
from logoadmin.domain.publication.css.structure import structure_of
from logoadmin.domain.publication.css.tokens import has_too_many_blocks, line_starts, offset_of, tokenize
from logoadmin.domain.publication.css.urls import absolute

_QUOTES: Final = "\"'"
_SPACE: Final = " \t\r\n\f"
_SPACES: Final = frozenset(_SPACE)
_HEXADECIMAL: Final = frozenset(hexdigits)
# Everything that a string or url() might take for its end, or for white space.
_ESCAPED: Final = {character: f"\\{ord(character):x} " for character in f"{_QUOTES}()\\{_SPACE}\x7f"} | {
    chr(code): f"\\{code:x} " for code in range(1, 0x20)
}
# A line break after a backslash is no escape: browsers do not take this for a url(), tinycss2 does.
_BROKEN: Final = frozenset(("\\", line_break) for line_break in "\r\n\f")


def with_absolute_urls(css: str, base: str) -> str:
    """Return a style sheet with absolute URLs, the same byte for byte in everything else.

    Rewriting the result again changes nothing. A text with too many blocks stays as it is: nothing reads it.

    Args:
        css: any text whatsoever.
        base: the absolute http or https URL of the sheet.
    """
    if has_too_many_blocks(css):
        return css
    tokens, starts, end = tokenize(css), line_starts(css), 0
    parts: list[str] = []
    for address in sorted(structure_of(tokens, "sheet").addresses(), key=lambda each: offset_of(each.token, starts)):
        url = address.url if address.use is Use.PERHAPS else absolute(address.url, base)
        if url != address.url:
            is_string = isinstance(address.token, StringToken)
            start, stop = _extent(css, offset_of(address.token, starts), is_string)
            if not is_string and not _BROKEN.isdisjoint(zip(css[start:stop], css[start + 1 : stop], strict=False)):
                continue
            parts += css[end:start], "".join(_ESCAPED.get(character, character) for character in url)
            end = stop
    return "".join((*parts, css[end:]))


def _extent(css: str, offset: int, is_string: bool) -> tuple[int, int]:
    """Return where the URL of a string or url() begins and ends, without quotes and white space around it."""
    start = offset
    if not is_string:
        while css[start] != "(":
            start = _next(css, start)
    start += 1
    ends = css[offset] if is_string else f"){_SPACE}"
    while not is_string and start < len(css) and css[start] in _SPACE:
        start += 1
    stop = start
    while stop < len(css) and css[stop] not in ends:
        stop = _next(css, stop)
    return start, min(stop, len(css))


def _next(css: str, offset: int) -> int:
    """Return the offset after a character or an escape, with the white space that ends a hexadecimal one."""
    if css[offset] != "\\":
        return offset + 1
    digits = offset + 1
    while digits < offset + 7 and css[digits : digits + 1] in _HEXADECIMAL:
        digits += 1
    if digits == offset + 1:
        return offset + 2
    return digits + (2 if css[digits : digits + 2] == "\r\n" else css[digits : digits + 1] in _SPACES)
