"""The list of events (contract O9)."""

from functools import partial
from typing import Annotated

from logoadmin.domain.model.access import OWNER, SIGNED_IN, Caller, Rights, Scope
from logoadmin.domain.model.errors import NotPermitted
from logoadmin.domain.model.events import Event
from logoadmin.domain.model.limits import Id, described
from logoadmin.domain.model.lists import ListCommand, Listing, Order
from logoadmin.domain.pagination import list_events
from logoadmin.domain.use_cases import Service


class ListEvents(ListCommand):
    """The events of all users or of one, the newest first."""

    permission = SIGNED_IN

    order: Annotated[Order, described("The newest (`desc`) or the oldest (`asc`) first.", "asc")] = "desc"
    user_id: Annotated[Id, described("Events of this user; without `users:read`, your own id.", 1042)] | None = None


class EventService(Service):
    """The use case of events; :mod:`logoadmin.domain.events` records them."""

    def list(self, command: ListEvents, caller: Caller = OWNER) -> Listing[Event]:
        """Return events, by event_id: those of all users, or without ``users:read`` the caller's own (contract O9).

        Raises:
            NotPermitted: the caller asks for those of another user without ``users:read``, or is a service key
                without it.
        """
        return list_events(self.transactions, command, caller, partial(_visible, command))


def _visible(command: ListEvents, held: Rights | None) -> int | None:
    """Return the user whose events a caller gets; None for all users."""
    if held is None or held.hold(Scope.USERS_READ):
        return command.user_id
    if not held.of_user or command.user_id not in (None, held.user_id):
        raise NotPermitted
    return held.user_id
