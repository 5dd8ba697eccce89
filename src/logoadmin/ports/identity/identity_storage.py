"""The repositories of identity, as a unit of work has them."""

from typing import Protocol

from logoadmin.ports.identity.password_storage import Passwords
from logoadmin.ports.identity.session_storage import Preferences, ServiceKeys, Sessions, SignInAttempts
from logoadmin.ports.identity.sign_in_storage import (
    Challenges,
    Events,
    Factors,
    Identities,
    RecoveryCodes,
)


class IdentityStorage(Protocol):
    """The repositories of identity."""

    @property
    def passwords(self) -> Passwords:
        """The passwords of users."""

    @property
    def sessions(self) -> Sessions:
        """The sessions of users."""

    @property
    def preferences(self) -> Preferences:
        """The preferences of users."""

    @property
    def keys(self) -> ServiceKeys:
        """The service keys of users."""

    @property
    def sign_in_attempts(self) -> SignInAttempts:
        """The attempts to sign in."""

    @property
    def factors(self) -> Factors:
        """The second factors of users."""

    @property
    def recovery_codes(self) -> RecoveryCodes:
        """The recovery codes of users."""

    @property
    def challenges(self) -> Challenges:
        """The codes and links that sign users in once, and the challenges that were used."""

    @property
    def identities(self) -> Identities:
        """Whom issuers mean by users."""

    @property
    def events(self) -> Events:
        """What happened when users signed in."""
