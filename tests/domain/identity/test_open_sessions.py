"""Listing and ending sessions, and session expiry (contract C6, K7)."""

from dataclasses import replace
from typing import Final

import pytest

from logoadmin import OWNER, Anonymous, ListChanges, LogoAdmin, SignedIn
from logoadmin.adapters.memory_storage import MemoryStorage
from logoadmin.domain.identity import open_sessions
from logoadmin.domain.identity.records import ListedSession, RemovedSession, RemovedUserSessions
from logoadmin.domain.identity.sessions import (
    ListSessions,
    ListUserSessions,
    RemoveSession,
    RemoveUserSession,
    RemoveUserSessions,
    Revoke,
    WhoAmI,
)
from logoadmin.domain.identity.sign_in_rules import SignInRules
from logoadmin.domain.kernel.errors import InvalidToken, NotAuthenticated, NotFound, NotPermitted, Outdated
from tests.domain.identity.sign_ins import ADMIN, ANN, caller, key_of, refresh
from tests.gallery import ADMIN_ID, NOW, FrozenClock, failure, gallery_on, stock

pytestmark = pytest.mark.rule("contract C6")

DAY: Final = 86_400


def listed(gallery: LogoAdmin, who: SignedIn) -> tuple[ListedSession, ...]:
    return gallery.sessions.list(ListSessions(), who)


def test_users_see_their_sessions_and_which_one_is_current(stocked: LogoAdmin, clock: FrozenClock) -> None:
    here = caller(stocked, stocked.sessions.sign_in(ANN, Anonymous("192.0.2.1", user_agent="Browser/1")))
    stocked.sessions.sign_in(ADMIN)
    clock.pass_by(10)
    tokens = stocked.sessions.sign_in(ANN)
    there = caller(stocked, tokens)
    clock.pass_by(5)
    refresh(stocked, tokens)
    end = NOW + 30 * DAY
    first = ListedSession(here.session_id, NOW, None, end, "192.0.2.1", "Browser/1", "password", current=True)
    second = ListedSession(there.session_id, NOW + 10, NOW + 15, end + 15, None, None, "password", current=False)
    assert listed(stocked, here) == (first, second)
    assert listed(stocked, there) == (replace(first, current=False), replace(second, current=True))


@pytest.mark.rule("contract C3")
def test_ending_a_session_invalidates_all_its_tokens_at_once(stocked: LogoAdmin) -> None:
    """ASVS 7.5.2 without another sign-in: holders of an open session gain nothing by ending others."""
    lost = stocked.sessions.sign_in(ANN)
    here = caller(stocked, stocked.sessions.sign_in(ANN))
    session_id = caller(stocked, lost).session_id
    assert stocked.sessions.remove(RemoveSession(session_id=session_id), here) == RemovedSession(session_id)
    assert failure(stocked.sessions.me, WhoAmI(), caller(stocked, lost)) is InvalidToken
    assert failure(refresh, stocked, lost) is InvalidToken
    assert [session.session_id for session in listed(stocked, here)] == [here.session_id]
    stocked.sessions.remove(RemoveSession(session_id=here.session_id), here)
    assert failure(listed, stocked, here) is InvalidToken


def test_a_session_of_another_user_or_a_missing_one_cannot_be_ended(stocked: LogoAdmin) -> None:
    ann, admin = (caller(stocked, stocked.sessions.sign_in(command)) for command in (ANN, ADMIN))
    for session_id in (ann.session_id, ann.session_id.swapcase(), "none", " " + admin.session_id):
        with pytest.raises(NotFound, match=r"^Session .* not found$"):
            stocked.sessions.remove(RemoveSession(session_id=session_id), admin)
    with pytest.raises(Outdated):
        stocked.sessions.remove(RemoveSession(session_id=ann.session_id, if_match=frozenset({1})), ann)
    assert len(listed(stocked, ann)) == len(listed(stocked, admin)) == 1


def test_all_sessions_of_a_user_are_ended_by_a_caller_with_the_same_rights(stocked: LogoAdmin) -> None:
    admin = caller(stocked, stocked.sessions.sign_in(ADMIN))
    anns = [stocked.sessions.sign_in(ANN) for _ in range(3)]
    history = list(stocked.changes.list(ListChanges(), OWNER))
    command = RemoveUserSessions(user_id=7)
    assert failure(stocked.sessions.remove_all, command, caller(stocked, anns[0])) is NotPermitted
    assert stocked.sessions.remove_all(command, admin) == RemovedUserSessions(7, 3)
    for tokens in anns:
        assert failure(stocked.sessions.me, WhoAmI(), caller(stocked, tokens)) is InvalidToken
    assert stocked.sessions.remove_all(command, admin) == RemovedUserSessions(7, 0)
    assert failure(stocked.sessions.remove_all, RemoveUserSessions(user_id=8), admin) is NotFound
    assert stocked.sessions.me(WhoAmI(), admin).user_id == ADMIN_ID
    assert stocked.sessions.remove_all(RemoveUserSessions(user_id=ADMIN_ID)) == RemovedUserSessions(ADMIN_ID, 1)
    assert list(stocked.changes.list(ListChanges(), OWNER)) == history


