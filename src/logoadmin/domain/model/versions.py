"""Versions of records and of lists, and conditions on them (contract F1).

The version of a record is the id of the last change that showed in it; so is that of a list. They rise with every
change and never come back.
"""

from collections.abc import Mapping
from typing import Final

from logoadmin.domain.model.errors import NotModified, Outdated
from logoadmin.domain.model.records import Kind, Logo, StoredRecord, Theme

# What shows in the lists of a kind: an artwork shows its authors.
_SHOWS: Final[Mapping[Kind, tuple[Kind, ...]]] = {
    Kind.LOGO: (Kind.LOGO, Kind.AUTHOR),
    Kind.THEME: (Kind.THEME, Kind.AUTHOR),
}


def version_of(record: StoredRecord) -> int:
    """Return the version of a record; of an artwork, it rises with its authors, too."""
    if isinstance(record, Logo | Theme) and record.authors:
        return max(record.version, *(author.version for author in record.authors))
    return record.version


def version_of_list(kind: Kind, last_changes: Mapping[Kind, int]) -> int:
    """Return the version of the lists of a kind from the last change of each kind."""
    return max(last_changes.get(shown, 0) for shown in _SHOWS.get(kind, (kind,)))


def raise_if_unmodified(had: frozenset[int], version: int) -> None:
    """Make sure that something has another version than those that the caller has already.

    Raises:
        NotModified: it has one of these.
    """
    if version in had:
        raise NotModified(version)


def raise_if_stale(seen: frozenset[int] | None, record: StoredRecord, name: str, id_: int) -> None:
    """Make sure that a record is still one that was seen; with None, whichever it is.

    Raises:
        Outdated: it was changed since.
    """
    if seen is not None and version_of(record) not in seen:
        raise Outdated(name, id_)
