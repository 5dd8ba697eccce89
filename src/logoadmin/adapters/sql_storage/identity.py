"""The repositories of sessions, passwords, service keys, counts and the secrets of the service."""

from collections.abc import Mapping, Sequence
from dataclasses import asdict, fields
from functools import lru_cache
from operator import attrgetter
from typing import Any, Final

from sqlalchemy import (
    ColumnElement,
    Select,
    bindparam,
    case,
    delete,
    exists,
    false,
    func,
    literal_column,
    or_,
    select,
    true,
    update,
)

from logoadmin.adapters.sql_storage.repository import RecordReader, Repository
from logoadmin.adapters.sql_storage.statements import ANY_KEY, KEY, KEYS, in_portions
from logoadmin.adapters.sql_storage.tables import (
    factors,
    identities,
    preferences,
    refresh_tokens,
    roles,
    secrets,
    service_keys,
    sessions,
    sign_in_attempts,
    users,
)
from logoadmin.domain.identity.records import ServiceKey
from logoadmin.domain.identity.sign_in_rules import Ways
from logoadmin.domain.kernel.access import Rights
from logoadmin.domain.kernel.records import PasswordHash
from logoadmin.ports.identity_storage import GENERATED_PASSWORD, Account, Count, Session

_IS_REFUSED = exists().where(identities.c.user_id == users.c.user_id, identities.c.refused)
_RIGHTS = (
    select(
        *(roles.c.scope, users.c.username),
        *(sessions.c.created_at, sessions.c.expires_at, sessions.c.factor),
        secrets.c.value,
    )
    .select_from(
        sessions.join(users, users.c.user_id == sessions.c.user_id)
        .join(roles)
        .outerjoin(secrets, secrets.c.name == literal_column(f"'{GENERATED_PASSWORD}'"))
    )
    .where(sessions.c.session_id == bindparam("id_"), sessions.c.user_id == bindparam("owner"))
)
_SESSIONS_OF_USER = (
    select(sessions).where(sessions.c.user_id == KEY).order_by(sessions.c.created_at, sessions.c.session_id)
)
_END_OTHERS = delete(sessions).where(sessions.c.user_id == KEY, sessions.c.session_id != bindparam("keep"))
_EXPIRED = (
    select(sessions.c.session_id)
    .where(sessions.c.expires_at <= bindparam("now"))
    .order_by(sessions.c.expires_at, sessions.c.session_id)
    .limit(bindparam("most"))
)
_GET_TOKEN = (
    select(sessions, refresh_tokens.c.used_at)
    .select_from(refresh_tokens.join(sessions))
    .where(refresh_tokens.c.token_hash == bindparam("hash_"))
)
_SOME_TOKENS = (
    select(refresh_tokens.c.token_hash).where(refresh_tokens.c.session_id == bindparam("id_")).limit(bindparam("most"))
)

_session_row: Final = attrgetter(*sessions.c.keys())


class SqlSessions(Repository):
    """Implements :class:`~logoadmin.ports.identity_storage.Sessions`."""

    def rights(self, session_id: str, user_id: int) -> Rights | None:
        row = self._transaction.rights(_RIGHTS, {"id_": session_id, "owner": user_id})
        if row is None:
            return None
        scope, username, signed_in_at, ends_at, factor, generated = row
        return Rights(
            user_id,
            frozenset(scope.split()),
            signed_in_at=signed_in_at,
            ends_at=ends_at,
            factor=factor,
            must_change_password=generated == str(user_id),
            username=username,
        )

    def add(self, session: Session) -> None:
        self._transaction.hold_back(sessions, [_session_row(session)])

    def of_user(self, user_id: int) -> tuple[Session, ...]:
        return tuple(Session(*row) for row in self._transaction.rows(_SESSIONS_OF_USER, {"key": user_id}))

    def update(self, session: Session) -> None:
        values = asdict(session)
        changed = {name: values[name] for name in ("created_at", "expires_at", "refreshed_at", "factor")}
        self._update(sessions, {"session_id": session.session_id}, changed)

    def end(self, session_id: str) -> bool:
        return self._remove(sessions, session_id=session_id)

    def end_all(self, user_id: int, keep: str | None = None) -> None:
        if keep is None:
            self._remove(sessions, user_id=user_id)
        else:
            self._transaction.change(_END_OTHERS, {"key": user_id, "keep": keep})

    def forget_expired(self, now: int, most: int) -> int:
        left = most
        for (session_id,) in self._transaction.rows(_EXPIRED, {"now": now, "most": most}):
            # Tokens are removed in batches, since a session may have any number of them.
            tokens = self._transaction.rows(_SOME_TOKENS, {"id_": session_id, "most": left})
            for (token_hash,) in tokens:
                self._remove(refresh_tokens, token_hash=token_hash)
            left -= len(tokens)
            if not left:
                break
            self.end(session_id)
        return most - left

    def expire_by(self, latest: int, most: int) -> int:
        return self._end_by(sessions.c.expires_at, latest, most)

    def add_refresh_token(self, token_hash: str, session_id: str) -> None:
        self._transaction.hold_back(refresh_tokens, [(token_hash, session_id, None)])

    def refresh_token(self, token_hash: str) -> tuple[Session, int | None] | None:
        row = self._transaction.row(_GET_TOKEN, {"hash_": token_hash})
        if row is None:
            return None
        *session, used_at = row
        return Session(*session), used_at

    def use_refresh_token(self, token_hash: str, now: int) -> None:
        self._update(refresh_tokens, {"token_hash": token_hash}, {"used_at": now})


