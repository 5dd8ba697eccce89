"""Users of an issuer on every storage, including concurrent sign-ins (contract O7)."""

from concurrent.futures import ThreadPoolExecutor

import pytest

from logoadmin.domain.gallery.authors import CreateAuthor
from logoadmin.domain.identity import users
from logoadmin.domain.identity.one_time_sign_in import CreateSignInCode, SignInWithCode
from logoadmin.domain.identity.records import Tokens
from logoadmin.domain.identity.service_keys import CreateKey
from logoadmin.domain.identity.sessions import Refresh, SignIn, WhoAmI
from logoadmin.domain.identity.sign_in_rules import SignInRules, SingleSignOnRules, Ways
from logoadmin.domain.kernel.access import Caller
from logoadmin.domain.kernel.errors import Conflict, InvalidToken, SignInForbidden, SignInRefused
from logoadmin.domain.logo_admin import LogoAdmin
from logoadmin.ports.issuer import IssuedIdentity
from logoadmin.ports.storage import Storage
from tests.domain.identity.test_single_sign_on import SINGLE, FakeIssuer
from tests.gallery import ADMIN_ID, FrozenClock, gallery_on

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
    return gallery.sessions.refresh(Refresh(refresh_token=tokens.refresh_token))


def found(gallery: LogoAdmin) -> list[tuple[int, str, int]]:
    listed = gallery.users.list(users.ListUsers(limit=100)).first
    return [(user.user_id, user.username, user.role_id) for user in listed if user.user_id > 2_000_000_000]


def test_concurrent_first_sign_ins_create_one_user(storage: Storage) -> None:
    galleries = [opened(storage), *(opened(storage, started=False) for _ in range(3))]
    with ThreadPoolExecutor(4) as threads:
        assert len({*threads.map(lambda gallery: sign_in(gallery, "s", "editors"), galleries * 3)}) == 12
    assert found(galleries[0]) == [(2_000_000_001, "Ann", 1)]


def test_the_maximum_number_of_groups_is_accepted(storage: Storage) -> None:
    gallery = opened(storage)
    tokens = sign_in(gallery, "s", *(f"{number:0255}" for number in range(999)), "admins")
    assert refresh(gallery, tokens).scope == "*"


@pytest.mark.rule("contract B4")
def test_a_refused_user_has_no_rights_until_the_issuer_returns_a_group_again(storage: Storage) -> None:
    gallery = opened(storage)
    tokens = sign_in(gallery, "s", "admins")
    user_id, name, _ = found(gallery)[0]
    gallery.users.set_password(users.SetPassword(user_id=user_id, password="a password too"))
    with_password = SignIn(username=name, password="a password too")
    tokens = sign_in(gallery, "s", "admins")
    other = gallery.sessions.sign_in(with_password)
    who = gallery.sessions.caller(tokens.access_token)
    created = gallery.keys.create(CreateKey(name="script", scope=("*",)), gallery.sessions.caller(other.access_token))
    key = gallery.sessions.caller(created.key)
    code = gallery.sign_in_codes.create(CreateSignInCode(user_id=user_id))

    with pytest.raises(SignInForbidden):
        sign_in(gallery, "s", "others")
    for caller in (who, gallery.sessions.caller(other.access_token), key):
        with pytest.raises(InvalidToken):
            gallery.users.get(users.GetUser(user_id=user_id), caller)
        with pytest.raises(InvalidToken):
            gallery.authors.create(CreateAuthor(user_id=7, username="Ann"), caller)
    for each in (tokens, other):
        with pytest.raises(InvalidToken):
            refresh(gallery, each)
    with pytest.raises(SignInForbidden, match="No role for your groups"):
        gallery.sessions.sign_in(with_password)
    made_code = SignInWithCode(username=name, code=code.code)
    with pytest.raises(SignInRefused):  # the refusal has removed it
        gallery.sign_in_codes.sign_in(made_code)
    # The user does not count as a remaining administrator either.
    with pytest.raises(Conflict):
        gallery.users.remove(users.RemoveUser(user_id=ADMIN_ID))
    with pytest.raises(SignInForbidden):
        sign_in(gallery, "s")
    gallery.users.set_password(users.SetPassword(user_id=user_id, password="another one"))
    with pytest.raises(SignInForbidden):
        gallery.sessions.sign_in(SignIn(username=name, password="another one"))

    sign_in(gallery, "s", "admins")
    gallery.users.get(users.GetUser(user_id=user_id), key)
    gallery.sessions.sign_in(SignIn(username=name, password="another one"))
    gallery.users.remove(users.RemoveUser(user_id=ADMIN_ID))


@pytest.mark.rule("contract B4")
def test_if_two_users_are_refused_concurrently_one_keeps_everything(storage: Storage) -> None:
    galleries = [opened(storage), opened(storage, started=False)]
    tokens = [sign_in(gallery, subject, "admins") for gallery, subject in zip(galleries, "ab", strict=True)]
    galleries[0].users.remove(users.RemoveUser(user_id=ADMIN_ID))

    def refused(gallery: LogoAdmin, subject: str) -> None:
        with pytest.raises(SignInForbidden):
            sign_in(gallery, subject)

    with ThreadPoolExecutor(2) as threads:
        list(threads.map(refused, galleries, "ab"))
    sessions = [gallery.sessions.caller(each.access_token) for gallery, each in zip(galleries, tokens, strict=True)]

    def is_open(who: Caller) -> bool:
        try:
            galleries[0].sessions.me(WhoAmI(), who)
        except InvalidToken:
            return False
        return True

    assert sum(map(is_open, sessions)) == 1
