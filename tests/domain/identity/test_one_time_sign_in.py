"""Codes for users who lost a password or factor, links for members of the host site, and attacks on both.

Each signs in once (contract O6, R5).
"""

from collections.abc import Callable
from dataclasses import dataclass
from functools import partial
from typing import Final

import pytest

from logoadmin import ANONYMOUS, ActingAs, Anonymous, Caller, CreateAuthor, LogoAdmin, Policy, SignInWithFactor, Tokens
from logoadmin.adapters.memory_storage import MemoryStorage
from logoadmin.domain.identity.accounts import FIRST_USER_ID
from logoadmin.domain.identity.factors import ConfirmTotp, EnrolTotp, ListFactors, RemoveFactor
from logoadmin.domain.identity.one_time_sign_in import CreateLink, CreateSignInCode, SignInWithCode, SignInWithLink
from logoadmin.domain.identity.roles import AmendRole, CreateRole, ListRoles
from logoadmin.domain.identity.sessions import ListSessions, Refresh, SignIn, WhoAmI
from logoadmin.domain.identity.sign_in_rules import SignInRules, Ways
from logoadmin.domain.identity.users import AmendUser, CreateUser, FindUser, GetUser, RemoveUser, SetPassword
from logoadmin.domain.kernel import errors
from logoadmin.domain.kernel.limits import MAX_ID
from logoadmin.domain.public_url import LOCAL
from logoadmin.ports.sign_in_storage import Identity
from logoadmin.ports.storage import Storage
from tests.domain.identity.second_factors import code_of, enrol
from tests.domain.identity.sign_ins import ADMIN, ANN, caller, key_of, refresh, works
from tests.domain.identity.test_passkeys import enrol as add_passkey
from tests.gallery import ADMIN_ID, NOW, FrozenClock, WatchedStorage, failure, gallery_on, if_match, signed_in, stock
from tests.passkeys import Authenticator

O6 = pytest.mark.rule("contract O6")
R5 = pytest.mark.rule("contract R5")

ANN_ID: Final = 7
MIA_ID: Final = 1042
MIA: Final = CreateLink(user_id=MIA_ID, username="Mia", avatar="https://site.example/mia.png")
MIAS: Final = SignIn(username="Mia", password="a password of hers")
HERE: Final = Anonymous("192.0.2.1", user_agent="Firefox")
THERE: Final = Anonymous("198.51.100.7")


def code_for(gallery: LogoAdmin, user_id: int = ANN_ID) -> str:
    return gallery.sign_in_codes.create(CreateSignInCode(user_id=user_id)).code


def typed(code: str, username: str = "ann") -> SignInWithCode:
    return SignInWithCode(username=username, code=code)


def by_code(gallery: LogoAdmin, code: str, username: str = "ann", client: Caller = ANONYMOUS) -> Tokens:
    return gallery.sign_in_codes.sign_in(typed(code, username), client)


def site_key(gallery: LogoAdmin, *scope: str) -> Caller:
    """Return the holder of a service key that an administrator made for the site."""
    return key_of(gallery, caller(gallery, gallery.sessions.sign_in(ADMIN)), *scope)


def link_to(gallery: LogoAdmin, command: CreateLink = MIA, who: Caller | None = None) -> str:
    return gallery.links.create(command, who or site_key(gallery, "users:write")).link


def by_link(gallery: LogoAdmin, link: str, client: Caller = ANONYMOUS) -> Tokens:
    return gallery.links.sign_in(SignInWithLink(link=link), client)


@dataclass(frozen=True)
class Once:
    """A sign-in code or link: how its secret is made and used, and the text of a refusal."""

    made: Callable[[LogoAdmin], str]
    sign_in: Callable[..., Tokens]
    refusal: str

    def is_refused(self, gallery: LogoAdmin, secret: str, *username: str) -> None:
        with pytest.raises(errors.SignInRefused, match=f"^{self.refusal}$"):
            self.sign_in(gallery, secret, *username)


CODE: Final = Once(code_for, by_code, "Incorrect username or code")
LINK: Final = Once(link_to, by_link, "This link was used before, or has expired")