_HAS_PASSKEY, _HAS_TOTP = (
    exists().where(factors.c.user_id == users.c.user_id, factors.c.confirmed, factors.c.kind == kind)
    for kind in ("passkey", "totp")
)
_ACCOUNT = select(
    *(users.c.user_id, users.c.username, roles.c.scope, users.c.password),
    *(or_(_HAS_PASSKEY, _HAS_TOTP), users.c.active, _IS_REFUSED),
).select_from(users.join(roles))
_ACCOUNT_OF_ID, _ACCOUNT_NAMED = (_ACCOUNT.where(column == KEY) for column in (users.c.user_id, users.c.username))
# Up to two characters of the lanes, in functions that SQLite, MariaDB and MySQL have in common.
_LANES: Final = ",p="
_CLASSES = (
    select(func.substr(users.c.password, 1, func.instr(users.c.password, _LANES) + len(_LANES) + 1))
    .where(users.c.password.contains(_LANES))
    .distinct()
)


@lru_cache(32)
def _who_can_sign_in(column: str, *, password: bool, passkey: bool, issuer: bool) -> Select[Any]:
    """Return the query for one of the users with a role, or for a user, who can sign in in one of these ways."""
    ways: list[ColumnElement[bool]] = []
    if password:
        # Where a passkey cannot be used, it cannot be the second factor either.
        factor_is_usable = true() if passkey else or_(~_HAS_PASSKEY, _HAS_TOTP)
        ways.append(users.c.password.is_not(None) & factor_is_usable)
    if passkey:
        ways.append(_HAS_PASSKEY)
    if issuer:
        ways.append(exists().where(identities.c.user_id == users.c.user_id, identities.c.issuer == bindparam("issuer")))
    found = select(users.c.user_id).where(users.c[column] == KEY, users.c.active, ~_IS_REFUSED)
    return found.where(or_(false(), *ways)).limit(1)


class SqlPasswords(Repository):
    """Implements :class:`~logoadmin.ports.identity_storage.Passwords`."""

    def get(self, user_id: int) -> PasswordHash | None:
        row = self._find(users.c.password, user_id=user_id)
        return None if row is None or row[0] is None else PasswordHash(row[0])

    def set(self, user_id: int, password: PasswordHash) -> None:
        self._update(users, {"user_id": user_id}, {"password": password.hash})

    def account(self, of: int | str) -> Account | None:
        row = self._transaction.row(_ACCOUNT_NAMED if isinstance(of, str) else _ACCOUNT_OF_ID, {"key": of})
        if row is None:
            return None
        user_id, username, scope, password, *flags = row
        stored = None if password is None else PasswordHash(password)
        return Account(user_id, username, frozenset(scope.split()), stored, *map(bool, flags))

    def classes(self) -> frozenset[str]:
        return frozenset(row[0].removesuffix("$") for row in self._transaction.rows(_CLASSES, {}))

    def can_sign_in(self, role_id: int, ways: Ways) -> bool:
        return self._can_sign_in("role_id", role_id, ways)

    def can_user_sign_in(self, user_id: int, ways: Ways) -> bool:
        return self._can_sign_in("user_id", user_id, ways)

    def _can_sign_in(self, column: str, key: int, ways: Ways) -> bool:
        by_issuer = ways.issuer is not None
        query = _who_can_sign_in(column, password=ways.password, passkey=ways.passkey, issuer=by_issuer)
        return self._transaction.row(query, {"key": key, "issuer": ways.issuer}) is not None


class SqlPreferences(Repository):
    """Implements :class:`~logoadmin.ports.identity_storage.Preferences`."""

    def get(self, user_id: int) -> str | None:
        row = self._find(preferences.c.value, user_id=user_id)
        return None if row is None else str(row[0])

    def set(self, user_id: int, text: str) -> None:
        self._put(preferences, {"user_id": user_id}, {"value": text})


