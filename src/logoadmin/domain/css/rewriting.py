"""The rewriting of the URLs in CSS, which leaves everything else as it is (contract L5)."""

from collections.abc import Mapping
from typing import Final

from tinycss2.ast import StringToken

from logoadmin.domain.css.addresses import Address, Use
from logoadmin.domain.css.structure import structure_of
from logoadmin.domain.css.tokens import line_starts, offset_of, tokenize
from logoadmin.domain.css.urls import absolute
from logoadmin.domain.model.css import Form

_QUOTES: Final = "\"'"
_SPACE: Final = " \t\r\n\f"
# Everything that a string or url() might take for its end, or for white space.
_ESCAPED: Final = {character: f"\\{ord(character):x} " for character in f"{_QUOTES}()\\{_SPACE}\x7f"} | {
    chr(code): f"\\{code:x} " for code in range(1, 0x20)
}
# A line break after a backslash is no escape: browsers do not take this for a url(), tinycss2 does.
_BROKEN: Final = frozenset(("\\", line_break) for line_break in "\r\n\f")


def rewrite(css: str, form: Form, base: str | None, imports: Mapping[str, str]) -> str:
    """Return CSS with other URLs, the same byte for byte in everything else.

    Rewriting the result again changes nothing.

    Args:
        css: any text whatsoever.
        form: its grammar: ``declarations`` for a logo, ``sheet`` for a theme.
        base: the absolute http or https URL of the sheet, against which relative URLs are resolved; None leaves them.
        imports: the new URL for that of each ``@import``, as :attr:`Verdict.imports` has them. Imports that are not in
            it are treated as other URLs.
    """
    tokens = tokenize(css)
    found = [each for block in structure_of(tokens, form).blocks for each in block.addresses]
    parts: list[str] = []
    end = 0
    starts = line_starts(css)
    for address in sorted(found, key=lambda each: offset_of(each.token, starts)):
        url = _rewritten(address, base, imports)
        if url is not None and url != address.url:
            is_string = isinstance(address.token, StringToken)
            start, stop = _extent(css, offset_of(address.token, starts), is_string)
            if not is_string and not _BROKEN.isdisjoint(zip(css[start:stop], css[start + 1 : stop], strict=False)):
                continue
            parts += css[end:start], "".join(_ESCAPED.get(character, character) for character in url)
            end = stop
    return "".join((*parts, css[end:]))


def _rewritten(address: Address, base: str | None, imports: Mapping[str, str]) -> str | None:
    if address.use is Use.IMPORT:
        if address.url in imports:
            return imports[address.url]
        if address.url in imports.values():
            return None
    if base is None or address.use is Use.PERHAPS:
        return None
    return absolute(address.url, base)


def _extent(css: str, offset: int, is_string: bool) -> tuple[int, int]:
    """Return where the URL of a string or url() begins and ends, without quotes and white space around it."""
    start = offset
    if not is_string:
        while css[start] != "(":
            start += 2 if css[start] == "\\" else 1
    start += 1
    ends = css[offset] if is_string else f"){_SPACE}"
    while not is_string and start < len(css) and css[start] in _SPACE:
        start += 1
    stop = start
    while stop < len(css) and css[stop] not in ends:
        stop += 2 if css[stop] == "\\" else 1
    return start, min(stop, len(css))
