"""The repositories of factors, recovery codes, challenges, identities and events."""

import json
from collections.abc import Sequence
from dataclasses import asdict
from hashlib import sha256
from operator import attrgetter
from typing import Any, Final

from sqlalchemy import bindparam, func, select, update

from logoadmin.adapters.sql_storage.repository import KeysetPages, RecordReader, Repository
from logoadmin.adapters.sql_storage.statements import KEY
from logoadmin.adapters.sql_storage.tables import challenges, events, factors, identities, recovery_codes
from logoadmin.domain.identity.records import CountedEvent, SignInEvent
from logoadmin.domain.kernel.lists import Order, page_of
from logoadmin.ports.sign_in_storage import Challenge, ChallengePurpose, Factor, Identity

_HOUR: Final = 3600

_factor: Final = RecordReader(Factor, (column for column in factors.c if column is not factors.c.credential_hash))
_FACTORS_OF_USER = select(*_factor.columns).where(factors.c.user_id == KEY).order_by(factors.c.factor_id)

_CODES_LEFT = select(func.count()).select_from(recovery_codes).where(recovery_codes.c.user_id == KEY)

_challenge: Final = RecordReader(Challenge, challenges.c)
_identity: Final = RecordReader(Identity, (each for each in identities.c if each is not identities.c.identity_hash))
_IDENTITIES_OF_USER = select(*_identity.columns).where(identities.c.user_id == KEY)

_OF_HOUR = (
    events.c.event == bindparam("of_event"),
    events.c.at >= bindparam("hour"),
    events.c.at < bindparam("next_hour"),
)
_OF_SINCE = events.c.user_since == bindparam("user_since")
_OF_CLIENT = (
    _OF_SINCE,
    events.c.user_id.is_not_distinct_from(bindparam("of_user")),
    events.c.address.is_not_distinct_from(bindparam("of_address")),
)
_COUNTED = select(events.c.event_id, events.c.at).where(*_OF_HOUR, *_OF_CLIENT).order_by(events.c.event_id).limit(1)
_COUNT = update(events).where(events.c.event_id == KEY).values(at=bindparam("now"), count=events.c.count + 1)
_SOME = select(events.c.event_id).where(*_OF_HOUR).limit(bindparam("most")).subquery()
_NUMBER = select(func.count()).select_from(_SOME)
_event: Final = RecordReader(SignInEvent, (column for column in events.c if column is not events.c.user_since))
_event_values: Final = attrgetter(*(column.name for column in _event.columns))
_PAGES: Final = KeysetPages(
    select(*_event.columns),
    events.c.event_id,
    {"of_user": events.c.user_id == bindparam("of_user"), "user_since": _OF_SINCE},
    [],
)


class SqlFactors(Repository):
    """Implements :class:`~logoadmin.ports.sign_in_storage.Factors`."""

    def next_id(self) -> int:
        return self._transaction.counters.next_id("factor_id")

    def add(self, factor: Factor) -> None:
        hashed = None if factor.credential is None else _hashed(factor.credential)
        self._add(factors, {**asdict(factor), "credential_hash": hashed})

    def of_user(self, user_id: int) -> tuple[Factor, ...]:
        return self._all(_factor, _FACTORS_OF_USER, {"key": user_id})

    def find_credential(self, credential: str) -> Factor | None:
        return self._get(_factor, credential_hash=_hashed(credential))

    def update(self, factor: Factor) -> None:
        changed = {name: getattr(factor, name) for name in ("secret", "counter", "confirmed", "last_used_at")}
        self._update(factors, {"factor_id": factor.factor_id}, changed)

    def remove(self, factor_id: int, user_id: int) -> bool:
        return self._remove(factors, factor_id=factor_id, user_id=user_id)


