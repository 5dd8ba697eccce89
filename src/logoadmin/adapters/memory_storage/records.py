"""Records of every kind, their links and their history.

The history is copied when it is stored and when it is returned, so that nobody can change it.
"""

import math
from collections import defaultdict
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from copy import deepcopy
from dataclasses import replace
from itertools import groupby, islice
from operator import attrgetter, gt, lt
from typing import Any, Final, Generic, TypeVar

from logoadmin.adapters.memory_storage.identity import MemoryRecoveryCodes, MemorySessions
from logoadmin.adapters.memory_storage.tables import Repository, Tables
from logoadmin.domain.kernel.errors import DuplicateEntry, DuplicateUpdate
from logoadmin.domain.kernel.kinds import ARTWORK_KINDS, AnyArtworkKind, RecordKind
from logoadmin.domain.kernel.limits import MAX_COUNTED_ID
from logoadmin.domain.kernel.lists import (
    EVERY_CHANGE,
    EVERYTHING,
    ChangeFilter,
    Filter,
    Order,
    SortKey,
    page_of,
    search_form,
    text_length,
    truncated_page,
)
from logoadmin.domain.kernel.records import Artwork, Author, Change, Kind, Link, StoredRecord, User
from logoadmin.ports.history_storage import Obstacle, StoredAct, StoredResponse, created_by

Record = TypeVar("Record", bound=StoredRecord)


class MemoryRecords(Repository, Generic[Record]):
    """Implements :class:`~logoadmin.ports.record_storage.Records`."""

    def __init__(self, kind: RecordKind[Record], tables: Tables) -> None:
        super().__init__(tables)
        self._kind = kind
        self._rows = tables.records[kind.kind]
        self._owners = tables.owners[kind.kind]

    def next_id(self) -> int:
        return self._next(self._kind.id_field)

    def get(self, id_: int) -> Record | None:
        row = self._rows.get(id_)
        return None if row is None else self._whole(row)

    def find(self, field: str, value: Any) -> Record | None:
        id_ = self._owners.get((value, field))
        return None if id_ is None else self.get(id_)

    def get_many(self, ids: Sequence[int]) -> tuple[Record, ...]:
        return self._page(self._rows[id_] for id_ in sorted(set(ids)) if id_ in self._rows)

    def page(self, after: int, limit: int, where: Filter = EVERYTHING, order: Order = "asc") -> tuple[Record, ...]:
        rows = (row for row in self._rows.after(after, order) if self._matches(row, where))
        return self._page(islice(rows, limit))

    def sorted_page(
        self, sort: SortKey, after: Record | None, limit: int, where: Filter = EVERYTHING, order: Order = "asc"
    ) -> tuple[Record, ...]:
        def place(row: Record) -> tuple[Any, int]:
            name: str = getattr(row, self._kind.name_field)
            return (search_form(name) if sort == "name" else row.version), self._kind.id_of(row)

        follows = gt if order == "asc" else lt
        rows = [row for row in self._rows.values() if self._matches(row, where)]
        following = [row for row in rows if after is None or follows(place(row), place(after))]
        return self._page(sorted(following, key=place, reverse=order == "desc")[:limit])

    def add(self, record: Record) -> None:
        id_ = self._kind.id_of(record)
        for key in self._unique(record):
            if key in self._owners:
                raise DuplicateEntry(*key)
        if id_ <= MAX_COUNTED_ID:
            self._mark_used(self._kind.id_field, id_)
        self._put(id_, record)

    def update(self, record: Record) -> None:
        id_ = self._kind.id_of(record)
        for key in self._unique(record):
            if self._owners.get(key, id_) != id_:
                raise DuplicateUpdate(*key)
        self._disown(id_)
        self._put(id_, record)

    def remove(self, id_: int) -> bool:
        if id_ in self._rows:
            self._disown(id_)
        return self._rows.discard(id_)

    def touch(self, ids: Collection[int], version: int) -> None:
        for id_ in ids:
            self._rows.change(id_, version=version)

    def _page(self, rows: Iterable[Record]) -> tuple[Record, ...]:
        return page_of(truncated_page(rows, text_length), self._whole)

    def _whole(self, row: Record) -> Record:
        """Return a record with its parts that are stored elsewhere."""
        return row

    def _matches(self, row: Record, where: Filter) -> bool:
        return all(self._has(row, name, value) for name, value in where.given.items())

    def _has(self, row: Record, name: str, value: Any) -> bool:
        if name == "q":
            return search_form(value) in search_form(getattr(row, self._kind.name_field))
        return bool(getattr(row, name) == value)

    def _unique(self, record: Record) -> list[tuple[Any, str]]:
        """Return the values of a record that no other may have, each with its field."""
        values = [(attrgetter(field)(record), field) for field in self._kind.unique]
        return [(value, field) for value, field in values if value is not None]

    def _put(self, id_: int, record: Record) -> None:
        self._rows[id_] = record
        for key in self._unique(record):
            self._owners[key] = id_

    def _disown(self, id_: int) -> None:
        for key in self._unique(self._rows[id_]):
            del self._owners[key]


