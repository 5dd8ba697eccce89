"""What happened: the history, and the first answers to commands that may be sent again."""

from collections.abc import Mapping, Sequence
from dataclasses import replace
from itertools import islice

from logoadmin.adapters.memory_storage.tables import Journal, Tables
from logoadmin.domain.model.lists import light_enough, text_of
from logoadmin.domain.model.records import Change, Kind
from logoadmin.ports.storage import StoredResponse


class ChangeRepository:
    """The history, as :class:`~logoadmin.ports.storage.Changes` says."""

    def __init__(self, tables: Tables, journal: Journal) -> None:
        self._tables, self._journal = tables, journal

    def last_id(self) -> int:
        return len(self._tables.changes)

    def last_of_kinds(self) -> Mapping[Kind, int]:
        return dict(self._tables.last_of_kinds)

    def add(self, changes: Sequence[Change]) -> None:
        for change in changes:
            self._journal.set(self._tables.changes, change.change_id, change)
            self._journal.set(self._tables.last_of_kinds, change.kind, change.change_id)

    def get(self, change_id: int) -> Change | None:
        return self._tables.changes.get(change_id)

    def last_of(self, kind: Kind, id_: int) -> int:
        of = (change.change_id for change in self._tables.changes.values() if (change.kind, change.id) == (kind, id_))
        return max(of, default=0)

    def page(self, after: int, limit: int) -> tuple[Change, ...]:
        return light_enough(islice(self._tables.changes.after(after), limit), text_of)


class StoredResponseRepository:
    """The first answers, as :class:`~logoadmin.ports.storage.StoredResponses` says."""

    def __init__(self, tables: Tables, journal: Journal) -> None:
        self._answers, self._journal = tables.stored_responses, journal

    def get(self, key_hash: str) -> StoredResponse | None:
        return self._answers.get(key_hash)

    def add(self, answer: StoredResponse) -> None:
        self._journal.set(self._answers, answer.key_hash, answer)

    def forget_expired(self, now: int, most: int) -> None:
        expired = (answer.key_hash for answer in self._answers.values() if answer.expires_at <= now)
        for key_hash in list(islice(expired, most)):
            self._journal.delete(self._answers, key_hash)

    def expire_by(self, latest: int, most: int) -> None:
        late = (answer for answer in self._answers.values() if answer.expires_at > latest)
        for answer in list(islice(late, most)):
            self._journal.set(self._answers, answer.key_hash, replace(answer, expires_at=latest))
