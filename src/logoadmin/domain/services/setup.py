"""The first start (contract H3)."""

from typing import Final

from logoadmin.domain.access import Scope
from logoadmin.domain.limits import MAX_ID
from logoadmin.domain.records import Role, User
from logoadmin.domain.services.roles import DEFAULT_ROLE_ID
from logoadmin.ports.clock import Clock
from logoadmin.ports.passwords import PasswordHasher
from logoadmin.ports.randomness import Randomness
from logoadmin.ports.storage import Storage, UnitOfWork

ADMIN_ROLE_ID: Final = 2
# Out of the way of the community's own numbers.
ADMIN_USER_ID: Final = 2_000_000_000
ADMIN_USERNAME: Final = "admin"
assert ADMIN_USER_ID <= MAX_ID  # noqa: S101 (a promise among constants)

_TOKEN_KEY: Final = "token_key"


def first_start(
    storage: Storage,
    hasher: PasswordHasher,
    randomness: Randomness,
    clock: Clock,
    admin_password: str | None,
    *,
    administrator: bool = True,
) -> str | None:
    """Make what an empty service needs: two roles, a key for tokens and, if nobody else is there, an administrator.

    Where that was done before, nothing changes.

    Args:
        storage: where to.
        hasher: for the password.
        randomness: for the key, and for a password where none is given.
        clock: for ``created_at``.
        admin_password: the administrator's, or None to make one up.
        administrator: whether to make one; False where users are brought in next.

    Returns:
        The password that was made up; None where one was given, or where nothing was left to do.

    Raises:
        StorageUnavailable: the database is out of reach.
    """

    def done(uow: UnitOfWork) -> bool:
        return _token_key(uow) is not None and (not administrator or bool(uow.users.page(-1, 1)))

    if storage.read(done):
        return None
    password = admin_password or randomness.text()
    sealed = hasher.hash(password) if administrator else None
    now = clock.now()

    def work(uow: UnitOfWork) -> bool:
        if _token_key(uow) is None:
            uow.secrets.put(_TOKEN_KEY, randomness.text())
            uow.roles.add(Role(DEFAULT_ROLE_ID, "member", (), now))
            uow.roles.add(Role(ADMIN_ROLE_ID, "admin", (Scope.ALL.value,), now))
        if not administrator or uow.users.page(-1, 1):
            return False
        uow.users.add(User(ADMIN_USER_ID, ADMIN_USERNAME, None, ADMIN_ROLE_ID, now), sealed)
        return True

    made = storage.write(work)
    return password if made and admin_password is None else None


def stored_token_key(storage: Storage) -> str | None:
    """Return the key that :func:`first_start` made, None before it (contract C2)."""
    return storage.read(_token_key)


def _token_key(uow: UnitOfWork) -> str | None:
    return uow.secrets.get(_TOKEN_KEY)
