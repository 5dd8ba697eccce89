"""The unit of work of a use case that reads: records, and nothing that changes one (contract G)."""

from collections.abc import Callable, Sequence
from typing import Any, Final, Generic, TypeVar

from logoadmin.domain.kernel.hidden import hidden
from logoadmin.domain.kernel.kinds import RecordKind
from logoadmin.domain.kernel.lists import EVERYTHING, Filter, Order, SortKey
from logoadmin.domain.kernel.records import StoredRecord
from logoadmin.ports.kernel.record_storage import Records
from logoadmin.ports.storage import UnitOfWork

Record = TypeVar("Record", bound=StoredRecord)


class ReadRecords(Generic[Record]):
    """The records of one kind; see :class:`~logoadmin.ports.kernel.record_storage.Records` for the methods."""

    __slots__ = ("_stored",)

    def __init__(self, stored: Records[Record]) -> None:
        _STORED.__set__(self, stored)

    def get(self, id_: int, /) -> Record | None:
        """Return a record, or None."""
        return _stored(self).get(id_)

    def get_many(self, ids: Sequence[int]) -> tuple[Record, ...]:
        """Return those of up to 50 records that exist."""
        return _stored(self).get_many(ids)

    def page(self, after: int, limit: int, where: Filter = EVERYTHING, order: Order = "asc") -> tuple[Record, ...]:
        """Return records by id."""
        return _stored(self).page(after, limit, where, order)

    def sorted_page(
        self, sort: SortKey, after: Record | None, limit: int, where: Filter = EVERYTHING, order: Order = "asc"
    ) -> tuple[Record, ...]:
        """Return records by name or version."""
        return _stored(self).sorted_page(sort, after, limit, where, order)


class ReadUnitOfWork:
    """The records of one transaction, to be read."""

    __slots__ = ("_uow",)

    def __init__(self, uow: UnitOfWork) -> None:
        _UOW.__set__(self, uow)

    def records(self, kind: RecordKind[Record, Any]) -> ReadRecords[Record]:
        """Return the records of a kind."""
        return ReadRecords(read_from(self).records(kind))


_STORED: Final = hidden(ReadRecords, "_stored")
_UOW: Final = hidden(ReadUnitOfWork, "_uow")
_stored: Final[Callable[[ReadRecords[Record]], Records[Record]]] = _STORED.__get__
# The repositories of the transaction, for the contexts that own them.
read_from: Final[Callable[[ReadUnitOfWork], UnitOfWork]] = _UOW.__get__
