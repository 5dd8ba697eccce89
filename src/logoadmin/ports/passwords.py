"""Keeping passwords (contract C4)."""

from typing import Protocol

from logoadmin.domain.model.records import PasswordHash


class PasswordHasher(Protocol):
    """Makes and checks password hashes. Safe to use from several threads."""

    def hash(self, password: str) -> PasswordHash:
        """Return a new salted hash."""

    def verify(self, hash_: PasswordHash | None, password: str) -> bool:
        """Tell whether the password is the one hashed.

        Must be False for None (no such user, or one without a password) and for what :meth:`refusal` refuses, which
        is not run, and take as long as for a wrong password (contract C1).
        """

    def refusal(self, hash_: PasswordHash) -> str | None:
        """Return why a hash that comes from elsewhere is not taken, None where it is (contract I2).

        It says itself what verifying it costs, so there must be an end to that; and it must be one that
        :meth:`verify` understands. The text repeats nothing of it.
        """

    def needs_rehash(self, hash_: PasswordHash) -> bool:
        """Tell whether :meth:`hash` would make a stronger one today."""
