"""Password hashing (contract C4)."""

from collections.abc import Iterable
from typing import Protocol

from logoadmin.domain.kernel.records import PasswordHash


class PasswordHasher(Protocol):
    """Creates and verifies password hashes. Safe to use from several threads."""

    def hash(self, password: str) -> PasswordHash:
        """Return a new salted hash."""

    def hash_random(self, password: str) -> PasswordHash:
        """Return a quick hash of a password of 256 random bits, which nobody can guess; it is renewed when used."""

    def verify(self, hash_: PasswordHash | None, password: str) -> bool:
        """Return whether a password matches a hash.

        Must be False for None (an unknown user, or one without a password) and for hashes that :meth:`refusal` rejects,
        which are not computed but take as long as a wrong password (contract C1).
        """

    def verify_others(self, hash_: PasswordHash | None, classes: Iterable[str], password: str) -> None:
        """Spend the time of verifying a hash of each other class, after a password did not match this hash.

        Hashes with other parameters take another time, which would reveal which users have them, and which exist. The
        classes are those of :meth:`~logoadmin.ports.identity_storage.Passwords.classes`.
        """

    def refusal(self, hash_: PasswordHash) -> str | None:
        """Return why a hash from elsewhere is rejected, None if it is accepted (contract I2).

        A hash determines the cost of verifying it, which must be bounded; and :meth:`verify` must support the hash. The
        text contains nothing of the hash.
        """

    def needs_rehash(self, hash_: PasswordHash) -> bool:
        """Return whether :meth:`hash` would now create a stronger hash."""
