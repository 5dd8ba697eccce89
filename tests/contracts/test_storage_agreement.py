# ruff: noqa: RUF001 (the tests need letters that look alike)
"""The same random steps on every storage have the same results, errors and error texts."""

import contextlib
from collections.abc import Callable, Iterable
from dataclasses import replace
from functools import partial
from operator import attrgetter
from typing import Any

import pytest
from hypothesis import settings
from hypothesis import strategies as st
from hypothesis.stateful import RuleBasedStateMachine, initialize, rule, run_state_machine_as_test

from logoadmin.domain.identity.records import FactorKind, ServiceKey, SignInEvent
from logoadmin.domain.identity.sign_in_rules import Ways
from logoadmin.domain.kernel.errors import LogoAdminError
from logoadmin.domain.kernel.kinds import ARTWORK_KINDS, AUTHORS, KINDS, LOGOS, ROLES, THEMES, USERS, AnyKind
from logoadmin.domain.kernel.limits import MAX_ID
from logoadmin.domain.kernel.lists import ChangeFilter, Filter, Order, SortKey
from logoadmin.domain.kernel.records import (
    Author,
    Change,
    Kind,
    Link,
    Logo,
    PasswordHash,
    Role,
    StoredRecord,
    Theme,
    User,
)
from logoadmin.ports.gallery_storage import Withdrawal
from logoadmin.ports.history_storage import StoredResponse
from logoadmin.ports.identity_storage import Count, Session
from logoadmin.ports.proposal_storage import SeenNotices
from logoadmin.ports.sign_in_storage import Challenge, ChallengePurpose, Factor, Identity
from logoadmin.ports.storage import Storage, UnitOfWork
from tests.contracts.steps import KIND_OF, add, author, logo, role, theme, user
from tests.gallery import add_user, atomic, has_users, link_author, link_id_of
from tests.options import LONG

Step = Callable[[UnitOfWork], Any]

# Few, so that they collide; chosen so that a careless collation considers some of them equal.
NAMES = st.sampled_from(
    [
        *("Ann", "ann", "ánn", "a\u0301nn", "ann ", "ann\t", "ß", "ss", "😀", "😁", "1", "１", "\u200b", "a'\"\\\n%"),
        "\uffff",
    ]
) | st.text(st.characters(exclude_categories=["Cs"], exclude_characters="\0"), min_size=1, max_size=64)
IDS = st.integers(0, 6) | st.sampled_from([MAX_ID - 1, MAX_ID])
TIMES = st.integers(0, 5) | st.just(2**53 - 1)
SCOPES = st.lists(st.sampled_from(["*", "users:read", "a", "A"]), unique=True).map(tuple)
# The long one is created late, since Hypothesis would print it.
TEXTS = st.sampled_from(["", "a { }", "long", "\r\n\t\\'\";--"]).map(
    lambda text: "🂡" * 70_000 if text == "long" else text
)
KEYS = st.sampled_from(["one", "One", "two"])

# Names, parts of names, names in another case, and characters that are special in patterns.
PARTS = (
    NAMES
    | NAMES.map(str.swapcase)
    | NAMES.map(lambda name: name[1:3])
    | st.sampled_from(["", "A", "n", "SS", "%", "_", "\\", "n ", "i\u0307", "İ", "Å"])
)
VERSIONS = st.integers(0, 9)
TARGETS = st.sampled_from(["forum", "Forum", "wiki"])

