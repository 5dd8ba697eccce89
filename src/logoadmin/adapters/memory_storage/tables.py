"""The stored data, and the journal that rolls changes back."""

from bisect import bisect_left, bisect_right, insort
from collections import UserDict
from collections.abc import Callable, Iterator, Mapping, MutableMapping
from contextlib import contextmanager
from dataclasses import dataclass, field, replace
from itertools import islice
from typing import Any, Final, NamedTuple, TypeVar

from logoadmin.domain.identity.records import ServiceKey, SignInEvent
from logoadmin.domain.kernel.errors import Conflict
from logoadmin.domain.kernel.kinds import ARTWORK_KINDS, KINDS
from logoadmin.domain.kernel.limits import MAX_ID
from logoadmin.domain.kernel.lists import Order
from logoadmin.domain.kernel.records import Change, Kind, PasswordHash
from logoadmin.ports.gallery_storage import Standing, StoredPicture, Withdrawal
from logoadmin.ports.history_storage import StoredAct, StoredResponse
from logoadmin.ports.identity_storage import Session
from logoadmin.ports.proposal_storage import SeenNotices, StoredNotice, StoredProposal
from logoadmin.ports.sign_in_storage import Challenge, Factor, Identity

Row = TypeVar("Row")

_ABSENT: Final[Any] = object()


class Rows(UserDict[int, Row]):
    """Records by id, in order of their ids, so that the cost of a page depends only on its length."""

    def __init__(self) -> None:
        super().__init__()
        self._ids: list[int] = []

    def __setitem__(self, id_: int, row: Row) -> None:
        if id_ not in self.data:
            insort(self._ids, id_)
        self.data[id_] = row

    def __delitem__(self, id_: int) -> None:
        del self.data[id_]
        del self._ids[bisect_left(self._ids, id_)]

    def after(self, id_: int, order: Order) -> Iterator[Row]:
        """Yield the records that follow an id in this order, by id."""
        above = range(bisect_right(self._ids, id_), len(self._ids))
        for place in above if order == "asc" else reversed(range(bisect_left(self._ids, id_))):
            yield self.data[self._ids[place]]


def copied(json: Any) -> Any:
    """Return a copy of JSON, so that its receiver cannot change the stored value."""
    if isinstance(json, dict):
        return {name: copied(value) for name, value in json.items()}
    return type(json)(map(copied, json)) if isinstance(json, list | tuple) else json


@dataclass(frozen=True, slots=True)
class PictureRow:
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


@dataclass
class Tables:
    """All stored data. Records by id; links as ``{artwork: {author: link}}``, in link order."""

    records: dict[Kind, Rows[Any]] = field(default_factory=lambda: {kind: Rows() for kind in KINDS})
    links: dict[Kind, dict[int, dict[int, int]]] = field(
        default_factory=lambda: {kind.kind: {} for kind in ARTWORK_KINDS}
    )
    passwords: dict[int, PasswordHash] = field(default_factory=dict)
    sessions: dict[str, Session] = field(default_factory=dict)
    refresh_tokens: dict[str, tuple[str, int | None]] = field(default_factory=dict)
    preferences: dict[int, str] = field(default_factory=dict)
    secrets: dict[str, str] = field(default_factory=dict)
    keys: dict[int, KeyRow] = field(default_factory=dict)
    changes: Rows[Change] = field(default_factory=Rows)
    acts: Rows[StoredAct] = field(default_factory=Rows)
    # change -> act
    acts_of_changes: dict[int, int] = field(default_factory=dict)
    # request -> act
    acts_of_requests: dict[str, int] = field(default_factory=dict)
    last_of_kinds: dict[Kind, int] = field(default_factory=dict)
    stored_responses: dict[str, StoredResponse] = field(default_factory=dict)
    sign_in_attempts: dict[str, tuple[int, int]] = field(default_factory=dict)
    withdrawals: dict[tuple[Kind, int], Withdrawal] = field(default_factory=dict)
    pictures: dict[str, PictureRow] = field(default_factory=dict)
    # picture -> {(kind, id) -> standing}, and (kind, id) -> pictures
    picture_names: dict[str, Mapping[tuple[str, int], Standing]] = field(default_factory=dict)
    named_by: dict[tuple[str, int], frozenset[str]] = field(default_factory=dict)
    proposals: Rows[StoredProposal] = field(default_factory=Rows)
    notices: dict[int, StoredNotice] = field(default_factory=dict)
    seen_notices: dict[int, SeenNotices] = field(default_factory=dict)
    factors: dict[int, Factor] = field(default_factory=dict)
    # hash -> user
    recovery_codes: dict[str, int] = field(default_factory=dict)
    challenges: dict[str, Challenge] = field(default_factory=dict)
    # (issuer, subject) -> identity
    identities: dict[tuple[str, str], Identity] = field(default_factory=dict)
    # each with the change that created its user
    events: Rows[tuple[SignInEvent, int]] = field(default_factory=Rows)
    last_ids: dict[str, int] = field(default_factory=dict)
    # (kind, key) -> {value -> id of the record that has it}
    taken: dict[tuple[Kind, str], dict[str | int, int]] = field(default_factory=dict)


