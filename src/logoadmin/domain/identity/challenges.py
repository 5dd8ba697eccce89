"""Challenges, which connect the steps of signing in and of enrolling, and codes that people type (contract O1, O2, O6).

A challenge grants nothing. It has one purpose, is bound to its user, if known, and can succeed once. Anyone can request
challenges, so storing them would let anyone fill a table. Instead, a challenge contains its expiry, authenticated by a
key of the service, and is stored only when it is used.

Recovery codes and sign-in codes are shown once. A code has 120 random bits, so a fast hash of it is stored (OWASP ASVS
5, 6.5.2 and 6.5.4).
"""

import hashlib
import hmac
from collections.abc import Sequence
from dataclasses import dataclass, field
from enum import IntEnum
from struct import Struct
from typing import Final, Literal
from unicodedata import normalize

from logoadmin.domain.identity.sign_in_events import record_event
from logoadmin.domain.identity.sign_in_rules import DAY, NO_USER
from logoadmin.domain.kernel.access import CLOCK_SKEW, stored_hash
from logoadmin.domain.kernel.unit_of_work import AuditedUnitOfWork, identity_in
from logoadmin.jwk import base64url, base64url_decoded
from logoadmin.ports.environment import Randomness
from logoadmin.ports.sign_in_storage import Challenge

CHALLENGE_SECONDS: Final = 300
# Expiry, purpose, user, digest of the state, random bytes.
_CONTENT: Final = Struct(">QBi16s16s")
# How long used challenges are remembered, so that a clock that was ahead cannot make one usable again.
_REMEMBERED: Final = 2 * DAY


class Purpose(IntEnum):
    """The single purpose of a challenge."""

    SIGN_IN = 1
    SECOND_FACTOR = 2
    ENROLMENT = 3


@dataclass(frozen=True, slots=True)
class OpenChallenge:
    """A valid challenge of this service. It is bound to a user, or to nobody, and to the digest of a state."""

    user_id: int
    state: bytes

    def is_bound_to(self, state: str) -> bool:
        """Return whether it is bound to this state."""
        return self.state == _digest(state)


@dataclass(frozen=True, slots=True)
class SignedChallenges:
    """Creates and verifies challenges. The first key signs, all verify."""

    keys: Sequence[bytes] = field(repr=False)
    randomness: Randomness

    def new(self, purpose: Purpose, now: int, user_id: int = NO_USER, state: str = "") -> str:
        """Return a new challenge, bound to a user, and to a state whose change ends it."""
        random = _digest(self.randomness.text())
        content = _CONTENT.pack(now + CHALLENGE_SECONDS, purpose, user_id, _digest(state), random)
        return base64url(content + _tag(self.keys[0], content))

    def opened(self, challenge: str, purpose: Purpose, now: int) -> OpenChallenge | None:
        """Return a verified challenge; None if it is not ours, has another purpose, or is not valid now.

        It may have been used already. A clock that was ahead does not extend it, but the clocks of two machines may
        differ a little.
        """
        try:
            decoded = base64url_decoded(challenge)
        except ValueError:
            return None
        content, tag = decoded[: _CONTENT.size], decoded[_CONTENT.size :]
        if not any(hmac.compare_digest(_tag(key, content), tag) for key in self.keys):
            return None
        expires_at, its_purpose, user_id, state, _ = _CONTENT.unpack(content)
        is_open = now < expires_at <= now + CHALLENGE_SECONDS + CLOCK_SKEW
        return OpenChallenge(user_id, state) if is_open and its_purpose == purpose else None

    def use(self, uow: AuditedUnitOfWork, challenge: str, purpose: Purpose) -> OpenChallenge | None:
        """Use up a challenge and return it; None if it is not valid now or was used before, however many try."""
        opened = self.opened(challenge, purpose, uow.now)
        used = Challenge(stored_hash("challenge", challenge), "used", None, "", uow.now + _REMEMBERED)
        return opened if opened is not None and identity_in(uow).challenges.add_once(used) else None


def _tag(key: bytes, content: bytes) -> bytes:
    return hmac.digest(key, content, "sha256")


def _digest(text: str) -> bytes:
    return hashlib.sha256(text.encode()).digest()[:16]


RECOVERY_CODES: Final = 10
# Crockford's base32: without I, L, O and U.
_ALPHABET: Final = "0123456789ABCDEFGHJKMNPQRSTVWXYZ"
_LENGTH: Final = 24
_GROUP: Final = 4
_MISREAD: Final = str.maketrans("OIL", "011", "- ")


def new_code(randomness: Randomness) -> str:
    """Return a new code of 24 characters, in groups of four: ``7KQ2-M4ZT-9A0C-X3HV-BN5E-R8WD``."""
    # Hashed, because the text is random but its bytes are not evenly distributed.
    number = int.from_bytes(hashlib.sha256(randomness.text().encode()).digest())
    code = "".join(_ALPHABET[number >> 5 * place & 31] for place in range(_LENGTH))
    return "-".join(code[start : start + _GROUP] for start in range(0, _LENGTH, _GROUP))


def hashed_code(label: Literal["recovery code", "sign-in code"], user_id: int, typed: str) -> str:
    """Return the hash under which a code is stored; it is not valid for another user, nor as another kind of code.

    It may be typed in any case and width, with or without hyphens and spaces; O is read as 0, and I and L as 1.
    """
    return stored_hash(label, f"{user_id} {normalize('NFKC', typed).upper().translate(_MISREAD)}")


def replace_recovery_codes(uow: AuditedUnitOfWork, user_id: int, randomness: Randomness) -> tuple[str, ...]:
    """Create ten recovery codes of a user, whose hashes replace all others, record the event and return the codes."""
    codes = tuple(new_code(randomness) for _ in range(RECOVERY_CODES))
    identity_in(uow).recovery_codes.replace(user_id, [hashed_code("recovery code", user_id, code) for code in codes])
    record_event(uow, "recovery_codes_made", user_id, uow.caller, uow.now)
    return codes
