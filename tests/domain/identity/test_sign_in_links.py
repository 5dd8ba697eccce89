"""Links that sign members of the host site in, and attacks on them (contract R5)."""

from typing import Any, Final

import pytest

from logoadmin.adapters.memory_storage import MemoryStorage
from logoadmin.domain.gallery.authors import CreateAuthor
from logoadmin.domain.identity.accounts import FIRST_USER_ID
from logoadmin.domain.identity.factors import ListFactors, RemoveFactor
from logoadmin.domain.identity.one_time_sign_in import CreateLink, SignInWithLink
from logoadmin.domain.identity.records import Tokens
from logoadmin.domain.identity.roles import AmendRole, CreateRole, ListRoles
from logoadmin.domain.identity.second_step import SignInWithFactor
from logoadmin.domain.identity.service_keys import CreateKey
from logoadmin.domain.identity.sessions import SignIn, WhoAmI
from logoadmin.domain.identity.users import AmendUser, CreateUser, FindUser, GetUser, RemoveUser, SetPassword
from logoadmin.domain.kernel import errors
from logoadmin.domain.kernel.access import ANONYMOUS, ActingAs, Anonymous, Caller
from logoadmin.domain.kernel.limits import MAX_ID
from logoadmin.domain.logo_admin import LogoAdmin
from logoadmin.domain.public_url import LOCAL
from logoadmin.ports.sign_in_storage import Identity
from logoadmin.ports.storage import Storage
from tests.domain.identity.second_factors import enrol
from tests.domain.identity.sign_ins import ADMIN, caller, refresh, works
from tests.domain.identity.test_passkeys import enrol as add_passkey
from tests.gallery import ADMIN_ID, NOW, FrozenClock
from tests.passkeys import Authenticator

pytestmark = pytest.mark.rule("contract R5")

MIA_ID: Final = 1042
MIA: Final = CreateLink(user_id=MIA_ID, username="Mia", avatar="https://site.example/mia.png")
MIAS: Final = SignIn(username="Mia", password="a password of hers")
HERE: Final = Anonymous("192.0.2.1", user_agent="Firefox")
REFUSED: Final = r"^This link was used before, or has expired$"


def key(gallery: LogoAdmin, *scope: str) -> Caller:
    """Return the holder of a service key that an administrator made for the site."""
    admin = caller(gallery, gallery.sessions.sign_in(ADMIN))
    made = gallery.keys.create(CreateKey(name="site", scope=scope), admin)
    return gallery.sessions.caller(made.key)


def made(gallery: LogoAdmin, command: CreateLink = MIA, who: Caller | None = None) -> str:
    """Return the secret part of a new link."""
    return gallery.links.create(command, who or key(gallery, "users:write")).link


def sign_in(gallery: LogoAdmin, link: str, client: Caller = ANONYMOUS) -> Tokens:
    return gallery.links.sign_in(SignInWithLink(link=link), client)


def refused(gallery: LogoAdmin, link: str) -> None:
    with pytest.raises(errors.SignInRefused, match=REFUSED):
        sign_in(gallery, link)


# Effects


def test_a_link_creates_a_member_and_signs_in_once(stocked: LogoAdmin, storage: MemoryStorage) -> None:
    who = key(stocked, "users:write")
    link = stocked.links.create(MIA, who)
    assert link.expires_at == NOW + 300
    assert link.link not in repr(link)
    tokens = sign_in(stocked, link.link, HERE)
    me = stocked.sessions.me(WhoAmI(), caller(stocked, tokens))
    assert (me.user_id, me.username, me.avatar, me.scope) == (MIA_ID, "Mia", MIA.avatar, ("proposals:write",))
    with pytest.raises(errors.SignInRefused, match=REFUSED):  # in a second browser
        sign_in(stocked, link.link, Anonymous("198.51.100.7"))
    assert works(stocked, refresh(stocked, tokens))
    events = storage.read(lambda uow: uow.identity.events.page(2**31, 2, MIA_ID))
    assert [(event.event, event.address, event.factor) for event in events] == [
        ("signed_in", "192.0.2.1", "link"),
        ("link_made", None, None),
    ]
    assert link.link not in str(events)


def test_a_new_link_updates_name_and_avatar_and_replaces_the_previous_link(stocked: LogoAdmin) -> None:
    who = key(stocked, "users:write")
    first = made(stocked, who=who)
    second = made(stocked, CreateLink(user_id=MIA_ID, username="Mia M."), who)
    refused(stocked, first)
    assert works(stocked, sign_in(stocked, second))
    user = stocked.users.get(GetUser(user_id=MIA_ID))
    assert (user.username, user.avatar) == ("Mia M.", MIA.avatar)
    made(stocked, CreateLink(user_id=MIA_ID, username="Mia M.", avatar=None), who)
    assert stocked.users.get(GetUser(user_id=MIA_ID)).avatar is None


