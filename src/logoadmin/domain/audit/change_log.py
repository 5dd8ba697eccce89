"""What one unit of work changes: judged, numbered, and written into the history at its end (contract B4, F1, G)."""

from collections.abc import Iterable, Mapping
from dataclasses import MISSING, fields, replace
from typing import Any, Final

from logoadmin.domain.model.access import Rights, Scope
from logoadmin.domain.model.errors import Conflict, NotPermitted
from logoadmin.domain.model.lists import Listing
from logoadmin.domain.model.records import RECORDS, Change, Kind, Link, Logo, StoredRecord, Theme
from logoadmin.ports.storage import UnitOfWork

Snapshot = Mapping[str, Any]
_ASIDE: Final = {"authors", "version"}

CREATED: Final = "created"
AMENDED: Final = "amended"
REMOVED: Final = "removed"
RESTORED: Final = "restored"
LINKED: Final = "linked"
UNLINKED: Final = "unlinked"
PASSWORD_SET: Final = "password_set"


class ChangeLog:
    """The changes of one unit of work, with what the one who makes them may do (contract B4).

    Attributes:
        changes: the changes so far.
        held: what the caller may do; None where that is everything.

    What happens to a record in a row is one change: one that gets new values and new links is amended once.
    """

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
        self._all_at_stake = False

    def version(self, kind: Kind, id_: int) -> int:
        """Return the id that the change of a record is going to have."""
        last = self.changes[-1] if self.changes else None
        if last is not None and (last.kind, last.id) == (kind, id_):
            return last.change_id
        if self._last_id is None:
            self._last_id = self._uow.changes.last_id()
        return self._last_id + 1

    def note(self, action: str, kind: Kind, id_: int, before: Snapshot | None, after: Snapshot | None) -> None:
        """Note what became of a record, once it did."""
        change_id = self.version(kind, id_)
        last = self.changes[-1] if self.changes else None
        if last is not None and last.change_id == change_id:
            self.changes[-1] = replace(last, after=after)
            return
        self._last_id = change_id
        change = Change(
            change_id, self._now, self._user_id, f"{kind}.{action}", kind, id_, before, after, self._request_id
        )
        self.changes.append(change)

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

    def stake_all(self) -> None:
        """Note that somebody who holds everything and can sign in may be the last; the end of the work will tell."""
        self._all_at_stake = True

    def close(self) -> None:
        """Keep the changes.

        Raises:
            Conflict: nobody who can sign in would hold everything any more.
        """
        if self._all_at_stake and not _somebody_holds_all(self._uow):
            raise Conflict(f"The last user who holds {Scope.ALL} stays as they are")
        if self.changes:
            self._uow.changes.add(self.changes)


def _somebody_holds_all(uow: UnitOfWork) -> bool:
    roles = uow.roles
    listed = Listing(roles.page(-1, 500), lambda role: role.role_id, roles.page)
    return any(Scope.ALL in role.scope and uow.users.can_sign_in(role.role_id) for role in listed)


def snapshot(record: StoredRecord) -> Snapshot:
    """Return the fields of a record by name, without its authors, who are records of their own."""
    return {name: _serialized(getattr(record, name)) for name in type(record).__slots__ if name not in _ASIDE}


def with_defaults(kind: Kind, serialized: Snapshot | None) -> Snapshot | None:
    """Return what the history says of a record, with the defaults of the fields that there were not yet."""
    if serialized is None:
        return None
    optional = [field for field in fields(RECORDS[kind]) if field.default is not MISSING and field.name not in _ASIDE]
    return {**{field.name: _serialized(field.default) for field in optional}, **serialized}


def deserialized(serialized: Snapshot) -> dict[str, Any]:
    """Return the values of a record's fields from what the history says of it."""
    return {name: tuple(value) if isinstance(value, list) else value for name, value in serialized.items()}


def _serialized(value: Any) -> Any:
    return list(value) if isinstance(value, tuple) else value  # as JSON has it


def artwork_snapshot(artwork: Theme | Logo, kind: Kind, links: Iterable[Link]) -> Snapshot:
    """Return what the history says of an artwork: its links, not its authors, who have a history of their own."""
    return {**snapshot(artwork), "authors": links_said(kind, links, "author_id")}


def links_said(kind: Kind, links: Iterable[Link], other: str) -> list[dict[str, int]]:
    """Return links to what is on their other side, an author or an artwork."""
    return [
        {f"{kind}_author_id": link.link_id, other: link.author_id if other == "author_id" else link.artwork_id}
        for link in links
    ]
