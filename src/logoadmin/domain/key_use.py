"""The rights of service keys, and when they were last used (contract C5)."""

from typing import Final

from logoadmin.domain.model.access import KeyHolder, Rights
from logoadmin.domain.model.sessions import ServiceKey
from logoadmin.ports.storage import UnitOfWork

# Use is recorded at most this often, so that reads with a key seldom write.
_RECORDED_EVERY: Final = 60  # seconds


def rights_of_key(caller: KeyHolder, now: int, uow: UnitOfWork) -> Rights | None:
    """Return the rights of a caller with a key, None if the key is not valid."""
    found = uow.keys.find(caller.key_hash)
    if found is None:
        return None
    key, of_maker = found
    return of_maker.limited_to(key.scope) if is_good(key, now) else None


def is_use_due(caller: KeyHolder, now: int, uow: UnitOfWork) -> bool:
    """Return whether the use of a key should be recorded now."""
    found = uow.keys.find(caller.key_hash)
    return found is not None and is_good(found[0], now) and _is_stale(found[0], now)


def record_use(caller: KeyHolder, now: int, uow: UnitOfWork) -> None:
    """Record the use of a key, unless that was done recently."""
    found = uow.keys.find(caller.key_hash)
    if found is None or not _is_stale(found[0], now):
        return
    key, _ = found
    uow.keys.use(key.key_id, now)
    if key.created_at > now:  # by a clock that was ahead: the key keeps its lifetime
        expires_at = None if key.expires_at is None else now + key.expires_at - key.created_at
        uow.keys.update_times(key.key_id, now, expires_at)


def is_good(key: ServiceKey, now: int) -> bool:
    """Return whether a key has not expired."""
    return key.expires_at is None or key.expires_at > now


def _is_stale(key: ServiceKey, now: int) -> bool:
    """Return whether the recorded use of a key is old, or in the future."""
    return key.last_used_at is None or not 0 <= now - key.last_used_at < _RECORDED_EVERY or key.created_at > now
