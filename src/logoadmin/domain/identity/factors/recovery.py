"""Codes that are shown once and typed by people: recovery codes and sign-in codes (contract O1, O6).

A code has 120 random bits, so it is stored under a fast hash (OWASP ASVS 5, 6.5.2 and 6.5.4).
"""

import hashlib
from typing import Final, Literal
from unicodedata import normalize

from logoadmin.domain.identity.events.recording import record_event
from logoadmin.domain.kernel.secret_hashes import stored_hash
from logoadmin.domain.kernel.unit_of_work import AuditedUnitOfWork, identity_in
from logoadmin.ports.kernel.environment import Randomness

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
        label: what the code is for; a code of one kind is not valid as another.
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
