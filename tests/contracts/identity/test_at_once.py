"""Concurrent sign-ins: one session for a code, a link or a passkey, one user for a person (contract C3, O, R5)."""

from collections.abc import Callable, Iterator
from contextlib import closing
from functools import partial
from typing import Final

import pytest

from logoadmin import AskPasskey, ListFactors, ListSessions, LogoAdmin, SignIn, SignInForbidden, SignInRefused, Tokens
from logoadmin.adapters.sql_storage import open_sql_storage
from logoadmin.domain.identity.accounts import FIRST_USER_ID
from logoadmin.domain.identity.one_time_sign_in import CreateLink, CreateSignInCode, SignInWithCode, SignInWithLink
from logoadmin.domain.identity.sign_in_rules import SignInRules, SingleSignOnRules, Ways
from logoadmin.domain.identity.users import CreateUser, ListUsers, RemoveUser, SetPassword
from logoadmin.domain.public_url import LOCAL
from logoadmin.ports.issuer import IssuedIdentity
from logoadmin.ports.storage import Storage
from tests.contracts.steps import at_once
from tests.domain.identity import sign_ins, test_single_sign_on
from tests.domain.identity.sign_ins import caller, refresh, works
from tests.domain.identity.test_passkeys import enrol, sign_in
from tests.domain.identity.test_single_sign_on import FakeIssuer
from tests.gallery import ADMIN_ID, FrozenClock, gallery_on, stock
from tests.passkeys import Authenticator

ANN: Final = 7
OLD, NEW = "the old password", "the new password"


@pytest.fixture
def gallery(storage: Storage) -> LogoAdmin:
    found = gallery_on(storage, FrozenClock())
    found.users.create(CreateUser(user_id=ANN, username="ann", password=OLD))
    return found


def with_code(gallery: LogoAdmin) -> Callable[[], Tokens]:
    code = gallery.sign_in_codes.create(CreateSignInCode(user_id=ANN)).code
    return lambda: gallery.sign_in_codes.sign_in(SignInWithCode(username="ann", code=code))


def with_link(gallery: LogoAdmin) -> Callable[[], Tokens]:
    link = gallery.links.create(CreateLink(user_id=1042, username="Mia")).link
    return lambda: gallery.links.sign_in(SignInWithLink(link=link))


@pytest.mark.rule("contract O6", "contract R5")
@pytest.mark.parametrize("once", [with_code, with_link])
def test_of_concurrent_sign_ins_by_code_or_link_one_succeeds(
    gallery: LogoAdmin, once: Callable[[LogoAdmin], Callable[[], Tokens]]
) -> None:
    for _ in range(4):
        found = at_once(*[once(gallery)] * 4)
        (tokens,) = [each for each in found if isinstance(each, Tokens)]
        assert sum(isinstance(each, SignInRefused) for each in found) == 3
        assert works(gallery, tokens)


@pytest.mark.rule("contract C3", "contract H5")
def test_a_new_password_during_a_refresh_or_sign_in_leaves_no_session(gallery: LogoAdmin, storage: Storage) -> None:
    def sign_in(password: str) -> Tokens:
        return gallery.sessions.sign_in(SignIn(username="ann", password=password))

    for before, after in ((OLD, NEW), (NEW, OLD)) * 5:
        tokens = sign_in(before)
        at_once(
            lambda: gallery.users.set_password(SetPassword(user_id=ANN, password=after)),  # noqa: B023 (called here)
            lambda: refresh(gallery, tokens),  # noqa: B023 (called within this turn)
            lambda: sign_in(before),  # noqa: B023 (the same)
        )
        assert storage.read(lambda uow: uow.identity.sessions.of_user(ANN)) == ()


ROLES: Final = SingleSignOnRules((("admins", "admin"), ("editors", "member")))


def with_issuer(storage: Storage, *, started: bool = True) -> LogoAdmin:
    rules = SignInRules(ways=Ways(issuer=FakeIssuer.url), single_sign_on=ROLES)
    return gallery_on(storage, FrozenClock(), sign_in=rules, issuer=FakeIssuer(), started=started)


def as_person(gallery: LogoAdmin, subject: str, *groups: str) -> Tokens:
    return test_single_sign_on.sign_in(gallery, IssuedIdentity(subject, groups, ("Ann",)))


@pytest.mark.rule("contract O7")
def test_concurrent_first_sign_ins_at_an_issuer_create_one_user(storage: Storage) -> None:
    galleries = [with_issuer(storage), *(with_issuer(storage, started=False) for _ in range(3))]
    found = at_once(*(partial(as_person, gallery, "s", "editors") for gallery in galleries * 3))
    assert {type(each) for each in found} == {Tokens}
    users = [user for user in galleries[0].users.list(ListUsers()) if user.user_id > ADMIN_ID]
    assert [(user.user_id, user.username, user.role_id) for user in users] == [(FIRST_USER_ID, "Ann", 1)]


@pytest.mark.rule("contract B4", "contract O7")
def test_if_two_users_are_refused_concurrently_one_keeps_everything(storage: Storage) -> None:
    galleries = [with_issuer(storage), with_issuer(storage, started=False)]
    tokens = [as_person(gallery, subject, "admins") for gallery, subject in zip(galleries, "ab", strict=True)]
    galleries[0].users.remove(RemoveUser(user_id=ADMIN_ID))
    found = at_once(*(partial(as_person, gallery, subject) for gallery, subject in zip(galleries, "ab", strict=True)))
    assert {type(each) for each in found} == {SignInForbidden}
    assert sum(works(galleries[0], each) for each in tokens) == 1


# Passkeys (ASVS 6.5.1)

Services = tuple[LogoAdmin, LogoAdmin]


@pytest.fixture
def services(prepared_url: str) -> Iterator[Services]:
    """Two services, each with its own connections."""
    clock = FrozenClock()
    with closing(open_sql_storage(prepared_url)) as one, closing(open_sql_storage(prepared_url)) as other:
        gallery = stock(gallery_on(one, clock))
        yield gallery, gallery_on(other, clock, started=False)


@pytest.fixture
def device() -> Authenticator:
    """A synced passkey, whose counter does not reveal its uses."""
    return Authenticator(site=LOCAL, synced=True)


@pytest.mark.rule("contract O2")
def test_one_use_of_a_passkey_creates_one_session(services: Services, device: Authenticator) -> None:
    gallery, _ = services
    ann = caller(gallery, gallery.sessions.sign_in(sign_ins.ANN))
    enrol(gallery, ann, device)
    begun = gallery.passkeys.options(AskPasskey())
    command = sign_in(begun.challenge, device.get(begun.options))
    found = at_once(*(partial(each.passkeys.sign_in, command) for each in services * 4))
    assert sorted(type(each).__name__ for each in found) == ["SignInRefused"] * 7 + ["Tokens"]
    assert len(gallery.sessions.list(ListSessions(), ann)) == 2


@pytest.mark.rule("contract O1", "contract O2")
def test_a_passkey_has_one_user(services: Services, device: Authenticator) -> None:
    gallery, other = services
    ann, admin = (caller(gallery, gallery.sessions.sign_in(each)) for each in (sign_ins.ANN, sign_ins.ADMIN))
    found = at_once(partial(enrol, gallery, ann, device), partial(enrol, other, admin, device))
    assert sorted(type(each).__name__ for each in found) == ["Conflict", "NewFactor"]
    assert len([*gallery.factors.list(ListFactors(), ann), *gallery.factors.list(ListFactors(), admin)]) == 1
