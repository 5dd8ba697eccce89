"""The events of signing in, ending sessions and making keys (contract O9)."""

import json
from collections.abc import Callable
from dataclasses import replace
from typing import Final

import pytest

from logoadmin import IncorrectPassword, InvalidToken, LogoAdmin, NotFound, NotPermitted, SignInRefused, TooManySignIns
from logoadmin.adapters.memory_storage import MemoryStorage
from logoadmin.domain.changes.history import ListChanges
from logoadmin.domain.changes.history import Revert as RevertChange
from logoadmin.domain.changes.import_export import ImportRecords
from logoadmin.domain.identity.factors import EnrolTotp, MakeRecoveryCodes, RemoveFactor, RemoveUserFactors
from logoadmin.domain.identity.records import CountedEvent, SignInEvent
from logoadmin.domain.identity.service_keys import CreateKey, RemoveKey
from logoadmin.domain.identity.sessions import RemoveSession, RemoveUserSessions, Revoke, SignIn
from logoadmin.domain.identity.sign_in_events import ListEvents, count_event, record_event
from logoadmin.domain.identity.users import AmendUser, CreateUser, RemoveUser, SetPassword
from logoadmin.domain.kernel.access import ANONYMOUS, OWNER, Anonymous, Caller, KeyHolder, SignedIn
from logoadmin.domain.kernel.limits import MAX_ID
from logoadmin.ports.storage import UnitOfWork
from tests.domain.identity.second_factors import enrol
from tests.domain.identity.sign_ins import ADMIN, ANN, caller, refresh, refreshing
from tests.gallery import (
    ADMIN_ID,
    ADMIN_PASSWORD,
    ANN_PASSWORD,
    CHEAP_PASSWORDS,
    NOW,
    FrozenClock,
    WatchedStorage,
    failure,
    gallery_on,
)

pytestmark = pytest.mark.rule("contract O9")

HOUR: Final = 3_600
DAY: Final = 86_400
HASH: Final = CHEAP_PASSWORDS.hash("imported").hash
HERE: Final = Anonymous("192.0.2.1", user_agent="Browser/1")
Newest = Callable[[], list[SignInEvent]]

SIGNED_IN: Final = SignInEvent(1, NOW, "signed_in", 7, "ann", "192.0.2.1", "Browser/1", "password")


@pytest.fixture
def newest(storage: MemoryStorage, stocked: LogoAdmin) -> Newest:
    """Return a function that returns the events since its last call, oldest first, in a stocked gallery."""
    seen = 0

    def newest() -> list[SignInEvent]:
        nonlocal seen
        found = storage.read(lambda uow: uow.identity.events.page(seen, 9_999, order="asc"))
        seen = max([seen, *(event.event_id for event in found)])
        return [*found]

    assert stocked.product == "Memory"
    assert newest() == []
    return newest


def happened(events: list[SignInEvent]) -> list[tuple[str, int | None, str | None]]:
    return [(event.event, event.user_id, event.address) for event in events]


def test_an_event_has_its_user_and_client_in_printable_characters(storage: MemoryStorage, newest: Newest) -> None:
    clients: list[tuple[Caller, str | None, str | None]] = [
        (HERE, "192.0.2.1", "Browser/1"),
        (Anonymous("a\x1b[31m" + "b" * 99, user_agent=" \u202ee\x00" + "🖼" * 300), "a[31m" + "b" * 59, "e" + "🖼" * 255),
        (SignedIn(7, "s", None, "192.0.2.2", "\n"), "192.0.2.2", None),
        *((each, None, None) for each in (ANONYMOUS, OWNER, KeyHolder("hash"))),
    ]
    newest()
    for client, address, user_agent in clients:
        storage.write(lambda uow, client=client: record_event(uow, "factor_added", 7, client, NOW, factor="totp"))  # type: ignore[misc]  # has a default
        (event,) = newest()
        assert replace(event, event_id=1) == SignInEvent(1, NOW, "factor_added", 7, "ann", address, user_agent, "totp")
    storage.write(lambda uow: record_event(uow, "factor_added", 99, HERE, NOW, count=3))
    assert [(event.user_id, event.user_name, event.count) for event in newest()] == [(99, None, 3)]


