"""Fetches imported style sheets with everything that they import (contract L5)."""

from collections.abc import Mapping
from dataclasses import dataclass
from hashlib import sha256
from itertools import chain
from typing import Final

from webencodings import UTF8, Encoding

from logoadmin.domain.kernel.errors import OutgoingError
from logoadmin.domain.publication.css import MAX_BLOCKS, has_too_many_blocks, judge, rewrite
from logoadmin.domain.publication.pins.sheet_sources import address_of, decoded, host_of
from logoadmin.ports.kernel.environment import Clock
from logoadmin.ports.kernel.outgoing import Outgoing

MOST_BYTES: Final = 1024 * 1024  # of a sheet, as it is sent, in UTF-8, and with absolute addresses
MOST_LEVELS: Final = 3
MOST_SHEETS: Final = 20
# For all sheets of a record, and for one of them.
SECONDS: Final = 20.0
SECONDS_PER_SHEET: Final = 10.0
# A short relative address in a sheet may become a long absolute one; this is the most that rewriting may add.
_MOST_ADDED: Final = 32 * MOST_BYTES

SUFFIX: Final = ".css"


@dataclass(frozen=True, slots=True)
class Tree:
    """A sheet and all that it imports, directly or not, each with its nested imports pinned.

    Attributes:
        sha256: the SHA-256 of the sheet, in UTF-8.
        sheets: the texts of all of them by their SHA-256.
        levels: the number of levels.
    """

    sha256: str
    sheets: Mapping[str, str]
    levels: int = 1


# Sheets that import each other, each with its address before and after redirects.
_Importers = tuple[tuple[str, str], ...]
# What asking the origin of an import led to.
Outcome = Tree | OutgoingError


def sha256_of(css: str) -> str:
    """Return the SHA-256 of a sheet in hexadecimal digits."""
    return sha256(css.encode()).hexdigest()


def sheet_name(sha: str) -> str:
    """Return the name under which a pinned sheet imports another one."""
    return f"{sha}{SUFFIX}"


class SheetFetcher:
    """Fetches the sheets that one record imports, within the limits on their number and time."""

    def __init__(self, outgoing: Outgoing, clock: Clock) -> None:
        self._outgoing, self._clock = outgoing, clock
        self._deadline = clock.elapsed() + SECONDS
        self._asked = 0
        # By address and by the encoding of the sheet that imports them.
        self._known: dict[tuple[str, str], Tree] = {}

    def fetch(self, url: str) -> Outcome:
        """Return an import of the record with everything that it imports, or why it cannot be pinned whole."""
        try:
            return self._tree(address_of(url, None), (), None)
        except OutgoingError as error:
            return error

    def _tree(self, url: str, importers: _Importers, environment: Encoding | None) -> Tree:
        """Return a sheet with all that it imports, which comes first: its name is part of the text.

        Args:
            url: its address.
            importers: the sheets that lead to it, from the record on.
            environment: the encoding of the sheet that imports it.

        Raises:
            OutgoingError: something of it cannot be pinned.
        """
        _refuse_cycle(url, importers)
        key = url, (environment or UTF8).name
        tree = self._known.get(key)
        if tree is None:
            tree = self._known[key] = self._fetched(url, importers, environment)
        if len(importers) + tree.levels > MOST_LEVELS:
            raise _too_deep(url)
        return tree

    def _fetched(self, url: str, importers: _Importers, environment: Encoding | None) -> Tree:
        if len(importers) >= MOST_LEVELS:
            raise _too_deep(url)
        if self._asked >= MOST_SHEETS:
            raise OutgoingError(host_of(url), f"a record can import at most {MOST_SHEETS} sheets, directly or not")
        left = self._deadline - self._clock.elapsed()
        if left <= 0:
            raise OutgoingError(host_of(url), f"the sheets of a record did not arrive within {SECONDS:.0f} s")
        self._asked += 1
        fetched = self._outgoing.fetch(url, most=MOST_BYTES, seconds=min(left, SECONDS_PER_SHEET))
        base = address_of(fetched.url, None)
        if base != url:
            _refuse_cycle(base, importers)
        text, encoding = decoded(fetched, environment)
        _refuse_long(base, text)
        if has_too_many_blocks(text):
            raise OutgoingError(host_of(base), f"the sheet has more than {MAX_BLOCKS:,} blocks, or too many functions")
        nested = {
            each: self._tree(address_of(each, base), (*importers, (url, base)), encoding)
            for each in dict.fromkeys(judge(text, "sheet").import_urls)
        }
        return _pinned(text, base, nested)


def _pinned(text: str, base: str, nested: Mapping[str, Tree]) -> Tree:
    """Return a sheet that imports the pinned copies of its imports.

    Raises:
        OutgoingError: it would be too long, or an import would remain.
    """
    if (text.count("(") + text.count('"') + text.count("'")) * len(base) > _MOST_ADDED:
        raise OutgoingError(host_of(base), "the sheet has too many addresses")
    names = {url: sheet_name(tree.sha256) for url, tree in nested.items()}
    css = rewrite(text, "sheet", base, names)
    _refuse_long(base, css)
    if not {*judge(css, "sheet").import_urls} <= {*names.values()}:
        raise OutgoingError(host_of(base), "an import of the sheet cannot be replaced")
    sha = sha256_of(css)
    sheets = dict(chain.from_iterable(tree.sheets.items() for tree in nested.values()))
    return Tree(sha, {**sheets, sha: css}, 1 + max((tree.levels for tree in nested.values()), default=0))


def _refuse_cycle(url: str, importers: _Importers) -> None:
    if any(url in addresses for addresses in importers):
        reason = "a sheet imports itself" if url in importers[-1] else "sheets import each other in a circle"
        raise OutgoingError(host_of(url), reason)


def _refuse_long(url: str, text: str) -> None:
    if len(text.encode()) > MOST_BYTES:
        reason = f"the sheet is longer than {MOST_BYTES // 1024:,} KiB in UTF-8, with absolute addresses"
        raise OutgoingError(host_of(url), reason)


def _too_deep(url: str) -> OutgoingError:
    return OutgoingError(host_of(url), f"sheets import each other over more than {MOST_LEVELS} levels")
