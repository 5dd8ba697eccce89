"""Challenges, which connect the steps of signing in and of enrolling, and codes that people type (contract O1, O2, O6).

A challenge opens nothing. It has one purpose, is bound to its user, if there is one already, and leads to one success.
Anybody may ask for one, and storing these would let anybody fill a table. So nothing is stored until one is used: a
challenge has its expiry, and is authenticated by a key of the service.

Recovery codes and sign-in codes are shown once. A code has 120 random bits, so it is stored under a fast hash (OWASP
ASVS 5, 6.5.2 and 6.5.4).
"""

import hashlib
import hmac
from base64 import urlsafe_b64decode, urlsafe_b64encode
from collections.abc import Sequence
from dataclasses import dataclass, field
from enum import IntEnum
from struct import Struct
from typing import Final, Literal
from unicodedata import normalize

from logoadmin.domain.identity.sign_in_events import record_event
from logoadmin.domain.kernel.access import CLOCK_SKEW, stored_hash
from logoadmin.domain.kernel.unit_of_work import AnyUnitOfWork, AuditedUnitOfWork, identity_in
from logoadmin.ports.environment import Randomness
from logoadmin.ports.sign_in_storage import Challenge

CHALLENGE_SECONDS: Final = 300
# Expiry, purpose, user, digest of the state, random bytes.
_CONTENT: Final = Struct(">QBi16s16s")
_NOBODY: Final = -1
# How long a used challenge is remembered: a clock that was ahead must not make it new again.
_REMEMBERED: Final = 2 * 86_400  # seconds


class Purpose(IntEnum):
    """The only thing that a challenge is for."""

    SIGN_IN = 1
    SECOND_FACTOR = 2
    ENROLMENT = 3


@dataclass(frozen=True, slots=True)
class OpenChallenge:
    """A challenge of ours that is valid now, although it may have been used.

    Attributes:
        user_id: the user to whom it is bound; None for nobody.
        state: the digest of the state to which it is bound.
    """

    user_id: int | None
    state: bytes

    def is_bound_to(self, state: str) -> bool:
        """Return whether it is bound to this state."""
        return self.state == _digest(state)


@dataclass(frozen=True, slots=True)
class SignedChallenges:
    """Makes challenges and recognises them.

    Attributes:
        keys: of the service; the first signs, all verify.
        randomness: for what makes each challenge another.
    """

    keys: Sequence[bytes] = field(repr=False)
    randomness: Randomness

    def new(self, purpose: Purpose, now: int, user_id: int | None = None, state: str = "") -> str:
        """Return a new challenge, bound to a user, and to a state whose change ends it."""
        user = _NOBODY if user_id is None else user_id
        random = _digest(self.randomness.text())
        content = _CONTENT.pack(now + CHALLENGE_SECONDS, purpose, user, _digest(state), random)
        return _text(content + _tag(self.keys[0], content))

    def opened(self, challenge: str, purpose: Purpose, now: int) -> OpenChallenge | None:
        """Return a challenge; None if it is not ours, has another purpose, or is not valid now.

        One from a clock that was ahead does not last longer, but the clocks of two machines may differ a little.
        """
        try:
            decoded = urlsafe_b64decode(challenge + "=" * (-len(challenge) % 4))
        except ValueError:
            return None
        content, tag = decoded[: _CONTENT.size], decoded[_CONTENT.size :]
        # Other texts are decoded alike.
        if _text(decoded) != challenge or not any(hmac.compare_digest(_tag(key, content), tag) for key in self.keys):
            return None
        expires_at, its_purpose, user, state, _ = _CONTENT.unpack(content)
        is_open = now < expires_at <= now + CHALLENGE_SECONDS + CLOCK_SKEW
        return OpenChallenge(None if user == _NOBODY else user, state) if is_open and its_purpose == purpose else None


def use(uow: AnyUnitOfWork, challenge: str, now: int) -> bool:
    """Use up a challenge; return whether it was not used before, which is true once however many try it."""
    used = Challenge(stored_hash("challenge", challenge), "used", None, "", now + _REMEMBERED)
    return identity_in(uow).challenges.add_once(used)


def _tag(key: bytes, content: bytes) -> bytes:
    return hmac.digest(key, content, "sha256")


def _digest(text: str) -> bytes:
    return hashlib.sha256(text.encode()).digest()[:16]


def _text(content: bytes) -> str:
    return urlsafe_b64encode(content).decode().rstrip("=")


RECOVERY_CODES: Final = 10
# Crockford's base32: without I, L, O and U.
_ALPHABET: Final = "0123456789ABCDEFGHJKMNPQRSTVWXYZ"
_LENGTH: Final = 24
_GROUP: Final = 4
_MISREAD: Final = str.maketrans("OIL", "011", "- ")


def new_code(randomness: Randomness) -> str:
    """Return a new code of 24 characters, in groups of four: ``7KQ2-M4ZT-9A0C-X3HV-BN5E-R8WD``."""
    # Its own hash, because the text is random but not evenly spread over bytes.
    number = int.from_bytes(hashlib.sha256(randomness.text().encode()).digest())
    code = "".join(_ALPHABET[number >> 5 * place & 31] for place in range(_LENGTH))
    return "-".join(code[start : start + _GROUP] for start in range(0, _LENGTH, _GROUP))


def hashed_code(label: Literal["recovery code", "sign-in code"], user_id: int, typed: str) -> str:
    """Return the hash under which a code of a user is stored.

    Args:
        label: the kind of code; one of another kind is not valid.
        user_id: the user; the code of one user is not valid for another.
        typed: the code in any case and width, with or without hyphens and spaces; O is read as 0, and I and L as 1.
    """
    return stored_hash(label, f"{user_id} {normalize('NFKC', typed).upper().translate(_MISREAD)}")


def replace_recovery_codes(uow: AuditedUnitOfWork, user_id: int, randomness: Randomness) -> tuple[str, ...]:
    """Return ten new recovery codes of a user, whose hashes replace all others; the event is recorded."""
    codes = tuple(new_code(randomness) for _ in range(RECOVERY_CODES))
    identity_in(uow).recovery_codes.replace(user_id, [hashed_code("recovery code", user_id, code) for code in codes])
    record_event(uow, "recovery_codes_made", user_id, uow.caller, uow.now)
    return codes
