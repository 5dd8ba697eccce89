"""The stored data, and the journal that rolls changes back."""

from bisect import bisect_left, bisect_right
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import replace
from itertools import islice
from operator import attrgetter
from typing import Any, Final, NamedTuple, TypeVar

from logoadmin.domain.identity.records import ServiceKey, SignInEvent
from logoadmin.domain.kernel.errors import Conflict
from logoadmin.domain.kernel.kinds import ARTWORK_KINDS, KINDS
from logoadmin.domain.kernel.limits import MAX_ID
from logoadmin.domain.kernel.lists import Order
from logoadmin.domain.kernel.records import Change, Kind, PasswordHash
from logoadmin.ports.gallery_storage import PictureName, StoredPicture, Withdrawal
from logoadmin.ports.history_storage import StoredAct, StoredResponse
from logoadmin.ports.identity_storage import Count, Session
from logoadmin.ports.proposal_storage import SeenNotices, StoredNotice, StoredProposal
from logoadmin.ports.sign_in_storage import Challenge, Factor, Identity

Key = TypeVar("Key")
Row = TypeVar("Row")

_ABSENT: Final[Any] = object()

# The tables with what each changed key had before, oldest first.
Journal = list[tuple["Table[Any, Any]", Any, Any]]


class Table(dict[Key, Row]):
    """Rows by key, which note their changes in a journal."""

    def __init__(self, journal: Journal) -> None:
        super().__init__()
        self._journal = journal
        self._in_order: list[Key] | None = None  # the keys, until one is added or removed

    def __setitem__(self, key: Key, row: Row) -> None:
        self._journal.append((self, key, self.get(key, _ABSENT)))
        self.restore(key, row)

    def __delitem__(self, key: Key) -> None:
        self._journal.append((self, key, self[key]))
        self.restore(key, _ABSENT)

    def restore(self, key: Key, row: Row) -> None:
        """Change or remove a row without noting it."""
        if row is _ABSENT or key not in self:
            self._in_order = None
        if row is _ABSENT:
            super().__delitem__(key)
        else:
            super().__setitem__(key, row)

    def discard(self, key: Key) -> bool:
        """Remove a row; return whether it existed."""
        exists = key in self
        if exists:
            del self[key]
        return exists

    def change(self, key: Key, **values: Any) -> None:
        """Update values of a row."""
        row: Any = self[key]
        self[key] = replace(row, **values)

    def where(self, **values: Any) -> list[Row]:
        """Return the rows with these values."""
        read = attrgetter(*values)
        wanted = tuple(values.values()) if len(values) > 1 else next(iter(values.values()))
        return [row for row in self.values() if read(row) == wanted]

    def after(self: "Table[int, Row]", id_: int, order: Order) -> Iterator[Row]:
        """Yield the rows that follow an id in this order, by id."""
        if self._in_order is None:
            self._in_order = sorted(self)
        ids = self._in_order
        following = ids[bisect_right(ids, id_) :] if order == "asc" else ids[: bisect_left(ids, id_)][::-1]
        return map(self.__getitem__, following)

    def remove_some(self, most: int, is_over: Callable[[Row], bool]) -> int:
        """Remove up to ``most`` rows for which ``is_over`` is true; return how many."""
        over = list(islice((key for key, row in self.items() if is_over(row)), most))
        for key in over:
            del self[key]
        return len(over)

    def expire_by(self: "Table[str, Any]", latest: int, most: int) -> int:
        """Make up to ``most`` rows that expire after ``latest`` expire then; return how many."""
        late = list(islice((key for key, row in self.items() if row.expires_at > latest), most))
        for key in late:
            self.change(key, expires_at=latest)
        return len(late)


@contextmanager
def undone_on_error(journal: Journal) -> Iterator[None]:
    """Undo the changes in the block if it raises."""
    length = len(journal)
    try:
        yield
    except BaseException:
        while len(journal) > length:
            table, key, before = journal.pop()
            table.restore(key, before)
        raise


class PictureRow(NamedTuple):
    """A picture with its file and thumbnail, and the time until which it must stay."""

    stored: StoredPicture
    files: tuple[bytes, bytes] | None
    kept_until: int = 0

    @property
    def bytes(self) -> int:
        """The size of both files, in bytes."""
        return sum(map(len, self.files or ()))


class KeyRow(NamedTuple):
    """A service key with its user and its hash."""

    key: ServiceKey
    user_id: int
    key_hash: str


class Tables:
    """All stored data. Records by id; links as ``{artwork: {author: link}}``, in link order."""

    def __init__(self) -> None:
        self.journal = journal = Journal()
        self.records: dict[Kind, Table[int, Any]] = {kind: Table(journal) for kind in KINDS}
        # (value, unique field) -> record
        self.owners: dict[Kind, Table[tuple[Any, str], int]] = {kind: Table(journal) for kind in KINDS}
        self.links: dict[Kind, Table[int, Mapping[int, int]]] = {kind.kind: Table(journal) for kind in ARTWORK_KINDS}
        self.passwords: Table[int, PasswordHash] = Table(journal)
        self.sessions: Table[str, Session] = Table(journal)
        self.refresh_tokens: Table[str, tuple[str, int | None]] = Table(journal)
        self.preferences: Table[int, str] = Table(journal)
        self.secrets: Table[str, str] = Table(journal)
        self.keys: Table[int, KeyRow] = Table(journal)
        self.changes: Table[int, Change] = Table(journal)
        self.acts: Table[int, StoredAct] = Table(journal)
        # change -> act
        self.acts_of_changes: Table[int, int] = Table(journal)
        self.last_of_kinds: Table[Kind, int] = Table(journal)
        self.stored_responses: Table[str, StoredResponse] = Table(journal)
        self.counts: Table[str, Count] = Table(journal)
        self.withdrawals: Table[tuple[Kind, int], Withdrawal] = Table(journal)
        self.pictures: Table[str, PictureRow] = Table(journal)
        self.picture_names: Table[tuple[str, int, str], PictureName] = Table(journal)
        self.proposals: Table[int, StoredProposal] = Table(journal)
        self.notices: Table[int, StoredNotice] = Table(journal)
        self.seen_notices: Table[int, SeenNotices] = Table(journal)
        self.factors: Table[int, Factor] = Table(journal)
        # hash -> user
        self.recovery_codes: Table[str, int] = Table(journal)
        self.challenges: Table[str, Challenge] = Table(journal)
        # (issuer, subject) -> identity
        self.identities: Table[tuple[str, str], Identity] = Table(journal)
        # each with the change that created its user
        self.events: Table[int, tuple[SignInEvent, int]] = Table(journal)
        self.last_ids: Table[str, int] = Table(journal)


class Repository:
    """The base class of repositories, which work on the same tables."""

    def __init__(self, tables: Tables) -> None:
        self._tables = tables

    def _next(self, name: str) -> int:
        """Return the next id of one kind of record: never reused, without gaps."""
        id_ = self._tables.last_ids.get(name, 0) + 1
        if id_ > MAX_ID:
            raise Conflict(f"No {name} is left")
        self._mark_used(name, id_)
        return id_

    def _mark_used(self, name: str, id_: int) -> None:
        if id_ > self._tables.last_ids.get(name, 0):
            self._tables.last_ids[name] = id_
