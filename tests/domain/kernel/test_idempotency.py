"""Retried commands (contract F3)."""

import json
from collections.abc import Callable
from functools import partial
from typing import Any, Final

import pytest

from logoadmin import OWNER, Anonymous, Caller, InlineCss, JudgeCss, Listing, LogoAdmin, Owner, Policy, SignedIn, SignIn
from logoadmin.adapters.memory_storage import MemoryStorage
from logoadmin.domain.changes import history as changes
from logoadmin.domain.changes import import_export, member_notices
from logoadmin.domain.changes.bulk_changes import ApplyChanges
from logoadmin.domain.gallery import artworks
from logoadmin.domain.gallery.authors import AmendAuthor, CreateAuthor, ListAuthors
from logoadmin.domain.identity import roles, sessions, users
from logoadmin.domain.identity import service_keys as keys
from logoadmin.domain.kernel import errors
from logoadmin.domain.kernel.command import Command
from logoadmin.domain.kernel.records import version_of
from logoadmin.ports.identity_storage import Session
from logoadmin.ports.storage import UnitOfWork
from tests.gallery import (
    ANN_PASSWORD,
    ASKED,
    NOW,
    FrozenClock,
    add_session,
    ask,
    exported,
    failure,
    gallery_on,
    history,
    if_match,
    once,
    problems,
    sample,
    signed_in,
)

pytestmark = pytest.mark.rule("contract F3")

KEY = "3a8a9d0e-54b1-4c0e-9a54-1f2e5b0c9c11"
ANN = CreateAuthor(user_id=7, username="Anna")
DAY = 86_400

# Writes whose response a client may have lost; a key identifies the write.
WRITES = [
    kind
    for kind, (call, _) in ASKED.items()
    if kind.keeps_answer
    and kind is not InlineCss  # it has no way out
    and not kind.__module__.endswith("identity.factors")  # nobody has a factor
    and call.rpartition(".")[2] not in ("list", "get", "of_author", "authors", "me", "load", "dump")
]


def everything(gallery: LogoAdmin) -> tuple[list[str], int]:
    return exported(gallery), len(history(gallery))


def caller_for(kind: type[Command], gallery: LogoAdmin, storage: MemoryStorage) -> Caller:
    """Return a caller with the right, and with a key 1 or a session to remove."""
    if kind is sessions.RemoveSession:
        signed_in(storage, "*", user_id=500)
        storage.write(lambda uow: uow.identity.sessions.add(Session("another", 500, NOW, NOW + 3600)))
        return SignedIn(500, "another")
    if kind is sessions.RemoveUserSession:
        add_session(storage, 7)
    if not kind.__module__.endswith(("keys", "member_notices")) and kind is not users.SetPreferences:
        return OWNER
    caller = signed_in(storage, "*")
    gallery.keys.create(keys.CreateKey(name="script", scope=()), caller)
    return caller


def has_version(answer: Any) -> bool:
    return hasattr(answer, "version")


@pytest.mark.parametrize("kind", WRITES)
def test_a_repetition_has_the_same_response(stocked: LogoAdmin, storage: MemoryStorage, kind: type[Command]) -> None:
    caller = caller_for(kind, stocked, storage)
    command = once(sample(kind), KEY)
    first = ask(stocked, command, caller)
    after = everything(stocked)
    again = ask(stocked, once(sample(kind), KEY), caller)
    assert again == first
    assert type(again) is type(first)
    if has_version(first):
        assert version_of(again) == version_of(first) > (-1 if kind is JudgeCss else 0)
    assert everything(stocked) == after


def test_a_replay_is_reported(gallery: LogoAdmin) -> None:
    replays: list[str] = []
    for name, key in (("Anna", "1"), ("Anna", "1"), ("Ben", "2"), ("Anna", "1")):
        told = partial(replays.append, key)
        gallery.authors.create(CreateAuthor(user_id=len(name), username=name, idempotency_key=key, on_replay=told))
        gallery.authors.amend(AmendAuthor(author_id=1, username="Anna", on_replay=partial(replays.append, "amended")))
    assert replays == ["1", "1"]


RENEWAL: Final = users.SetPassword(user_id=7, password=ANN_PASSWORD)