def test_a_link_without_an_id_always_creates_a_new_user(stocked: LogoAdmin) -> None:
    who = key(stocked, "users:write")
    ids = []
    for name in ("Mia", "Noa"):
        assert works(stocked, sign_in(stocked, made(stocked, CreateLink(username=name), who)))
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


def test_a_link_without_a_name_requires_an_existing_user_and_keeps_their_name(stocked: LogoAdmin) -> None:
    who = key(stocked, "users:write")
    with pytest.raises(errors.NotFound):
        stocked.links.create(CreateLink(user_id=MIA_ID), who)
    first = made(stocked, who=who)
    version = stocked.users.get(GetUser(user_id=MIA_ID)).version
    second = made(stocked, CreateLink(user_id=MIA_ID), who)
    refused(stocked, first)
    assert works(stocked, sign_in(stocked, second))
    user = stocked.users.get(GetUser(user_id=MIA_ID))
    assert (user.username, user.avatar, user.version) == ("Mia", MIA.avatar, version)


def test_without_the_role_the_error_names_it(stocked: LogoAdmin) -> None:
    (member,) = [role for role in stocked.roles.list(ListRoles()) if role.name == "member"]
    stocked.roles.amend(AmendRole(role_id=member.role_id, name="guest"))
    with pytest.raises(errors.Conflict, match="create it, with the scope proposals:write"):
        made(stocked)
    with pytest.raises(errors.NotFound):
        stocked.users.get(GetUser(user_id=MIA_ID))
    stocked.roles.create(CreateRole(name="member", scope=("proposals:write",)))
    assert works(stocked, sign_in(stocked, made(stocked)))


# Attacks


@pytest.mark.rule("contract K7", "contract R5")
@pytest.mark.parametrize(
    ("seconds", "is_valid"), [(0, True), (299, True), (300, False), (86_400, False), (-10, True), (-11, False)]
)
def test_a_link_is_valid_for_five_minutes(stocked: LogoAdmin, clock: FrozenClock, seconds: int, is_valid: bool) -> None:
    link = made(stocked)
    clock.pass_by(seconds)
    if is_valid:
        assert works(stocked, sign_in(stocked, link))
    refused(stocked, link)


@pytest.mark.rule("contract C1", "contract R5")
def test_guessing_is_limited(stocked: LogoAdmin) -> None:
    link = made(stocked)
    for number in range(100):
        with pytest.raises(errors.SignInRefused):
            sign_in(stocked, f"guess {number}", HERE)
    with pytest.raises(errors.TooManySignIns):
        sign_in(stocked, link, HERE)
    assert works(stocked, sign_in(stocked, link, Anonymous("198.51.100.7")))


def test_a_link_is_not_accepted_as_another_kind_of_secret(stocked: LogoAdmin) -> None:
    link = made(stocked)
    for other in ("0", "-", "' OR 1=1 --", "é" * 24, "#link="):
        refused(stocked, other)
    with pytest.raises(errors.InvalidToken):
        stocked.sessions.caller(link)
    with pytest.raises(errors.SignInRefused):
        stocked.factors.sign_in(SignInWithFactor(challenge=link, totp="000000"))
    assert works(stocked, sign_in(stocked, link))


@pytest.mark.rule("contract O1")
def test_members_by_link_cannot_set_a_password_or_factors(stocked: LogoAdmin) -> None:
    who = caller(stocked, sign_in(stocked, made(stocked)))
    assert stocked.sessions.me(WhoAmI(), who).by_link
    with pytest.raises(errors.SignsInByLink, match="You sign in through your site"):
        stocked.users.set_password(SetPassword(user_id=MIA_ID, password="correct horse"), who)
    for add in (lambda: enrol(stocked, who), lambda: add_passkey(stocked, who, Authenticator(site=LOCAL))):
        with pytest.raises(errors.SignsInByLink):
            add()
    assert works(stocked, sign_in(stocked, made(stocked)))
    # Others may give them another way in, which they can change from then on.
    stocked.users.set_password(SetPassword(user_id=MIA_ID, password=MIAS.password))
    assert not stocked.sessions.me(WhoAmI(), caller(stocked, stocked.sessions.sign_in(MIAS))).by_link
    assert not stocked.sessions.me(WhoAmI(), caller(stocked, stocked.sessions.sign_in(ADMIN))).by_link


