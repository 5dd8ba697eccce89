"""The first start of a service, and its token keys (contract C2, H3)."""

from typing import Final

from logoadmin.domain.identity.accounts import set_password
from logoadmin.domain.identity.new_passwords import NewPasswords
from logoadmin.domain.identity.totp import FACTOR_KEY
from logoadmin.domain.kernel.access import ALL_RIGHTS, CLOCK_SKEW, Occasion, Owner, Scope, Source
from logoadmin.domain.kernel.errors import TablesMissing
from logoadmin.domain.kernel.kinds import ROLES, USERS
from logoadmin.domain.kernel.records import DEFAULT_ROLE_ID, FIRST_ADMIN_ID, Role, User
from logoadmin.domain.kernel.unit_of_work import AuditedUnitOfWork, Auditing, close
from logoadmin.ports.environment import Clock, Randomness
from logoadmin.ports.storage import Storage, UnitOfWork

ADMIN_ROLE_ID: Final = 2
# The role of members, who submit (contract R2, R5).
MEMBER_ROLE: Final = "member"
ADMIN_USERNAME: Final = "admin"
# The history has this id, so no client can use it.
_REQUEST_ID: Final = "first-start"

# The key that signs tokens; the key that signs after the next rotation, which all processes accept already; and the key
# that signed before the last rotation, whose tokens may still be in use.
_TOKEN_KEY: Final = "token_key"
_NEXT_TOKEN_KEY: Final = "token_key_next"
_TOKEN_KEYS_ROTATED: Final = "token_keys_rotated"  # not a secret: the Unix time of the last rotation
_PREVIOUS_TOKEN_KEY: Final = "token_key_previous"
# When a program with key files first started, as Unix time; soon after, the stored keys prove nothing any more.
_FILES_SINCE: Final = "token_key_files_since"


def first_start(
    uow: UnitOfWork,
    new_passwords: NewPasswords,
    randomness: Randomness,
    clock: Clock,
    admin_password: str | None,
    *,
    administrator: bool = True,
) -> str | None:
    """Create two roles, keys and, if there are no users, an administrator; return the generated password, if any.

    Existing data stays as it is. Several processes may start at once, because this is one write. Before an import of
    users, ``administrator`` is False. An ``admin_password`` must be acceptable (contract O5).
    """
    if is_started(uow, administrator=administrator):
        return None
    generated = None
    audited = AuditedUnitOfWork(
        uow, Auditing(), clock.now(), _REQUEST_ID, ALL_RIGHTS, caller=Owner(occasion=Occasion(Source.FIRST_START))
    )
    if uow.secrets.get(_TOKEN_KEY) is None:
        uow.secrets.put(_TOKEN_KEY, randomness.text())
        uow.secrets.put(_NEXT_TOKEN_KEY, randomness.text())
        uow.secrets.put(FACTOR_KEY, randomness.text())
        audited.records(ROLES).add(Role(DEFAULT_ROLE_ID, MEMBER_ROLE, (Scope.PROPOSALS_WRITE.value,), audited.now))
        audited.records(ROLES).add(Role(ADMIN_ROLE_ID, "admin", (Scope.ALL.value,), audited.now))
    if administrator and not _has_users(uow):
        generated = randomness.text() if admin_password is None else None
        _add_administrator(audited, new_passwords, admin_password, generated)
    close(audited)
    return generated


def _add_administrator(
    uow: AuditedUnitOfWork, new_passwords: NewPasswords, chosen: str | None, generated: str | None
) -> None:
    if generated is None:
        new_passwords.check(chosen or "")
        password = new_passwords.hasher.hash(chosen or "")
    else:
        # It is random, whatever the minimum length, and a slow hash would add nothing.
        password = new_passwords.hasher.hash_random(generated)
    administrator = uow.records(USERS).add(User(FIRST_ADMIN_ID, ADMIN_USERNAME, None, ADMIN_ROLE_ID, uow.now))
    set_password(uow, administrator, password, generated=generated is not None)


def is_started(uow: UnitOfWork, *, administrator: bool = True) -> bool:
    """Return whether a first start has nothing left to create."""
    return uow.secrets.get(_TOKEN_KEY) is not None and (not administrator or _has_users(uow))


def stored_token_keys(storage: Storage) -> tuple[str, ...]:
    """Return the token keys in storage, the signing key first; empty before :func:`first_start` (contract C2)."""
    names = (_TOKEN_KEY, _NEXT_TOKEN_KEY, _PREVIOUS_TOKEN_KEY)
    return storage.snapshot(lambda uow: tuple(key for name in names if (key := uow.secrets.get(name)) is not None))


def key_files_since(storage: Storage) -> int | None:
    """Return when a program with token key files first started, as Unix time; None for never (contract C2)."""
    stored = storage.read(lambda uow: uow.secrets.get(_FILES_SINCE))
    return None if stored is None else int(stored)


def start_with_key_files(storage: Storage, now: int) -> int:
    """Record the first start with token key files; return when it was, as Unix time (contract C2).

    A start by a clock that was ahead counts as long ago: the keys in storage must not become valid again later.
    """
    known = key_files_since(storage)
    if known is not None and known <= now + CLOCK_SKEW:
        return known

    def remember(uow: UnitOfWork) -> int:
        stored = uow.secrets.get(_FILES_SINCE)
        since = now if stored is None else int(stored)
        if since > now + CLOCK_SKEW:
            since = 0
        uow.secrets.put(_FILES_SINCE, str(since))
        return since

    return storage.write(remember)


def rotate_token_keys(storage: Storage, randomness: Randomness, clock: Clock) -> int | None:
    """Make the next token key the signing one, and create another next one (contract C2).

    Running processes know the next key already, so that they and processes that start later accept each other's
    tokens. Return the seconds since the last rotation; None for the first. Raises TablesMissing before the first start.
    """

    def rotate(uow: UnitOfWork) -> int | None:
        current, following = uow.secrets.get(_TOKEN_KEY), uow.secrets.get(_NEXT_TOKEN_KEY)
        if current is None or following is None:
            raise TablesMissing
        uow.secrets.put(_PREVIOUS_TOKEN_KEY, current)
        uow.secrets.put(_TOKEN_KEY, following)
        uow.secrets.put(_NEXT_TOKEN_KEY, randomness.text())
        now, last = clock.now(), uow.secrets.get(_TOKEN_KEYS_ROTATED)
        uow.secrets.put(_TOKEN_KEYS_ROTATED, str(now))
        return None if last is None else max(0, now - int(last))

    return storage.write(rotate)


def _has_users(uow: UnitOfWork) -> bool:
    return bool(uow.records(USERS).page(-1, 1))