authors = st.builds(Author, IDS, IDS, NAMES, TIMES, version=VERSIONS)
roles = st.builds(Role, IDS, NAMES, SCOPES, TIMES, version=VERSIONS)
users = st.builds(User, IDS, NAMES, st.none() | TEXTS.map(lambda text: text[:4096]), IDS, TIMES, version=VERSIONS)
URLS = TEXTS.map(lambda text: text[:2048])
of_artwork = (TARGETS | NAMES, TEXTS, st.booleans(), st.just(()), TIMES)
logos = st.builds(Logo, IDS, NAMES, URLS, *of_artwork, version=VERSIONS)
themes = st.builds(Theme, IDS, NAMES, st.just("u"), *of_artwork, version=VERSIONS)
snapshots = st.none() | st.dictionaries(NAMES, TEXTS | IDS | st.none() | st.booleans() | st.lists(IDS), max_size=3)
# Their ids, actions and records are chosen when they are added.
changes = st.builds(
    partial(Change, 0, action="", kind=Kind.LOGO, id=0),
    at=TIMES,
    user_id=st.none() | IDS,
    before=snapshots,
    after=snapshots,
    request_id=st.none() | KEYS,
)
ORDERS: st.SearchStrategy[Order] = st.sampled_from(["asc", "desc"])
SORT_KEYS: tuple[SortKey, ...] = ("name", "changed")
_other_filters = {
    "user_id": st.none() | IDS,
    "action": st.none() | st.sampled_from(["logo.removed", "user.removed", "logo.created"]),
    "request_id": st.none() | KEYS,
    "since": st.none() | TIMES,
    "until": st.none() | TIMES,
}
change_filters = st.builds(ChangeFilter, kind=st.none() | st.sampled_from(Kind), **_other_filters) | st.builds(
    ChangeFilter, kind=st.sampled_from(Kind), id=IDS, **_other_filters
)
artworks_filters = st.builds(
    Filter, q=st.none() | PARTS, target=st.none() | TARGETS, active=st.none() | st.booleans(), author_id=st.none() | IDS
)
passwords = st.none() | st.just(PasswordHash("$argon2id$..."))
ISSUERS = ("https://issuer.test", "https://other.test")
WAYS = (Ways(), Ways(passkey=False), Ways(password=False), Ways(password=False, passkey=False, issuer=ISSUERS[0]))
PURPOSES: st.SearchStrategy[ChallengePurpose] = st.sampled_from(["link", "sign_in_code"])
identities = st.builds(Identity, st.sampled_from(ISSUERS), KEYS, IDS, st.sampled_from(["[]", '["a"]']), st.booleans())
ARTWORKS = st.sampled_from([Kind.LOGO, Kind.THEME])
withdrawals = st.builds(Withdrawal, ARTWORKS, IDS, TIMES, st.none() | NAMES)


def exists(kind: AnyKind, id_: int) -> Step:
    """Return whether a record exists, as the condition of a step."""
    return lambda uow: uow.records(kind).get(id_)


class _Undo(Exception):
    """Rolls a unit of work back."""


def versions(records: Iterable[Any]) -> list[tuple[int, list[int]]]:
    """Return the versions, in which equal records may differ."""
    return [(record.version, [by.version for by in getattr(record, "authors", ())]) for record in records]


