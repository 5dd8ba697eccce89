"""The repositories of sessions, passwords, service keys, sign-in attempts and the secrets of the service."""

from dataclasses import asdict
from typing import Any

from sqlalchemy import bindparam, delete, insert, select, update

from logoadmin.adapters.sql_storage.statements import KEY, Row
from logoadmin.adapters.sql_storage.tables import (
    preferences,
    refresh_tokens,
    roles,
    secrets,
    service_keys,
    sessions,
    sign_in_attempts,
    users,
)
from logoadmin.adapters.sql_storage.transaction import Repository
from logoadmin.domain.model.access import Rights
from logoadmin.domain.model.records import PasswordHash
from logoadmin.domain.model.sessions import ServiceKey
from logoadmin.ports.storage import Credentials, Session

_SESSION_ID = sessions.c.session_id == bindparam("id_")
_USER_ID = sessions.c.user_id == bindparam("owner")

_RIGHTS = (
    select(roles.c.scope)
    .select_from(sessions.join(users, users.c.user_id == sessions.c.user_id).join(roles))
    .where(_SESSION_ID, _USER_ID)
)
_ADD_SESSION = insert(sessions).inline()
_SESSIONS_OF_USER = select(sessions).where(_USER_ID).order_by(sessions.c.created_at, sessions.c.session_id)
_UPDATE_TIMES = update(sessions).where(_SESSION_ID)
_END = delete(sessions).where(_SESSION_ID)
_END_ALL = delete(sessions).where(_USER_ID)
_END_OTHERS = _END_ALL.where(sessions.c.session_id != bindparam("keep"))
_EXPIRED = (
    select(sessions.c.session_id)
    .where(sessions.c.expires_at <= bindparam("now"))
    .order_by(sessions.c.expires_at, sessions.c.session_id)
    .limit(bindparam("most"))
)
_LATE = select(sessions.c.session_id).where(sessions.c.expires_at > bindparam("latest")).limit(bindparam("most"))
_ADD_TOKEN = insert(refresh_tokens).inline()
_GET_TOKEN = (
    select(sessions, refresh_tokens.c.used)
    .select_from(refresh_tokens.join(sessions))
    .where(refresh_tokens.c.token_hash == bindparam("hash_"))
)
# The database compares: a write that began before another use of the token may still see it unused.
_USE_TOKEN = update(refresh_tokens).where(
    refresh_tokens.c.token_hash == bindparam("hash_"), refresh_tokens.c.used.is_(False)
)
_SOME_TOKENS = (
    select(refresh_tokens.c.token_hash).where(refresh_tokens.c.session_id == bindparam("id_")).limit(bindparam("most"))
)
_FORGET_TOKEN = delete(refresh_tokens).where(refresh_tokens.c.token_hash == bindparam("hash_"))


class SqlSessions(Repository):
    """Implements :class:`~logoadmin.ports.storage.Sessions`."""

    __slots__ = ()

    def rights(self, session_id: str, user_id: int) -> Rights | None:
        row = self._transaction.rights(_RIGHTS, {"id_": session_id, "owner": user_id})
        return None if row is None else Rights(user_id, frozenset(row[0].split()))

    def add(self, session: Session) -> None:
        self._transaction.change(_ADD_SESSION, asdict(session))

    def of_user(self, user_id: int) -> tuple[Session, ...]:
        return tuple(Session(*row) for row in self._transaction.rows(_SESSIONS_OF_USER, {"owner": user_id}))

    def update_times(self, session: Session) -> None:
        values = asdict(session)
        times = {name: values[name] for name in ("created_at", "expires_at", "refreshed_at")}
        self._transaction.change(_UPDATE_TIMES, {"id_": session.session_id, **times})

    def end(self, session_id: str) -> bool:
        return self._transaction.change(_END, {"id_": session_id}) > 0

    def end_all(self, user_id: int, keep: str | None = None) -> None:
        if keep is None:
            self._transaction.change(_END_ALL, {"owner": user_id})
        else:
            self._transaction.change(_END_OTHERS, {"owner": user_id, "keep": keep})

    def forget_expired(self, now: int, most: int) -> None:
        for (session_id,) in self._transaction.rows(_EXPIRED, {"now": now, "most": most}):
            # Tokens are removed in batches, since a session may have any number of them.
            tokens = self._transaction.rows(_SOME_TOKENS, {"id_": session_id, "most": most})
            for (token_hash,) in tokens:
                self._transaction.change(_FORGET_TOKEN, {"hash_": token_hash})
            most -= len(tokens)
            if not most:
                return
            self.end(session_id)

    def expire_by(self, latest: int, most: int) -> None:
        for (session_id,) in self._transaction.rows(_LATE, {"latest": latest, "most": most}):
            self._transaction.change(_UPDATE_TIMES, {"id_": session_id, "expires_at": latest})

    def add_refresh_token(self, token_hash: str, session_id: str) -> None:
        self._transaction.change(_ADD_TOKEN, {"token_hash": token_hash, "session_id": session_id, "used": False})

    def refresh_token(self, token_hash: str) -> tuple[Session, bool] | None:
        row = self._transaction.row(_GET_TOKEN, {"hash_": token_hash})
        if row is None:
            return None
        *session, used = row
        return Session(*session), bool(used)

    def use_refresh_token(self, token_hash: str) -> bool:
        return self._transaction.change(_USE_TOKEN, {"hash_": token_hash, "used": True}) > 0