# Codes and links


@pytest.mark.rule("contract K7", "contract O6", "contract R5")
@pytest.mark.parametrize(
    ("seconds", "valid"),
    [
        *((0, [CODE, LINK]), (299, [CODE, LINK]), (300, [CODE]), (599, [CODE]), (600, []), (86_400, [])),
        *((-10, [CODE, LINK]), (-11, []), (-3600, [])),
    ],
)
def test_codes_and_links_are_valid_for_minutes_even_if_a_clock_was_ahead(
    stocked: LogoAdmin, clock: FrozenClock, seconds: int, valid: list[Once]
) -> None:
    secrets = {once: once.made(stocked) for once in (CODE, LINK)}
    clock.pass_by(seconds)
    for once, secret in secrets.items():
        if once in valid:
            assert works(stocked, once.sign_in(stocked, secret))
        once.is_refused(stocked, secret)


@pytest.mark.rule("contract O6", "contract R5")
@pytest.mark.parametrize("once", [CODE, LINK], ids=["code", "link"])
def test_codes_and_links_are_not_accepted_as_other_secrets(stocked: LogoAdmin, clock: FrozenClock, once: Once) -> None:
    ann = caller(stocked, stocked.sessions.sign_in(ANN))
    totp, factor = enrol(stocked, ann)
    for other in (*(factor.recovery_codes or ())[:2], "0", "-", "' OR 1=1 --", "é" * 24, "#link="):
        once.is_refused(stocked, other)
    secret = once.made(stocked)
    assert failure(stocked.sessions.caller, secret) is errors.InvalidToken
    assert failure(stocked.sessions.refresh, Refresh(refresh_token=secret)) is errors.InvalidToken
    second_step = SignInWithFactor(challenge=secret, recovery_code=secret)
    for command in (second_step, SignInWithFactor(challenge=secret, totp="000000")):
        assert failure(stocked.factors.sign_in, command) is errors.SignInRefused
    with pytest.raises(errors.InvalidInput):
        stocked.factors.confirm_totp(ConfirmTotp(factor_id=totp.factor_id, code=secret), ann)
    clock.pass_by(1)
    assert works(stocked, once.sign_in(stocked, secret))


# Codes


@O6
def test_a_code_signs_in_once_and_ends_other_sessions(stocked: LogoAdmin, storage: MemoryStorage) -> None:
    """ASVS 6.4.1: it cannot become a long-term secret."""
    before = stocked.sessions.sign_in(ANN)
    enrol(stocked, caller(stocked, before))
    admin = stocked.sessions.sign_in(ADMIN)
    new = stocked.sign_in_codes.create(CreateSignInCode(user_id=ANN_ID))
    assert (new.user_id, new.expires_at) == (ANN_ID, NOW + 600)
    assert works(stocked, before)  # it takes effect when it is used
    tokens = by_code(stocked, new.code, client=HERE)
    assert works(stocked, tokens)
    assert not works(stocked, before)
    assert works(stocked, admin)
    (session,) = stocked.sessions.list(ListSessions(), caller(stocked, tokens))
    assert (session.factor, session.address, session.user_agent) == ("sign_in_code", "192.0.2.1", "Firefox")
    events = storage.read(lambda uow: uow.identity.events.page(2**31, 3, ANN_ID))
    assert [(event.event, event.address, event.factor) for event in events] == [
        ("signed_in", "192.0.2.1", "sign_in_code"),
        ("session_ended", "192.0.2.1", None),
        ("sign_in_code_made", None, None),
    ]
    CODE.is_refused(stocked, new.code)
    (last,) = storage.read(lambda uow: uow.identity.events.page(2**31, 1, ANN_ID))
    assert (last.event, last.count) == ("sign_in_refused", 1)


@O6
def test_a_new_code_and_a_new_password_end_the_codes_before_them(stocked: LogoAdmin) -> None:
    first, second = code_for(stocked), code_for(stocked)
    CODE.is_refused(stocked, first)
    assert works(stocked, by_code(stocked, second))
    third = code_for(stocked)
    stocked.users.set_password(SetPassword(user_id=ANN_ID, password="another"))
    CODE.is_refused(stocked, third)