class SqlRecoveryCodes(Repository):
    """Implements :class:`~logoadmin.ports.sign_in_storage.RecoveryCodes`."""

    def replace(self, user_id: int, hashes: Sequence[str]) -> None:
        self._remove(recovery_codes, user_id=user_id)
        for code_hash in hashes:
            self._add(recovery_codes, {"code_hash": code_hash, "user_id": user_id})

    def left(self, user_id: int) -> int:
        return self._number(_CODES_LEFT, key=user_id)

    def use(self, user_id: int, code_hash: str) -> bool:
        return self._remove(recovery_codes, code_hash=code_hash, user_id=user_id)


class SqlChallenges(Repository):
    """Implements :class:`~logoadmin.ports.sign_in_storage.Challenges`."""

    def add(self, challenge: Challenge) -> None:
        self._add(challenges, asdict(challenge))

    def add_once(self, challenge: Challenge) -> bool:
        try:
            self.add(challenge)
        except self._transaction.refused:
            return False
        return True

    def get(self, challenge_hash: str) -> Challenge | None:
        return self._get(_challenge, challenge_hash=challenge_hash)

    def take(self, challenge_hash: str) -> bool:
        return self._remove(challenges, challenge_hash=challenge_hash)

    def drop(self, user_id: int, purpose: ChallengePurpose | None = None) -> None:
        by: dict[str, Any] = {"user_id": user_id} if purpose is None else {"user_id": user_id, "purpose": purpose}
        self._remove(challenges, **by)

    def forget_expired(self, now: int, most: int) -> int:
        return self._remove_ended(challenges.c.expires_at, now, most)


class SqlIdentities(Repository):
    """Implements :class:`~logoadmin.ports.sign_in_storage.Identities`."""

    def find(self, issuer: str, subject: str) -> Identity | None:
        return self._get(_identity, identity_hash=_identity_hash(issuer, subject))

    def of_user(self, user_id: int) -> tuple[Identity, ...]:
        found = self._all(_identity, _IDENTITIES_OF_USER, {"key": user_id})
        return tuple(sorted(found, key=attrgetter("issuer", "subject")))

    def put(self, identity: Identity) -> None:
        values = asdict(identity)
        values["group_list"] = values.pop("groups")
        self._put(identities, {"identity_hash": _identity_hash(identity.issuer, identity.subject)}, values)


class SqlEvents(Repository):
    """Implements :class:`~logoadmin.ports.sign_in_storage.Events`."""

    def next_id(self) -> int:
        return self._transaction.counters.next_id("event_id")

    def add(self, event: SignInEvent, user_since: int = 0) -> None:
        self._transaction.hold_back(events, [(*_event_values(event), user_since)])

    def count(
        self,
        event: CountedEvent,
        user_id: int | None,
        address: str | None,
        at: int,
        every: int = 0,
        user_since: int = 0,
    ) -> bool:
        client = {"of_user": user_id, "user_since": user_since, "of_address": address}
        row = self._transaction.row(_COUNTED, {**_hour(event, at), **client})
        if row is None:
            return False
        event_id, counted_at = row
        if not 0 <= at - counted_at < every:
            self._transaction.change(_COUNT, {"key": event_id, "now": at})
        return True

    def number(self, event: CountedEvent, at: int, most: int) -> int:
        return self._number(_NUMBER, **_hour(event, at), most=most)

    def page(
        self, after: int, limit: int, user_id: int | None = None, order: Order = "desc", user_since: int | None = None
    ) -> tuple[SignInEvent, ...]:
        of = {"of_user": user_id, "user_since": None if user_id is None else user_since}
        given = {name: value for name, value in of.items() if value is not None}
        return page_of(_PAGES.rows(self._transaction, after, limit, given, order), _event)

    def forget_before(self, at: int, most: int) -> int:
        return self._remove_ended(events.c.at, at - 1, most)


def _hour(event: CountedEvent, at: int) -> dict[str, Any]:
    hour = at - at % _HOUR
    return {"of_event": event, "hour": hour, "next_hour": hour + _HOUR}


def _hashed(credential: str) -> str:
    return sha256(credential.encode()).hexdigest()


def _identity_hash(issuer: str, subject: str) -> str:
    return _hashed(json.dumps([issuer, subject]))