def everything(uow: UnitOfWork) -> object:
    """Return the complete contents of a storage."""
    kinds = {kind: uow.records(kind).page(-1, 99) for kind in KINDS.values()}
    listed = [record for records in kinds.values() for record in records]
    got = [uow.records(kind).get(kind.id_of(record)) for kind, records in kinds.items() for record in records]
    assert got == listed
    assert versions(got) == versions(listed)
    for kind, records in kinds.items():
        values = [(field, attrgetter(field)(record), record) for record in records for field in kind.unique]
        assert all(uow.records(kind).find(field, value) == each for field, value, each in values if value is not None)
    users, authors = ([*map(kind.id_of, kinds[kind])] for kind in (USERS, AUTHORS))
    return (
        listed,
        versions(listed),
        uow.changes.page(0, 999),
        uow.changes.last_id(),
        {kind: number for kind, number in uow.changes.last_of_kinds().items() if number},
        [uow.changes.last_of(kind, id_) for kind in Kind for id_ in (0, 1, MAX_ID)],
        [(uow.identity.sessions.of_user(user_id), uow.identity.keys.of_user(user_id)) for user_id in users],
        [uow.identity.keys.find(f"hash {number}") for number in range(1, 9)],
        [uow.records(AUTHORS).get_many([3, 1, 1, 4, 2]), uow.records(LOGOS).get_many([3, 1, 1, 4, 2])],
        [uow.links(LOGOS).of_artwork(logo.logo_id) for logo in kinds[LOGOS]],
        [link_id_of(uow, LOGOS, logo.logo_id, by.author_id) for logo in kinds[LOGOS] for by in logo.authors],
        [uow.links(kind).of_artworks([3, 1, 1]) for kind in ARTWORK_KINDS],
        [uow.links(kind).of_author(author_id) for kind in ARTWORK_KINDS for author_id in authors],
        [(uow.stored_responses.get(key), uow.identity.counts.get(key)) for key in ("one", "One", "two")],
        [(uow.secrets.get(key), uow.identity.sessions.refresh_token(key)) for key in ("one", "One", "two")],
        [uow.secrets.several(("two", "One")), uow.identity.counts.several(("none", "two", "One"))],
        [uow.identity.sessions.rights(key, user_id) for key in ("one", "One", "two") for user_id in users],
        [uow.identity.passwords.account(of) for of in (*users, *(user.username for user in kinds[USERS]))],
        [uow.identity.preferences.get(user.user_id) for user in kinds[USERS]],
        [uow.member_notices.seen(user_id) for user_id in users],
        [uow.member_notices.blocked(author.user_id, 99) for author in kinds[AUTHORS]],
        [uow.identity.passwords.can_sign_in(role.role_id, ways) for role in kinds[ROLES] for ways in WAYS],
        [uow.identity.passwords.can_user_sign_in(user_id, ways) for user_id in users for ways in WAYS],
        [(uow.identity.factors.of_user(user_id), uow.identity.recovery_codes.left(user_id)) for user_id in users],
        [uow.identity.identities.of_user(user_id) for user_id in users],
        [uow.identity.identities.find(issuer, key) for issuer in ISSUERS for key in ("one", "One", "two")],
        [
            (uow.identity.challenges.get(key), uow.identity.factors.find_credential(key))
            for key in ("one", "One", "two")
        ],
        [uow.identity.events.page(MAX_ID, 99), uow.identity.events.page(-1, 99, 1, "asc")],
        [uow.withdrawals.newest(0, 99), uow.withdrawals.blocked(2)],
        # Only of existing artworks; the walk also stores withdrawals of others.
        [uow.withdrawals.get_many(kind.kind, [*map(kind.id_of, kinds[kind])]) for kind in ARTWORK_KINDS],
    )