def test_one_session_of_a_user_is_ended_by_a_caller_with_the_same_rights(stocked: LogoAdmin) -> None:
    admin, ann, other = (caller(stocked, stocked.sessions.sign_in(command)) for command in (ADMIN, ANN, ANN))
    theirs = stocked.sessions.list_of_user(ListUserSessions(user_id=7), admin)
    assert {session.session_id for session in theirs} == {ann.session_id, other.session_id}
    assert not any(session.current for session in theirs)
    command = RemoveUserSession(user_id=7, session_id=ann.session_id)
    with pytest.raises(NotPermitted):
        stocked.sessions.remove_of_user(RemoveUserSession(user_id=ADMIN_ID, session_id=admin.session_id), ann)
    assert stocked.sessions.remove_of_user(command, admin) == RemovedSession(ann.session_id)
    assert failure(stocked.sessions.me, WhoAmI(), ann) is InvalidToken
    assert [session.session_id for session in listed(stocked, other)] == [other.session_id]
    for user_id, session_id in ((7, ann.session_id), (7, admin.session_id), (8, other.session_id)):
        with pytest.raises(NotFound):
            stocked.sessions.remove_of_user(RemoveUserSession(user_id=user_id, session_id=session_id), admin)
    with pytest.raises(NotFound, match=r"^User 8 not found$"):
        stocked.sessions.list_of_user(ListUserSessions(user_id=8), admin)


@pytest.mark.rule("contract C3", "contract C5")
def test_callers_without_a_session_have_none_to_end(stocked: LogoAdmin) -> None:
    admin = caller(stocked, stocked.sessions.sign_in(ADMIN))
    for who in (key_of(stocked, admin, "*"), OWNER, Anonymous()):
        assert failure(stocked.sessions.revoke, Revoke(), who) is NotAuthenticated


def test_a_session_ends_at_its_absolute_limit(storage: MemoryStorage, clock: FrozenClock) -> None:
    gallery = gallery_on(storage, clock, sign_in=SignInRules(session_days=60))
    tokens = gallery.sessions.sign_in(ADMIN)
    (session,) = listed(gallery, caller(gallery, tokens))
    assert session.expires_at == NOW + 30 * DAY
    clock.pass_by(30 * DAY - 1)
    tokens = refresh(gallery, tokens)
    clock.pass_by(30 * DAY - 59)
    tokens = refresh(gallery, tokens)
    assert tokens.expires_in == 60
    (session,) = listed(gallery, caller(gallery, tokens))
    assert (session.created_at, session.expires_at) == (NOW, NOW + 60 * DAY)
    clock.pass_by(59)
    tokens = refresh(gallery, tokens)
    assert tokens.expires_in == 1
    clock.pass_by(1)
    assert failure(caller, gallery, tokens) is InvalidToken
    assert failure(refresh, gallery, tokens) is InvalidToken


def test_a_shorter_absolute_limit_applies_to_existing_sessions(storage: MemoryStorage, clock: FrozenClock) -> None:
    old = stock(gallery_on(storage, clock))
    tokens, other = old.sessions.sign_in(ANN), old.sessions.sign_in(ANN)
    new = gallery_on(storage, clock, sign_in=SignInRules(session_days=2), started=False)
    (first, _) = listed(new, caller(new, tokens))
    assert first.expires_at == NOW + 2 * DAY
    clock.pass_by(2 * DAY)
    here = caller(new, new.sessions.sign_in(ANN))
    assert [session.session_id for session in listed(new, here)] == [here.session_id]
    assert failure(new.sessions.remove, RemoveSession(session_id=first.session_id), here) is NotFound
    assert failure(refresh, new, tokens) is InvalidToken
    assert new.sessions.remove_all(RemoveUserSessions(user_id=7)) == RemovedUserSessions(7, 1)
    assert failure(refresh, new, other) is InvalidToken


def test_a_clock_that_ran_ahead_prolongs_no_session(stocked: LogoAdmin, clock: FrozenClock) -> None:
    clock.pass_by(400 * DAY)
    tokens = stocked.sessions.sign_in(ANN)
    clock.pass_by(-400 * DAY)
    here = caller(stocked, stocked.sessions.sign_in(ANN))
    assert {session.expires_at for session in listed(stocked, here)} == {NOW + 30 * DAY}
    for _ in range(4):
        tokens = refresh(stocked, tokens)
        clock.pass_by(20 * DAY)
    tokens = refresh(stocked, tokens)
    (session,) = listed(stocked, caller(stocked, tokens))
    # Ten minutes earlier, because a refresh is no recent sign-in (contract O3).
    assert (session.created_at, session.expires_at) == (NOW - 611, NOW - 611 + 90 * DAY)
    clock.pass_by(10 * DAY)
    assert failure(refresh, stocked, tokens) is InvalidToken


@pytest.mark.rule("contract C6")
def test_beyond_the_limit_the_least_recently_used_sessions_end(
    stocked: LogoAdmin, clock: FrozenClock, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(open_sessions, "MOST_SESSIONS", 3)
    begun = []
    for _ in range(3):
        clock.pass_by(10)
        begun.append(stocked.sessions.sign_in(ANN))
    clock.pass_by(10)
    refresh(stocked, begun[0])
    clock.pass_by(10)
    last = stocked.sessions.sign_in(ANN)
    assert [each.created_at - NOW for each in listed(stocked, caller(stocked, last))] == [10, 30, 50]
    assert failure(refresh, stocked, begun[1]) is InvalidToken
