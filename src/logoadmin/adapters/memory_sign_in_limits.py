"""Sign-in limits counted in the memory of the process (contract C1)."""

import hashlib
import ipaddress
import math
import time
from typing import Final

from limits import RateLimitItem, RateLimitItemPerMinute
from limits.storage import MemoryStorage
from limits.strategies import FixedWindowRateLimiter

from logoadmin.domain.errors import TooManySignIns

# Somebody who mistypes gets through; somebody who guesses does not get far. Counted by where the guesses come from,
# so that nobody can lock others out of their own account from elsewhere.
_PER_USERNAME: Final = RateLimitItemPerMinute(10, 5, namespace="username")
_PER_ORIGIN: Final = RateLimitItemPerMinute(100, 5, namespace="origin")


class MemorySignInLimits:
    """The :class:`~logoadmin.ports.sign_in_limits.SignInLimits` of one process: each worker counts for itself."""

    def __init__(self) -> None:
        """Start with no failure counted."""
        self._storage = MemoryStorage()
        self._limiter = FixedWindowRateLimiter(self._storage)

    def attempt(self, username: str, origin: str) -> None:
        """Count a sign-in before it is tried, so that many at once do not slip through together."""
        counted = _counted(username, origin)
        for position, (limit, key) in enumerate(counted):
            if not self._limiter.hit(limit, key):
                for earlier, earlier_key in counted[:position]:
                    self._storage.decr(earlier.key_for(earlier_key))
                reset = self._limiter.get_window_stats(limit, key).reset_time
                raise TooManySignIns(max(1, math.ceil(reset - time.time())))

    def succeeded(self, username: str, origin: str) -> None:
        """Forget the failures for that username, and that this attempt was one from there."""
        (per_origin, origin_key), (per_username, username_key) = _counted(username, origin)
        self._limiter.clear(per_username, username_key)
        self._storage.decr(per_origin.key_for(origin_key))

    def withdrawn(self, username: str, origin: str) -> None:
        """Forget this attempt, and no other."""
        for limit, key in _counted(username, origin):
            self._storage.decr(limit.key_for(key))


def _counted(username: str, origin: str) -> tuple[tuple[RateLimitItem, str], tuple[RateLimitItem, str]]:
    """Return what an attempt counts for, the origin first: one that is refused must not fill memory with names."""
    # Hashed, because the parts of a key are joined by a character that a name may have.
    network = _network(origin)
    both = hashlib.sha256(repr((network, username)).encode()).hexdigest()
    return (_PER_ORIGIN, hashlib.sha256(network.encode()).hexdigest()), (_PER_USERNAME, both)


def _network(origin: str) -> str:
    """Return what somebody cannot vary of their address: of IPv6, a subscriber has a /64 to choose from."""
    try:
        address = ipaddress.ip_address(origin)
    except ValueError:
        return origin
    if address.version == 4:
        return origin
    return str(address.ipv4_mapped or ipaddress.ip_network((address.packed, 64), strict=False))
