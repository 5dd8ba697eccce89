"""The first start (contract H3), and the keys for tokens that it makes and that can be rotated (contract C2)."""

from functools import partial
from typing import Final

from logoadmin.domain.audit.unit_of_work import AuditedUnitOfWork
from logoadmin.domain.model.access import Scope
from logoadmin.domain.model.errors import TablesMissing
from logoadmin.domain.model.kinds import ROLES, USERS
from logoadmin.domain.model.limits import MAX_ID
from logoadmin.domain.model.records import DEFAULT_ROLE_ID, Role, User
from logoadmin.ports.clock import Clock
from logoadmin.ports.passwords import PasswordHasher
from logoadmin.ports.randomness import Randomness
from logoadmin.ports.storage import Storage, UnitOfWork

ADMIN_ROLE_ID: Final = 2
# Out of the way of the community's own numbers.
ADMIN_USER_ID: Final = 2_000_000_000
ADMIN_USERNAME: Final = "admin"
assert ADMIN_USER_ID <= MAX_ID  # noqa: S101 (a promise among constants)

# The key that signs tokens; the one that will after the next rotation, which all processes accept before any of them
# signs with it; and the one that did before the last, whose tokens are still out there.
_TOKEN_KEY: Final = "token_key"
_NEXT_TOKEN_KEY: Final = "token_key_next"
_PREVIOUS_TOKEN_KEY: Final = "token_key_previous"


def first_start(
    uow: UnitOfWork,
    hasher: PasswordHasher,
    randomness: Randomness,
    clock: Clock,
    admin_password: str | None,
    *,
    administrator: bool = True,
) -> str | None:
    """Create what an empty service needs: two roles, token keys and, if there are no users, an administrator.

    What exists stays as it is. Several processes may start at once, because this is one write.

    ``admin_password`` is the administrator's, generated if None; without ``administrator``, users are imported next.

    Returns:
        The generated password, or None.
    """
    if is_started(uow, administrator=administrator):
        return None
    generated = None
    audited = AuditedUnitOfWork(uow, clock.now(), None, None)
    if uow.secrets.get(_TOKEN_KEY) is None:
        uow.secrets.put(_TOKEN_KEY, randomness.text())
        audited.records(ROLES).add(Role(DEFAULT_ROLE_ID, "member", (), audited.now))
        audited.records(ROLES).add(Role(ADMIN_ROLE_ID, "admin", (Scope.ALL.value,), audited.now))
    if uow.secrets.get(_NEXT_TOKEN_KEY) is None:  # earlier versions made none
        uow.secrets.put(_NEXT_TOKEN_KEY, randomness.text())
    if administrator and not _has_users(uow):
        if admin_password is None:
            admin_password = generated = randomness.text()
        audited.records(USERS).add(User(ADMIN_USER_ID, ADMIN_USERNAME, None, ADMIN_ROLE_ID, audited.now))
        audited.passwords.set(ADMIN_USER_ID, hasher.hash(admin_password))
    audited.close()
    return generated


def is_started(uow: UnitOfWork, *, administrator: bool = True) -> bool:
    """Return whether a first start has nothing left to create."""
    return _has_token_keys(uow) and (not administrator or _has_users(uow))


def stored_token_keys(storage: Storage) -> tuple[str, ...]:
    """Return the keys for tokens in storage: first the one that signs, then others that are accepted (contract C2).

    There are none before :func:`first_start`.
    """
    return storage.snapshot(_token_keys)


def rotate_token_keys(storage: Storage, randomness: Randomness) -> bool:
    """Let the next key sign tokens, and make another next one (contract C2).

    Processes that run go on with the keys that they know, and the next one is among them. So they and those that are
    started from now on take each other's tokens.

    Returns:
        Whether that was done. False where an earlier version had made no next key: then there is one now, but no
        process knows it yet, so it may sign only after a second rotation, before which all are to be started again.

    Raises:
        TablesMissing: the service was never started.
        StorageUnavailable: the database is out of reach.
    """
    return storage.write(partial(_rotate, randomness))


def _token_keys(uow: UnitOfWork) -> tuple[str, ...]:
    found = map(uow.secrets.get, (_TOKEN_KEY, _NEXT_TOKEN_KEY, _PREVIOUS_TOKEN_KEY))
    return tuple(key for key in found if key is not None)


def _rotate(randomness: Randomness, uow: UnitOfWork) -> bool:
    current, following = uow.secrets.get(_TOKEN_KEY), uow.secrets.get(_NEXT_TOKEN_KEY)
    if current is None:
        raise TablesMissing
    if following is not None:
        uow.secrets.replace(_PREVIOUS_TOKEN_KEY, current)
        uow.secrets.replace(_TOKEN_KEY, following)
    uow.secrets.replace(_NEXT_TOKEN_KEY, randomness.text())
    return following is not None


def _has_token_keys(uow: UnitOfWork) -> bool:
    return None not in (uow.secrets.get(_TOKEN_KEY), uow.secrets.get(_NEXT_TOKEN_KEY))


def _has_users(uow: UnitOfWork) -> bool:
    return bool(uow.records(USERS).page(-1, 1))
