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
# The maximum cost of a stored hash, unless our own cost more: somewhat more than the defaults of other programs. Such a
# hash is renewed with our parameters at the first sign-in.
_MOST_MEMORY: Final = 131_072  # KiB
_MOST_WORK: Final = 262_144  # KiB, over all passes
_MOST_LANES: Final = 16
_CHEAP: Final = PasswordHasher(time_cost=1, memory_cost=8, parallelism=1, type=Type.ID)
# Salt and digest of no password.
_NO_PASSWORD: Final = f"${'A' * 22}${'A' * 43}"
# A failed sign-in takes the time of at most this many classes. A gallery has one, or two after an import.
_MOST_CLASSES: Final = 4


class Argon2Passwords:
    """The :class:`~logoadmin.ports.passwords.PasswordHasher` of the service.

    At most one hash for each processor runs at once: more would only compete with each other, and with everything else,
    for memory and caches.
    """

    def __init__(self, memory_kib: int = 19_456, passes: int = 2) -> None:
        """Hash with this many KiB and passes; the default is OWASP's recommendation for one lane."""
        self._argon2 = PasswordHasher(time_cost=passes, memory_cost=memory_kib, parallelism=1, type=Type.ID)
        self._most_memory = max(memory_kib, _MOST_MEMORY)
        self._most_work = max(memory_kib * passes, _MOST_WORK)
        self._at_once = threading.BoundedSemaphore(os.cpu_count() or 1)
        # Dummy hash for unknown users, so that verification takes equally long. No password matches it: hashing one
        # would take as long as a sign-in, and every command would wait for it.
        self._class = f"$argon2id$v=19$m={memory_kib},t={passes},p=1"
        self._nobody = self._class + _NO_PASSWORD

    def hash(self, password: str) -> PasswordHash:
        with self._at_once:
            return PasswordHash(self._argon2.hash(normalize("NFC", password)))

    def hash_random(self, password: str) -> PasswordHash:
        """A hash at the minimum cost protects a random password as well as any."""
        return PasswordHash(_CHEAP.hash(password))

    def verify(self, hash_: PasswordHash | None, password: str) -> bool:
        # Earlier versions imported any text: hashes that cost too much, or are malformed, are not computed.
        trusted = hash_.hash if hash_ and self._is_acceptable(hash_.hash) else None
        with self._at_once:
            return self._matches(trusted or self._nobody, password) and trusted is not None

    def verify_others(self, hash_: PasswordHash | None, classes: Iterable[str], password: str) -> None:
        verified = hash_.hash.rsplit("$", 2)[0] if hash_ and self._is_acceptable(hash_.hash) else self._class
        acceptable = {each for each in classes if self._is_acceptable(each + _NO_PASSWORD)}
        most_expensive = sorted({*acceptable, self._class}, key=_work, reverse=True)[:_MOST_CLASSES]
        for each in most_expensive:
            if each != verified:
                with self._at_once:
                    self._matches(each + _NO_PASSWORD, password)

    def _matches(self, hash_: str, password: str) -> bool:
        """Return whether a hash is of a password in normalisation form NFC, or in the forms of older hashes."""
        for form in dict.fromkeys((normalize("NFC", password), password, normalize("NFD", password))):
            with suppress(VerificationError):
                return self._argon2.verify(hash_, form)
        return False

    def refusal(self, hash_: PasswordHash) -> str | None:
        if self._is_acceptable(hash_.hash):
            return None
        return (
            f"Hash should be one of Argon2, version 19, with at most {self._most_memory} KiB of memory, "
            f"{self._most_work} KiB over all passes, and {_MOST_LANES} lanes, "
            "a salt of 8 to 64 bytes and a digest of 16 to 64"
        )

    def _is_acceptable(self, hash_: str) -> bool:
        found = _FORM.fullmatch(hash_)
        # Base64 without padding never has one character more than a multiple of four.
        if found is None or len(found[4]) % 4 == 1 or len(found[5]) % 4 == 1:
            return False
        memory, passes, lanes = map(int, found.group(1, 2, 3))
        is_possible = passes >= 1 and 1 <= lanes <= _MOST_LANES and memory >= 8 * lanes
        return is_possible and memory <= self._most_memory and memory * passes <= self._most_work

    def needs_rehash(self, hash_: PasswordHash) -> bool:
        return self._argon2.check_needs_rehash(hash_.hash)


def _work(class_: str) -> int:
    """Return the memory over all passes, in KiB."""
    found = _FORM.fullmatch(class_ + _NO_PASSWORD)
    return int(found[1]) * int(found[2]) if found else 0
