"""Access tokens (contract C2, C3)."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Protocol

from logoadmin.domain.kernel.access import SignedIn


@dataclass(frozen=True, slots=True)
class Grant:
    """The content of an access token: the user, the session, the times (Unix time) and the scope when it was issued."""

    user_id: int
    session_id: str
    issued_at: int
    expires_at: int
    scope: tuple[str, ...]


class AccessTokens(Protocol):
    """Signs and verifies access tokens, without storage. Safe to use from several threads."""

    def sign(self, grant: Grant) -> str:
        """Return an access token that :meth:`verify` accepts."""

    def verify(self, token: str, now: int) -> SignedIn:
        """Return the user and the session of a token.

        Raises:
            InvalidToken: must be raised for anything but a token of ours that is valid at ``now`` (contract A19).
        """

    def public_keys(self) -> Sequence[Mapping[str, str]]:
        """Return the public keys with which others can verify tokens, as JWKs (RFC 7517), the one in use first.

        They must not help to forge a token, so shared keys are not included.
        """