@pytest.mark.parametrize("is_restored", [True, False])
def test_users_see_only_their_own_events_and_none_of_an_earlier_user_with_their_id(
    stocked: LogoAdmin, clock: FrozenClock, *, is_restored: bool
) -> None:
    stocked.sessions.sign_in(ANN, HERE)
    clock.pass_by(5)
    stocked.users.remove(RemoveUser(user_id=7))
    if is_restored:
        removal = [change.change_id for change in stocked.changes.list(ListChanges())][-1]
        stocked.changes.revert(RevertChange(change_id=removal))
        stocked.users.set_password(SetPassword(user_id=7, password=ANN_PASSWORD))
    else:
        stocked.users.create(CreateUser(user_id=7, username="ann", password=ANN_PASSWORD))
    clock.pass_by(5)
    ann = caller(stocked, stocked.sessions.sign_in(ANN))
    seen = [event.event for event in stocked.events.list(ListEvents(), ann)]
    assert seen == (["signed_in", "password_changed", "signed_in"] if is_restored else ["signed_in"])
    assert [event.event for event in stocked.events.list(ListEvents(user_id=7), ann)] == seen
    assert len([*stocked.events.list(ListEvents(user_id=7))]) == (3 if is_restored else 2)
    for other in (ADMIN_ID, 99):
        assert failure(stocked.events.list, ListEvents(user_id=other), ann) is NotPermitted


def test_signing_in_is_an_event_with_the_current_name_and_refreshing_is_not(stocked: LogoAdmin, newest: Newest) -> None:
    refresh(stocked, stocked.sessions.sign_in(ANN, HERE))
    stocked.users.amend(AmendUser(user_id=7, username="eve"))
    stocked.users.remove(RemoveUser(user_id=7))
    assert [replace(event, event_id=1) for event in newest()] == [SIGNED_IN]


@pytest.mark.rule("contract C3", "contract O9")
def test_reuse_of_a_token_is_an_event_with_its_client(stocked: LogoAdmin, clock: FrozenClock, newest: Newest) -> None:
    stolen, expired = (stocked.sessions.sign_in(ANN, HERE) for _ in range(2))
    refresh(stocked, stolen)
    newest()
    clock.pass_by(11)
    for _ in range(3):
        assert failure(stocked.sessions.refresh, refreshing(stolen), Anonymous("203.0.113.9")) is InvalidToken
    assert happened(newest()) == [("token_reused", 7, "203.0.113.9")]
    clock.pass_by(91 * DAY)
    assert failure(refresh, stocked, expired) is InvalidToken
    assert newest() == []


@pytest.mark.rule("contract C3", "contract C6", "contract O9")
def test_ended_sessions_are_events_of_their_users(stocked: LogoAdmin, newest: Newest) -> None:
    first, second = (stocked.sessions.sign_in(ANN, HERE) for _ in range(2))
    ann, others = caller(stocked, first), caller(stocked, second)
    admin = replace(caller(stocked, stocked.sessions.sign_in(ADMIN)), origin="198.51.100.1")
    newest()
    stocked.sessions.remove(RemoveSession(session_id=others.session_id), replace(ann, origin="192.0.2.7"))
    assert happened(newest()) == [("session_ended", 7, "192.0.2.7")]
    assert failure(stocked.sessions.remove, RemoveSession(session_id=others.session_id), ann) is NotFound
    for _ in range(2):
        stocked.sessions.revoke(Revoke(refresh_token=first.refresh_token), HERE)
        stocked.sessions.revoke(Revoke(refresh_token="unknown"), HERE)
    assert happened(newest()) == [("session_ended", 7, "192.0.2.1")]
    for _ in range(3):
        stocked.sessions.sign_in(ANN)
    newest()
    for _ in range(2):
        stocked.sessions.remove_all(RemoveUserSessions(user_id=7), admin)
    (event,) = newest()
    assert (happened([event]), event.count) == ([("session_ended", 7, "198.51.100.1")], 3)
    assert (event.by_user_id, event.by_user_name) == (ADMIN_ID, "admin")
    _, seen = stocked.events.list(ListEvents(limit=2), caller(stocked, stocked.sessions.sign_in(ANN, HERE)))
    assert seen == replace(event, address=None, user_agent=None)  # members do not see the addresses of administrators
    newest()
    stocked.sessions.revoke(Revoke(), admin)
    (event,) = newest()
    assert happened([event]) == [("session_ended", ADMIN_ID, "198.51.100.1")]
    assert (event.by_user_id, event.by_user_name) == (None, None)