class Journal:
    """Records every change of a dictionary, so that all changes, or the latest, can be undone."""

    def __init__(self) -> None:
        self._before: list[tuple[MutableMapping[Any, Any], Any, Any]] = []

    def set(self, table: MutableMapping[Any, Any], key: Any, value: Any) -> None:
        self._before.append((table, key, table.get(key, _ABSENT)))
        table[key] = value

    def delete(self, table: MutableMapping[Any, Any], key: Any) -> bool:
        if key not in table:
            return False
        self._before.append((table, key, table.pop(key)))
        return True

    @contextmanager
    def undone_on_error(self) -> Iterator[None]:
        length = len(self._before)
        try:
            yield
        except BaseException:
            self._undo(length)
            raise

    def _undo(self, length: int) -> None:
        while len(self._before) > length:
            table, key, before = self._before.pop()
            if before is _ABSENT:
                del table[key]
            else:
                table[key] = before


class Repository:
    """The base class of repositories: they work on the same tables with the same journal."""

    def __init__(self, tables: Tables, journal: Journal) -> None:
        self._tables, self._journal = tables, journal

    def _next(self, name: str) -> int:
        """Return the next id of one kind of record: never reused, without gaps."""
        id_ = self._tables.last_ids.get(name, 0) + 1
        if id_ > MAX_ID:
            raise Conflict(f"No {name} is left")
        self._mark_used(name, id_)
        return id_

    def _mark_used(self, name: str, id_: int) -> None:
        if id_ > self._tables.last_ids.get(name, 0):
            self._journal.set(self._tables.last_ids, name, id_)

    def _change(self, table: MutableMapping[Any, Any], key: Any, **values: Any) -> None:
        """Update values of a row."""
        self._journal.set(table, key, replace(table[key], **values))

    def _remove_some(self, table: MutableMapping[Any, Any], most: int, is_over: Callable[[Any], bool]) -> int:
        """Remove up to ``most`` rows for which ``is_over`` is true; return how many."""
        over = list(islice((key for key, row in table.items() if is_over(row)), most))
        for key in over:
            self._journal.delete(table, key)
        return len(over)

    def _end_by(self, table: MutableMapping[Any, Any], latest: int, most: int) -> int:
        """Make up to ``most`` rows that expire after ``latest`` expire then; return how many."""
        late = list(islice((key for key, row in table.items() if row.expires_at > latest), most))
        for key in late:
            self._change(table, key, expires_at=latest)
        return len(late)

    def _is_refused(self, user_id: int) -> bool:
        """Return whether an issuer refused a user."""
        return any(identity.refused for identity in self._tables.identities.values() if identity.user_id == user_id)
