"""Passwords hashed with Argon2id (contract C4)."""

import os
import re
import threading
from collections.abc import Iterable
from contextlib import suppress
from typing import Final
from unicodedata import normalize

from argon2 import PasswordHasher
from argon2.exceptions import VerificationError
from argon2.low_level import Type

from logoadmin.domain.kernel.records import PasswordHash

# With a salt of 8 to 64 bytes and a digest of 16 to 64, in base64.
_FORM: Final = re.compile(
    r"\$argon2(?:id|i|d)\$v=19\$m=(\d{1,7}),t=(\d{1,7}),p=(\d{1,3})\$([A-Za-z0-9+/]{11,86})\$([A-Za-z0-9+/]{22,86})",
    re.ASCII,
)
# What a stored hash may cost, or what our own do where that is more: as much as what other programs make by default,
# and some more. It is renewed with our parameters at the first sign-in.
_MOST_MEMORY: Final = 131_072  # KiB
_MOST_WORK: Final = 262_144  # KiB, over all passes
_MOST_LANES: Final = 16
_CHEAP: Final = PasswordHasher(time_cost=1, memory_cost=8, parallelism=1, type=Type.ID)
# Salt and digest of no password.
_NO_PASSWORD: Final = f"${'A' * 22}${'A' * 43}"
# A failed sign-in takes the time of this many classes at most. A gallery has one, or another one after an import.
_MOST_CLASSES: Final = 4


class Argon2Passwords:
    """The :class:`~logoadmin.ports.passwords.PasswordHasher` of the service.

    No more run at once than there are processors: beyond that they would only keep each other, and everybody else,
    from their memory and their caches.
    """

    def __init__(self, memory_kib: int = 19_456, passes: int = 2) -> None:
        """Hash at a cost; the default is OWASP's recommendation for one lane.

        Args:
            memory_kib: memory for each hash, in KiB.
            passes: how often it is gone through.
        """
        self._argon2 = PasswordHasher(time_cost=passes, memory_cost=memory_kib, parallelism=1, type=Type.ID)
        self._most_memory = max(memory_kib, _MOST_MEMORY)
        self._most_work = max(memory_kib * passes, _MOST_WORK)
        self._at_once = threading.BoundedSemaphore(os.cpu_count() or 1)
        # Dummy hash for unknown users, so that verification takes equally long. No password has it: hashing one would
        # take as long as a sign-in, and every command would wait for it.
        self._class = f"$argon2id$v=19$m={memory_kib},t={passes},p=1"
        self._nobody = self._class + _NO_PASSWORD

    def hash(self, password: str) -> PasswordHash:
        """Return a new salted hash."""
        with self._at_once:
            return PasswordHash(self._argon2.hash(normalize("NFC", password)))

    def hash_random(self, password: str) -> PasswordHash:
        """Return a hash of a random password at the least cost, which protects it as well as any."""
        return PasswordHash(_CHEAP.hash(password))

    def verify(self, hash_: PasswordHash | None, password: str) -> bool:
        """Return whether the password is the one hashed; never for None or a hash to refuse, in the same time."""
        # Earlier versions imported anything: what costs more than can be borne, or is no hash, is not run.
        trusted = hash_.hash if hash_ and self._is_bearable(hash_.hash) else None
        with self._at_once:
            return self._matches(trusted or self._nobody, password) and trusted is not None

    def verify_others(self, hash_: PasswordHash | None, classes: Iterable[str], password: str) -> None:
        """Verify a hash of no password for each of the dearest classes but that of the hash."""
        verified = _class_of(hash_.hash) if hash_ and self._is_bearable(hash_.hash) else self._class
        bearable = {each for each in classes if self._is_bearable(each + _NO_PASSWORD)}
        dearest = sorted({*bearable, self._class}, key=_work, reverse=True)[:_MOST_CLASSES]
        for each in dearest:
            if each != verified:
                with self._at_once:
                    self._matches(each + _NO_PASSWORD, password)

    def _matches(self, hash_: str, password: str) -> bool:
        """Return whether a hash is that of a password in normalisation form NFC, or of it as older hashes had it."""
        for form in dict.fromkeys((normalize("NFC", password), password, normalize("NFD", password))):
            with suppress(VerificationError):
                return self._argon2.verify(hash_, form)
        return False

    def refusal(self, hash_: PasswordHash) -> str | None:
        """Return why a hash from elsewhere is not taken."""
        if self._is_bearable(hash_.hash):
            return None
        return (
            f"Hash should be one of Argon2, version 19, with at most {self._most_memory} KiB of memory, "
            f"{self._most_work} KiB over all passes, and {_MOST_LANES} lanes, "
            "a salt of 8 to 64 bytes and a digest of 16 to 64"
        )

    def _is_bearable(self, hash_: str) -> bool:
        found = _FORM.fullmatch(hash_)
        # Base64 without padding never has one character more than a multiple of four.
        if found is None or len(found[4]) % 4 == 1 or len(found[5]) % 4 == 1:
            return False
        memory, passes, lanes = map(int, found.group(1, 2, 3))
        is_possible = passes >= 1 and 1 <= lanes <= _MOST_LANES and memory >= 8 * lanes
        return is_possible and memory <= self._most_memory and memory * passes <= self._most_work

    def needs_rehash(self, hash_: PasswordHash) -> bool:
        """Return whether the hash was made at another cost than today's."""
        return self._argon2.check_needs_rehash(hash_.hash)


def _class_of(hash_: str) -> str:
    return hash_.rsplit("$", 2)[0]


def _work(class_: str) -> int:
    """Return the memory over all passes, in KiB."""
    found = _FORM.fullmatch(class_ + _NO_PASSWORD)
    return int(found[1]) * int(found[2]) if found else 0
