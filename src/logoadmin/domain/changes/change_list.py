"""Lists of changes (contract G, G3)."""

from collections.abc import Iterable
from dataclasses import dataclass, replace
from operator import attrgetter
from typing import Any

from logoadmin.domain.kernel.audited_records import MOST_LOADED
from logoadmin.domain.kernel.kinds import USERS
from logoadmin.domain.kernel.lists import (
    CHANGE_PAGE_SIZES,
    EVERY_CHANGE,
    ChangeFilter,
    ListCommand,
    Listing,
    Order,
    TruncatedPage,
    page_of,
)
from logoadmin.domain.kernel.pagination import Pages
from logoadmin.domain.kernel.records import Change, Kind, User
from logoadmin.domain.kernel.unit_of_work import Reading, ReadRecords, history_in
from logoadmin.domain.kernel.use_cases import Service, storage_of
from logoadmin.ports.history_storage import ReadsChanges
from logoadmin.ports.record_storage import Records


@dataclass(frozen=True, slots=True)
class Undone:
    """The range of changes that undid a request (contract G4): after one id, up to another."""

    after: int
    last: int


def changes_between(service: Service, after: int, last: int) -> Listing[Change]:
    """Return the changes after one id up to another, for the caller who made them."""
    return storage_of(service).read(lambda uow: _pages(last=last).whole(service, uow, after, last))


def list_changes(service: Service, uow: Reading, command: ListCommand, where: ChangeFilter) -> Listing[Change]:
    """Return the changes that match a filter.

    Raises:
        NotModified: the caller has this version of the list.
    """
    history = history_in(uow)
    version = history.last_id()
    if where.kind is not None:
        # The last change of the filtered record or kind, and of any user, because changes show usernames.
        last = history.last_of_kinds()
        changed = last.get(where.kind, 0) if where.id is None else history.last_of(where.kind, where.id)
        version = max(changed, last.get(Kind.USER, 0))
    return _pages(where, command.order).listing(service, uow, command, version)


def _pages(where: ChangeFilter = EVERY_CHANGE, order: Order = "asc", last: int | None = None) -> Pages[Change]:
    """Return the changes that match a filter, with the names of their users, up to ``last`` if it is given."""

    def page(after: Any, limit: int, uow: Reading) -> tuple[Change, ...]:
        if last is not None:
            limit = min(limit, last - after)
        if limit <= 0:
            return ()
        history = history_in(uow)
        changes = history.page(after, limit, where, order)
        ids = (id_ for change in changes for id_ in (change.user_id, change.submitter_id))
        names = Usernames(ids, uow.records(USERS), history)

        def named(change: Change) -> Change:
            user_name, submitter_name = (
                names.at(change.change_id, id_) for id_ in (change.user_id, change.submitter_id)
            )
            return replace(change, user_name=user_name, submitter_name=submitter_name)

        return page_of(changes, named)

    return Pages(page, CHANGE_PAGE_SIZES, attrgetter("change_id"))


class Usernames:
    """The current names of some users, as far as they exist."""

    def __init__(
        self, user_ids: Iterable[int | None], users: Records[User] | ReadRecords[User], history: ReadsChanges
    ) -> None:
        self._users = _users_of(user_ids, users)
        self._created = history.creations(Kind.USER, [*self._users])

    def at(self, change_id: int, user_id: int | None) -> str | None:
        """Return the name of a user who existed at a change; one who was created later is another person."""
        user = None if user_id is None else self._users.get(user_id)
        return None if user is None or self._created.get(user.user_id, 0) > change_id else user.username

    def since(self, created: int, user_id: int | None) -> str | None:
        """Return the name of a user who was created by this change."""
        return self.at(created, user_id) if self._created.get(user_id or 0, 0) == created else None


def _users_of(user_ids: Iterable[int | None], records: Records[User] | ReadRecords[User]) -> dict[int, User]:
    """Return the users that exist, by id, with one query for up to :data:`MOST_LOADED` of them."""
    users: dict[int, User] = {}
    left = sorted({user_id for user_id in user_ids if user_id is not None})
    while left:
        found = records.get_many(left[:MOST_LOADED])
        users.update({user.user_id: user for user in found})
        # A page that is too long ends early; the users after its last one are still to be read.
        read = left[:MOST_LOADED] if not isinstance(found, TruncatedPage) else [found[-1].user_id]
        left = [user_id for user_id in left if user_id > read[-1]]
    return users
