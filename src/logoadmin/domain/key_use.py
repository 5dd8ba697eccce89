"""What a service key is good for, and recording when it was used (contract C5)."""

from typing import Final

from logoadmin.domain.model.access import KeyHolder, Rights
from logoadmin.domain.model.sessions import ServiceKey
from logoadmin.ports.storage import UnitOfWork

# The use of a key is recorded no more often than this, so that reading with it seldom writes.
_RECORDED_EVERY: Final = 60  # seconds


def rights_of_key(caller: KeyHolder, now: int, uow: UnitOfWork) -> Rights | None:
    """Return what the holder of a key may do, None where the key is not good."""
    found = uow.keys.find(caller.key_hash)
    if found is None:
        return None
    key, of_maker = found
    return of_maker.limited_to(key.scope) if is_good(key, now) else None


def is_use_due(caller: KeyHolder, now: int, uow: UnitOfWork) -> bool:
    """Tell whether the use of a key, which may have ended meanwhile, is to be recorded."""
    found = uow.keys.find(caller.key_hash)
    return found is not None and is_good(found[0], now) and _is_stale(found[0], now)


def record_use(caller: KeyHolder, now: int, uow: UnitOfWork) -> None:
    """Record that a key is used, unless that was done lately."""
    found = uow.keys.find(caller.key_hash)
    if found is None or not _is_stale(found[0], now):
        return
    key, _ = found
    uow.keys.use(key.key_id, now)
    if key.created_at > now:  # by a clock that ran ahead and was put right: the key lasts as long as it was to
        expires_at = None if key.expires_at is None else now + key.expires_at - key.created_at
        uow.keys.update_times(key.key_id, now, expires_at)


def is_good(key: ServiceKey, now: int) -> bool:
    """Tell whether a key has not expired."""
    return key.expires_at is None or key.expires_at > now


def _is_stale(key: ServiceKey, now: int) -> bool:
    """Tell whether what is recorded of a key's use is old: it was not lately, or says a time that is yet to come."""
    return key.last_used_at is None or not 0 <= now - key.last_used_at < _RECORDED_EVERY or key.created_at > now
