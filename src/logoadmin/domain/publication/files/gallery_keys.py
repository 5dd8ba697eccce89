"""The identity of a published gallery: its UUID, its epoch and its signing keys (contract L7).

They are stored among the secrets of the service.
"""

import base64
import json
import uuid
from collections.abc import Sequence
from dataclasses import asdict, dataclass, field, replace
from typing import Final

from logoadmin.domain.kernel.errors import Conflict, SettingsError
from logoadmin.ports.environment import Randomness
from logoadmin.ports.signing import Signing, SigningKey
from logoadmin.ports.storage import UnitOfWork

DAY: Final = 86_400  # seconds
_ID: Final = "gallery_id"
_EPOCH: Final = "gallery_epoch"
_KEYS: Final = "gallery_keys"
# With this many signatures and keys, a pointer of 8 KiB still has room for all its required members.
MOST_KEYS: Final = 8


@dataclass(frozen=True, slots=True)
class Identity:
    """The identity of a gallery, used to sign a pointer."""

    gallery: str  # a UUID
    epoch: int  # rises with each restore of a backup
    keys: tuple[SigningKey, ...]  # the newest first
    is_tidy: bool = True  # whether :meth:`GalleryKeys.prepare` has nothing to do


@dataclass(frozen=True, slots=True)
class _StoredKey:
    private: str = field(repr=False)
    retired_at: int | None = None


class GalleryKeys:
    """The identity in the secrets of a service, with the keys from its key file."""

    def __init__(self, signing: Signing, from_file: Sequence[SigningKey], days: int, randomness: Randomness) -> None:
        """Use the keys of ``gallery_key_file``, the newest first; if there are any, none is generated.

        A pointer is valid for ``days``, and a retired key still signs for as long.
        """
        self._signing, self._from_file, self._days, self._randomness = signing, tuple(from_file), days, randomness

    def identity(self, uow: UnitOfWork, now: int) -> Identity | None:
        """Return the identity; None before :meth:`prepare`."""
        found = uow.secrets.several((_ID, _EPOCH, _KEYS))
        gallery, stored = found.get(_ID), _parsed(found.get(_KEYS))
        signing = self._tidied(stored, now)
        if gallery is None or not self._can_sign(signing):
            return None
        keys = (*self._from_file, *(self._signing.key(key.private) for key in signing))
        return Identity(gallery, int(found.get(_EPOCH, 0)), keys, is_tidy=signing == stored)

    def prepare(self, uow: UnitOfWork, now: int) -> None:
        """Generate missing parts, retire keys that a key file replaces, and delete keys that no longer sign."""
        stored = self._tidied(_parsed(uow.secrets.get(_KEYS)), now)
        if uow.secrets.get(_ID) is None:
            random = base64.urlsafe_b64decode(self._randomness.text()[:32])
            uow.secrets.put(_ID, str(uuid.UUID(bytes=random[:16], version=4)))
        if not self._can_sign(stored):
            stored = [_StoredKey(self._signing.generate()), *stored]
        _store(uow, stored)

    def rotate(self, uow: UnitOfWork, now: int) -> None:
        """Retire the current key, which still signs while a pointer without the new key may be valid.

        Raises:
            SettingsError: the keys are in a file.
            Conflict: too many keys sign already.
        """
        if self._from_file:
            raise SettingsError(
                "The gallery keys are in gallery_key_file",
                f"put a new key before the others there, and remove the old one after {self._days} days",
            )
        self.prepare(uow, now)
        current, *retired = _parsed(uow.secrets.get(_KEYS))
        if len(retired) + 2 > MOST_KEYS:
            raise Conflict(f"{MOST_KEYS} gallery keys sign already; rotate again when the oldest has retired")
        _store(uow, [_StoredKey(self._signing.generate()), replace(current, retired_at=now), *retired])

    def _can_sign(self, stored: Sequence[_StoredKey]) -> bool:
        return bool(self._from_file) or any(key.retired_at is None for key in stored)

    def _tidied(self, stored: Sequence[_StoredKey], now: int) -> list[_StoredKey]:
        """Return the stored keys that still sign; a key file retires the current one."""
        if self._from_file:
            stored = [key if key.retired_at is not None else replace(key, retired_at=now) for key in stored]
        return [key for key in stored if key.retired_at is None or key.retired_at + self._days * DAY > now]


def raise_epoch(uow: UnitOfWork, now: int) -> None:
    """Begin a new, higher epoch, so that readers follow a restored gallery to lower versions."""
    uow.secrets.put(_EPOCH, str(max(now, int(uow.secrets.get(_EPOCH) or 0) + 1)))


def _parsed(keys: str | None) -> list[_StoredKey]:
    return [_StoredKey(**key) for key in json.loads(keys or "[]")]


def _store(uow: UnitOfWork, keys: Sequence[_StoredKey]) -> None:
    uow.secrets.put(_KEYS, json.dumps([asdict(key) for key in keys]))
