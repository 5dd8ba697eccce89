"""The limits of an outgoing request and its permitted hosts: names are resolved, and all addresses checked (L8)."""

import logging
import socket
import time
from collections.abc import Callable, Collection, Iterable, Sequence
from concurrent.futures import Future
from contextlib import suppress
from ipaddress import ip_address
from threading import BoundedSemaphore, Thread
from typing import Any, Final

from logoadmin.adapters.httpcore_outgoing.networks import Address, is_forbidden, is_public
from logoadmin.domain.kernel.errors import OutgoingError

log = logging.getLogger("logoadmin.outgoing")

# As socket.getaddrinfo; the addresses are the first elements of the last element of each result.
Resolve = Callable[..., Sequence[tuple[Any, Any, Any, Any, tuple[Any, ...]]]]

# Resolving cannot be interrupted: abandoned threads end when the system gives up.
_MAX_RESOLVING: Final = 16
# A working resolver needs less, and the owner of a name can make it take any time.
_RESOLVING_SECONDS: Final = 3.0
# Heads of responses, and the framing of chunks.
_OVERHEAD: Final = 256 * 1024


class TooLarge(Exception):
    """A response exceeds its limit of bytes."""


class Budget:
    """The time, in seconds, and the received bytes that are left for a body of at most ``most`` bytes."""

    def __init__(self, most: int, seconds: float) -> None:
        self.most = most
        self.seconds = seconds
        self._bytes = 2 * most + _OVERHEAD
        self._end = time.monotonic() + seconds

    def time_left(self) -> float:
        """Return the seconds that are left; raise TimeoutError if none are."""
        left = self._end - time.monotonic()
        if left <= 0:
            raise TimeoutError
        return left

    def receive(self, size: int) -> None:
        """Count received bytes; raise TooLarge beyond what a response with the largest body can have."""
        self._bytes -= size
        if self._bytes < 0:
            raise TooLarge


class Guard:
    """Checks hosts by all of their addresses."""

    def __init__(self, allowed: Collection[str], resolve: Resolve) -> None:
        """Allow hosts that are not public: names and addresses, as in a Target."""
        self._allowed = frozenset(allowed)
        self._resolve = resolve
        # Its own, so that names that others choose do not delay the issuer of single sign-on.
        self._resolving = BoundedSemaphore(_MAX_RESOLVING)

    def lists(self, host: str) -> bool:
        """Return whether the operator listed a host."""
        return host in self._allowed

    def addresses(self, host: str, port: int, budget: Budget) -> list[Address]:
        """Return the addresses of a host, all of them allowed, in the order in which they should be tried.

        Raises OutgoingError if it has none, or a forbidden one, or is not resolved in time, and TimeoutError if the
        overall time is up.
        """
        with suppress(ValueError):
            return self._checked(host, [ip_address(host)])
        try:
            found = self._within_time(budget, lambda: self._resolve(host.encode(), port, type=socket.SOCK_STREAM))
        except TimeoutError:
            budget.time_left()
            raise OutgoingError(host, f"is not resolved within {_RESOLVING_SECONDS:g} s") from None
        except OSError:
            raise OutgoingError(host, "cannot be resolved") from None
        return self._checked(host, dict.fromkeys(ip_address(str(sockaddr[0])) for *_, sockaddr in found))

    def _checked(self, host: str, addresses: Iterable[Address]) -> list[Address]:
        checked = list(addresses)
        for address in checked:
            if is_forbidden(address):
                log.info("%s has the address %s, which is never contacted", host, address)
                raise OutgoingError(host, "has an address that is never allowed")
            if not (is_public(address) or host in self._allowed or str(address) in self._allowed):
                log.info("%s has the address %s, which is not public", host, address)
                raise OutgoingError(host, "has an address that is not public, and is not listed in outgoing_hosts")
        if not checked:
            raise OutgoingError(host, "cannot be resolved")
        return checked

    def _within_time(self, budget: Budget, work: Callable[[], Any]) -> Any:
        """Return the result of a function that cannot be interrupted, or give up after its time."""
        ends_at = time.monotonic() + min(budget.time_left(), _RESOLVING_SECONDS)
        if not self._resolving.acquire(timeout=ends_at - time.monotonic()):
            raise TimeoutError
        outcome: Future[Any] = Future()

        def run() -> None:
            try:
                outcome.set_result(work())
            except BaseException as error:
                outcome.set_exception(error)
            finally:
                self._resolving.release()

        try:
            Thread(target=run, name="resolve", daemon=True).start()
        except RuntimeError:
            self._resolving.release()
            raise OSError("no more threads") from None
        return outcome.result(max(0.0, ends_at - time.monotonic()))
