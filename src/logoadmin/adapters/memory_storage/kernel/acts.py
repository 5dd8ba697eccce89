"""The acts of the history."""

from collections.abc import Iterator, Mapping, Sequence
from itertools import islice

from logoadmin.adapters.memory_storage.kernel.changes import matches
from logoadmin.adapters.memory_storage.tables import Repository
from logoadmin.domain.kernel.kinds import ARTWORK_KINDS
from logoadmin.domain.kernel.lists import ChangeFilter, Order
from logoadmin.domain.kernel.records import Change, Kind
from logoadmin.ports.history_storage import Obstacle, StoredAct


class MemoryActs(Repository):
    """The acts, as :class:`~logoadmin.ports.history_storage.Acts` says."""

    def get(self, act_id: int) -> StoredAct | None:
        return self._tables.acts.get(act_id)

    def of_request(self, request_id: str) -> StoredAct | None:
        return self.get(self._tables.acts_of_requests.get(request_id, 0))

    def of_change(self, change_id: int) -> StoredAct | None:
        return self.get(self._tables.acts_of_changes.get(change_id, 0))

    def add(self, act: StoredAct) -> None:
        if act.request_id is not None:
            self._journal.set(self._tables.acts_of_requests, act.request_id, act.act_id)
        self.update(act)

    def update(self, act: StoredAct) -> None:
        self._journal.set(self._tables.acts, act.act_id, act)

    def page(self, after: int, limit: int, where: ChangeFilter, order: Order) -> tuple[StoredAct, ...]:
        found = (act for act in self._tables.acts.after(after, order) if self._is_found(act, where))
        return tuple(islice(found, limit))

    def obstacles(self, acts: Sequence[StoredAct]) -> Mapping[int, Obstacle]:
        found = ((act.act_id, next(self._obstacles(act), None)) for act in acts)
        return {act_id: obstacle for act_id, obstacle in found if obstacle is not None}

    def _obstacles(self, act: StoredAct) -> Iterator[Obstacle]:
        yield from self._changed_since(act)
        yield from self._referring(act)

    def _is_found(self, act: StoredAct, where: ChangeFilter) -> bool:
        ids = range(act.act_id, act.last_id + 1) if act.is_whole else [act.act_id]
        return any(matches(self._tables.changes[id_], where) for id_ in ids)

    def _changed_since(self, act: StoredAct) -> Iterator[Obstacle]:
        mine: dict[tuple[Kind, int], Change] = {}
        others: dict[tuple[Kind, int], Change] = {}
        for change in self._tables.changes.after(act.act_id - 1, "asc"):
            key = (change.kind, change.id)
            if self._tables.acts_of_changes.get(change.change_id) == act.act_id:
                mine[key] = change
            elif key in mine:
                others[key] = change
        for key, change in mine.items():
            if key in others and others[key].after != change.after:
                yield Obstacle(*key, others[key].change_id)

    def _referring(self, act: StoredAct) -> Iterator[Obstacle]:
        created = act.summary["created"]
        for author_id in created.get(Kind.AUTHOR, ()):
            for kind in ARTWORK_KINDS:
                for id_, links in self._tables.links[kind.kind].items():
                    if author_id in links and not self._has_created(act, kind.kind, id_):
                        yield Obstacle(Kind.AUTHOR, author_id, by=(kind.kind, id_))
        for role_id in created.get(Kind.ROLE, ()):
            for user in self._tables.records[Kind.USER].values():
                if user.role_id == role_id and not self._has_created(act, Kind.USER, user.user_id):
                    yield Obstacle(Kind.ROLE, role_id, by=(Kind.USER, user.user_id))

    def _has_created(self, act: StoredAct, kind: Kind, id_: int) -> bool:
        changes = (self._tables.changes[change_id] for change_id in range(act.act_id, act.last_id + 1))
        return any((change.action, change.id) == (f"{kind}.created", id_) for change in changes)