@O6
@pytest.mark.parametrize("ways", [Ways(False, True), Ways(False, False), Ways(False, False, "https://issuer.test")])
def test_a_code_works_where_passwords_are_switched_off(ways: Ways, storage: MemoryStorage, clock: FrozenClock) -> None:
    gallery = gallery_on(storage, clock, Policy.GUARDED, sign_in=SignInRules(ways=ways))
    assert works(gallery, by_code(gallery, code_for(gallery, ADMIN_ID), "admin"))


@O6
def test_a_wrong_code_is_refused_and_leaves_the_code_of_another_user(stocked: LogoAdmin) -> None:
    of_admin = code_for(stocked, ADMIN_ID)
    code_for(stocked)
    rubbish = ("0", "0" * 24, "-", "%", "' OR 1=1 --", "é" * 24, "7KQ2-M4ZT-9A0C-X3HV-BN5E-R8WD")
    for code, name in (*((each, "nobody") for each in rubbish), *((each, "ann") for each in rubbish)):
        CODE.is_refused(stocked, code, name)
        stocked.sign_in_codes.sign_in(typed(code_for(stocked), "ann"))  # which resets the failures
    for name in ("ann", "nobody", "Ann", "ann ", "admin ", "ADMIN"):
        CODE.is_refused(stocked, of_admin, name)
    assert works(stocked, by_code(stocked, of_admin, "admin"))


@pytest.mark.rule("contract C1", "contract O6")
def test_wrong_codes_count_towards_the_limits_until_a_right_one_resets_them(stocked: LogoAdmin) -> None:
    code = code_for(stocked)
    for _ in range(9):
        assert failure(by_code, stocked, "wrong", client=HERE) is errors.SignInRefused
    assert works(stocked, by_code(stocked, code, client=HERE))
    code = code_for(stocked)
    for username in ("ann", "nobody"):
        for _ in range(10):
            assert failure(by_code, stocked, "wrong", username, HERE) is errors.SignInRefused
        assert failure(by_code, stocked, code, username, HERE) is errors.TooManySignIns
    assert failure(stocked.sessions.sign_in, ANN, HERE) is errors.TooManySignIns
    assert works(stocked, by_code(stocked, code, client=THERE))


@O6
def test_unknown_names_cost_the_same_work(storage: MemoryStorage, clock: FrozenClock) -> None:
    """A refusal reads the same rows, and hashes no password, whether or not the user and a code exist."""
    watched = WatchedStorage(storage)
    gallery = stock(gallery_on(watched, clock))
    ways = []
    for username, has_code in (("ann", True), ("ann", False), ("nobody", False)):
        if has_code:
            code_for(gallery)
        watched.asked.clear()
        CODE.is_refused(gallery, "wrong", username)
        ways.append(watched.asked[:])
        storage.write(lambda uow: uow.identity.challenges.drop(ANN_ID))
    assert ways[0] == ways[1] == ways[2]


@pytest.mark.rule("contract B4", "contract C5", "contract O3", "contract O6")
def test_a_program_creates_codes_only_for_callers_who_may_set_the_password(
    stocked: LogoAdmin, storage: MemoryStorage, clock: FrozenClock
) -> None:
    manager = signed_in(storage, "users:write", user_id=500)
    painter = signed_in(storage, "logos:write", user_id=600)
    admin = caller(stocked, stocked.sessions.sign_in(ADMIN))

    may = partial(failure, stocked.sign_in_codes.create)
    for user_id, who, error in (
        *((ANN_ID, manager, None), (600, manager, errors.NotPermitted), (ADMIN_ID, manager, errors.NotPermitted)),
        *((ANN_ID, painter, errors.NotPermitted), (600, painter, errors.NotPermitted), (600, admin, None)),
        (12, admin, errors.NotFound),
    ):
        assert may(CreateSignInCode(user_id=user_id), who) is error, (user_id, who)
    key = key_of(stocked, admin, "*")
    for user_id in (ANN_ID, ADMIN_ID):
        assert may(CreateSignInCode(user_id=user_id), key) is errors.NotPermitted
    with pytest.raises(errors.LogoAdminError, match="was changed since"):
        stocked.sign_in_codes.create(if_match(CreateSignInCode(user_id=ANN_ID), 99_999))
    clock.pass_by(601)
    assert may(CreateSignInCode(user_id=ANN_ID), admin) is errors.RecentSignInRequired
    assert stocked.sessions.me(WhoAmI(), admin).user_id == ADMIN_ID  # everything else still works


