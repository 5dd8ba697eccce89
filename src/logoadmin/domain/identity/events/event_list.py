"""The list of events (contract O9)."""

from operator import attrgetter
from typing import Annotated, Any

from logoadmin.domain.identity.events.event_records import SignInEvent
from logoadmin.domain.kernel.access import OWNER, SIGNED_IN, AllRights, Caller, Held, Scope
from logoadmin.domain.kernel.errors import NotPermitted
from logoadmin.domain.kernel.gate import Gate
from logoadmin.domain.kernel.limits import Id, described
from logoadmin.domain.kernel.lists import RECORD_PAGE_SIZES, ListCommand, Listing, Order
from logoadmin.domain.kernel.pagination import FirstPage, Pages, listing
from logoadmin.domain.kernel.unit_of_work import Reading, history_in, identity_in
from logoadmin.domain.kernel.use_cases import Service, use_case
from logoadmin.ports.kernel.change_storage import creation_of


class ListEvents(ListCommand):
    """The events of all users or of one, the newest first."""

    order: Annotated[Order, described("The newest (`desc`) or the oldest (`asc`) first.", "asc")] = "desc"
    user_id: Annotated[Id, described("Events of this user; without `users:read`, your own id.", 1042)] | None = None


class EventService(Service):
    """The use case of events; :mod:`logoadmin.domain.identity.events.recording` records them."""

    @use_case(SIGNED_IN)
    def list(self, gate: Gate, command: ListEvents, caller: Caller = OWNER) -> Listing[SignInEvent]:
        """Return events, by event_id: those of all users, or without ``users:read`` the caller's own (contract O9).

        One's own are those since one's user was created: its id may have been another person's before.

        Raises:
            NotPermitted: the caller asks for those of another user without ``users:read``, or is a service key
                without it.
        """

        def first(uow: Reading, command: ListEvents, held: Held) -> tuple[Pages[SignInEvent], FirstPage[SignInEvent]]:
            pages = _pages(*_visible(command, uow, held), command.order)
            return pages, pages.first(uow, command)

        pages, found = gate.snapshot_with_rights(command, caller, first)
        return listing(gate, command, pages, found)


def _pages(user_id: int | None, since: int | None, order: Order) -> Pages[SignInEvent]:
    """Return the events of all users, of those with an id or of the one whom a change created."""

    def version(_uow: Reading, _command: ListCommand) -> int:
        """Events have no version."""
        return 0

    def page(after: Any, limit: int, uow: Reading) -> tuple[SignInEvent, ...]:
        return identity_in(uow).events.page(after, limit, user_id, order, since)

    id_of = attrgetter("event_id")
    return Pages(page, version, RECORD_PAGE_SIZES, id_of, id_of)


def _visible(command: ListEvents, uow: Reading, held: Held) -> tuple[int | None, int | None]:
    """Return the user whose events a caller gets, None for all users, and which of those with the id."""
    if isinstance(held, AllRights) or held.hold(Scope.USERS_READ):
        return command.user_id, None
    if not held.of_user or command.user_id not in (None, held.user_id):
        raise NotPermitted
    # An earlier user with this id was another person.
    return held.user_id, creation_of(history_in(uow), held.user_id)
