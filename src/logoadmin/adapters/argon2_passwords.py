"""Passwords hashed with Argon2id (contract C4)."""

import os
import threading

from argon2 import PasswordHasher
from argon2.exceptions import InvalidHashError, VerificationError
from argon2.low_level import Type

from logoadmin.domain.records import PasswordHash


class Argon2Passwords:
    """The :class:`~logoadmin.ports.passwords.PasswordHasher` of the service.

    No more run at once than there are processors: beyond that they would only keep each other, and everybody else,
    from their memory and their caches.
    """

    def __init__(self, memory_kib: int = 19_456, passes: int = 2) -> None:
        """Hash at a cost; the default is OWASP's recommendation for one lane.

        Args:
            memory_kib: memory for each hash, in KiB.
            passes: how often it is gone through.
        """
        self._argon2 = PasswordHasher(time_cost=passes, memory_cost=memory_kib, parallelism=1, type=Type.ID)
        self._at_once = threading.BoundedSemaphore(os.cpu_count() or 1)
        # Compared with where there is nothing to compare with, so that it takes the same time.
        self._nobody = self._argon2.hash("nobody")

    def hash(self, password: str) -> PasswordHash:
        """Return a new salted hash."""
        with self._at_once:
            return PasswordHash(self._argon2.hash(password))

    def verify(self, hash_: PasswordHash | None, password: str) -> bool:
        """Tell whether the password is the one hashed; never for None, in the same time."""
        with self._at_once:
            try:
                return self._matches(hash_.sealed if hash_ else self._nobody, password) and hash_ is not None
            except (InvalidHashError, UnicodeEncodeError):  # an import may bring anything
                return self._matches(self._nobody, password) and False

    def _matches(self, sealed: str, password: str) -> bool:
        try:
            return self._argon2.verify(sealed, password)
        except VerificationError:
            return False

    def outdated(self, hash_: PasswordHash) -> bool:
        """Tell whether the hash was made at another cost than today's."""
        return self._argon2.check_needs_rehash(hash_.sealed)