_SECRET = select(secrets.c.value).where(secrets.c.name == KEY)
_SECRETS = select(secrets.c.name, secrets.c.value).where(secrets.c.name.in_(ANY_KEY))


class SqlSecrets(Repository):
    """Implements :class:`~logoadmin.ports.record_storage.Secrets`."""

    def get(self, name: str) -> str | None:
        row = self._transaction.rights(_SECRET, {"key": name})
        return None if row is None else str(row[0])

    def several(self, names: Sequence[str]) -> Mapping[str, str]:
        portions = in_portions(KEYS, names)
        return {name: value for some in portions for name, value in self._transaction.rows(_SECRETS, some)}

    def put(self, name: str, value: str) -> None:
        self._put(secrets, {"name": name}, {"value": value})


_service_key: Final = RecordReader(
    ServiceKey, (service_keys.c[each.name] for each in fields(ServiceKey)), scope=lambda scope: tuple(scope.split())
)
_KEY = select(*_service_key.columns)
_KEYS_OF_USER = _KEY.where(service_keys.c.user_id == KEY).order_by(service_keys.c.key_id)
_FIND_KEY = (
    _KEY.add_columns(users.c.user_id, roles.c.scope.label("held"), users.c.username)
    .select_from(service_keys.join(users).join(roles, roles.c.role_id == users.c.role_id))
    .where(service_keys.c.key_hash == bindparam("hash_"), ~_IS_REFUSED)
)


class SqlServiceKeys(Repository):
    """Implements :class:`~logoadmin.ports.identity_storage.ServiceKeys`."""

    def next_id(self) -> int:
        return self._transaction.counters.next_id("key_id")

    def add(self, key: ServiceKey, user_id: int, key_hash: str) -> None:
        values: dict[str, Any] = {**asdict(key), "scope": " ".join(key.scope)}
        self._add(service_keys, {**values, "user_id": user_id, "key_hash": key_hash})

    def of_user(self, user_id: int) -> tuple[ServiceKey, ...]:
        return self._all(_service_key, _KEYS_OF_USER, {"key": user_id})

    def find(self, key_hash: str) -> tuple[ServiceKey, Rights] | None:
        row = self._transaction.rights(_FIND_KEY, {"hash_": key_hash})
        if row is None:
            return None
        *key, user_id, held, username = row
        return _service_key(key), Rights(user_id, frozenset(held.split()), username=username)

    def update(self, key: ServiceKey) -> None:
        times = {name: getattr(key, name) for name in ("created_at", "expires_at", "last_used_at")}
        self._update(service_keys, {"key_id": key.key_id}, times)

    def remove(self, key_id: int, user_id: int) -> bool:
        return self._remove(service_keys, key_id=key_id, user_id=user_id)


# The table has the name of its first use.
_SOME_COUNTS: Final = sign_in_attempts.c.counted.in_(ANY_KEY)
_COUNT = select(sign_in_attempts.c.attempts, sign_in_attempts.c.ends_at).where(sign_in_attempts.c.counted == KEY)
_COUNTS = select(sign_in_attempts).where(_SOME_COUNTS)
_LESS = case((sign_in_attempts.c.counted == bindparam("forgiven"), 0), else_=sign_in_attempts.c.attempts - 1)
_TAKE_BACK = update(sign_in_attempts).where(_SOME_COUNTS, sign_in_attempts.c.attempts > 0).values(attempts=_LESS)


class SqlCounts(Repository):
    """Implements :class:`~logoadmin.ports.identity_storage.Counts`."""

    def get(self, name: str) -> Count:
        row = self._transaction.row(_COUNT, {"key": name})
        return Count(0, 0) if row is None else Count(*row)

    def several(self, names: Sequence[str]) -> tuple[Count, ...]:
        rows = (row for some in in_portions(KEYS, names) for row in self._transaction.rows(_COUNTS, some))
        found = {name: Count(number, ends_at) for name, number, ends_at in rows}
        return tuple(found.get(name, Count(0, 0)) for name in names)

    def put(self, counts: Mapping[str, Count]) -> None:
        self._transaction.hold_back(sign_in_attempts, [(name, *count) for name, count in counts.items()])

    def take_back(self, names: Sequence[str], forgiven: str = "") -> None:
        for some in in_portions(KEYS, names):
            self._transaction.change(_TAKE_BACK, {**some, "forgiven": forgiven})

    def forget_ended(self, now: int, most: int) -> int:
        return self._remove_ended(sign_in_attempts.c.ends_at, now, most)