class MemoryUsers(MemoryRecords[User]):
    """Users; removing one also removes their sessions, keys, password and factors."""

    def remove(self, id_: int) -> bool:
        tables = self._tables
        MemorySessions(tables).end_all(id_)
        MemoryRecoveryCodes(tables).replace(id_, ())
        for of_user in (tables.passwords, tables.preferences, tables.seen_notices):
            of_user.discard(id_)
        for theirs in (tables.keys, tables.factors, tables.challenges, tables.identities):
            theirs.remove_some(len(theirs), lambda row: row.user_id == id_)
        return super().remove(id_)


class MemoryAuthors(MemoryRecords[Author]):
    """Authors; removing one also removes their links."""

    def remove(self, id_: int) -> bool:
        for kind in ARTWORK_KINDS:
            links = MemoryLinks(kind, self._tables)
            for link in links.of_author(id_):
                links.remove(link.artwork_id, id_)
        return super().remove(id_)


class MemoryArtworks(MemoryRecords[Artwork]):
    """Artworks, which are stored without authors."""

    def add(self, record: Artwork) -> None:
        super().add(replace(record, authors=()))

    def update(self, record: Artwork) -> None:
        super().update(replace(record, authors=()))

    def remove(self, id_: int) -> bool:
        self._tables.links[self._kind.kind].discard(id_)
        return super().remove(id_)

    def _has(self, row: Artwork, name: str, value: Any) -> bool:
        if name == "author_id":
            return value in self._author_ids(row)
        if name == "tag":
            return value in (row.details.tags or ())
        if name == "origin":
            return bool(row.details.origin == value)
        return super()._has(row, name, value)

    def _author_ids(self, artwork: Artwork) -> Iterable[int]:
        return self._tables.links[self._kind.kind].get(self._kind.id_of(artwork), {})

    def _whole(self, row: Artwork) -> Artwork:
        authors = self._tables.records[Kind.AUTHOR]
        return replace(row, authors=tuple(authors[id_] for id_ in self._author_ids(row)))


REPOSITORIES: Final[dict[Kind, type[MemoryRecords[Any]]]] = {
    Kind.USER: MemoryUsers,
    Kind.AUTHOR: MemoryAuthors,
    **{kind.kind: MemoryArtworks for kind in ARTWORK_KINDS},
}


class MemoryLinks(Repository):
    """Implements :class:`~logoadmin.ports.gallery_storage.Links`."""

    def __init__(self, kind: AnyArtworkKind, tables: Tables) -> None:
        super().__init__(tables)
        self._kind, self._links = kind, tables.links[kind.kind]

    def next_id(self) -> int:
        return self._next(self._kind.link_id_field)

    def of_artwork(self, artwork_id: int) -> tuple[Link, ...]:
        authors = self._links.get(artwork_id, {})
        return tuple(Link(link_id, artwork_id, author_id) for author_id, link_id in authors.items())

    def of_artworks(self, artwork_ids: Sequence[int]) -> tuple[Link, ...]:
        links = [link for artwork_id in set(artwork_ids) for link in self.of_artwork(artwork_id)]
        return tuple(sorted(links, key=lambda link: link.link_id))

    def of_author(self, author_id: int) -> tuple[Link, ...]:
        theirs = [Link(of[author_id], id_, author_id) for id_, of in self._links.items() if author_id in of]
        return tuple(sorted(theirs, key=lambda link: link.link_id))

    def add(self, links: Sequence[Link]) -> None:
        for artwork_id, added in groupby(links, key=lambda link: link.artwork_id):
            there = {**self._links.get(artwork_id, {}), **{link.author_id: link.link_id for link in added}}
            self._links[artwork_id] = dict(sorted(there.items(), key=lambda pair: pair[1]))

    def remove(self, artwork_id: int, author_id: int) -> bool:
        authors = dict(self._links.get(artwork_id, {}))
        there = authors.pop(author_id, None) is not None
        self._links[artwork_id] = authors
        return there