# Links


@R5
def test_a_link_creates_a_member_and_signs_in_once(stocked: LogoAdmin, storage: MemoryStorage) -> None:
    who = site_key(stocked, "users:write")
    link = stocked.links.create(MIA, who)
    assert link.expires_at == NOW + 300
    tokens = by_link(stocked, link.link, HERE)
    me = stocked.sessions.me(WhoAmI(), caller(stocked, tokens))
    assert (me.user_id, me.username, me.avatar, me.scope) == (MIA_ID, "Mia", MIA.avatar, ("proposals:write",))
    with pytest.raises(errors.SignInRefused, match=LINK.refusal):  # in a second browser
        by_link(stocked, link.link, THERE)
    assert works(stocked, refresh(stocked, tokens))
    events = storage.read(lambda uow: uow.identity.events.page(2**31, 2, MIA_ID))
    assert [(event.event, event.address, event.factor) for event in events] == [
        ("signed_in", "192.0.2.1", "link"),
        ("link_made", None, None),
    ]


@R5
def test_a_new_link_updates_name_and_avatar_and_replaces_the_previous_link(stocked: LogoAdmin) -> None:
    who = site_key(stocked, "users:write")
    first = link_to(stocked, who=who)
    second = link_to(stocked, CreateLink(user_id=MIA_ID, username="Mia M."), who)
    LINK.is_refused(stocked, first)
    assert works(stocked, by_link(stocked, second))
    user = stocked.users.get(GetUser(user_id=MIA_ID))
    assert (user.username, user.avatar) == ("Mia M.", MIA.avatar)
    link_to(stocked, CreateLink(user_id=MIA_ID, username="Mia M.", avatar=None), who)
    assert stocked.users.get(GetUser(user_id=MIA_ID)).avatar is None


@R5
def test_a_link_without_an_id_always_creates_a_new_user(stocked: LogoAdmin) -> None:
    who = site_key(stocked, "users:write")
    ids = []
    for name in ("Mia", "Noa"):
        assert works(stocked, by_link(stocked, link_to(stocked, CreateLink(username=name), who)))
        ids.append(stocked.users.find(FindUser(username=name)).user_id)
    assert ids == [FIRST_USER_ID, FIRST_USER_ID + 1]
    # Neither the id of a removed user nor that of an author, whose works would change hands.
    stocked.users.remove(RemoveUser(user_id=ids[-1]))
    stocked.authors.create(CreateAuthor(user_id=FIRST_USER_ID + 2, username="Painter"))
    stocked.links.create(CreateLink(username="Noa"), who)
    assert stocked.users.find(FindUser(username="Noa")).user_id == FIRST_USER_ID + 4
    # Few of many consecutive ids are read.
    for number in range(5, 105):
        stocked.authors.create(CreateAuthor(user_id=FIRST_USER_ID + number, username=f"Painter {number}"))
    stocked.links.create(CreateLink(username="Zoe"), who)
    assert stocked.users.find(FindUser(username="Zoe")).user_id == FIRST_USER_ID + 5 + 127
    with pytest.raises(errors.DuplicateEntry, match="'Mia'"):
        stocked.links.create(CreateLink(username="Mia"), who)
    stocked.users.create(CreateUser(user_id=MAX_ID, username="last", password="a password"))
    with pytest.raises(errors.Conflict, match="There are no more ids for new users"):
        stocked.links.create(CreateLink(username="Ada"), who)
    with pytest.raises(errors.InvalidInput, match="Field required"):
        stocked.links.create(CreateLink(), who)


