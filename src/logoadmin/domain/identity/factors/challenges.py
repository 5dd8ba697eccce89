"""Challenges: what connects the steps of signing in and of enrolling (contract O2).

A challenge is a random text, and no token: it opens nothing. It has one purpose, is bound to its user, if there is one
already, and leads to one success. Storage has its hash.
"""

from typing import Final

from logoadmin.domain.kernel.access import CLOCK_SKEW
from logoadmin.domain.kernel.secret_hashes import stored_hash
from logoadmin.domain.kernel.unit_of_work import AnyUnitOfWork, identity_in
from logoadmin.ports.identity.sign_in_storage import Challenge, ChallengePurpose
from logoadmin.ports.kernel.environment import Randomness

CHALLENGE_SECONDS: Final = 300


def new_challenge(
    uow: AnyUnitOfWork, randomness: Randomness, purpose: ChallengePurpose, user_id: int | None, now: int
) -> str:
    """Store a new challenge, of an existing user if any, and return it."""
    challenge = randomness.text()
    identity_in(uow).challenges.add(Challenge(_hashed(challenge), purpose, user_id, "", now + CHALLENGE_SECONDS))
    return challenge


def open_challenge(uow: AnyUnitOfWork, challenge: str, purpose: ChallengePurpose, now: int) -> Challenge | None:
    """Return a challenge that can be met now; None if it is unknown, used, expired, or for another purpose."""
    found = identity_in(uow).challenges.get(_hashed(challenge))
    if found is None or found.purpose != purpose:
        return None
    return found if is_open(found.expires_at, now) else None


def is_open(expires_at: int, now: int) -> bool:
    """Return whether a challenge with this expiry can be met now.

    One from a clock that was ahead does not last longer, but the clocks of two machines may differ a little.
    """
    return now < expires_at <= now + CHALLENGE_SECONDS + CLOCK_SKEW


def _hashed(challenge: str) -> str:
    return stored_hash("challenge", challenge)
