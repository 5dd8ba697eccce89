"""Events of accounts: sign-ins, and changes of passwords, factors, keys and sessions (contract O9).

An event is written in the transaction of its cause; a refusal, which writes nothing else, in a separate one. Events are
not changes, and raise no version.
"""

from dataclasses import replace
from operator import attrgetter
from typing import Annotated, Any, Final

from logoadmin.domain.identity.records import CountedEvent, EventName, SignInEvent
from logoadmin.domain.identity.sign_in_rules import NO_USER
from logoadmin.domain.kernel.access import (
    SIGNED_IN,
    AllRights,
    Anonymous,
    Caller,
    Held,
    KeyHolder,
    Scope,
    SignedIn,
    network_of,
)
from logoadmin.domain.kernel.errors import Conflict, NotPermitted
from logoadmin.domain.kernel.kinds import USERS
from logoadmin.domain.kernel.limits import MAX_ADDRESS, MAX_USER_AGENT, Id, described
from logoadmin.domain.kernel.lists import RECORD_PAGE_SIZES, ListCommand, Listing, Order, page_of
from logoadmin.domain.kernel.pagination import Pages
from logoadmin.domain.kernel.unit_of_work import AnyUnitOfWork, Reading, ReadUnitOfWork, history_in, identity_in
from logoadmin.domain.kernel.use_cases import Service, reads_with_rights
from logoadmin.ports.history_storage import creation_of
from logoadmin.ports.sign_in_storage import Events

# The maximum number of rows with an address, and with a user, of one counted event in an hour.
_MOST_WITH_ADDRESS: Final = 256
_MOST_WITH_USER: Final = 512
# Attempts beyond the limits of sign-ins are counted at most once a minute, so that a flood of them seldom writes.
_LIMITED_EVERY: Final = 60


def record_event(
    uow: AnyUnitOfWork,
    event: EventName,
    user_id: int,
    client: Caller,
    now: int,
    *,
    factor: str | None = None,
    count: int = 1,
) -> None:
    """Record an event of a user's account, caused by a client that is not necessarily this user.

    Args:
        factor: the factor that signed in, or the kind of factor that was added or removed.
        count: how often it happened, such as how many sessions were ended.
    """
    address, user_agent = shown_client(client)
    by = _user_of(uow, client)
    by = None if by == user_id else by
    name, by_name = _name_of(uow, user_id), None if by is None else _name_of(uow, by)
    done = SignInEvent(0, now, event, user_id, name, address, user_agent, factor, count, by, by_name)
    add_event(identity_in(uow).events, done, creation_of(history_in(uow), user_id))


def count_event(uow: AnyUnitOfWork, event: CountedEvent, user_id: int | None, client: Caller, now: int) -> None:
    """Count an event that anyone can cause, by user, network and hour.

    Beyond some rows per hour, events are counted without their address, and then without their user. If the name in
    an attempt is not a user's, it is not recorded, because it may be a password.
    """
    address, user_agent = shown_client(client)
    address = None if address is None else network_of(address)[:MAX_ADDRESS]
    every = _LIMITED_EVERY if event == "sign_in_limited" else 0
    # Read for every name, so that a refusal takes no longer if the user exists.
    events = identity_in(uow).events
    user_name, rows = _name_of(uow, user_id), events.number(event, now, _MOST_WITH_USER)
    since = creation_of(history_in(uow), NO_USER if user_id is None else user_id)
    if events.count(event, user_id, address, now, every, since):
        return
    if rows >= _MOST_WITH_ADDRESS:
        address = user_agent = None
        if rows >= _MOST_WITH_USER:
            user_id, user_name, since = None, None, 0
        if events.count(event, user_id, address, now, every, since):
            return
    add_event(events, SignInEvent(0, now, event, user_id, user_name, address, user_agent), since)


def shown_client(client: Caller) -> tuple[str | None, str | None]:
    """Return the address and the ``User-Agent`` of a caller, without control and bidirectional characters."""
    if not isinstance(client, Anonymous | SignedIn):
        return None, None
    address, user_agent = (
        "".join(filter(str.isprintable, text)).strip() for text in (client.origin, client.user_agent)
    )
    return address[:MAX_ADDRESS] or None, user_agent[:MAX_USER_AGENT] or None


def _user_of(uow: AnyUnitOfWork, client: Caller) -> int | None:
    """Return the user of a session or of a service key."""
    if isinstance(client, SignedIn):
        return client.user_id
    found = identity_in(uow).keys.find(client.key_hash) if isinstance(client, KeyHolder) else None
    return None if found is None else found[1].user_id


def _name_of(uow: AnyUnitOfWork, user_id: int | None) -> str | None:
    user = uow.records(USERS).get(NO_USER if user_id is None else user_id)
    return None if user is None else user.username


def add_event(events: Events, event: SignInEvent, user_since: int) -> None:
    """Store an event of the user that the change ``user_since`` created."""
    try:
        event_id = events.next_id()
    except Conflict:  # after two billion events, users sign in without them
        return
    events.add(replace(event, event_id=event_id), user_since)


class ListEvents(ListCommand):
    """The events of all users or of one, the newest first."""

    order: Annotated[Order, described("The newest (`desc`) or the oldest (`asc`) first.", "asc")] = "desc"
    user_id: Annotated[Id, described("Events of this user; without `users:read`, your own id.", 1042)] | None = None


class EventService(Service):
    """The use case of events; :mod:`logoadmin.domain.identity.sign_in_events` records them."""

    @reads_with_rights(SIGNED_IN)
    def list(self, uow: ReadUnitOfWork, command: ListEvents, held: Held) -> Listing[SignInEvent]:
        """Return events, by event_id: of all users, or without ``users:read`` only the caller's own (contract O9).

        Events from before the user was created are excluded: the id may have been another person's.

        Raises:
            NotPermitted: without ``users:read``, the caller requests another user's events, or is a service key.
        """
        user_id, since = _visible(command, uow, held)

        def page(after: Any, limit: int, uow: Reading) -> tuple[SignInEvent, ...]:
            found = identity_in(uow).events.page(after, limit, user_id, command.order, since)
            return found if since is None else page_of(found, _without_others)

        # Events have no version.
        return Pages(page, RECORD_PAGE_SIZES, attrgetter("event_id")).listing(self, uow, command, version=0)


def _without_others(event: SignInEvent) -> SignInEvent:
    """Return an event without the client's address and browser if another user caused it."""
    return event if event.by_user_id is None else replace(event, address=None, user_agent=None)


def _visible(command: ListEvents, uow: Reading, held: Held) -> tuple[int | None, int | None]:
    """Return the user whose events a caller gets, None for all, and the change that created them, None for any."""
    if isinstance(held, AllRights) or held.hold(Scope.USERS_READ):
        return command.user_id, None
    if not held.of_user or command.user_id not in (None, held.user_id):
        raise NotPermitted
    # An earlier user with this id was another person.
    return held.user_id, creation_of(history_in(uow), held.user_id)
