"""Proof of having signed in (contract C2, C3)."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Protocol

from logoadmin.domain.model.access import SignedIn


@dataclass(frozen=True, slots=True)
class Grant:
    """What an access token says: who, in which session, from when to when (Unix time), and their scope by then."""

    user_id: int
    session_id: str
    issued_at: int
    expires_at: int
    scope: tuple[str, ...]


class TokenSigner(Protocol):
    """Makes tokens. Safe to use from several threads."""

    def sign(self, grant: Grant) -> str:
        """Return an access token that :class:`TokenVerifier` takes."""


class TokenVerifier(Protocol):
    """Checks access tokens without asking storage. Safe to use from several threads."""

    def verify(self, token: str, now: int) -> SignedIn:
        """Return whom a token was made for.

        Raises:
            InvalidToken: it must be raised for whatever is not a token of ours that is good at ``now``
                (contract A19).
        """

    def public_keys(self) -> Sequence[Mapping[str, str]]:
        """Return the public keys with which others can verify tokens, as JWKs (RFC 7517), the one in use first.

        There must be nothing in them that helps to make a token; of keys that are shared, nothing at all.
        """