@pytest.mark.rule("contract C5", "contract O1", "contract O9")
def test_changes_of_keys_and_factors_are_events_of_their_user(stocked: LogoAdmin, newest: Newest) -> None:
    """An unconfirmed secret is not an event."""
    ann = replace(caller(stocked, stocked.sessions.sign_in(ANN)), origin="192.0.2.7")
    newest()
    key = stocked.keys.create(CreateKey(name="script", scope=()), ann)
    stocked.keys.remove(RemoveKey(key_id=key.key_id), ann)
    assert failure(stocked.keys.remove, RemoveKey(key_id=key.key_id), ann) is NotFound
    assert happened(newest()) == [("key_made", 7, "192.0.2.7"), ("key_removed", 7, "192.0.2.7")]
    first, _ = enrol(stocked, ann)
    enrol(stocked, ann)
    stocked.factors.remove(RemoveFactor(factor_id=first.factor_id), ann)
    stocked.factors.enrol_totp(EnrolTotp(name="not confirmed"), ann)
    stocked.factors.make_recovery_codes(MakeRecoveryCodes(), ann)
    stocked.factors.remove_all(RemoveUserFactors(user_id=7))
    assert [(event.event, event.factor) for event in newest() if event.event != "session_ended"] == [
        *(("factor_added", "totp"), ("recovery_codes_made", None), ("factor_added", "totp")),
        *(("factor_removed", "totp"), ("recovery_codes_made", None), ("factor_removed", "totp")),
    ]


def count(
    storage: MemoryStorage, address: str, at: int = NOW, user_id: int | None = 7, name: CountedEvent = "sign_in_refused"
) -> None:
    storage.write(lambda uow: count_event(uow, name, user_id, Anonymous(address, user_agent="a"), at))


def test_refusals_are_counted_by_user_network_and_hour(storage: MemoryStorage, newest: Newest) -> None:
    for number in range(30):
        count(storage, "192.0.2.1", NOW - NOW % HOUR + number * 119)
        count(storage, f"2001:db8::{number}")
        count(storage, f"::ffff:192.0.2.{1 + number % 2}", user_id=None)
    count(storage, "192.0.2.1", name="sign_in_limited")
    count(storage, "192.0.2.1", NOW - NOW % HOUR + HOUR)
    count(storage, "")
    assert [(event.event, event.user_name, event.address, event.count) for event in newest()] == [
        *(("sign_in_refused", "ann", "192.0.2.1", 30), ("sign_in_refused", "ann", "2001:db8::/64", 30)),
        *(("sign_in_refused", None, "192.0.2.1", 15), ("sign_in_refused", None, "192.0.2.2", 15)),
        *(("sign_in_limited", "ann", "192.0.2.1", 1), ("sign_in_refused", "ann", "192.0.2.1", 1)),
        ("sign_in_refused", "ann", None, 1),
    ]


def test_a_flood_adds_few_rows_and_loses_no_count(storage: MemoryStorage, newest: Newest) -> None:
    for number in range(1_000):
        count(storage, f"198.51.{number // 250}.{number % 250}", user_id=7 if number % 2 else None)
    count(storage, "198.51.0.1")
    rows = newest()
    assert len(rows) == 258
    assert sum(event.count for event in rows) == 1_001
    of_many = {event.user_name: (event.count, event.user_agent) for event in rows if event.address is None}
    assert of_many == {"ann": (372, None), None: (372, None)}
    assert next(event.count for event in rows if event.address == "198.51.0.1") == 2
    count(storage, "203.0.113.1", NOW + HOUR)
    assert happened(newest()) == [("sign_in_refused", 7, "203.0.113.1")]


def test_a_flood_that_names_many_users_adds_few_rows(storage: MemoryStorage, newest: Newest) -> None:
    for number in range(600):
        count(storage, "198.51.100.1", user_id=number)
    rows = newest()
    assert len(rows) == 513
    assert [event.count for event in rows if event.user_id is None] == [88]
    assert sum(event.address is not None for event in rows) == 256


def refuse(gallery: LogoAdmin, username: str, client: Anonymous = HERE, password: str = "wrong") -> None:
    with pytest.raises((SignInRefused, TooManySignIns)):
        gallery.sessions.sign_in(SignIn(username=username, password=password), client)


