"""Slowing down those who guess passwords (contract C1)."""

from typing import Protocol


class SignInLimits(Protocol):
    """Counts sign-ins. Safe to use from several threads."""

    def attempt(self, username: str, origin: str) -> None:
        """Count a sign-in that is about to be tried, before the password is looked at.

        Args:
            username: whose password is tried; there need not be such a user.
            origin: where the caller is, such as an address; empty where there is no such thing.

        Raises:
            TooManySignIns: there were too many failures; must not depend on whether the user exists.
        """

    def succeeded(self, username: str, origin: str) -> None:
        """Take back the count of an attempt that proved to be right, and the failures for that username before it."""

    def withdrawn(self, username: str, origin: str) -> None:
        """Take back the count of an attempt that could not be judged."""
