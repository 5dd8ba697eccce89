"""Sessions, preferences, service keys, sign-in attempts, and the secrets of the service."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from itertools import islice
from operator import attrgetter

from logoadmin.adapters.memory_storage.tables import IdCounter, Repository, Tables, is_refused
from logoadmin.domain.identity.records import ServiceKey
from logoadmin.domain.kernel.access import Rights
from logoadmin.domain.kernel.records import Kind
from logoadmin.ports.identity_storage import Admission, Session


class MemorySessions(Repository):
    """The sessions, as :class:`~logoadmin.ports.identity_storage.Sessions` says."""

    def rights(self, session_id: str, user_id: int) -> Rights | None:
        session = self._tables.sessions.get(session_id)
        if session is None or session.user_id != user_id:
            return None
        held = _rights(self._tables, user_id)
        return replace(
            held,
            signed_in_at=session.created_at,
            ends_at=session.expires_at,
            factor=session.factor,
        )

    def admission(self, user_id: int) -> Admission | None:
        user = self._tables.records[Kind.USER].get(user_id)
        if user is None:
            return None
        scope, refused = _rights(self._tables, user_id).scope, is_refused(self._tables, user_id)
        return Admission(user.username, scope, user.active, refused)

    def add(self, session: Session) -> None:
        self._journal.set(self._tables.sessions, session.session_id, session)

    def of_user(self, user_id: int) -> tuple[Session, ...]:
        return tuple(sorted(self._of(user_id), key=attrgetter("created_at", "session_id")))

    def update(self, session: Session) -> None:
        self._journal.set(self._tables.sessions, session.session_id, session)

    def end(self, session_id: str) -> bool:
        tokens = self._tables.refresh_tokens
        for token_hash in [hash_ for hash_, (of, _) in tokens.items() if of == session_id]:
            self._journal.delete(tokens, token_hash)
        return self._journal.delete(self._tables.sessions, session_id)

    def end_all(self, user_id: int, keep: str | None = None) -> None:
        self._end(s for s in self._of(user_id) if s.session_id != keep)

    def forget_expired(self, now: int, most: int) -> int:
        left = most
        expired = sorted((s.expires_at, s.session_id) for s in self._tables.sessions.values() if s.expires_at <= now)
        for _, session_id in expired[:most]:
            tokens = [hash_ for hash_, (of, _) in self._tables.refresh_tokens.items() if of == session_id][:left]
            for token_hash in tokens:
                self._journal.delete(self._tables.refresh_tokens, token_hash)
            left -= len(tokens)
            if not left:
                break
            self.end(session_id)
        return most - left

    def expire_by(self, latest: int, most: int) -> int:
        sessions = self._tables.sessions.values()
        late = list(islice((session for session in sessions if session.expires_at > latest), most))
        for session in late:
            self._journal.set(self._tables.sessions, session.session_id, replace(session, expires_at=latest))
        return len(late)

    def add_refresh_token(self, token_hash: str, session_id: str) -> None:
        self._journal.set(self._tables.refresh_tokens, token_hash, (session_id, None))

    def refresh_token(self, token_hash: str) -> tuple[Session, int | None] | None:
        found = self._tables.refresh_tokens.get(token_hash)
        return None if found is None else (self._tables.sessions[found[0]], found[1])

    def use_refresh_token(self, token_hash: str, now: int) -> None:
        session_id, _ = self._tables.refresh_tokens[token_hash]
        self._journal.set(self._tables.refresh_tokens, token_hash, (session_id, now))

    def _of(self, user_id: int) -> list[Session]:
        return [session for session in self._tables.sessions.values() if session.user_id == user_id]

    def _end(self, sessions: Iterator[Session]) -> None:
        for session in sessions:
            self.end(session.session_id)


class MemoryPreferences(Repository):
    """The preferences, as :class:`~logoadmin.ports.identity_storage.Preferences` says."""

    def get(self, user_id: int) -> str | None:
        return self._tables.preferences.get(user_id)

    def set(self, user_id: int, text: str) -> None:
        self._journal.set(self._tables.preferences, user_id, text)


class MemorySecrets(Repository):
    """The secrets, as :class:`~logoadmin.ports.record_storage.Secrets` says."""

    def get(self, name: str) -> str | None:
        return self._tables.secrets.get(name)

    def several(self, names: Sequence[str]) -> Mapping[str, str]:
        found = self._tables.secrets
        return {name: found[name] for name in names if name in found}

    def put(self, name: str, value: str) -> None:
        self._journal.set(self._tables.secrets, name, value)

    def replace(self, name: str, value: str) -> None:
        self._journal.set(self._tables.secrets, name, value)


class MemoryServiceKeys(Repository):
    """The service keys, as :class:`~logoadmin.ports.identity_storage.ServiceKeys` says."""

    def next_id(self) -> int:
        return IdCounter(self._tables, self._journal, "key_id").next()

    def add(self, key: ServiceKey, user_id: int, key_hash: str) -> None:
        self._journal.set(self._tables.keys, key.key_id, key)
        self._journal.set(self._tables.key_hashes, key_hash, (user_id, key.key_id))

    def of_user(self, user_id: int) -> tuple[ServiceKey, ...]:
        return tuple(self._tables.keys[key_id] for key_id in sorted(self._ids_of(user_id)))

    def find(self, key_hash: str) -> tuple[ServiceKey, Rights] | None:
        found = self._tables.key_hashes.get(key_hash)
        if found is None or is_refused(self._tables, found[0]):
            return None
        return self._tables.keys[found[1]], _rights(self._tables, found[0])

    def use(self, key_id: int, now: int) -> None:
        self._journal.set(self._tables.keys, key_id, replace(self._tables.keys[key_id], last_used_at=now))

    def update_times(self, key_id: int, created_at: int, expires_at: int | None) -> None:
        key = replace(self._tables.keys[key_id], created_at=created_at, expires_at=expires_at)
        self._journal.set(self._tables.keys, key_id, key)

    def remove(self, key_id: int, user_id: int) -> bool:
        if key_id not in self._ids_of(user_id):
            return False
        for key_hash in [hash_ for hash_, (_, of) in self._tables.key_hashes.items() if of == key_id]:
            self._journal.delete(self._tables.key_hashes, key_hash)
        return self._journal.delete(self._tables.keys, key_id)

    def remove_all(self, user_id: int) -> None:
        for key_id in self._ids_of(user_id):
            self.remove(key_id, user_id)

    def _ids_of(self, user_id: int) -> list[int]:
        return [key_id for of, key_id in self._tables.key_hashes.values() if of == user_id]


class MemorySignInAttempts(Repository):
    """The attempts to sign in, as :class:`~logoadmin.ports.identity_storage.SignInAttempts` says."""

    def count(self, counted: str) -> tuple[int, int]:
        return self._tables.sign_in_attempts.get(counted, (0, 0))

    def set(self, counted: str, attempts: int, ends_at: int) -> None:
        self._journal.set(self._tables.sign_in_attempts, counted, (attempts, ends_at))

    def counts(self, counted: Sequence[str]) -> tuple[tuple[int, int], ...]:
        return tuple(map(self.count, counted))

    def take_back(self, counted: Sequence[str], forgiven: str = "") -> None:
        for name in counted:
            attempts, ends_at = self.count(name)
            if attempts:
                self.set(name, 0 if name == forgiven else attempts - 1, ends_at)

    def forget_ended(self, now: int, most: int) -> int:
        attempts = self._tables.sign_in_attempts.items()
        ended = list(islice((counted for counted, (_, ends_at) in attempts if ends_at <= now), most))
        for counted in ended:
            self._journal.delete(self._tables.sign_in_attempts, counted)
        return len(ended)


def _rights(tables: Tables, user_id: int) -> Rights:
    user = tables.records[Kind.USER][user_id]
    return Rights(user_id, frozenset(tables.records[Kind.ROLE][user.role_id].scope), username=user.username)
