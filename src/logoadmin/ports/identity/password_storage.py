"""The passwords of users, and who can sign in."""

from dataclasses import dataclass
from typing import Protocol

from logoadmin.domain.identity.sign_in_rules import Ways
from logoadmin.domain.kernel.records import PasswordHash


@dataclass(frozen=True, slots=True)
class Credentials:
    """The stored credentials of a user.

    Attributes:
        user_id: the user.
        password: the hash; None for a user who was imported without one.
        has_factor: whether a second factor is confirmed.
    """

    user_id: int
    password: PasswordHash | None
    has_factor: bool = False


class Passwords(Protocol):
    """The password hashes of users, and who can sign in."""

    def get(self, user_id: int) -> PasswordHash | None:
        """Return the hash of a user, or None."""

    def set(self, user_id: int, password: PasswordHash) -> None:
        """Set the hash of an existing user."""

    def credentials(self, username: str) -> Credentials | None:
        """Return the credentials of the user with a name, or None."""

    def classes(self) -> frozenset[str]:
        """Return the parameters of all stored hashes of Argon2: each up to its lanes, without salt and digest.

        It reads all users, so callers keep the result for a while.
        """

    def can_sign_in(self, role_id: int, ways: Ways) -> bool:
        """Return whether a user with the role can sign in: with a password, a confirmed passkey or at the issuer.

        Users that an issuer refused cannot. Where passkeys cannot be used, a password does not suffice for users whose
        only second factors are passkeys.
        """

    def can_user_sign_in(self, user_id: int, ways: Ways) -> bool:
        """Return whether this user can sign in, in the same ways."""
