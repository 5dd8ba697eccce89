"""Challenges for callers whom nobody knows yet (contract O2).

Anybody may ask for a challenge to sign in with a passkey. Storing these would let anybody fill a table, so nothing is
stored until one is used: a challenge has its expiry and is authenticated by a key of the service. The table grows with
sign-ins alone.
"""

import hmac
from base64 import urlsafe_b64decode
from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Final

from logoadmin.domain.identity.factors.challenges import CHALLENGE_SECONDS, is_open
from logoadmin.domain.kernel.secret_hashes import stored_hash
from logoadmin.domain.kernel.unit_of_work import AnyUnitOfWork, identity_in
from logoadmin.jwk import base64url
from logoadmin.ports.identity.sign_in_storage import Challenge
from logoadmin.ports.kernel.environment import Randomness

_EXPIRY: Final = 8  # bytes
_TAG: Final = 32
# How long a used challenge is remembered after its expiry: a clock that was ahead must not make it new again.
_REMEMBERED: Final = 86_400  # seconds


@dataclass(frozen=True, slots=True)
class SignedChallenges:
    """Makes challenges and recognises them.

    Attributes:
        keys: of the service; the first signs, all verify.
        randomness: for what makes each challenge another.
    """

    keys: Sequence[bytes] = field(repr=False)
    randomness: Randomness

    def new(self, now: int) -> str:
        """Return a new challenge."""
        content = (now + CHALLENGE_SECONDS).to_bytes(_EXPIRY) + self.randomness.text().encode()
        return base64url(content + _tag(self.keys[0], content))

    def use(self, uow: AnyUnitOfWork, challenge: str, now: int) -> bool:
        """Use up a challenge; return whether it is ours, valid now and was not used before."""
        expires_at = self._expiry(challenge)
        if expires_at is None or not is_open(expires_at, now):
            return False
        hash_ = stored_hash("challenge", challenge)
        return identity_in(uow).challenges.add_once(Challenge(hash_, "passkey", None, "", expires_at + _REMEMBERED))

    def _expiry(self, challenge: str) -> int | None:
        """Return when a challenge of ours expires; None for any other text, also one that is decoded alike."""
        try:
            decoded = urlsafe_b64decode(challenge + "=" * (-len(challenge) % 4))
        except ValueError:
            return None
        content, tag = decoded[:-_TAG], decoded[-_TAG:]
        is_ours = any(hmac.compare_digest(_tag(key, content), tag) for key in self.keys)
        return int.from_bytes(content[:_EXPIRY]) if is_ours and base64url(decoded) == challenge else None


def _tag(key: bytes, content: bytes) -> bytes:
    return hmac.digest(key, content, "sha256")