class Agreement(RuleBasedStateMachine):
    """Steps are collected and run on all storages, in one unit of work or several, which are committed or undone."""

    def __init__(self, storages: dict[str, Storage]) -> None:
        super().__init__()
        self.storages = storages
        self.steps: list[Step] = []
        self.parts: list[list[Step]] = []

    @initialize(is_stocked=st.booleans())
    def begin(self, is_stocked: bool) -> None:
        """Begin with people and works to which steps refer, or without any."""
        if is_stocked:
            people = role(1), role(2, "editor"), user(1, "one"), user(2, "two", role_id=2), author(1), author(2)
            self.agree([add(*people, logo(1), logo(2), theme(1))])

    def step(self, step: Step, *when: Step) -> None:
        """Collect a step, to be left out if the port's preconditions do not hold."""

        def guarded(uow: UnitOfWork) -> object:
            return step(uow) if all(condition(uow) for condition in when) else "left out"

        self.steps.append(guarded)

    @rule(record=roles | users | authors | logos | themes)
    def keep_record(self, record: StoredRecord) -> None:
        kind = KIND_OF[type(record)]
        id_ = kind.id_of(record)

        def keep(uow: UnitOfWork) -> None:
            records = uow.records(kind)
            (records.add if records.get(id_) is None else records.update)(record)

        self.step(keep, *([exists(ROLES, record.role_id)] if isinstance(record, User) else []))

    @rule(user=users, password=passwords)
    def add_user(self, user: User, password: PasswordHash | None) -> None:
        self.step(lambda uow: add_user(uow, user, password), exists(ROLES, user.role_id))

    @rule(user_id=IDS, name=NAMES)
    def add_next_author(self, user_id: int, name: str) -> None:
        self.step(lambda uow: uow.records(AUTHORS).add(Author(uow.records(AUTHORS).next_id(), user_id, name, 0)))

    @rule(kind=st.sampled_from([*KINDS.values()]), id_=IDS)
    def remove_record(self, kind: AnyKind, id_: int) -> None:
        self.step(lambda uow: uow.records(kind).remove(id_), lambda uow: kind is not ROLES or not has_users(uow, id_))

    @rule(logo_id=IDS, author_id=IDS)
    def link(self, logo_id: int, author_id: int) -> None:
        self.step(
            lambda uow: link_id_of(uow, LOGOS, logo_id, author_id) or link_author(uow, LOGOS, logo_id, author_id),
            *(exists(LOGOS, logo_id), exists(AUTHORS, author_id)),
        )

    @rule(logo_id=IDS, author_id=IDS)
    def unlink(self, logo_id: int, author_id: int) -> None:
        self.step(lambda uow: uow.links(LOGOS).remove(logo_id, author_id))

    @rule(theme_id=IDS, author_ids=st.lists(IDS, unique=True, max_size=4))
    def link_others(self, theme_id: int, author_ids: list[int]) -> None:
        def link(uow: UnitOfWork) -> list[int]:
            for existing in uow.links(THEMES).of_artwork(theme_id):
                uow.links(THEMES).remove(theme_id, existing.author_id)
            return [link_author(uow, THEMES, theme_id, id_) for id_ in author_ids if uow.records(AUTHORS).get(id_)]

        self.step(link, exists(THEMES, theme_id))

    @rule(author=authors)
    def remove_author_and_bring_back(self, author: Author) -> None:
        def bring_back(uow: UnitOfWork) -> tuple[Link, ...]:
            links = uow.links(LOGOS).of_author(author.author_id)
            existing = uow.records(AUTHORS).get(author.author_id)
            uow.records(AUTHORS).remove(author.author_id)
            if existing is not None:
                uow.records(AUTHORS).add(existing)
                uow.links(LOGOS).add(links[::-1])
            return links

        self.step(bring_back)

    @rule(last=IDS, version=VERSIONS)
    def touch(self, last: int, version: int) -> None:
        def touch(kind: AnyKind, uow: UnitOfWork) -> None:
            ids = map(kind.id_of, uow.records(kind).page(-1, 99))
            uow.records(kind).touch([id_ for id_ in ids if id_ <= last], version)

        self.step(partial(touch, LOGOS))
        self.step(partial(touch, THEMES))

    @rule(kinds=st.lists(st.tuples(st.sampled_from(Kind), IDS), max_size=3), change=changes)
    def add_changes(self, kinds: list[tuple[Kind, int]], change: Change) -> None:
        def add(uow: UnitOfWork) -> None:
            last_id = uow.changes.last_id()
            # Filters by time are exact only if the clock was right (contract G3).
            last = uow.changes.get(last_id)
            at = change.at if last is None else max(change.at, last.at)
            uow.changes.add(
                [
                    replace(change, change_id=number, at=at, action=f"{kind}.removed", kind=kind, id=id_)
                    for number, (kind, id_) in enumerate(kinds, last_id + 1)
                ]
            )

        self.step(add)

    @rule(change_id=IDS, after=st.integers(-1, 6), limit=st.integers(1, 3), where=change_filters, order=ORDERS)
    def look_back(self, change_id: int, after: int, limit: int, where: ChangeFilter, order: Order) -> None:
        self.step(lambda uow: (uow.changes.get(change_id), uow.changes.page(after, limit, where, order)))

    @rule(user_id=IDS, name=NAMES, scope=SCOPES, expires_at=st.none() | TIMES)
    def add_key(self, user_id: int, name: str, scope: tuple[str, ...], expires_at: int | None) -> None:
        def add(uow: UnitOfWork) -> None:
            key_id = uow.identity.keys.next_id()
            uow.identity.keys.add(ServiceKey(key_id, name, scope, 0, expires_at, None), user_id, f"hash {key_id}")

        self.step(add, exists(USERS, user_id))

    @rule(key_id=st.integers(1, 4), now=TIMES)
    def use_key(self, key_id: int, now: int) -> None:
        def use(uow: UnitOfWork) -> None:
            key, _ = uow.identity.keys.find(f"hash {key_id}") or (None, None)
            if key is not None:
                uow.identity.keys.update(replace(key, created_at=now, expires_at=now, last_used_at=now))

        self.step(use)

    @rule(key_id=st.integers(1, 4), user_id=IDS)
    def remove_key(self, key_id: int, user_id: int) -> None:
        self.step(lambda uow: uow.identity.keys.remove(key_id, user_id))

    @rule(key=KEYS, response=TEXTS, now=TIMES, expires_at=TIMES)
    def store_response(self, key: str, response: str, now: int, expires_at: int) -> None:
        self.step(lambda uow: uow.stored_responses.forget_expired(now, 99))
        self.step(
            lambda uow: uow.stored_responses.add(StoredResponse(key, response, expires_at)),
            lambda uow: uow.stored_responses.get(key) is None,
        )

    @rule(key=KEYS, attempts=IDS, ends_at=TIMES)
    def count_attempts(self, key: str, attempts: int, ends_at: int) -> None:
        self.step(lambda uow: uow.identity.counts.put({key: Count(attempts, ends_at)}))
        self.step(lambda uow: uow.identity.counts.take_back([key, f"{key} too"], "one"))

    @rule(now=TIMES)
    def forget_attempts(self, now: int) -> None:
        self.step(lambda uow: uow.identity.counts.forget_ended(now, 99))

    @rule(user_id=IDS, key=KEYS, counter=IDS, now=TIMES)
    def enrol(self, user_id: int, key: str, counter: int, now: int) -> None:
        def add(uow: UnitOfWork) -> None:
            exists = uow.identity.factors.find_credential(key) is not None
            kind: FactorKind = "totp" if exists else "passkey"
            credential = None if exists else key
            factor_id = uow.identity.factors.next_id()
            factor = Factor(factor_id, user_id, kind, key, now, key, credential, 0, exists, None)
            uow.identity.factors.add(factor)
            uow.identity.factors.update(replace(factor, confirmed=True, counter=counter, last_used_at=now))
            uow.identity.recovery_codes.replace(user_id, [f"{key} of {user_id}"])

        self.step(add, exists(USERS, user_id))
        self.step(lambda uow: uow.identity.recovery_codes.use(user_id, f"{key} of {user_id}"))
        self.step(lambda uow: uow.identity.factors.remove(counter, user_id))

    @rule(identity=identities)
    def come_from_an_issuer(self, identity: Identity) -> None:
        self.step(lambda uow: uow.identity.identities.put(identity), exists(USERS, identity.user_id))

    @rule(key=KEYS, user_id=IDS, purpose=PURPOSES, now=TIMES)
    def challenge(self, key: str, user_id: int, purpose: ChallengePurpose, now: int) -> None:
        self.step(
            lambda uow: uow.identity.challenges.add(Challenge(key, purpose, user_id, key, now)),
            *(exists(USERS, user_id), lambda uow: uow.identity.challenges.get(key) is None),
        )
        self.step(lambda uow: uow.identity.challenges.add_once(Challenge(f"once {key}", "used", None, "", now)))

    @rule(key=KEYS, now=TIMES)
    def end_challenges(self, key: str, now: int) -> None:
        self.step(lambda uow: uow.identity.challenges.take(key))
        self.step(lambda uow: uow.identity.challenges.forget_expired(now, 99))

    @rule(user_id=IDS, purpose=st.none() | PURPOSES)
    def drop_challenges(self, user_id: int, purpose: ChallengePurpose | None) -> None:
        self.step(lambda uow: uow.identity.challenges.drop(user_id, purpose))

    @rule(user_id=st.none() | IDS, address=st.none() | KEYS, at=TIMES, old=TIMES)
    def sign_in_fails(self, user_id: int | None, address: str | None, at: int, old: int) -> None:
        def count(uow: UnitOfWork) -> None:
            if not uow.identity.events.count("sign_in_refused", user_id, address, at):
                event_id = uow.identity.events.next_id()
                uow.identity.events.add(SignInEvent(event_id, at, "sign_in_refused", user_id, address=address))

        self.step(count)
        self.step(lambda uow: uow.identity.events.number("sign_in_refused", at, 2))
        self.step(lambda uow: uow.identity.events.forget_before(old, 99))

    @rule(withdrawal=withdrawals, id_=IDS, since=TIMES, limit=st.integers(1, 3))
    def withdraw(self, withdrawal: Withdrawal, id_: int, since: int, limit: int) -> None:
        self.step(lambda uow: uow.withdrawals.put(withdrawal))
        self.step(lambda uow: uow.withdrawals.drop(Kind.LOGO, id_))
        self.step(lambda uow: uow.withdrawals.newest(since, limit))

    @rule(key=KEYS, value=TEXTS)
    def replace_secret(self, key: str, value: str) -> None:
        self.step(lambda uow: uow.secrets.put(key, value[:999]))

    @rule(user_id=IDS)
    def renew_password(self, user_id: int) -> None:
        renewed = PasswordHash("renewed")
        self.step(lambda uow: uow.identity.passwords.set(user_id, renewed), exists(USERS, user_id))

    @rule(session_id=KEYS, user_id=IDS, expires_at=TIMES)
    def begin_session(self, session_id: str, user_id: int, expires_at: int) -> None:
        self.step(lambda uow: uow.identity.sessions.end(session_id))
        session, has_user = Session(session_id, user_id, 0, expires_at), exists(USERS, user_id)
        self.step(lambda uow: uow.identity.sessions.add(session), has_user)
        self.step(lambda uow: uow.identity.sessions.add_refresh_token(session_id, session_id), has_user)

    @rule(user_id=IDS, times=st.tuples(TIMES, TIMES, st.none() | TIMES))
    def update_times_of_sessions(self, user_id: int, times: tuple[int, int, int | None]) -> None:
        created_at, expires_at, refreshed_at = times

        def update_times(uow: UnitOfWork) -> None:
            for session in uow.identity.sessions.of_user(user_id):
                renewed = replace(session, created_at=created_at, expires_at=expires_at, refreshed_at=refreshed_at)
                uow.identity.sessions.update(renewed)

        self.step(update_times)

    @rule(key=KEYS, now=TIMES)
    def use_token(self, key: str, now: int) -> None:
        self.step(
            lambda uow: uow.identity.sessions.use_refresh_token(key, now),
            lambda uow: uow.identity.sessions.refresh_token(key),
        )

    @rule(now=TIMES, most=st.integers(1, 3))
    def forget_expired_sessions(self, now: int, most: int) -> None:
        self.step(lambda uow: uow.identity.sessions.forget_expired(now, most))

    @rule(latest=TIMES)
    def expire_earlier(self, latest: int) -> None:
        self.step(lambda uow: uow.identity.sessions.expire_by(latest, 99))
        self.step(lambda uow: uow.stored_responses.expire_by(latest, 99))

    @rule(user_id=IDS, text=TEXTS.map(lambda text: text[:1024]))
    def set_preferences(self, user_id: int, text: str) -> None:
        self.step(lambda uow: uow.identity.preferences.set(user_id, text), exists(USERS, user_id))

    @rule(user_id=IDS, at=TIMES, words=st.frozensets(st.sampled_from(["applied:1", "blocked:logo:1"])))
    def set_seen(self, user_id: int, at: int, words: frozenset[str]) -> None:
        self.step(lambda uow: uow.member_notices.set_seen(user_id, SeenNotices(at, words)), exists(USERS, user_id))

    @rule(user_id=IDS, keep=st.none() | KEYS)
    def end_sessions(self, user_id: int, keep: str | None) -> None:
        self.step(lambda uow: uow.identity.sessions.end_all(user_id, keep))

    @rule(after=IDS | st.just(-1), limit=st.integers(1, 3), where=artworks_filters, key=KEYS, order=ORDERS)
    def look(self, after: int, limit: int, where: Filter, key: str, order: Order) -> None:
        self.step(
            lambda uow: (
                uow.records(LOGOS).page(after, limit, where, order),
                uow.records(THEMES).page(after, limit, where, order),
                [uow.records(LOGOS).sorted_page(by, None, limit, where, order) for by in SORT_KEYS],
                [uow.records(THEMES).sorted_page(by, uow.records(THEMES).get(after), 9, where) for by in SORT_KEYS],
                uow.identity.sessions.rights(key, limit),
            )
        )

    @rule(after=IDS | st.just(-1), limit=st.integers(1, 3), q=st.none() | PARTS, of=st.none() | IDS)
    def look_for_people(self, after: int, limit: int, q: str | None, of: int | None) -> None:
        self.step(
            lambda uow: (
                uow.records(ROLES).page(after, limit, Filter(q=q)),
                uow.records(USERS).page(after, limit, Filter(q=q, role_id=of)),
                uow.records(AUTHORS).page(after, limit, Filter(q=q, user_id=of)),
            )
        )

    @rule(is_committed=st.booleans())
    def end_part(self, is_committed: bool) -> None:
        self.parts.append(self.steps if is_committed else [*self.steps, fail])
        self.steps = []

    @rule()
    def keep(self) -> None:
        self.agree(self.steps)

    @rule()
    def undo(self) -> None:
        self.agree([*self.steps, fail])

    @rule()
    def undo_together(self) -> None:
        self.agree(self.steps, is_committed=False)

    def teardown(self) -> None:
        self.agree(self.steps)

    def agree(self, last: list[Step], *, is_committed: bool = True) -> None:
        parts = [*self.parts, last]
        answers = {name: outcome(storage, parts, is_committed=is_committed) for name, storage in self.storages.items()}
        self.steps, self.parts = [], []
        for name, answer in answers.items():
            assert answer == answers["memory"], f"{name} differs from memory"