@pytest.mark.parametrize(
    ("first", "other"),
    [
        (ANN, CreateAuthor(user_id=7, username="anna")),
        (ANN, CreateAuthor(user_id=8, username="Anna")),
        (ANN, roles.CreateRole(name="Ann", scope=())),
        (ANN, artworks.RemoveLogo(logo_id=1)),
        (users.AmendUser(user_id=7), users.AmendUser(user_id=7, avatar=None)),
        (RENEWAL, users.SetPassword(user_id=7, password="another")),
        (RENEWAL, users.SetPassword(user_id=7, password=ANN_PASSWORD + " ")),
    ],
)
def test_a_key_used_for_another_command_is_refused(stocked: LogoAdmin, first: Command, other: Command) -> None:
    ask(stocked, once(first, KEY))
    before = everything(stocked)
    with pytest.raises(errors.InvalidInput) as caught:
        ask(stocked, once(other, KEY))
    (problem,) = caught.value.problems
    assert (problem.loc, problem.type) == (("idempotency_key",), "value_error")
    assert KEY not in str(caught.value)
    assert everything(stocked) == before


def test_users_do_not_share_their_keys(gallery: LogoAdmin, storage: MemoryStorage) -> None:
    ann, ben = signed_in(storage, "*", user_id=500), signed_in(storage, "*", user_id=501)
    callers: tuple[Caller, ...] = (ann, ben, OWNER)
    made = [
        gallery.authors.create(once(CreateAuthor(user_id=number, username=f"Author {number}"), KEY), caller)
        for number, caller in enumerate(callers)
    ]
    assert [author.author_id for author in made] == [1, 2, 3]


def test_after_a_day_a_repeated_command_runs_again(gallery: LogoAdmin, clock: FrozenClock) -> None:
    command = once(roles.CreateRole(name="new", scope=()), KEY)
    first = gallery.roles.create(command)
    clock.pass_by(DAY - 1)
    assert gallery.roles.create(command) == first
    clock.pass_by(1)
    assert failure(gallery.roles.create, command) is errors.DuplicateEntry
    gallery.roles.remove(roles.RemoveRole(role_id=first.role_id))
    assert gallery.roles.create(command).role_id == first.role_id + 1


@pytest.mark.rule("contract K7")
def test_a_response_stored_during_a_clock_jump_is_replayed_for_a_day(gallery: LogoAdmin, clock: FrozenClock) -> None:
    clock.pass_by(DAY)
    made = gallery.authors.create(once(ANN, KEY))
    clock.pass_by(-DAY)
    assert gallery.authors.create(once(ANN, KEY)) == made
    gallery.sweep()
    clock.pass_by(DAY - 1)
    assert gallery.authors.create(once(ANN, KEY)) == made
    clock.pass_by(1)
    assert failure(gallery.authors.create, once(ANN, KEY)) is errors.DuplicateEntry
    assert len([*gallery.authors.list(ListAuthors())]) == 1


def test_a_refused_command_does_not_use_up_its_key(gallery: LogoAdmin, storage: MemoryStorage) -> None:
    gallery.authors.create(CreateAuthor(user_id=7, username="in the way"))
    assert failure(gallery.authors.create, once(ANN, KEY)) is errors.DuplicateEntry
    gallery.authors.amend(AmendAuthor(author_id=1, user_id=8))
    assert gallery.authors.create(once(ANN, KEY)).author_id == 2
    other = "another key"
    with pytest.raises(errors.Outdated):
        gallery.authors.amend(if_match(once(AmendAuthor(author_id=1, username="x"), other), 99))
    with pytest.raises(errors.NotPermitted):
        gallery.roles.create(once(roles.CreateRole(name="x", scope=()), other), signed_in(storage))
    gallery.logos.create(once(artworks.CreateLogo(**ASKED[artworks.CreateLogo][1]), other))


def test_the_response_is_stored_in_the_transaction_of_the_change(gallery: LogoAdmin, storage: MemoryStorage) -> None:
    class Fails(MemoryStorage):
        def write(self, work: Callable[[Any], Any], *, alone: bool = False) -> Any:
            def fails(uow: UnitOfWork) -> None:
                work(uow)
                raise RuntimeError("before the commit")

            return super().write(fails, alone=alone)

    storage.__class__ = Fails
    with pytest.raises(RuntimeError):
        gallery.authors.create(once(ANN, KEY))
    storage.__class__ = MemoryStorage
    assert list(gallery.authors.list(ListAuthors())) == []
    assert gallery.authors.create(once(ANN, KEY)).author_id == 1