@pytest.mark.rule("contract C1", "contract O9")
def test_refused_and_limited_sign_ins_are_events(stocked: LogoAdmin, newest: Newest) -> None:
    for _ in range(25):
        refuse(stocked, "ann")
    refuse(stocked, "ann", Anonymous("203.0.113.1"))
    assert [(*whose, event.count) for event in newest() for whose in happened([event])] == [
        ("sign_in_refused", 7, "192.0.2.1", 10),
        ("sign_in_limited", 7, "192.0.2.1", 1),
        ("sign_in_refused", 7, "203.0.113.1", 1),
    ]


def test_a_password_typed_as_a_name_is_in_no_event(stocked: LogoAdmin, newest: Newest) -> None:
    for name in (ANN_PASSWORD, ADMIN_PASSWORD, "Ann", "nobody"):
        refuse(stocked, name, password=ANN_PASSWORD)
    (event,) = newest()
    assert event == SignInEvent(event.event_id, NOW, "sign_in_refused", None, None, "192.0.2.1", "Browser/1", None, 4)


@pytest.mark.rule("contract O5", "contract O9")
def test_changed_and_wrong_passwords_are_events(stocked: LogoAdmin, newest: Newest) -> None:
    ann = replace(caller(stocked, stocked.sessions.sign_in(ANN)), origin="192.0.2.7")
    newest()
    with pytest.raises(IncorrectPassword):
        stocked.users.set_password(SetPassword(user_id=7, password="new", current_password="wrong"), ann)
    stocked.users.set_password(SetPassword(user_id=7, password="new", current_password=ANN_PASSWORD), ann)
    stocked.users.set_password(SetPassword(user_id=7, password="newer"))
    line = {"kind": "user", "user_id": 7, "username": "ann", "avatar": None, "role_id": 1, "password_hash": HASH}
    for _ in range(2):
        stocked.import_export.load(ImportRecords(), [json.dumps(line)])
    assert happened(newest()) == [
        ("sign_in_refused", 7, "192.0.2.7"),
        ("password_changed", 7, "192.0.2.7"),
        *[("password_changed", 7, None)] * 2,
    ]


@pytest.mark.rule("contract A20", "contract O9")
def test_a_refusal_that_cannot_be_counted_is_still_a_refusal(clock: FrozenClock) -> None:
    watched = WatchedStorage(MemoryStorage())
    gallery = gallery_on(watched, clock)
    watched.go_away(after=1)
    assert failure(gallery.sessions.sign_in, SignIn(username="admin", password="wrong")) is SignInRefused
    assert watched.asked[-3:] == ["write", "read", "write"]


@pytest.mark.rule("contract O9")
def test_the_sweep_deletes_old_events(stocked: LogoAdmin, storage: MemoryStorage, clock: FrozenClock) -> None:
    for _ in range(9):
        stocked.sessions.sign_in(ANN)
        clock.pass_by(1)
    clock.pass_by(180 * DAY - 9)
    for expected in (9, 8):  # the first is exactly as old as it may be
        stocked.sweep()
        assert storage.read(lambda uow: len(uow.identity.events.page(MAX_ID, 99))) == expected
        clock.pass_by(1)


@pytest.mark.rule("contract K7", "contract O9")
def test_a_clock_ahead_deletes_few_events(stocked: LogoAdmin, storage: MemoryStorage, clock: FrozenClock) -> None:
    for _ in range(60):
        stocked.sessions.sign_in(ANN)
    clock.pass_by(10_000 * DAY)
    stocked.sweep()
    clock.pass_by(-10_000 * DAY)
    assert stocked.sweep() == "done"
    assert storage.read(lambda uow: len(uow.identity.events.page(MAX_ID, 99))) == 10


def test_users_can_sign_in_when_event_ids_run_out(stocked: LogoAdmin, storage: MemoryStorage, newest: Newest) -> None:
    def use_up(uow: UnitOfWork) -> None:
        uow.identity.events.next_id()
        storage._tables.last_ids["event_id"] = MAX_ID

    storage.write(use_up)
    newest()
    stocked.sessions.sign_in(ANN, HERE)
    count(storage, "192.0.2.1")
    assert newest() == []
