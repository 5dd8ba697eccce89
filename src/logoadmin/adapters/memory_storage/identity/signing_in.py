"""Factors, recovery codes, challenges, identities and events."""

from collections.abc import Iterator, Sequence
from dataclasses import replace
from itertools import islice
from operator import attrgetter
from typing import Final

from logoadmin.adapters.memory_storage.tables import IdCounter, Journal, Repository, Tables
from logoadmin.domain.identity.records import CountedEvent, SignInEvent
from logoadmin.domain.kernel.lists import Order
from logoadmin.ports.sign_in_storage import Challenge, ChallengePurpose, Factor, Identity

_HOUR: Final = 3600


class MemoryFactors(Repository):
    """The factors, as :class:`~logoadmin.ports.sign_in_storage.Factors` says."""

    def next_id(self) -> int:
        return IdCounter(self._tables, self._journal, "factor_id").next()

    def add(self, factor: Factor) -> None:
        self._journal.set(self._tables.factors, factor.factor_id, factor)

    def of_user(self, user_id: int) -> tuple[Factor, ...]:
        theirs = [factor for factor in self._tables.factors.values() if factor.user_id == user_id]
        return tuple(sorted(theirs, key=attrgetter("factor_id")))

    def find_credential(self, credential: str) -> Factor | None:
        found = (factor for factor in self._tables.factors.values() if factor.credential == credential)
        return next(found, None)

    def use(self, factor_id: int, counter: int, now: int) -> None:
        factor = self._tables.factors[factor_id]
        self._journal.set(self._tables.factors, factor_id, replace(factor, counter=counter, last_used_at=now))

    def confirm(self, factor_id: int, counter: int, now: int) -> None:
        self._journal.set(self._tables.factors, factor_id, replace(self._tables.factors[factor_id], confirmed=True))
        self.use(factor_id, counter, now)

    def replace_secret(self, factor_id: int, secret: str) -> None:
        self._journal.set(self._tables.factors, factor_id, replace(self._tables.factors[factor_id], secret=secret))

    def remove(self, factor_id: int, user_id: int) -> bool:
        factor = self._tables.factors.get(factor_id)
        if factor is None or factor.user_id != user_id:
            return False
        return self._journal.delete(self._tables.factors, factor_id)

    def remove_all(self, user_id: int) -> int:
        return sum(self.remove(factor.factor_id, user_id) for factor in self.of_user(user_id))


class MemoryRecoveryCodes(Repository):
    """The recovery codes, as :class:`~logoadmin.ports.sign_in_storage.RecoveryCodes` says."""

    def replace(self, user_id: int, hashes: Sequence[str]) -> None:
        for code_hash in self._of(user_id):
            self._journal.delete(self._tables.recovery_codes, code_hash)
        for code_hash in hashes:
            self._journal.set(self._tables.recovery_codes, code_hash, user_id)

    def left(self, user_id: int) -> int:
        return len(self._of(user_id))

    def use(self, user_id: int, code_hash: str) -> bool:
        return code_hash in self._of(user_id) and self._journal.delete(self._tables.recovery_codes, code_hash)

    def _of(self, user_id: int) -> list[str]:
        return [code_hash for code_hash, of in self._tables.recovery_codes.items() if of == user_id]


class MemoryChallenges(Repository):
    """The challenges, as :class:`~logoadmin.ports.sign_in_storage.Challenges` says."""

    def add(self, challenge: Challenge) -> None:
        self._journal.set(self._tables.challenges, challenge.challenge_hash, challenge)

    def get(self, challenge_hash: str) -> Challenge | None:
        return self._tables.challenges.get(challenge_hash)

    def add_once(self, challenge: Challenge) -> bool:
        if challenge.challenge_hash in self._tables.challenges:
            return False
        self.add(challenge)
        return True

    def take(self, challenge_hash: str) -> bool:
        return self._journal.delete(self._tables.challenges, challenge_hash)

    def drop(self, user_id: int, purpose: ChallengePurpose | None = None) -> None:
        theirs = [each for each in self._tables.challenges.values() if each.user_id == user_id]
        for challenge in theirs:
            if purpose in (None, challenge.purpose):
                self.take(challenge.challenge_hash)

    def forget_expired(self, now: int, most: int) -> int:
        challenges = self._tables.challenges.values()
        expired = list(islice((each.challenge_hash for each in challenges if each.expires_at <= now), most))
        for challenge_hash in expired:
            self.take(challenge_hash)
        return len(expired)


class MemoryIdentities(Repository):
    """The identities, as :class:`~logoadmin.ports.sign_in_storage.Identities` says."""

    def find(self, issuer: str, subject: str) -> Identity | None:
        return self._tables.identities.get((issuer, subject))

    def of_user(self, user_id: int) -> tuple[Identity, ...]:
        theirs = [identity for identity in self._tables.identities.values() if identity.user_id == user_id]
        return tuple(sorted(theirs, key=attrgetter("issuer", "subject")))

    def put(self, identity: Identity) -> None:
        self._journal.set(self._tables.identities, (identity.issuer, identity.subject), identity)


class MemoryEvents(Repository):
    """The events, as :class:`~logoadmin.ports.sign_in_storage.Events` says."""

    def next_id(self) -> int:
        return IdCounter(self._tables, self._journal, "event_id").next()

    def add(self, event: SignInEvent, user_since: int = 0) -> None:
        self._journal.set(self._tables.events, event.event_id, event)
        self._journal.set(self._tables.users_of_events, event.event_id, user_since)

    def count(
        self,
        event: CountedEvent,
        user_id: int | None,
        address: str | None,
        at: int,
        every: int = 0,
        user_since: int = 0,
    ) -> bool:
        for row in self._of_hour(event, at):
            since = self._tables.users_of_events[row.event_id]
            if (row.user_id, since, row.address) == (user_id, user_since, address):
                if not 0 <= at - row.at < every:
                    self._journal.set(self._tables.events, row.event_id, replace(row, at=at, count=row.count + 1))
                return True
        return False

    def number(self, event: CountedEvent, at: int, most: int) -> int:
        return sum(1 for _ in islice(self._of_hour(event, at), most))

    def page(
        self,
        after: int,
        limit: int,
        user_id: int | None = None,
        order: Order = "desc",
        user_since: int | None = None,
    ) -> tuple[SignInEvent, ...]:
        following = self._tables.events.after(after, order)
        if user_id is not None:
            following = (event for event in following if event.user_id == user_id)
        if user_since is not None:
            of_events = self._tables.users_of_events
            following = (event for event in following if of_events[event.event_id] == user_since)
        return tuple(islice(following, limit))

    def forget_before(self, at: int, most: int) -> int:
        events = self._tables.events.items()
        old = list(islice((event_id for event_id, event in events if event.at < at), most))
        for event_id in old:
            self._journal.delete(self._tables.events, event_id)
            self._journal.delete(self._tables.users_of_events, event_id)
        return len(old)

    def _of_hour(self, event: CountedEvent, at: int) -> Iterator[SignInEvent]:
        rows = self._tables.events.after(-1, "asc")
        return (row for row in rows if row.event == event and row.at // _HOUR == at // _HOUR)


def remove_sign_in(tables: Tables, journal: Journal, user_id: int) -> None:
    """Remove all that signs a user in beside the password."""
    MemoryFactors(tables, journal).remove_all(user_id)
    MemoryRecoveryCodes(tables, journal).replace(user_id, ())
    MemoryChallenges(tables, journal).drop(user_id)
    for identity in MemoryIdentities(tables, journal).of_user(user_id):
        journal.delete(tables.identities, (identity.issuer, identity.subject))
