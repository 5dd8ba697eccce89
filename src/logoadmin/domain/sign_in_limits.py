"""Limits on failed sign-ins (contract C1).

They are counted in storage, so that all processes count together, and by origin, so that nobody can lock out a user
from elsewhere.
"""

import hashlib
import ipaddress
from typing import Final

from logoadmin.domain.audit.unit_of_work import AnyUnitOfWork
from logoadmin.ports.storage import UnitOfWork

_WINDOW: Final = 300  # seconds
_PER_USERNAME: Final = 10
_PER_ORIGIN: Final = 100
# Each attempt adds at most two counts and deletes up to this many old ones.
_MOST_COUNTS_FORGOTTEN: Final = 20


def attempt(uow: UnitOfWork, username: str, origin: str, now: int) -> int | None:
    """Count a sign-in before the password is verified, so that concurrent attempts are all counted.

    Returns:
        None if it may go on, or the seconds to wait. Whether the user exists makes no difference.
    """
    uow.sign_in_attempts.forget_ended(now, _MOST_COUNTS_FORGOTTEN)
    counts = []
    for counted, most in _counted(username, origin):
        attempts, ends_at = uow.sign_in_attempts.count(counted)
        if not now < ends_at <= now + _WINDOW:  # over, or from a clock that was ahead
            attempts = 0
        if attempts >= most:
            return max(1, ends_at - now)
        counts.append((counted, attempts + 1, ends_at if attempts else now + _WINDOW))
    for count in counts:
        uow.sign_in_attempts.set(*count)
    return None


def succeeded(username: str, origin: str, uow: AnyUnitOfWork) -> None:
    """Forget the failures for the username, and this attempt from the origin."""
    (per_origin, _), (per_username, _) = _counted(username, origin)
    uow.sign_in_attempts.forget(per_username)
    attempts, ends_at = uow.sign_in_attempts.count(per_origin)
    if attempts > 1:
        uow.sign_in_attempts.set(per_origin, attempts - 1, ends_at)
    else:
        uow.sign_in_attempts.forget(per_origin)


def _counted(username: str, origin: str) -> tuple[tuple[str, int], tuple[str, int]]:
    """Return the names and limits of the counts of an attempt: its origin first, which limits the number of names."""
    network = _network(origin)
    both = hashlib.sha256(repr((network, username)).encode()).hexdigest()
    return (hashlib.sha256(repr(network).encode()).hexdigest(), _PER_ORIGIN), (both, _PER_USERNAME)


def _network(origin: str) -> str:
    """Return the network of an address: of IPv6 the /64, from which a subscriber can choose."""
    try:
        address = ipaddress.ip_address(origin)
    except ValueError:
        return origin
    if address.version == 4:
        return origin
    return str(address.ipv4_mapped or ipaddress.ip_network((address.packed, 64), strict=False))
