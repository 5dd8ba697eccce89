"""Users of an issuer on every storage, also if they sign in at the same time (contract O7)."""

from concurrent.futures import ThreadPoolExecutor

import pytest

from logoadmin.domain.logo_admin import LogoAdmin
from logoadmin.domain.model.errors import InvalidToken, SignInForbidden
from logoadmin.domain.model.sessions import Tokens
from logoadmin.domain.model.sign_in import SignInRules, SingleSignOnRules, Ways
from logoadmin.domain.services import roles, users
from logoadmin.domain.services.sessions import Refresh
from logoadmin.ports.issuer import IssuedIdentity
from logoadmin.ports.storage import Storage
from tests.domain.test_single_sign_on import SINGLE, FakeIssuer
from tests.gallery import FrozenClock, gallery_on

pytestmark = pytest.mark.rule("contract O7")

RULES = SignInRules(
    ways=Ways(issuer=FakeIssuer.url), single_sign_on=SingleSignOnRules((("admins", "admin"), ("editors", "member")))
)


def opened(storage: Storage, *, started: bool = True) -> LogoAdmin:
    return gallery_on(storage, FrozenClock(), sign_in=RULES, issuer=FakeIssuer(), started=started)


def sign_in(gallery: LogoAdmin, subject: str, *groups: str) -> Tokens:
    issuer = gallery._ports.issuer
    assert isinstance(issuer, FakeIssuer)
    issuer.person = IssuedIdentity(subject, groups, ("Ann",))
    return gallery.single_sign_on.sign_in(SINGLE)


def refresh(gallery: LogoAdmin, tokens: Tokens) -> Tokens:
    return gallery.sessions.refresh(Refresh(grant_type="refresh_token", refresh_token=tokens.refresh_token))


def found(gallery: LogoAdmin) -> list[tuple[int, str, int]]:
    listed = gallery.users.list(users.ListUsers(limit=100)).first
    return [(user.user_id, user.username, user.role_id) for user in listed if user.user_id > 2_000_000_000]


def test_people_become_users_and_follow_their_groups(storage: Storage) -> None:
    gallery = opened(storage)
    tokens = sign_in(gallery, "Ä\N{SNOWMAN}" + "s" * 253, "editors")
    sign_in(gallery, "ä\N{SNOWMAN}" + "s" * 253, "admins", "\N{SNOWMAN}" * 255)
    assert found(gallery) == [(2_000_000_001, "Ann", 1), (2_000_000_002, "Ann-2", 2)]
    sign_in(gallery, "Ä\N{SNOWMAN}" + "s" * 253, "admins")
    tokens = refresh(gallery, tokens)
    assert (tokens.scope, found(gallery)[0][2]) == ("*", 2)
    with pytest.raises(SignInForbidden):
        sign_in(gallery, "Ä\N{SNOWMAN}" + "s" * 253)
    with pytest.raises(InvalidToken):
        refresh(gallery, tokens)


def test_as_many_groups_as_an_issuer_may_have_are_kept(storage: Storage) -> None:
    gallery = opened(storage)
    tokens = sign_in(gallery, "s", *(f"{number:0255}" for number in range(999)), "admins")
    assert refresh(gallery, tokens).scope == "*"


def test_first_sign_ins_at_the_same_time_make_one_user(storage: Storage) -> None:
    galleries = [opened(storage), *(opened(storage, started=False) for _ in range(3))]
    with ThreadPoolExecutor(4) as threads:
        assert len({*threads.map(lambda gallery: sign_in(gallery, "s", "editors"), galleries * 3)}) == 12
    assert found(galleries[0]) == [(2_000_000_001, "Ann", 1)]


def test_a_role_that_goes_meanwhile_lets_nobody_in(storage: Storage) -> None:
    gallery = opened(storage)
    sign_in(gallery, "s", "admins")
    gallery.roles.amend(roles.AmendRole(role_id=2, name="root"))
    with pytest.raises(SignInForbidden):
        sign_in(gallery, "s", "admins")