def fail(_uow: UnitOfWork) -> None:
    raise _Undo


def outcome(storage: Storage, parts: list[list[Step]], *, is_committed: bool) -> object:
    """Run steps, each part as a unit of work; return all results, errors with their texts, and the final contents."""
    answers: list[object] = []

    def run(steps: list[Step], uow: UnitOfWork) -> None:
        for step in steps:
            try:
                answers.append(step(uow))
            except LogoAdminError as error:
                answers.append((type(error), str(error)))
        answers.append(everything(uow))

    def calls(storage: Storage) -> None:
        answers.clear()
        for steps in parts:
            with contextlib.suppress(_Undo):
                storage.write(partial(run, steps))
        if not is_committed:
            raise _Undo

    with contextlib.suppress(_Undo):
        atomic(storage, calls) if len(parts) > 1 or not is_committed else calls(storage)
    return answers, storage.read(everything), storage.snapshot(everything)


@pytest.mark.rule(
    "contract A6", "contract A7", "contract A8", "contract A18", "contract E3", "contract F1", "contract G"
)
def test_all_storages_agree(fresh: Callable[[], dict[str, Storage]]) -> None:
    class Here(Agreement):
        def __init__(self) -> None:
            super().__init__(fresh())

    examples = 75 if LONG else 12
    run_state_machine_as_test(Here, settings=settings(max_examples=examples, stateful_step_count=40, deadline=None))
