"""The networks from which users signed in, whom attempts from elsewhere must not lock out there (contract C1).

They are kept beside the counts of attempts, hashed, and for as long as events. A refresh of a session counts as well,
because the user may have moved since they signed in.
"""

import hashlib
from typing import Final

from logoadmin.domain.kernel.access import network_of
from logoadmin.domain.kernel.unit_of_work import AnyUnitOfWork, history_in, identity_in
from logoadmin.ports.kernel.change_storage import creation_of

# The maximum number of networks that are added for one user until the first of them is forgotten.
MOST_NETWORKS: Final = 1_000
_NOBODY: Final = -1


def is_known_network(uow: AnyUnitOfWork, user_id: int | None, origin: str, now: int) -> bool:
    """Return whether a user signed in from the network of an origin.

    Args:
        uow: a unit of work.
        user_id: the user; None for an unknown name, which takes as many statements.
        origin: where an attempt comes from, such as an address.
        now: the time.
    """
    _, ends_at = identity_in(uow).sign_in_attempts.count(_name(uow, _NOBODY if user_id is None else user_id, origin))
    return now < ends_at


def remember_network(uow: AnyUnitOfWork, user_id: int, origin: str, now: int, seconds: int) -> None:
    """Remember for some seconds that a user is in the network of an origin."""
    name = _name(uow, user_id, origin)
    _, ends_at = identity_in(uow).sign_in_attempts.count(name)
    if now + seconds // 2 < ends_at <= now + seconds:
        return
    if ends_at <= now:
        added = _hashed(("networks", user_id, creation_of(history_in(uow), user_id)))
        number, until = identity_in(uow).sign_in_attempts.count(added)
        if not now < until <= now + seconds:  # over, or from a clock that was ahead
            number, until = 0, now + seconds
        if number >= MOST_NETWORKS:
            return
        identity_in(uow).sign_in_attempts.set(added, number + 1, until)
    identity_in(uow).sign_in_attempts.set(name, 1, now + seconds)


def _name(uow: AnyUnitOfWork, user_id: int, origin: str) -> str:
    return _hashed(("network", user_id, creation_of(history_in(uow), user_id), network_of(origin)))


def _hashed(counted: object) -> str:
    return hashlib.sha256(repr(counted).encode()).hexdigest()
