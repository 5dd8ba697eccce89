"""Versions of records and of lists, and conditions on them (contract F1).

The version of a record or a list is the id of the last change that affected it. Versions rise with every change and
are never reused.
"""

from collections.abc import Mapping

from logoadmin.domain.model.errors import NotModified, Outdated
from logoadmin.domain.model.kinds import AnyKind
from logoadmin.domain.model.records import Kind, Logo, StoredRecord, Theme


def version_of(record: StoredRecord) -> int:
    """Return the version of a record; that of an artwork also rises with changes of its authors."""
    if isinstance(record, Logo | Theme) and record.authors:
        return max(record.version, *(author.version for author in record.authors))
    return record.version


def version_of_list(kind: AnyKind, last_changes: Mapping[Kind, int]) -> int:
    """Return the version of the lists of a kind from the last change of each kind."""
    return max(last_changes.get(shown, 0) for shown in kind.shows)


def raise_if_unmodified(if_none_match: frozenset[int], version: int) -> None:
    """Require that the caller does not have this version yet.

    Raises:
        NotModified: the caller has it.
    """
    if version in if_none_match:
        raise NotModified(version)


def raise_if_stale(if_match: frozenset[int], record: StoredRecord, name: str, id_: int) -> None:
    """Require that a record has one of some versions.

    Raises:
        Outdated: the record has another version.
    """
    if version_of(record) not in if_match:
        raise Outdated(name, id_)