@R5
def test_a_link_without_a_name_requires_an_existing_user_and_keeps_their_name(stocked: LogoAdmin) -> None:
    who = site_key(stocked, "users:write")
    assert failure(stocked.links.create, CreateLink(user_id=MIA_ID), who) is errors.NotFound
    first = link_to(stocked, who=who)
    version = stocked.users.get(GetUser(user_id=MIA_ID)).version
    second = link_to(stocked, CreateLink(user_id=MIA_ID), who)
    LINK.is_refused(stocked, first)
    assert works(stocked, by_link(stocked, second))
    user = stocked.users.get(GetUser(user_id=MIA_ID))
    assert (user.username, user.avatar, user.version) == ("Mia", MIA.avatar, version)


@R5
def test_without_the_role_the_error_names_it(stocked: LogoAdmin) -> None:
    (member,) = [role for role in stocked.roles.list(ListRoles()) if role.name == "member"]
    stocked.roles.amend(AmendRole(role_id=member.role_id, name="guest"))
    with pytest.raises(errors.Conflict, match="create it, with the scope proposals:write"):
        link_to(stocked)
    assert failure(stocked.users.get, GetUser(user_id=MIA_ID)) is errors.NotFound
    stocked.roles.create(CreateRole(name="member", scope=("proposals:write",)))
    assert works(stocked, by_link(stocked, link_to(stocked)))


@pytest.mark.rule("contract C1", "contract R5")
def test_guessing_is_limited(stocked: LogoAdmin) -> None:
    link = link_to(stocked)
    for number in range(100):
        assert failure(by_link, stocked, f"guess {number}", HERE) is errors.SignInRefused
    assert failure(by_link, stocked, link, HERE) is errors.TooManySignIns
    assert works(stocked, by_link(stocked, link, THERE))


@pytest.mark.rule("contract O1")
def test_members_by_link_cannot_set_a_password_or_factors(stocked: LogoAdmin) -> None:
    who = caller(stocked, by_link(stocked, link_to(stocked)))
    assert stocked.sessions.me(WhoAmI(), who).by_link
    with pytest.raises(errors.SignsInByLink, match="You sign in through your site"):
        stocked.users.set_password(SetPassword(user_id=MIA_ID, password="correct horse"), who)
    for add in (lambda: enrol(stocked, who), lambda: add_passkey(stocked, who, Authenticator(site=LOCAL))):
        assert failure(add) is errors.SignsInByLink
    assert works(stocked, by_link(stocked, link_to(stocked)))
    # Others may give them another way in, which they can change from then on.
    stocked.users.set_password(SetPassword(user_id=MIA_ID, password=MIAS.password))
    assert not stocked.sessions.me(WhoAmI(), caller(stocked, stocked.sessions.sign_in(MIAS))).by_link
    assert not stocked.sessions.me(WhoAmI(), caller(stocked, stocked.sessions.sign_in(ADMIN))).by_link


@pytest.mark.rule("contract O1")
def test_a_user_without_a_password_enrols_no_app_that_would_lock_them_out(stocked: LogoAdmin) -> None:
    link_to(stocked)
    who = ActingAs(MIA_ID, signed_in_at=NOW)
    with pytest.raises(errors.Conflict, match=r"^An authenticator app is only the second step of a sign-in; set "):
        enrol(stocked, who)
    assert stocked.factors.list(ListFactors(), who) == ()
    passkey = add_passkey(stocked, who, Authenticator(site=LOCAL))
    begun = stocked.factors.enrol_totp(EnrolTotp(name="Phone"), who)
    stocked.factors.remove(RemoveFactor(factor_id=passkey.factor_id), who)
    with pytest.raises(errors.Conflict, match="only the second step"):
        stocked.factors.confirm_totp(ConfirmTotp(factor_id=begun.factor_id, code=code_of(begun, NOW)), who)
    passkey = add_passkey(stocked, who, Authenticator(site=LOCAL))
    enrol(stocked, who)
    with pytest.raises(errors.Conflict, match="only the second step"):
        stocked.factors.remove(RemoveFactor(factor_id=passkey.factor_id), who)
    stocked.users.set_password(SetPassword(user_id=MIA_ID, password="correct horse"), who)
    stocked.factors.remove(RemoveFactor(factor_id=passkey.factor_id), who)


