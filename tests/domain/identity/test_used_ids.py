"""A user with the id of a removed user is a different person, even within one second (contract C3, D)."""

from functools import partial
from typing import Any, Final

import pytest

from logoadmin import AmendRole, Anonymous, Caller, CreateKey, CreateLogo, ListEvents, ListKeys, LogoAdmin, Revert
from logoadmin.domain.changes.proposal_commands import DeclineProposal, ListProposals, ProposeChanges
from logoadmin.domain.gallery.picture_commands import SendPicture
from logoadmin.domain.identity.sessions import ListSessions, SignIn, WhoAmI
from logoadmin.domain.identity.sign_in_limits import network_of_user
from logoadmin.domain.identity.users import CreateUser, GetPreferences, RemoveUser, SetPassword, SetPreferences
from logoadmin.domain.kernel.errors import Conflict, InvalidToken, TooManyPictures
from logoadmin.domain.kernel.unit_of_work import count_use
from logoadmin.ports.storage import Storage, UnitOfWork
from tests.gallery import ARTWORK, LOOK, NOW, FrozenClock, drawing, failure, gallery_on, once

ID: Final = 501
PASSWORD: Final = "a long password"
HERE: Final = Anonymous("192.0.2.1")
RECEIVER: Final = "https://hooks.example.org/1"


def proposing(*, dry_run: bool = False) -> ProposeChanges:
    changes = ({"kind": "theme", "create": LOOK},)
    return ProposeChanges.model_validate({"title": "A proposal", "changes": changes, "dry_run": dry_run})


def sign_in(gallery: LogoAdmin, name: str) -> Caller:
    tokens = gallery.sessions.sign_in(SignIn(username=name, password=PASSWORD), HERE)
    return gallery.sessions.caller(tokens.access_token)


def next_notice(uow: UnitOfWork) -> str:
    notice = uow.notices.due(NOW + 60)
    assert notice is not None
    uow.notices.remove(notice.notice_id)
    return notice.text


def is_known_network(uow: UnitOfWork) -> bool:
    return uow.identity.counts.get(network_of_user(uow.changes, ID, HERE.origin).counted).number > 0


def life(gallery: LogoAdmin, storage: Storage, name: str) -> tuple[list[Any], list[Caller]]:
    """Let a user read and use everything; return what they see, and their session and key."""
    seen: list[Any] = [storage.read(is_known_network)]
    caller = sign_in(gallery, name)
    for _ in range(2):
        seen.append([each.event for each in gallery.events.list(ListEvents(), caller)])
        seen.append(len([*gallery.proposals.list(ListProposals(), caller)]))
        seen.append(gallery.preferences.get(GetPreferences(), caller))
        seen.append([key.name for key in gallery.keys.list(ListKeys(), caller)])
        seen.append(len(gallery.sessions.list(ListSessions(), caller)))
        before = gallery.changes.version()
        gallery.logos.create(once(CreateLogo(**ARTWORK), "their key"), caller)
        seen.append(gallery.changes.version() - before)
        gallery.preferences.set(SetPreferences(preferences={"theme": "dark"}), caller)
        key = gallery.sessions.caller(gallery.keys.create(CreateKey(name="script", scope=("logos:write",)), caller).key)
    gallery.proposals.propose(proposing(), caller)
    return seen, [caller, key]


@pytest.mark.rule("contract C3", "contract F3", "contract O9", "contract P1", "contract R1", "contract R6")
def test_a_user_id_reused_within_a_second_is_a_different_person(storage: Storage) -> None:
    gallery = gallery_on(storage, FrozenClock(), notify_urls=[RECEIVER])
    gallery.roles.amend(AmendRole(role_id=1, scope=("logos:write", "proposals:write")))
    lives, persons, callers = list[Any](), list[int](), list[Caller]()
    for name in ("Ann", "Eve"):
        gallery.users.create(CreateUser(user_id=ID, username=name, password=PASSWORD))
        seen, theirs = life(gallery, storage, name)
        lives.append(seen)
        for former in callers:
            assert failure(gallery.sessions.me, WhoAmI(), former) is InvalidToken
        callers = theirs
        persons.append(gallery.sessions.me(WhoAmI(), theirs[0]).user_since)
        if name == "Ann":
            gallery.users.remove(RemoveUser(user_id=ID))
            removal = gallery.changes.version()
    assert lives[0] == lives[1]
    assert len({*persons}) == 2
    gallery.proposals.decline(DeclineProposal(proposal_id=1, reason="No"))
    texts = [storage.write(next_notice) for _ in range(3)]
    assert texts == [
        "Ann submitted “A proposal”",
        "Eve submitted “A proposal”",
        "Somebody declined “A proposal” by Somebody",
    ]
    gallery.users.remove(RemoveUser(user_id=ID))
    gallery.changes.revert(Revert(change_id=removal))
    gallery.users.set_password(SetPassword(user_id=ID, password=PASSWORD))
    again = sign_in(gallery, "Ann")
    # A restored user is the same person again.
    assert gallery.sessions.me(WhoAmI(), again).user_since == persons[0]
    assert [each.proposal_id for each in gallery.proposals.list(ListProposals(), again)] == [1]


@pytest.mark.rule("contract P1", "contract R1")
def test_a_reused_user_id_has_fresh_hourly_and_daily_limits(storage: Storage) -> None:
    gallery = gallery_on(storage, FrozenClock())
    gallery.roles.amend(AmendRole(role_id=1, scope=("proposals:write",)))
    for name in ("Ann", "Eve"):
        gallery.users.create(CreateUser(user_id=ID, username=name, password=PASSWORD))
        member = gallery.acting_as(ID)
        send = partial(member.pictures.send, SendPicture(), drawing())
        propose = partial(member.proposals.propose, proposing(dry_run=True))
        send()
        propose()
        storage.write(
            lambda uow: [count_use(uow, what, ID, NOW, 1_000, more=199) for what in ("pictures", "proposals")]
        )
        assert (failure(send), failure(propose)) == (TooManyPictures, Conflict)
        gallery.users.remove(RemoveUser(user_id=ID))
