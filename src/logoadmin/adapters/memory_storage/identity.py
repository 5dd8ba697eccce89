"""The repositories of identity, of the events of signing in, and of the secrets of the service."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from itertools import islice
from operator import attrgetter
from typing import Final

from logoadmin.adapters.memory_storage.tables import KeyRow, Repository, Tables
from logoadmin.domain.identity.records import CountedEvent, ServiceKey, SignInEvent
from logoadmin.domain.identity.sign_in_rules import Ways
from logoadmin.domain.kernel.access import Rights
from logoadmin.domain.kernel.lists import Order
from logoadmin.domain.kernel.records import Kind, PasswordHash
from logoadmin.ports.identity_storage import GENERATED_PASSWORD, Account, Count, Session
from logoadmin.ports.sign_in_storage import Challenge, ChallengePurpose, Factor, Identity


class MemorySessions(Repository):
    """Implements :class:`~logoadmin.ports.identity_storage.Sessions`."""

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
            must_change_password=self._tables.secrets.get(GENERATED_PASSWORD) == str(user_id),
        )

    def add(self, session: Session) -> None:
        self._tables.sessions[session.session_id] = session

    def of_user(self, user_id: int) -> tuple[Session, ...]:
        return tuple(sorted(self._tables.sessions.where(user_id=user_id), key=attrgetter("created_at", "session_id")))

    update = add

    def end(self, session_id: str) -> bool:
        for token_hash in self._tokens_of(session_id):
            del self._tables.refresh_tokens[token_hash]
        return self._tables.sessions.discard(session_id)

    def end_all(self, user_id: int, keep: str | None = None) -> None:
        for session in self._tables.sessions.where(user_id=user_id):
            if session.session_id != keep:
                self.end(session.session_id)

    def forget_expired(self, now: int, most: int) -> int:
        left = most
        expired = sorted((s.expires_at, s.session_id) for s in self._tables.sessions.values() if s.expires_at <= now)
        for _, session_id in expired[:most]:
            tokens = self._tokens_of(session_id)[:left]
            for token_hash in tokens:
                del self._tables.refresh_tokens[token_hash]
            left -= len(tokens)
            if not left:
                break
            self.end(session_id)
        return most - left

    def expire_by(self, latest: int, most: int) -> int:
        return self._tables.sessions.expire_by(latest, most)

    def add_refresh_token(self, token_hash: str, session_id: str) -> None:
        self._tables.refresh_tokens[token_hash] = (session_id, None)

    def refresh_token(self, token_hash: str) -> tuple[Session, int | None] | None:
        found = self._tables.refresh_tokens.get(token_hash)
        return None if found is None else (self._tables.sessions[found[0]], found[1])

    def use_refresh_token(self, token_hash: str, now: int) -> None:
        session_id, _ = self._tables.refresh_tokens[token_hash]
        self._tables.refresh_tokens[token_hash] = (session_id, now)

    def _tokens_of(self, session_id: str) -> list[str]:
        return [token_hash for token_hash, (of, _) in self._tables.refresh_tokens.items() if of == session_id]


class MemoryPreferences(Repository):
    """Implements :class:`~logoadmin.ports.identity_storage.Preferences`."""

    def get(self, user_id: int) -> str | None:
        return self._tables.preferences.get(user_id)

    def set(self, user_id: int, text: str) -> None:
        self._tables.preferences[user_id] = text


class MemorySecrets(Repository):
    """Implements :class:`~logoadmin.ports.record_storage.Secrets`."""

    def get(self, name: str) -> str | None:
        return self._tables.secrets.get(name)

    def several(self, names: Sequence[str]) -> Mapping[str, str]:
        found = self._tables.secrets
        return {name: found[name] for name in names if name in found}

    def put(self, name: str, value: str) -> None:
        self._tables.secrets[name] = value


class MemoryServiceKeys(Repository):
    """Implements :class:`~logoadmin.ports.identity_storage.ServiceKeys`."""

    def next_id(self) -> int:
        return self._next("key_id")

    def add(self, key: ServiceKey, user_id: int, key_hash: str) -> None:
        self._tables.keys[key.key_id] = KeyRow(key, user_id, key_hash)

    def of_user(self, user_id: int) -> tuple[ServiceKey, ...]:
        theirs = [row.key for row in self._tables.keys.where(user_id=user_id)]
        return tuple(sorted(theirs, key=attrgetter("key_id")))

    def find(self, key_hash: str) -> tuple[ServiceKey, Rights] | None:
        for key, user_id, _ in self._tables.keys.where(key_hash=key_hash):
            if not _is_refused(self._tables, user_id):
                return key, _rights(self._tables, user_id)
        return None

    def update(self, key: ServiceKey) -> None:
        self._tables.keys[key.key_id] = self._tables.keys[key.key_id]._replace(key=key)

    def remove(self, key_id: int, user_id: int) -> bool:
        row = self._tables.keys.get(key_id)
        return row is not None and row.user_id == user_id and self._tables.keys.discard(key_id)


class MemoryCounts(Repository):
    """Implements :class:`~logoadmin.ports.identity_storage.Counts`."""

    def get(self, name: str) -> Count:
        return self._tables.counts.get(name, Count(0, 0))

    def several(self, names: Sequence[str]) -> tuple[Count, ...]:
        return tuple(map(self.get, names))

    def put(self, counts: Mapping[str, Count]) -> None:
        for name, count in counts.items():
            self._tables.counts[name] = count

    def take_back(self, names: Sequence[str], forgiven: str = "") -> None:
        for name in names:
            number, ends_at = self.get(name)
            if number:
                self._tables.counts[name] = Count(0 if name == forgiven else number - 1, ends_at)

    def forget_ended(self, now: int, most: int) -> int:
        return self._tables.counts.remove_some(most, lambda count: count.ends_at <= now)


def _rights(tables: Tables, user_id: int) -> Rights:
    user = tables.records[Kind.USER][user_id]
    return Rights(user_id, frozenset(tables.records[Kind.ROLE][user.role_id].scope), username=user.username)


def _is_refused(tables: Tables, user_id: int) -> bool:
    return bool(tables.identities.where(user_id=user_id, refused=True))


class MemoryPasswords(Repository):
    """Implements :class:`~logoadmin.ports.identity_storage.Passwords`."""

    def get(self, user_id: int) -> PasswordHash | None:
        return self._tables.passwords.get(user_id)

    def set(self, user_id: int, password: PasswordHash) -> None:
        self._tables.passwords[user_id] = password

    def account(self, of: int | str) -> Account | None:
        users = self._tables.records[Kind.USER]
        user = next(iter(users.where(username=of)), None) if isinstance(of, str) else users.get(of)
        if user is None:
            return None
        scope, password = _rights(self._tables, user.user_id).scope, self.get(user.user_id)
        has_factor = bool(self._tables.factors.where(user_id=user.user_id, confirmed=True))
        refused = _is_refused(self._tables, user.user_id)
        return Account(user.user_id, user.username, scope, password, has_factor, user.active, refused)

    def classes(self) -> frozenset[str]:
        hashes = [stored.hash for stored in self._tables.passwords.values()]
        return frozenset(each.rsplit("$", 2)[0] for each in hashes if ",p=" in each)

    def can_sign_in(self, role_id: int, ways: Ways) -> bool:
        users = self._tables.records[Kind.USER].where(role_id=role_id)
        return any(self.can_user_sign_in(user.user_id, ways) for user in users)

    def can_user_sign_in(self, user_id: int, ways: Ways) -> bool:
        user = self._tables.records[Kind.USER].get(user_id)
        if user is None or not user.active or _is_refused(self._tables, user_id):
            return False
        kinds = {factor.kind for factor in self._tables.factors.where(user_id=user_id, confirmed=True)}
        if ways.passkey and "passkey" in kinds:
            return True
        if ways.password and user_id in self._tables.passwords and kinds != {"passkey"}:
            return True
        return bool(self._tables.identities.where(user_id=user_id, issuer=ways.issuer))


_HOUR: Final = 3600


class MemoryFactors(Repository):
    """Implements :class:`~logoadmin.ports.sign_in_storage.Factors`."""

    def next_id(self) -> int:
        return self._next("factor_id")

    def add(self, factor: Factor) -> None:
        self._tables.factors[factor.factor_id] = factor

    update = add

    def of_user(self, user_id: int) -> tuple[Factor, ...]:
        return tuple(sorted(self._tables.factors.where(user_id=user_id), key=attrgetter("factor_id")))

    def find_credential(self, credential: str) -> Factor | None:
        return next(iter(self._tables.factors.where(credential=credential)), None)

    def remove(self, factor_id: int, user_id: int) -> bool:
        theirs = self._tables.factors.where(factor_id=factor_id, user_id=user_id)
        return bool(theirs) and self._tables.factors.discard(factor_id)


class MemoryRecoveryCodes(Repository):
    """Implements :class:`~logoadmin.ports.sign_in_storage.RecoveryCodes`."""

    def replace(self, user_id: int, hashes: Sequence[str]) -> None:
        for code_hash in self._of(user_id):
            self._tables.recovery_codes.discard(code_hash)
        for code_hash in hashes:
            self._tables.recovery_codes[code_hash] = user_id

    def left(self, user_id: int) -> int:
        return len(self._of(user_id))

    def use(self, user_id: int, code_hash: str) -> bool:
        return code_hash in self._of(user_id) and self._tables.recovery_codes.discard(code_hash)

    def _of(self, user_id: int) -> list[str]:
        return [code_hash for code_hash, of in self._tables.recovery_codes.items() if of == user_id]


class MemoryChallenges(Repository):
    """Implements :class:`~logoadmin.ports.sign_in_storage.Challenges`."""

    def add(self, challenge: Challenge) -> None:
        self._tables.challenges[challenge.challenge_hash] = challenge

    def get(self, challenge_hash: str) -> Challenge | None:
        return self._tables.challenges.get(challenge_hash)

    def add_once(self, challenge: Challenge) -> bool:
        if challenge.challenge_hash in self._tables.challenges:
            return False
        self.add(challenge)
        return True

    def take(self, challenge_hash: str) -> bool:
        return self._tables.challenges.discard(challenge_hash)

    def drop(self, user_id: int, purpose: ChallengePurpose | None = None) -> None:
        for challenge in self._tables.challenges.where(user_id=user_id):
            if purpose in (None, challenge.purpose):
                self.take(challenge.challenge_hash)

    def forget_expired(self, now: int, most: int) -> int:
        return self._tables.challenges.remove_some(most, lambda row: row.expires_at <= now)


class MemoryIdentities(Repository):
    """Implements :class:`~logoadmin.ports.sign_in_storage.Identities`."""

    def find(self, issuer: str, subject: str) -> Identity | None:
        return self._tables.identities.get((issuer, subject))

    def of_user(self, user_id: int) -> tuple[Identity, ...]:
        return tuple(sorted(self._tables.identities.where(user_id=user_id), key=attrgetter("issuer", "subject")))

    def put(self, identity: Identity) -> None:
        self._tables.identities[identity.issuer, identity.subject] = identity


class MemoryEvents(Repository):
    """Implements :class:`~logoadmin.ports.sign_in_storage.Events`."""

    def next_id(self) -> int:
        return self._next("event_id")

    def add(self, event: SignInEvent, user_since: int = 0) -> None:
        self._tables.events[event.event_id] = (event, user_since)

    def count(
        self,
        event: CountedEvent,
        user_id: int | None,
        address: str | None,
        at: int,
        every: int = 0,
        user_since: int = 0,
    ) -> bool:
        for row, since in self._of_hour(event, at):
            if (row.user_id, since, row.address) == (user_id, user_since, address):
                if not 0 <= at - row.at < every:
                    self.add(replace(row, at=at, count=row.count + 1), since)
                return True
        return False

    def number(self, event: CountedEvent, at: int, most: int) -> int:
        return sum(1 for _ in islice(self._of_hour(event, at), most))

    def page(
        self, after: int, limit: int, user_id: int | None = None, order: Order = "desc", user_since: int | None = None
    ) -> tuple[SignInEvent, ...]:
        found = (
            event
            for event, since in self._tables.events.after(after, order)
            if user_id in (None, event.user_id) and user_since in (None, since)
        )
        return tuple(islice(found, limit))

    def forget_before(self, at: int, most: int) -> int:
        return self._tables.events.remove_some(most, lambda row: row[0].at < at)

    def _of_hour(self, event: CountedEvent, at: int) -> Iterator[tuple[SignInEvent, int]]:
        rows = self._tables.events.after(-1, "asc")
        return (row for row in rows if row[0].event == event and row[0].at // _HOUR == at // _HOUR)