_PASSWORD = select(users.c.password).where(users.c.user_id == KEY)
_SET_PASSWORD = update(users).where(users.c.user_id == KEY)
_CREDENTIALS = select(users.c.user_id, users.c.password).where(users.c.username == bindparam("name"))
_CAN_SIGN_IN = select(users.c.user_id).where(users.c.role_id == KEY, users.c.password.is_not(None)).limit(1)


def _hash(stored: str | None) -> PasswordHash | None:
    return None if stored is None else PasswordHash(stored)


class SqlPasswords(Repository):
    """Implements :class:`~logoadmin.ports.storage.Passwords`."""

    __slots__ = ()

    def get(self, user_id: int) -> PasswordHash | None:
        row = self._transaction.row(_PASSWORD, {"key": user_id})
        return None if row is None else _hash(row[0])

    def set(self, user_id: int, password: PasswordHash) -> None:
        # Under the lock of sessions, so that no sign-in runs concurrently with the change.
        self._transaction.change(_SET_PASSWORD, {"key": user_id, "password": password.hash}, "sessions")

    def credentials(self, username: str) -> Credentials | None:
        row = self._transaction.row(_CREDENTIALS, {"name": username})
        return None if row is None else Credentials(row[0], _hash(row[1]))

    def can_sign_in(self, role_id: int) -> bool:
        return self._transaction.row(_CAN_SIGN_IN, {"key": role_id}) is not None


_PREFERENCES = select(preferences.c.value).where(preferences.c.user_id == bindparam("owner"))
_CHANGE_PREFERENCES = update(preferences).where(preferences.c.user_id == bindparam("owner"))
_ADD_PREFERENCES = insert(preferences).inline()


class SqlPreferences(Repository):
    """Implements :class:`~logoadmin.ports.storage.Preferences`."""

    __slots__ = ()

    def get(self, user_id: int) -> str | None:
        row = self._transaction.row(_PREFERENCES, {"owner": user_id})
        return None if row is None else str(row[0])

    def set(self, user_id: int, text: str) -> None:
        if not self._transaction.change(_CHANGE_PREFERENCES, {"owner": user_id, "value": text}):
            self._transaction.change(_ADD_PREFERENCES, {"user_id": user_id, "value": text})


_SECRET = select(secrets.c.value).where(secrets.c.name == bindparam("name"))
_CHANGE_SECRET = update(secrets).where(secrets.c.name == bindparam("secret"))
_ADD_SECRET = insert(secrets).inline()


class SqlSecrets(Repository):
    """Implements :class:`~logoadmin.ports.storage.Secrets`."""

    __slots__ = ()

    def get(self, name: str) -> str | None:
        row = self._transaction.row(_SECRET, {"name": name})
        return None if row is None else str(row[0])

    def put(self, name: str, value: str) -> None:
        self._transaction.change(_ADD_SECRET, {"name": name, "value": value})

    def replace(self, name: str, value: str) -> None:
        if not self._transaction.change(_CHANGE_SECRET, {"secret": name, "value": value}):
            self.put(name, value)


