"""What one outgoing request may take, and whom it may ask: names are resolved, and every address is judged (L8)."""

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

# Resolving cannot be interrupted: threads that were given up end when the system gives up.
_MAX_RESOLVING: Final = 16
# A working resolver needs less, and the owner of a name can let it take any time.
_RESOLVING_SECONDS: Final = 3.0
# Heads of responses, and the frames of chunks.
_OVERHEAD: Final = 256 * 1024


class TooLarge(Exception):
    """A response has more bytes than it may have."""


class Budget:
    """The time and the received bytes that are left.

    Attributes:
        most: the largest body, in bytes.
        seconds: the time for everything.
    """

    def __init__(self, most: int, seconds: float) -> None:
        self.most = most
        self.seconds = seconds
        self._bytes = 2 * most + _OVERHEAD
        self._end = time.monotonic() + seconds

    def time_left(self) -> float:
        """Return the seconds that are left.

        Raises:
            TimeoutError: none are left.
        """
        left = self._end - time.monotonic()
        if left <= 0:
            raise TimeoutError
        return left

    def receive(self, size: int) -> None:
        """Count received bytes, of whatever kind.

        Raises:
            TooLarge: more than can belong to a response with a body that is small enough.
        """
        self._bytes -= size
        if self._bytes < 0:
            raise TooLarge


class Guard:
    """Judges hosts by all of their addresses."""

    def __init__(self, allowed: Collection[str], resolve: Resolve) -> None:
        """Allow hosts that are not public.

        Args:
            allowed: names and addresses, as in :class:`~logoadmin.adapters.httpcore_outgoing.exchange.Target`.
            resolve: returns the addresses of a name.
        """
        self._allowed = frozenset(allowed)
        self._resolve = resolve
        # Its own, so that names that others choose do not keep the issuer of single sign-on waiting.
        self._resolving = BoundedSemaphore(_MAX_RESOLVING)

    def lists(self, host: str) -> bool:
        """Return whether the operator listed a host."""
        return host in self._allowed

    def addresses(self, host: str, port: int, budget: Budget) -> list[Address]:
        """Return the addresses of a host, each of which may be used, in the order in which they should be tried.

        Raises:
            OutgoingError: the host has no address, or one that it must not have, or is not resolved in time.
            TimeoutError: the time for everything is over.
        """
        with suppress(ValueError):
            return self._judged(host, [ip_address(host)])
        try:
            found = self._resolved(budget, lambda: self._resolve(host.encode(), port, type=socket.SOCK_STREAM))
        except TimeoutError:
            budget.time_left()
            raise OutgoingError(host, f"is not resolved within {_RESOLVING_SECONDS:g} s") from None
        except OSError:
            raise OutgoingError(host, "cannot be resolved") from None
        return self._judged(host, dict.fromkeys(ip_address(str(sockaddr[0])) for *_, sockaddr in found))

    def _judged(self, host: str, addresses: Iterable[Address]) -> list[Address]:
        judged = list(addresses)
        for address in judged:
            if is_forbidden(address):
                log.info("%s has the address %s, which is never asked", host, address)
                raise OutgoingError(host, "has an address that is never allowed")
            if not (is_public(address) or host in self._allowed or str(address) in self._allowed):
                log.info("%s has the address %s, which is not public", host, address)
                raise OutgoingError(host, "has an address that is not public, and is not listed in outgoing_hosts")
        if not judged:
            raise OutgoingError(host, "cannot be resolved")
        return judged

    def _resolved(self, budget: Budget, work: Callable[[], Any]) -> Any:
        """Return the result of work that cannot be interrupted, or give up when its time is over."""
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