OTHER_WAYS: Final[dict[str, Callable[[LogoAdmin, Storage], object]]] = {
    "has a password": lambda gallery, _: gallery.users.set_password(
        SetPassword(user_id=MIA_ID, password=MIAS.password)
    ),
    "has a second factor": lambda gallery, _: add_passkey(
        gallery, ActingAs(MIA_ID, signed_in_at=NOW), Authenticator(site=LOCAL)
    ),
    "has an identity of the issuer": lambda _, storage: storage.write(
        lambda uow: uow.identity.identities.put(Identity("https://issuer.test", "mia", MIA_ID, "[]"))
    ),
    "has scopes that you cannot grant": lambda gallery, _: gallery.users.amend(AmendUser(user_id=MIA_ID, role_id=3)),
}


@R5
@pytest.mark.parametrize("cause", OTHER_WAYS)
def test_users_with_another_way_in_or_more_rights_get_no_link(
    stocked: LogoAdmin, storage: MemoryStorage, cause: str
) -> None:
    who = site_key(stocked, "users:write")
    link = link_to(stocked, who=who)
    OTHER_WAYS[cause](stocked, storage)
    LINK.is_refused(stocked, link)  # made before
    with pytest.raises(errors.LinkRefused, match=f"^User {MIA_ID} {cause}$"):
        stocked.links.create(MIA, who)


@pytest.mark.rule("contract B4", "contract C5", "contract O3", "contract R5")
def test_only_callers_who_may_let_a_user_in_can_create_a_link(stocked: LogoAdmin, clock: FrozenClock) -> None:
    site = site_key(stocked, "users:write")
    link_to(stocked, who=site)
    stocked.users.amend(AmendUser(user_id=MIA_ID, role_id=3))
    for scope in (("users:write",), ("users:write", "logos:write", "themes:write"), ("*",)):
        with pytest.raises(errors.NotPermitted):  # the session would outlive the key
            stocked.links.create(MIA, site_key(stocked, *scope))
    assert failure(stocked.links.create, MIA, site_key(stocked, "logos:write")) is errors.NotPermitted
    for administrator in (ADMIN_ID, 7):
        with pytest.raises(errors.NotPermitted):
            stocked.links.create(CreateLink(user_id=administrator, username="Mia"), site_key(stocked, "*"))
    admin = caller(stocked, stocked.sessions.sign_in(ADMIN))
    assert works(stocked, by_link(stocked, link_to(stocked, who=admin)))
    clock.pass_by(601)
    assert failure(stocked.links.create, MIA, admin) is errors.RecentSignInRequired


@R5
def test_the_name_of_another_user_is_a_conflict_and_changes_nothing(stocked: LogoAdmin) -> None:
    stocked.authors.create(CreateAuthor(user_id=MIA_ID, username="Mia"))  # an author may have any name
    who = site_key(stocked, "users:write")
    for _ in range(2):
        with pytest.raises(errors.DuplicateEntry, match="Duplicate entry 'ann' for key 'username'") as caught:
            stocked.links.create(CreateLink(user_id=MIA_ID, username="ann"), who)
        assert not isinstance(caught.value, errors.DuplicateUpdate)
        link_to(stocked, who=who)
    assert stocked.users.get(GetUser(user_id=MIA_ID)).username == "Mia"


@R5
def test_a_removed_member_has_no_link_left(stocked: LogoAdmin) -> None:
    link = link_to(stocked)
    stocked.users.remove(RemoveUser(user_id=MIA_ID))
    LINK.is_refused(stocked, link)
    stocked.users.create(CreateUser(user_id=MIA_ID, username="Another", password="a password of hers"))
    LINK.is_refused(stocked, link)
