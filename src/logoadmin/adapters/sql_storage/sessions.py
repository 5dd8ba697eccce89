"""Sessions, refresh tokens and the service's own secrets: each query beside what its rows become."""

from sqlalchemy import bindparam, delete, insert, select, update

from logoadmin.adapters.sql_storage.tables import refresh_tokens, roles, secrets, sessions, users
from logoadmin.adapters.sql_storage.transaction import Transaction
from logoadmin.domain.access import Rights, rights
from logoadmin.ports.storage import Session

_SESSION_ID = sessions.c.session_id == bindparam("id_")
_USER_ID = sessions.c.user_id == bindparam("owner")

_RIGHTS = (
    select(roles.c.scope)
    .select_from(sessions.join(users, users.c.user_id == sessions.c.user_id).join(roles))
    .where(_SESSION_ID, _USER_ID)
)
_HOLD_RIGHTS = _RIGHTS.with_for_update(read=True)
_ADD_SESSION = insert(sessions).inline()
_PROLONG = update(sessions).where(_SESSION_ID)
_END = delete(sessions).where(_SESSION_ID)
_END_ALL = delete(sessions).where(_USER_ID)
_END_OTHERS = _END_ALL.where(sessions.c.session_id != bindparam("keep"))
_END_EXPIRED = _END_ALL.where(sessions.c.expires_at < bindparam("now"))
_ADD_TOKEN = insert(refresh_tokens).inline()
_GET_TOKEN = (
    select(
        sessions.c.session_id, sessions.c.user_id, sessions.c.created_at, sessions.c.expires_at, refresh_tokens.c.used
    )
    .select_from(refresh_tokens.join(sessions))
    .where(refresh_tokens.c.token_hash == bindparam("hash_"))
)
_HOLD_TOKEN = _GET_TOKEN.with_for_update()
_USE_TOKEN = update(refresh_tokens).where(refresh_tokens.c.token_hash == bindparam("hash_"))


class SessionRepository:
    """The sessions, as :class:`~logoadmin.ports.storage.Sessions` says."""

    def __init__(self, transaction: Transaction) -> None:
        """Work in a transaction."""
        self._transaction = transaction

    def rights(self, session_id: str, user_id: int) -> Rights | None:
        """Return what a user may do now."""
        statement = _HOLD_RIGHTS if self._transaction.writing else _RIGHTS
        row = self._transaction.row(statement, {"id_": session_id, "owner": user_id})
        return None if row is None else rights(row[0].split())

    def add(self, session: Session) -> None:
        """Begin a session."""
        values = {
            "session_id": session.session_id,
            "user_id": session.user_id,
            "created_at": session.created_at,
            "expires_at": session.expires_at,
        }
        self._transaction.change(_ADD_SESSION, values)

    def prolong(self, session_id: str, expires_at: int) -> None:
        """Let a session end later."""
        self._transaction.change(_PROLONG, {"id_": session_id, "expires_at": expires_at})

    def end(self, session_id: str) -> None:
        """End a session; the refresh tokens go by themselves."""
        self._transaction.change(_END, {"id_": session_id})

    def end_all(self, user_id: int, keep: str | None = None) -> None:
        """End the sessions of a user."""
        if keep is None:
            self._transaction.change(_END_ALL, {"owner": user_id})
        else:
            self._transaction.change(_END_OTHERS, {"owner": user_id, "keep": keep})

    def end_expired(self, user_id: int, now: int) -> None:
        """End the expired sessions of a user."""
        self._transaction.change(_END_EXPIRED, {"owner": user_id, "now": now})

    def add_refresh_token(self, token_hash: str, session_id: str) -> None:
        """Keep a new refresh token."""
        self._transaction.change(_ADD_TOKEN, {"token_hash": token_hash, "session_id": session_id, "used": False})

    def refresh_token(self, token_hash: str) -> tuple[Session, bool] | None:
        """Return a refresh token's session, and whether it was used."""
        row = self._transaction.row(_HOLD_TOKEN if self._transaction.writing else _GET_TOKEN, {"hash_": token_hash})
        if row is None:
            return None
        session_id, user_id, created_at, expires_at, used = row
        return Session(session_id, user_id, created_at, expires_at), bool(used)

    def use_refresh_token(self, token_hash: str) -> None:
        """Mark a refresh token as used."""
        self._transaction.change(_USE_TOKEN, {"hash_": token_hash, "used": True})


_SECRET = select(secrets.c.value).where(secrets.c.name == bindparam("name"))
_HOLD_SECRET = _SECRET.with_for_update()
_CHANGE_SECRET = update(secrets).where(secrets.c.name == bindparam("secret"))
_ADD_SECRET = insert(secrets).inline()


class SecretRepository:
    """The secrets, as :class:`~logoadmin.ports.storage.Secrets` says."""

    def __init__(self, transaction: Transaction) -> None:
        """Work in a transaction."""
        self._transaction = transaction

    def get(self, name: str) -> str | None:
        """Return a secret."""
        row = self._transaction.row(_HOLD_SECRET if self._transaction.writing else _SECRET, {"name": name})
        return None if row is None else str(row[0])

    def put(self, name: str, value: str) -> None:
        """Keep a new secret."""
        self._transaction.change(_ADD_SECRET, {"name": name, "value": value})

    def replace(self, name: str, value: str) -> None:
        """Keep another value of a secret."""
        if not self._transaction.change(_CHANGE_SECRET, {"secret": name, "value": value}):
            self.put(name, value)
