"""New passwords: the rules for them, and their hashes (contract C4, O5).

Every new password of a user passes through here, however it arrives. Only a password hash in an import says nothing
about its password; such hashes are accepted from the owner of the service alone.
"""

from functools import lru_cache
from importlib.resources import files
from typing import Final

from logoadmin.domain.model.errors import InvalidInput, Problem
from logoadmin.domain.model.records import PasswordHash
from logoadmin.ports.passwords import PasswordHasher

# The length of the shortest common passwords that are listed (NIST SP 800-63B, OWASP ASVS 5, 6.2.1).
_LISTED_FROM: Final = 8


class NewPasswords:
    """Checks and hashes the passwords that users are to have.

    Attributes:
        hasher: makes the hashes, of any password.
    """

    def __init__(self, hasher: PasswordHasher, min_length: int | None) -> None:
        """Apply the rules of the operator.

        Args:
            hasher: makes the hashes.
            min_length: the minimum length in characters; below 8, common passwords are accepted as well. None if only
                the limits of the specification hold.
        """
        self.hasher, self._min_length = hasher, min_length

    @property
    def are_judged(self) -> bool:
        """Whether there are rules besides the limits of the specification."""
        return self._min_length is not None

    def hash(self, password: str) -> PasswordHash:
        """Return the hash of a password, which is slow.

        Raises:
            InvalidInput: see :meth:`check`.
        """
        self.check(password)
        return self.hasher.hash(password)

    def check(self, password: str) -> None:
        """Require that a password may be a new one.

        Raises:
            InvalidInput: it is too short, or among the most common ones.
        """
        if problems := self.problems(password):
            raise InvalidInput(problems)

    def problems(self, password: str) -> tuple[Problem, ...]:
        """Return the problem of a password in the field ``password``; empty if there is none."""
        if self._min_length is None:
            return ()
        if len(password) < self._min_length:
            too_short = f"String should have at least {self._min_length} characters"
            return (Problem(("password",), too_short, "string_too_short"),)
        if self._min_length >= _LISTED_FROM and password.casefold() in _common_passwords():
            return (Problem(("password",), "Password should not be one of the most common ones", "value_error"),)
        return ()


@lru_cache(maxsize=1)
def _common_passwords() -> frozenset[str]:
    """Return the most common passwords of at least 8 characters, casefolded; see decision 0060."""
    text = files("logoadmin.domain").joinpath("common_passwords.txt").read_text("utf-8")
    return frozenset(text.split())