@pytest.mark.rule("contract O1")
def test_a_user_without_a_password_enrols_no_app_that_would_lock_them_out(stocked: LogoAdmin) -> None:
    made(stocked)
    who = ActingAs(MIA_ID, signed_in_at=NOW)
    with pytest.raises(errors.Conflict, match=r"^An authenticator app is only the second step of a sign-in; set "):
        enrol(stocked, who)
    assert stocked.factors.list(ListFactors(), who) == ()
    passkey = add_passkey(stocked, who, Authenticator(site=LOCAL))
    enrol(stocked, who)
    with pytest.raises(errors.Conflict, match="only the second step"):
        stocked.factors.remove(RemoveFactor(factor_id=passkey.factor_id), who)
    stocked.users.set_password(SetPassword(user_id=MIA_ID, password="correct horse"), who)
    stocked.factors.remove(RemoveFactor(factor_id=passkey.factor_id), who)


def with_password(gallery: LogoAdmin, _storage: Storage) -> None:
    gallery.users.set_password(SetPassword(user_id=MIA_ID, password="a password of hers"))


def with_factor(gallery: LogoAdmin, _storage: Storage) -> None:
    add_passkey(gallery, ActingAs(MIA_ID, signed_in_at=NOW), Authenticator(site=LOCAL))


def with_identity(_gallery: LogoAdmin, storage: Storage) -> None:
    identity = Identity("https://issuer.test", "mia", MIA_ID, "[]")
    storage.write(lambda uow: uow.identity.identities.put(identity))


def with_more_rights(gallery: LogoAdmin, _storage: Storage) -> None:
    gallery.users.amend(AmendUser(user_id=MIA_ID, role_id=3))


@pytest.mark.parametrize(
    ("change", "cause"),
    [
        (with_password, "has a password"),
        (with_factor, "has a second factor"),
        (with_identity, "has an identity of the issuer"),
        (with_more_rights, "has scopes that you cannot grant"),
    ],
)
def test_users_with_another_way_in_or_more_rights_get_no_link(
    stocked: LogoAdmin, storage: MemoryStorage, change: Any, cause: str
) -> None:
    who = key(stocked, "users:write")
    link = made(stocked, who=who)
    change(stocked, storage)
    refused(stocked, link)  # made before
    with pytest.raises(errors.LinkRefused, match=f"^User {MIA_ID} {cause}$"):
        stocked.links.create(MIA, who)


@pytest.mark.rule("contract B4", "contract C5", "contract O3", "contract R5")
def test_only_callers_who_may_let_a_user_in_can_create_a_link(stocked: LogoAdmin, clock: FrozenClock) -> None:
    site = key(stocked, "users:write")
    made(stocked, who=site)
    stocked.users.amend(AmendUser(user_id=MIA_ID, role_id=3))
    for scope in (("users:write",), ("users:write", "logos:write", "themes:write"), ("*",)):
        with pytest.raises(errors.NotPermitted):  # the session would outlive the key
            stocked.links.create(MIA, key(stocked, *scope))
    with pytest.raises(errors.NotPermitted):
        stocked.links.create(MIA, key(stocked, "logos:write"))
    for administrator in (ADMIN_ID, 7):
        with pytest.raises(errors.NotPermitted):
            stocked.links.create(CreateLink(user_id=administrator, username="Mia"), key(stocked, "*"))
    admin = caller(stocked, stocked.sessions.sign_in(ADMIN))
    assert works(stocked, sign_in(stocked, made(stocked, who=admin)))
    clock.pass_by(601)
    with pytest.raises(errors.RecentSignInRequired):
        stocked.links.create(MIA, admin)


def test_the_name_of_another_user_is_a_conflict_and_changes_nothing(stocked: LogoAdmin) -> None:
    stocked.authors.create(CreateAuthor(user_id=MIA_ID, username="Mia"))  # an author may have any name
    who = key(stocked, "users:write")
    for _ in range(2):
        with pytest.raises(errors.DuplicateEntry, match="Duplicate entry 'ann' for key 'username'") as caught:
            stocked.links.create(CreateLink(user_id=MIA_ID, username="ann"), who)
        assert not isinstance(caught.value, errors.DuplicateUpdate)
        made(stocked, who=who)
    assert stocked.users.get(GetUser(user_id=MIA_ID)).username == "Mia"


def test_a_removed_member_has_no_link_left(stocked: LogoAdmin) -> None:
    link = made(stocked)
    stocked.users.remove(RemoveUser(user_id=MIA_ID))
    refused(stocked, link)
    stocked.users.create(CreateUser(user_id=MIA_ID, username="Another", password="a password of hers"))
    refused(stocked, link)
