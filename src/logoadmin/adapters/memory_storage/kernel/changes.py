"""The history and the stored responses."""

import math
from collections import defaultdict
from collections.abc import Collection, Mapping, Sequence
from dataclasses import replace
from itertools import islice
from operator import attrgetter

from logoadmin.adapters.memory_storage.tables import Repository
from logoadmin.domain.kernel.lists import EVERY_CHANGE, ChangeFilter, Order, text_length, truncated_page
from logoadmin.domain.kernel.records import Change, Kind
from logoadmin.ports.history_storage import StoredResponse, created_by

_id_of = attrgetter("change_id")


class MemoryChanges(Repository):
    """The history, as :class:`~logoadmin.ports.history_storage.Changes` says."""

    def last_id(self) -> int:
        return len(self._tables.changes)

    def last_of_kinds(self) -> Mapping[Kind, int]:
        return dict(self._tables.last_of_kinds)

    def add(self, changes: Sequence[Change], act_id: int | None = None) -> None:
        for change in changes:
            if act_id is not None:
                self._journal.set(self._tables.acts_of_changes, change.change_id, act_id)
            self._journal.set(self._tables.changes, change.change_id, change)
            self._journal.set(self._tables.last_of_kinds, change.kind, change.change_id)

    def get(self, change_id: int) -> Change | None:
        return self._tables.changes.get(change_id)

    def times(self, change_ids: Sequence[int]) -> Mapping[int, int]:
        found = (self._tables.changes.get(change_id) for change_id in change_ids)
        return {change.change_id: change.at for change in found if change is not None}

    def last_of(self, kind: Kind, id_: int, besides: str | None = None) -> int:
        of = (change for change in self._tables.changes.values() if (change.kind, change.id) == (kind, id_))
        return max((each.change_id for each in of if besides is None or each.request_id != besides), default=0)

    def creations(self, kind: Kind, ids: Collection[int]) -> Mapping[int, int]:
        births = defaultdict(list)
        for each in self._tables.changes.values():
            if each.id in ids and each.action in (f"{kind}.created", f"{kind}.restored"):
                births[each.id].append((each.change_id, each.action == f"{kind}.restored", each.undoes))
        return {id_: created_by(sorted(found)) for id_, found in births.items()}

    def of_request(self, request_id: str, below: int, limit: int) -> tuple[Change, ...]:
        of = (change for change in self._tables.changes.values() if change.request_id == request_id)
        newest_first = sorted((each for each in of if each.change_id < below), key=_id_of, reverse=True)
        return truncated_page(newest_first[:limit], text_length)

    def undoer_of(self, change_id: int) -> tuple[int, str | None] | None:
        undoers = (change for change in self._tables.changes.values() if change.undoes == change_id)
        newest = max(undoers, key=_id_of, default=None)
        return None if newest is None else (newest.change_id, newest.request_id)

    def page(
        self, after: int, limit: int, where: ChangeFilter = EVERY_CHANGE, order: Order = "asc"
    ) -> tuple[Change, ...]:
        found = (change for change in self._tables.changes.after(after, order) if matches(change, where))
        return truncated_page(islice(found, limit), text_length)


def matches(change: Change, where: ChangeFilter) -> bool:
    """Return whether a change matches a filter."""
    equal = where.given
    since, until = equal.pop("since", 0), equal.pop("until", math.inf)
    return since <= change.at <= until and all(getattr(change, field) == value for field, value in equal.items())


class MemoryStoredResponses(Repository):
    """The stored responses, as :class:`~logoadmin.ports.history_storage.StoredResponses` says."""

    def get(self, key_hash: str) -> StoredResponse | None:
        return self._tables.stored_responses.get(key_hash)

    def add(self, response: StoredResponse) -> None:
        self._journal.set(self._tables.stored_responses, response.key_hash, response)

    def forget(self, key_hash: str) -> None:
        self._journal.delete(self._tables.stored_responses, key_hash)

    def forget_expired(self, now: int, most: int) -> int:
        responses = self._tables.stored_responses.values()
        expired = list(islice((each.key_hash for each in responses if each.expires_at <= now), most))
        for key_hash in expired:
            self.forget(key_hash)
        return len(expired)

    def expire_by(self, latest: int, most: int) -> int:
        responses = self._tables.stored_responses.values()
        late = list(islice((each for each in responses if each.expires_at > latest), most))
        for response in late:
            self._journal.set(self._tables.stored_responses, response.key_hash, replace(response, expires_at=latest))
        return len(late)