_id_of = attrgetter("change_id")


class MemoryChanges(Repository):
    """Implements :class:`~logoadmin.ports.history_storage.Changes`."""

    def last_id(self) -> int:
        return len(self._tables.changes)

    def last_of_kinds(self) -> Mapping[Kind, int]:
        return dict(self._tables.last_of_kinds)

    def add(self, changes: Sequence[Change], act_id: int | None = None) -> None:
        for change in changes:
            if act_id is not None:
                self._tables.acts_of_changes[change.change_id] = act_id
            self._tables.changes[change.change_id] = deepcopy(change)
            self._tables.last_of_kinds[change.kind] = change.change_id

    def get(self, change_id: int) -> Change | None:
        return deepcopy(self._tables.changes.get(change_id))

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
        return truncated_page(map(deepcopy, newest_first[:limit]), text_length)

    def undoer_of(self, change_id: int) -> tuple[int, str | None] | None:
        undoers = (change for change in self._tables.changes.values() if change.undoes == change_id)
        newest = max(undoers, key=_id_of, default=None)
        return None if newest is None else (newest.change_id, newest.request_id)

    def page(
        self, after: int, limit: int, where: ChangeFilter = EVERY_CHANGE, order: Order = "asc"
    ) -> tuple[Change, ...]:
        found = (change for change in self._tables.changes.after(after, order) if matches(change, where))
        return truncated_page(map(deepcopy, islice(found, limit)), text_length)


def matches(change: Change, where: ChangeFilter) -> bool:
    """Return whether a change matches a filter."""
    equal = where.given
    since, until = equal.pop("since", 0), equal.pop("until", math.inf)
    return since <= change.at <= until and all(getattr(change, field) == value for field, value in equal.items())


class MemoryStoredResponses(Repository):
    """Implements :class:`~logoadmin.ports.history_storage.StoredResponses`."""

    def get(self, key_hash: str) -> StoredResponse | None:
        return self._tables.stored_responses.get(key_hash)

    def add(self, response: StoredResponse) -> None:
        self._tables.stored_responses[response.key_hash] = response

    def forget(self, key_hash: str) -> None:
        self._tables.stored_responses.discard(key_hash)

    def forget_expired(self, now: int, most: int) -> int:
        return self._tables.stored_responses.remove_some(most, lambda row: row.expires_at <= now)

    def expire_by(self, latest: int, most: int) -> int:
        return self._tables.stored_responses.expire_by(latest, most)


class MemoryActs(Repository):
    """Implements :class:`~logoadmin.ports.history_storage.Acts`."""

    def get(self, act_id: int) -> StoredAct | None:
        return deepcopy(self._tables.acts.get(act_id))

    def of_request(self, request_id: str) -> StoredAct | None:
        return next(map(deepcopy, self._tables.acts.where(request_id=request_id)), None)

    def of_change(self, change_id: int) -> StoredAct | None:
        return self.get(self._tables.acts_of_changes.get(change_id, 0))

    def add(self, act: StoredAct) -> None:
        self._tables.acts[act.act_id] = deepcopy(act)

    update = add

    def page(self, after: int, limit: int, where: ChangeFilter, order: Order) -> tuple[StoredAct, ...]:
        found = (act for act in self._tables.acts.after(after, order) if self._is_found(act, where))
        return tuple(map(deepcopy, islice(found, limit)))

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
