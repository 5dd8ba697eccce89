"""New passwords: the rules for them, and their hashes (contract C4, O5).

Every new password is checked here, however it arrives. Only password hashes in an import cannot be checked; these are
accepted from the owner of the service alone.
"""

from collections.abc import Callable, Iterator
from functools import lru_cache
from importlib.resources import files
from typing import Final
from unicodedata import normalize

from logoadmin.domain.kernel.errors import InvalidInput, Problem
from logoadmin.ports.passwords import PasswordHasher

# The minimum length of the listed common passwords (NIST SP 800-63B, OWASP ASVS 5, 6.2.1).
_LISTED_FROM: Final = 8
_PRODUCT: Final = "logoadmin"


class NewPasswords:
    """Checks and hashes new passwords; ``hasher`` does not check them."""

    def __init__(
        self, hasher: PasswordHasher, min_length: int | None, host: str = "", title: Callable[[], str] = str
    ) -> None:
        """Apply the rules of the operator.

        Args:
            min_length: the minimum length in characters, None for only the limits of the specification; below 8, common
                passwords are accepted as well.
            host: the host of the URL that browsers open; empty if it is unknown.
            title: returns the current title of the gallery, empty if it has none.
        """
        self.hasher, self._min_length, self._host, self._title = hasher, min_length, host, title

    @property
    def are_judged(self) -> bool:
        """Whether there are rules besides the limits of the specification."""
        return self._min_length is not None

    def check(self, password: str, username: str = "") -> None:
        """Raise InvalidInput for an unacceptable new password; ``username`` is that of its user, if known.

        It must not be too short, among the most common ones, repetitive, or the name of the user, the gallery, the host
        or the product, with digits and signs around it or without.
        """
        if problems := self.problems(password, username):
            raise InvalidInput(problems)

    def problems(self, password: str, username: str = "") -> tuple[Problem, ...]:
        """Return the problem of a password in the field ``password``; empty if there is none."""
        if self._min_length is None:
            return ()
        password, username = normalize("NFC", password), normalize("NFC", username)
        if len(password) < self._min_length:
            too_short = f"String should have at least {self._min_length} characters"
            return (Problem(("password",), too_short, "string_too_short"),)
        if self._min_length < _LISTED_FROM:
            return ()
        folded = password.casefold()
        if folded in _common_passwords():
            return (Problem(("password",), "Password should not be one of the most common ones", "value_error"),)
        # A text that repeats a part occurs in its double before the second half.
        if (folded + folded).find(folded, 1) < len(folded):
            return (Problem(("password",), "Password should not repeat one character or run", "value_error"),)
        if _core(folded) in {_core(word.casefold()) for word in self._obvious(username)}:
            text = "Password should not be the name of the user, the gallery, the host or the product"
            return (Problem(("password",), text, "value_error"),)
        return ()

    def _obvious(self, username: str) -> Iterator[str]:
        yield _PRODUCT
        words = self._title().split()
        names = (username, self._host, self._host.partition(".")[0], *words, "".join(words), " ".join(words))
        yield from filter(_core, names)


def _core(text: str) -> str:
    """Return a text without the digits and signs around its letters."""
    letters = [place for place, character in enumerate(text) if character.isalpha()]
    return text[letters[0] : letters[-1] + 1] if letters else ""


@lru_cache(maxsize=1)
def _common_passwords() -> frozenset[str]:
    """Return the most common passwords of at least 8 characters, casefolded; see decision 0060."""
    text = files("logoadmin.domain.identity").joinpath("common_passwords.txt").read_text("utf-8")
    return frozenset(text.split())
