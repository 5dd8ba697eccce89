"""What one unit of work changes: checked, numbered, and written into the history at its end (contract B4, F1, G)."""

from collections.abc import Iterable, Mapping
from dataclasses import MISSING, fields
from typing import Any, Final

from logoadmin.domain.model.access import Rights, Scope
from logoadmin.domain.model.errors import Conflict, NotPermitted
from logoadmin.domain.model.kinds import ARTWORK_KINDS, ROLES, AnyArtworkKind, AnyKind
from logoadmin.domain.model.lists import Listing
from logoadmin.domain.model.records import Change, Kind, Link, StoredRecord
from logoadmin.ports.storage import UnitOfWork

Snapshot = Mapping[str, Any]
LinksByKind = Mapping[AnyArtworkKind, tuple[Link, ...]]

CREATED: Final = "created"
AMENDED: Final = "amended"
REMOVED: Final = "removed"
RESTORED: Final = "restored"
LINKED: Final = "linked"
UNLINKED: Final = "unlinked"
PASSWORD_SET: Final = "password_set"

# The field with the links of an artwork; an author's are in one for each kind of artwork, named as several of it are.
AUTHORS_FIELD: Final = "authors"
_ROLES_AT_ONCE: Final = 500


class ChangeLog:
    """The changes of one unit of work, with what the one who makes them may do (contract B4).

    What happens to a record in a row is one change: one that gets new values and new links is amended once.

    Attributes:
        changes: the changes so far.
        held: what the caller may do; None where that is everything.
        may_lose_all: whether the last one who holds everything and can sign in may be among those who changed.
    """

    __slots__ = ("_last_id", "_now", "_request_id", "_uow", "_user_id", "changes", "held", "may_lose_all")

    def __init__(
        self, uow: UnitOfWork, now: int, user_id: int | None, request_id: str | None, held: Rights | None
    ) -> None:
        self._uow = uow
        self._now = now
        self._user_id = user_id
        self._request_id = request_id
        self.held = held
        self.changes: list[Change] = []
        self._last_id: int | None = None
        self.may_lose_all = False

    def version(self, kind: Kind, id_: int) -> int:
        """Return the id that the change of a record is going to have."""
        if self._last_id is None:
            self._last_id = self._uow.changes.last_id()
        if self.changes and self.changes[-1].id == id_ and self.changes[-1].kind is kind:
            return self._last_id
        return self._last_id + 1

    def record(self, action: str, kind: Kind, id_: int, before: Snapshot | None, after: Snapshot | None) -> None:
        """Record what became of a record, once it did."""
        change_id = self.version(kind, id_)
        if change_id == self._last_id:
            first = self.changes.pop()
            action, before = first.action.partition(".")[2], first.before
        self._last_id = change_id
        self.changes.append(
            Change(change_id, self._now, self._user_id, f"{kind}.{action}", kind, id_, before, after, self._request_id)
        )

    def check_escalation(self, had: Iterable[str], has: Iterable[str]) -> None:
        """Make sure that the caller holds the scopes that a role or a user had, and those that it is to have.

        Raises:
            NotPermitted: they do not.
        """
        if self.held is not None and not self.held.cover((*had, *has)):
            raise NotPermitted

    def check_key(self, had: Iterable[str], has: Iterable[str]) -> None:
        """Make sure that a key hands out nothing: it ends, and whoever had it by then could go on (contract C5).

        Raises:
            NotPermitted: the caller is a key, and of these scopes some were not there before.
        """
        if self.key_of is not None and not Rights(self.key_of, frozenset(had)).cover(has):
            raise NotPermitted

    @property
    def key_of(self) -> int | None:
        """The id of the user whose key the caller is; None where they are no key."""
        return None if self.held is None or self.held.of_user else self.held.user_id

    def close(self) -> None:
        """Store the changes.

        Raises:
            Conflict: nobody who can sign in would hold everything any more.
        """
        if self.may_lose_all and not _somebody_holds_all(self._uow):
            raise Conflict(f"The last user who holds {Scope.ALL} stays as they are")
        if self.changes:
            self._uow.changes.add(self.changes)


def _somebody_holds_all(uow: UnitOfWork) -> bool:
    roles = uow.records(ROLES)
    listed = Listing(roles.page(-1, _ROLES_AT_ONCE), ROLES.id_of, roles.page)
    return any(Scope.ALL in role.scope and uow.passwords.can_sign_in(role.role_id) for role in listed)


def snapshot(kind: AnyKind, record: StoredRecord) -> dict[str, Any]:
    """Return the fields of a record as JSON has them, without its authors, who are records of their own."""
    return {
        name: [*value] if type(value) is tuple else value
        for name, value in zip(kind.stored_fields, kind.values_of(record), strict=True)
    }


def with_defaults(kind: AnyKind, serialized: Snapshot | None) -> Snapshot | None:
    """Return what the history says of a record, with the defaults of the fields that there were not yet."""
    if serialized is None:
        return None
    optional = (each for each in fields(kind.record) if each.default is not MISSING and each.name != "version")
    return {**{each.name: _as_json(each.default) for each in optional}, **serialized}


def _as_json(value: Any) -> Any:
    return [*value] if isinstance(value, tuple) else value


def deserialized(kind: AnyKind, id_: int, serialized: Snapshot) -> tuple[dict[str, Any], LinksByKind]:
    """Return the values of a record's fields and its links from what the history says of it."""
    values = {name: tuple(value) if isinstance(value, list) else value for name, value in serialized.items()}
    links = {
        linked: tuple(
            Link(link[linked.link_id_field], link.get(linked.id_field, id_), link.get("author_id", id_))
            for link in values.pop(field)
        )
        for linked in ARTWORK_KINDS
        if (field := links_field(kind, linked)) in values
    }
    return values, links


def links_field(kind: AnyKind, linked: AnyArtworkKind) -> str:
    """Return the field in which the history says the links of a record, an artwork or an author."""
    return AUTHORS_FIELD if kind is linked else linked.plural


def serialized_links(kind: AnyKind, linked: AnyArtworkKind, links: Iterable[Link]) -> list[dict[str, int]]:
    """Return the links of an artwork or of an author as the history says them: what is on their other side."""
    if kind is linked:
        return [{linked.link_id_field: link.link_id, "author_id": link.author_id} for link in links]
    return [{linked.link_id_field: link.link_id, linked.id_field: link.artwork_id} for link in links]