_KEY = select(
    *(service_keys.c[name] for name in ("key_id", "name", "scope", "created_at", "expires_at", "last_used_at"))
)
_OF_USER = service_keys.c.user_id == bindparam("owner")
_KEY_ID = service_keys.c.key_id == bindparam("key")
_KEYS_OF_USER = _KEY.where(_OF_USER).order_by(service_keys.c.key_id)
_FIND_KEY = (
    _KEY.add_columns(users.c.user_id, roles.c.scope.label("held"))
    .select_from(service_keys.join(users).join(roles, roles.c.role_id == users.c.role_id))
    .where(service_keys.c.key_hash == bindparam("hash_"))
)
_ADD_KEY = insert(service_keys).inline()
_CHANGE_KEY = update(service_keys).where(_KEY_ID)
_REMOVE_KEY = delete(service_keys).where(_KEY_ID, _OF_USER)


def _service_key(row: Row) -> ServiceKey:
    key_id, name, scope, created_at, expires_at, last_used_at = row[:6]
    return ServiceKey(key_id, name, tuple(scope.split()), created_at, expires_at, last_used_at)


class SqlServiceKeys(Repository):
    """Implements :class:`~logoadmin.ports.storage.ServiceKeys`."""

    __slots__ = ()

    def next_id(self) -> int:
        return self._transaction.next_id("key_id")

    def add(self, key: ServiceKey, user_id: int, key_hash: str) -> None:
        values: dict[str, Any] = {
            "key_id": key.key_id,
            "user_id": user_id,
            "name": key.name,
            "scope": " ".join(key.scope),
            "key_hash": key_hash,
            "created_at": key.created_at,
            "expires_at": key.expires_at,
            "last_used_at": key.last_used_at,
        }
        self._transaction.change(_ADD_KEY, values)

    def of_user(self, user_id: int) -> tuple[ServiceKey, ...]:
        return tuple(map(_service_key, self._transaction.rows(_KEYS_OF_USER, {"owner": user_id})))

    def find(self, key_hash: str) -> tuple[ServiceKey, Rights] | None:
        row = self._transaction.rights(_FIND_KEY, {"hash_": key_hash})
        return None if row is None else (_service_key(row), Rights(row[6], frozenset(row[7].split())))

    def use(self, key_id: int, now: int) -> None:
        self._transaction.change(_CHANGE_KEY, {"key": key_id, "last_used_at": now})

    def update_times(self, key_id: int, created_at: int, expires_at: int | None) -> None:
        self._transaction.change(_CHANGE_KEY, {"key": key_id, "created_at": created_at, "expires_at": expires_at})

    def remove(self, key_id: int, user_id: int) -> bool:
        return self._transaction.change(_REMOVE_KEY, {"key": key_id, "owner": user_id}) > 0


_COUNTED = sign_in_attempts.c.counted == bindparam("of")
_COUNT = select(sign_in_attempts.c.attempts, sign_in_attempts.c.ends_at).where(_COUNTED)
_ADD_COUNT = insert(sign_in_attempts).inline()
_CHANGE_COUNT = update(sign_in_attempts).where(_COUNTED)
_FORGET = delete(sign_in_attempts).where(_COUNTED)
_ENDED = (
    select(sign_in_attempts.c.counted).where(sign_in_attempts.c.ends_at <= bindparam("now")).limit(bindparam("most"))
)


class SqlSignInAttempts(Repository):
    """Implements :class:`~logoadmin.ports.storage.SignInAttempts`."""

    __slots__ = ()

    def count(self, counted: str) -> tuple[int, int]:
        row = self._transaction.row(_COUNT, {"of": counted})
        return (0, 0) if row is None else (row[0], row[1])

    def set(self, counted: str, attempts: int, ends_at: int) -> None:
        values = {"attempts": attempts, "ends_at": ends_at}
        if not self._transaction.change(_CHANGE_COUNT, {"of": counted, **values}):
            self._transaction.change(_ADD_COUNT, {"counted": counted, **values})

    def forget(self, counted: str) -> None:
        self._transaction.change(_FORGET, {"of": counted})

    def forget_ended(self, now: int, most: int) -> None:
        for (counted,) in self._transaction.rows(_ENDED, {"now": now, "most": most}):
            self.forget(counted)