def painter(
    gallery: LogoAdmin, storage: MemoryStorage, *scope: str
) -> tuple[SignedIn, Callable[[tuple[str, ...]], object]]:
    """Return a caller with these scopes, and what gives them others."""
    caller = signed_in(storage, *scope, user_id=500)
    role_id = gallery.users.get(users.GetUser(user_id=500)).role_id
    return caller, lambda new: gallery.roles.amend(roles.AmendRole(role_id=role_id, scope=new))


@pytest.mark.rule("contract B5")
@pytest.mark.parametrize(
    ("command", "enough"),
    [
        (changes.RevertRequest(request_id="made"), ("authors:write",)),
        (changes.Revert(change_id=1), ("authors:write",)),
        (import_export.ImportRecords(lines_hash="x"), ("authors:write",)),
        (CreateAuthor(user_id=8, username="Eve"), ("authors:write",)),
        (roles.CreateRole(name="new", scope=("a", "b")), ("roles:write", "a", "b")),
        (users.CreateUser(user_id=8, username="eve", password="eve's"), ("users:write", "default")),
    ],
    ids=lambda value: type(value).__name__ if isinstance(value, Command) else "",
)
def test_a_replay_requires_the_current_right(
    clock: FrozenClock, storage: MemoryStorage, command: Command, enough: tuple[str, ...]
) -> None:
    gallery = gallery_on(storage, clock, access=Policy.GUARDED)
    gallery.roles.amend(roles.AmendRole(role_id=1, scope=("default",)))
    first_change = gallery.changes.version() + 1
    gallery.authors.create(ANN, Owner(request_id="made"))
    if isinstance(command, changes.Revert):
        command = changes.Revert(change_id=first_change)
    command = once(command, KEY)
    everything_there_is = ("authors:write", "logos:write", "roles:write", "users:write", "a", "b", "c", "default")
    caller, have = painter(gallery, storage, *everything_there_is)

    def asked() -> object:
        if isinstance(command, import_export.ImportRecords):
            line = {"kind": "author", "author_id": 9, "user_id": 9, "username": "Zoe"}
            return gallery.import_export.load(command, [json.dumps(line)], caller)
        answer = ask(gallery, command, caller)
        return list(answer) if isinstance(answer, Listing) else answer

    first = asked()
    assert asked() == first
    have(enough)
    assert asked() == first
    for missing in enough:
        have(tuple(scope for scope in (*enough, "logos:write") if scope != missing))
        assert failure(asked) is errors.NotPermitted
    have(everything_there_is)
    assert asked() == first
    gallery.users.remove(users.RemoveUser(user_id=500))
    assert failure(asked) is errors.InvalidToken


@pytest.mark.rule("contract C1", "contract C5")
def test_responses_with_secrets_or_without_limit_are_not_stored(stocked: LogoAdmin, storage: MemoryStorage) -> None:
    """Each request runs; a client whose key was lost removes it and creates another."""
    ann = SignIn(username="ann", password=ANN_PASSWORD)
    tokens = [stocked.sessions.sign_in(once(ann, KEY)) for _ in range(2)]
    maker = signed_in(storage, "*", user_id=500)
    made = [stocked.keys.create(once(keys.CreateKey(name="script", scope=()), KEY), maker) for _ in range(2)]
    assert len({each.refresh_token for each in tokens}) == len({each.key for each in made}) == 2
    assert not stocked.sessions.revoke(once(sessions.Revoke(refresh_token="unknown"), KEY), Anonymous()).ended
    stocked.member_notices.mark_seen(once(member_notices.MarkNoticesSeen(), KEY), maker)
    assert [*stocked.bulk.apply(once(ApplyChanges(changes=()), KEY), maker)] == []
    assert vars(storage)["_tables"].stored_responses == {}


@pytest.mark.rule("contract H6")
@pytest.mark.parametrize(
    ("key", "problem"),
    [
        *(("", "string_too_short"), ("k" * 256, "string_too_long"), ("\0", "string_pattern_mismatch")),
        *(("\ud800", "string_unicode"), (7, "string_type")),
    ],
)
def test_a_key_that_http_refuses_is_refused_by_the_library(key: Any, problem: str) -> None:
    assert problems(CreateAuthor, user_id=7, username="Anna", idempotency_key=key) == {("idempotency_key",): problem}
    assert CreateAuthor(user_id=7, username="Anna", idempotency_key="k" * 255).idempotency_key == "k" * 255
