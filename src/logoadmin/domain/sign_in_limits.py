"""Slowing down those who guess passwords (contract C1).

Counted in storage, so that all processes count together. Counted by where the guesses come from, so that nobody can
lock others out of their own account from elsewhere.
"""

import hashlib
import ipaddress
from typing import Final

from logoadmin.domain.audit.unit_of_work import AnyUnitOfWork
from logoadmin.domain.model.errors import TooManySignIns
from logoadmin.ports.storage import UnitOfWork

_WINDOW: Final = 300  # seconds
# Somebody who mistypes gets through; somebody who guesses does not get far.
_PER_USERNAME: Final = 10
_PER_ORIGIN: Final = 100
# So many old counts are forgotten with each attempt, which adds two at most.
_MOST_COUNTS_FORGOTTEN: Final = 20


def attempt(uow: UnitOfWork, username: str, origin: str, now: int) -> int | None:
    """Count a sign-in before it is tried, so that many at once do not slip through together.

    Returns:
        None if it may be tried; else after how many seconds one may be again. Whether there is such a user makes no
        difference.
    """
    uow.sign_in_attempts.forget_ended(now, _MOST_COUNTS_FORGOTTEN)
    counts = []
    for counted, most in _counted(username, origin):
        attempts, ends_at = uow.sign_in_attempts.count(counted)
        if not now < ends_at <= now + _WINDOW:  # over, or begun by a clock that ran ahead and was put right
            attempts = 0
        if attempts >= most:
            return max(1, ends_at - now)
        counts.append((counted, attempts + 1, ends_at if attempts else now + _WINDOW))
    for count in counts:
        uow.sign_in_attempts.set(*count)
    return None


def refuse(seconds: int | None) -> None:
    """Refuse an attempt that has to wait.

    Raises:
        TooManySignIns: it has to wait so many seconds.
    """
    if seconds is not None:
        raise TooManySignIns(seconds)


def succeeded(username: str, origin: str, uow: AnyUnitOfWork) -> None:
    """Forget the failures for that username, and that this attempt was one from there."""
    (per_origin, _), (per_username, _) = _counted(username, origin)
    uow.sign_in_attempts.forget(per_username)
    attempts, ends_at = uow.sign_in_attempts.count(per_origin)
    if attempts > 1:
        uow.sign_in_attempts.set(per_origin, attempts - 1, ends_at)
    else:
        uow.sign_in_attempts.forget(per_origin)


def _counted(username: str, origin: str) -> tuple[tuple[str, int], tuple[str, int]]:
    """Return what an attempt counts for and how often it may, the origin first: it must not fill tables with names."""
    network = _network(origin)
    both = hashlib.sha256(repr((network, username)).encode()).hexdigest()
    return (hashlib.sha256(repr(network).encode()).hexdigest(), _PER_ORIGIN), (both, _PER_USERNAME)


def _network(origin: str) -> str:
    """Return what somebody cannot vary of their address: of IPv6, a subscriber has a /64 to choose from."""
    try:
        address = ipaddress.ip_address(origin)
    except ValueError:
        return origin
    if address.version == 4:
        return origin
    return str(address.ipv4_mapped or ipaddress.ip_network((address.packed, 64), strict=False))
