"""Signing in through an issuer: identities, users and roles (contract O7, ASVS 6.8.1, 10.5.2)."""

from collections.abc import Callable
from dataclasses import dataclass, field, replace
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from logoadmin import CreateAuthor, CreateSignInCode, ListEvents, LogoAdmin, SignIn, SignInWithCode, Tokens, User
from logoadmin.adapters.memory_storage import MemoryStorage
from logoadmin.domain.changes import history as changes
from logoadmin.domain.identity import service_keys as keys
from logoadmin.domain.identity import sessions, users
from logoadmin.domain.identity.accounts import FIRST_USER_ID
from logoadmin.domain.identity.issuer_sign_in import IssuerFailure, IssuerWay, ShowWays, SignInByIssuer, SignInWays
from logoadmin.domain.identity.issuer_users import looks
from logoadmin.domain.kernel import errors
from logoadmin.domain.kernel.access import ActingAs, Anonymous, Caller, KeyHolder, Occasion, Owner, SignedIn, Source
from logoadmin.domain.kernel.command import Command
from logoadmin.domain.kernel.limits import MAX_NAME
from logoadmin.ports.issuer import Authorization, IssuedIdentity
from logoadmin.settings import settings_of
from logoadmin.settings.rules import sign_in_rules
from logoadmin.settings.values import GITHUB
from tests.domain.identity.sign_ins import caller, key_of, refresh
from tests.gallery import ADMIN_ID, ANN_PASSWORD, FrozenClock, failure, gallery_on, stock

pytestmark = pytest.mark.rule("contract O7")

URL = "https://login.example/realms/a"
CODE: dict[str, Any] = {
    "code": "SplxlOBeZQQYbYS6WxSbIA",
    "code_verifier": "dBjftJeZ4CVP-mB92K27uhbUJU1p1r_wW1gFWFOEjXk",
    "nonce": "n-0S6_WzA2Mj0S6_WzA2Mj",
    "redirect_uri": "http://localhost:8000/console/",
}
ROLES = {"oidc_roles": "admins=admin,editors=painter,staff=3", "oidc_default_role": None}
SINGLE = SignInByIssuer(**CODE)
ANN = IssuedIdentity("248289761001", ("editors",), ("ann", "Ann Other"))
FROM_HOME = Anonymous("203.0.113.7", None, "Firefox")


@dataclass
class FakeIssuer:
    """An issuer that returns the person or failure that a test sets."""

    person: IssuedIdentity = ANN
    fails: Exception | None = None
    url: str = URL
    name: str = "login.example"
    client_id: str = "gallery"
    return_url: str = "http://localhost:8000/console/"
    redeemed: list[tuple[str, ...]] = field(default_factory=list)

    def authorization(self) -> Authorization:
        if self.fails is not None:
            raise self.fails
        return Authorization("https://login.example/authorize", "openid", self.url, iss_in_response=True)

    def redeem(self, code: str, code_verifier: str, nonce: str, now: int) -> IssuedIdentity:
        assert now > 0
        self.redeemed.append((code, code_verifier, nonce))
        if self.fails is not None:
            raise self.fails
        return self.person


Opened = Callable[..., LogoAdmin]


@pytest.fixture
def fake() -> FakeIssuer:
    return FakeIssuer()


@pytest.fixture
def opened(storage: MemoryStorage, clock: FrozenClock, fake: FakeIssuer) -> Opened:
    """Open the gallery with other settings."""

    def opened(*, started: bool = False, **given: Any) -> LogoAdmin:
        client = {"oidc_issuer": URL, "oidc_client_id": "gallery", "oidc_client_secret": "s3cret"}
        rules = sign_in_rules(settings_of(**{**client, **ROLES, **given}))
        return gallery_on(storage, clock, started=started, sign_in=rules, issuer=fake)

    return opened


@pytest.fixture
def gallery(opened: Opened) -> LogoAdmin:
    found = opened(started=True)
    stock(found)
    return found


def user_of(gallery: LogoAdmin, tokens: Tokens) -> User:
    me = gallery.sessions.me(sessions.WhoAmI(), caller(gallery, tokens))
    return gallery.users.get(users.GetUser(user_id=me.user_id))


def sign_in(gallery: LogoAdmin, person: IssuedIdentity | None = None, **options: Any) -> Tokens:
    issuer = gallery._ports.issuer
    assert isinstance(issuer, FakeIssuer)
    issuer.person = person or issuer.person
    return gallery.single_sign_on.sign_in(SINGLE.model_copy(update=options), FROM_HOME)


def with_groups(*groups: str, subject: str = ANN.subject) -> IssuedIdentity:
    return IssuedIdentity(subject, groups, ANN.names)


# Identities and users


def test_a_person_becomes_a_user_with_the_role_of_their_group(gallery: LogoAdmin, fake: FakeIssuer) -> None:
    tokens = sign_in(gallery)
    user = user_of(gallery, tokens)
    assert (user.user_id, user.username, user.role_id, user.avatar) == (FIRST_USER_ID, "ann-2", 3, None)
    assert tokens.scope == "logos:write themes:write"
    (session,) = gallery.sessions.list(sessions.ListSessions(), caller(gallery, tokens))
    assert (session.factor, session.address, session.user_agent) == ("issuer", "203.0.113.7", "Firefox")
    assert fake.redeemed == [(CODE["code"], CODE["code_verifier"], CODE["nonce"])]


def test_a_person_stays_the_same_user_under_another_name(gallery: LogoAdmin) -> None:
    first = user_of(gallery, sign_in(gallery))
    version = gallery.changes.version()
    again = user_of(gallery, sign_in(gallery, IssuedIdentity(ANN.subject, ANN.groups, ("Ann Married",))))
    assert first == again
    assert gallery.changes.version() == version  # nothing was changed


def test_the_same_name_at_the_issuer_does_not_match_an_existing_user(gallery: LogoAdmin) -> None:
    """Neither a name nor an address gives access to the account of another (ASVS 6.8.1)."""
    names = ("ann", "administrator", "admin")
    taken = {user_of(gallery, sign_in(gallery, IssuedIdentity(f"{n}", ("editors",), names))).username for n in range(3)}
    assert taken == {"ann-2", "ann-3", "ann-4"}
    assert gallery.users.get(users.GetUser(user_id=7)).role_id == 1
    assert user_of(gallery, sign_in(gallery, with_groups("editors", subject="0"))).username == "ann-2"


@pytest.mark.parametrize(
    ("names", "username"),
    [
        *((("\u202eevil\x00\n",), "evil"), (("", " ", "\u3164", "Bea"), "Bea"), (("x" * 300,), "x" * 64), ((), "user")),
        *((("admin",), "admin-2"), (("\u0430dmin",), "\u0430dmin-2"), (("Admin",), "Admin-2")),
        *((("\uff41\uff44\uff4d\uff49\uff4e",), "\uff41\uff44\uff4d\uff49\uff4e-2"), (("adrnin",), "adrnin-2")),
        *((("\u0410\u043d\u043d",), "\u0410\u043d\u043d"), (("\u0430nn",), "\u0430nn-2")),
    ],
)
def test_names_are_made_valid_and_unique(gallery: LogoAdmin, names: tuple[str, ...], username: str) -> None:
    assert user_of(gallery, sign_in(gallery, IssuedIdentity("s", ("editors",), names))).username == username


def test_a_subject_at_another_issuer_is_another_user(gallery: LogoAdmin, opened: Opened, fake: FakeIssuer) -> None:
    """The same sub at another issuer is another person (ASVS 6.8.1, 10.5.2)."""
    tokens = sign_in(gallery)
    fake.url = "https://other.example"
    moved = opened(oidc_issuer=fake.url)
    assert user_of(moved, sign_in(moved)).user_id == FIRST_USER_ID + 1
    with pytest.raises(errors.InvalidToken):  # of the issuer that was
        refresh(moved, tokens)


def test_the_id_of_a_removed_user_is_not_reused(gallery: LogoAdmin) -> None:
    first = user_of(gallery, sign_in(gallery))
    gallery.users.remove(users.RemoveUser(user_id=first.user_id))
    assert user_of(gallery, sign_in(gallery)).user_id == first.user_id + 1


def test_changes_of_users_are_in_the_history(gallery: LogoAdmin) -> None:
    before = gallery.changes.version()
    user_id = user_of(gallery, sign_in(gallery)).user_id
    sign_in(gallery, with_groups("admins"))
    made = [*gallery.changes.list(changes.ListChanges(after=before))]
    assert [(change.action, change.id, change.user_id) for change in made] == [
        ("user.created", user_id, None),
        ("user.amended", user_id, None),
    ]


@pytest.mark.rule("contract G", "contract O9", "contract H6")
@pytest.mark.parametrize(
    ("embedder", "address"),
    [
        (SignedIn(ADMIN_ID, "ended", "a-1", "203.0.113.9", "App/1", Occasion(Source.COMMAND_LINE)), "203.0.113.9"),
        (ActingAs(ADMIN_ID, "a-1", "203.0.113.9", occasion=Occasion(Source.COMMAND_LINE)), "203.0.113.9"),
        (KeyHolder("unknown", "a-1", Occasion(Source.COMMAND_LINE)), None),
        (Owner("a-1", Occasion(Source.COMMAND_LINE)), None),
    ],
)
def test_signing_in_and_refreshing_are_recorded_with_the_request_of_any_caller(
    gallery: LogoAdmin, opened: Opened, embedder: Caller, address: str | None
) -> None:
    before = gallery.changes.version()
    tokens = gallery.single_sign_on.sign_in(SINGLE, embedder)
    opened(oidc_roles="editors=admin").sessions.refresh(sessions.Refresh(refresh_token=tokens.refresh_token), embedder)
    made = [*gallery.changes.list(changes.ListChanges(after=before))]
    recorded = [(change.action, change.user_id, change.request_id, change.source) for change in made]
    assert recorded == [(action, None, "a-1", "command line") for action in ("user.created", "user.amended")]
    (event,) = [*gallery.events.list(ListEvents())]
    assert (event.event, event.address, event.by_user_id) == ("signed_in", address, None)


def test_the_program_itself_cannot_sign_in_or_refresh(gallery: LogoAdmin) -> None:
    nobody: Any = None
    sign_ins: list[tuple[Any, Command]] = [
        (gallery.single_sign_on.sign_in, SINGLE),
        (gallery.sessions.sign_in, SignIn(username="ann", password=ANN_PASSWORD)),
        (gallery.sessions.refresh, sessions.Refresh(refresh_token="unknown")),
    ]
    for use_case, command in sign_ins:
        with pytest.raises(TypeError, match=r"^the caller is of type NoneType"):
            use_case(command, nobody)


# Roles


@pytest.mark.parametrize(
    ("groups", "role_id"),
    [(("editors", "admins"), 2), (("staff",), 3), (("other", "editors"), 3), (("EDITORS", "staff"), 3)],
)
def test_the_first_listed_group_decides(gallery: LogoAdmin, groups: tuple[str, ...], role_id: int) -> None:
    assert user_of(gallery, sign_in(gallery, with_groups(*groups))).role_id == role_id


def test_roles_follow_at_each_sign_in(gallery: LogoAdmin) -> None:
    """Gaining or losing a group takes effect at once."""
    assert user_of(gallery, sign_in(gallery)).role_id == 3
    tokens = sign_in(gallery, with_groups("admins"))
    assert (user_of(gallery, tokens).role_id, tokens.scope) == (2, "*")
    user_id = user_of(gallery, tokens).user_id
    gallery.users.amend(users.AmendUser(user_id=user_id, role_id=1))
    assert user_of(gallery, sign_in(gallery)).role_id == 2
    demoted = sign_in(gallery, with_groups("editors"))
    assert user_of(gallery, demoted).role_id == 3
    assert gallery.sessions.me(sessions.WhoAmI(), caller(gallery, tokens)).role_id == 3


def test_users_without_a_role_cannot_sign_in_and_their_open_sessions_end(gallery: LogoAdmin, opened: Opened) -> None:
    tokens = refresh(gallery, sign_in(gallery))
    with pytest.raises(errors.SignInForbidden, match=r"^No role for your groups at the issuer$"):
        sign_in(gallery, with_groups("former editors"))
    assert failure(refresh, gallery, tokens) is errors.InvalidToken
    assert failure(gallery.sessions.me, sessions.WhoAmI(), caller(gallery, tokens)) is errors.InvalidToken
    version = gallery.changes.version()
    assert failure(sign_in, gallery, with_groups(subject="stranger")) is errors.SignInForbidden
    assert gallery.changes.version() == version
    everybody = opened(oidc_default_role="1")
    assert user_of(everybody, sign_in(everybody, with_groups(subject="stranger"))).role_id == 1


@pytest.mark.rule("contract B4", "contract O7")
def test_a_refused_user_has_no_rights_until_the_issuer_returns_a_group_again(gallery: LogoAdmin) -> None:
    tokens = sign_in(gallery, with_groups("admins"))
    user = user_of(gallery, tokens)
    user_id, name = user.user_id, user.username
    gallery.users.set_password(users.SetPassword(user_id=user_id, password="a password too"))
    with_password = SignIn(username=name, password="a password too")
    tokens = sign_in(gallery, with_groups("admins"))
    other = gallery.sessions.sign_in(with_password)
    key = key_of(gallery, caller(gallery, other), "*")
    code = gallery.sign_in_codes.create(CreateSignInCode(user_id=user_id))

    assert failure(sign_in, gallery, with_groups("others")) is errors.SignInForbidden
    for who in (caller(gallery, tokens), caller(gallery, other), key):
        assert failure(gallery.users.get, users.GetUser(user_id=user_id), who) is errors.InvalidToken
        assert failure(gallery.authors.create, CreateAuthor(user_id=7, username="Eve"), who) is errors.InvalidToken
    for each in (tokens, other):
        assert failure(refresh, gallery, each) is errors.InvalidToken
    with pytest.raises(errors.SignInForbidden, match="No role for your groups"):
        gallery.sessions.sign_in(with_password)
    made_code = SignInWithCode(username=name, code=code.code)
    with pytest.raises(errors.SignInRefused):  # the refusal has removed it
        gallery.sign_in_codes.sign_in(made_code)
    # The user does not count as a remaining administrator either.
    assert failure(gallery.users.remove, users.RemoveUser(user_id=ADMIN_ID)) is errors.Conflict
    assert failure(sign_in, gallery, with_groups()) is errors.SignInForbidden
    gallery.users.set_password(users.SetPassword(user_id=user_id, password="another one"))
    assert failure(gallery.sessions.sign_in, SignIn(username=name, password="another one")) is errors.SignInForbidden

    sign_in(gallery, with_groups("admins"))
    gallery.users.get(users.GetUser(user_id=user_id), key)
    gallery.sessions.sign_in(SignIn(username=name, password="another one"))
    gallery.users.remove(users.RemoveUser(user_id=ADMIN_ID))


def test_open_sessions_follow_the_settings_at_their_refresh(gallery: LogoAdmin, opened: Opened) -> None:
    tokens = sign_in(gallery)
    promoting = opened(oidc_roles="editors=admin")
    tokens = refresh(promoting, tokens)
    assert (tokens.scope, user_of(promoting, tokens).role_id) == ("*", 2)
    assert failure(refresh, opened(oidc_roles="others=painter"), tokens) is errors.InvalidToken


def test_a_missing_role_lets_nobody_in(gallery: LogoAdmin, opened: Opened, caplog: pytest.LogCaptureFixture) -> None:
    tokens = sign_in(gallery)
    for role in ("Painter", "99", "99999999999", "-1", "٣"):
        assert failure(sign_in, opened(oidc_roles={"editors": role})) is errors.SignInForbidden
        assert caplog.records[-1].getMessage().endswith(f"the role {role}, which does not exist")
    assert failure(refresh, opened(oidc_roles="editors=nobody"), tokens) is errors.InvalidToken


def test_without_groups_administrators_decide_after_the_first_sign_in(gallery: LogoAdmin, opened: Opened) -> None:
    """A moderator of a gallery without a site signs in at GitHub as well."""
    person = IssuedIdentity("583231", None, ("octo-ann",), avatar="https://avatars.example/583231.png")
    client = {"oidc_issuer": GITHUB, "oidc_roles": ()}
    github = opened(**client, oidc_default_role="1")
    user = user_of(github, sign_in(github, person))
    assert (user.user_id, user.username, user.role_id) == (FIRST_USER_ID, "octo-ann", 1)
    assert user.avatar == person.avatar
    gallery.users.amend(users.AmendUser(user_id=user.user_id, role_id=3))
    tokens = refresh(github, sign_in(github, replace(person, names=("renamed",))))
    assert user_of(github, tokens) == replace(user, role_id=3)
    tokens = refresh(opened(**client, oidc_default_role="2"), tokens)
    assert tokens.scope == "logos:write themes:write"
    missing = opened(**client, oidc_default_role="missing")
    assert user_of(missing, refresh(missing, sign_in(missing, person))).role_id == 3
    assert failure(sign_in, missing, replace(person, subject="1")) is errors.SignInForbidden


@pytest.mark.rule("contract O3")
def test_a_user_learns_whether_they_can_sign_in_recently(gallery: LogoAdmin, opened: Opened) -> None:
    """GitHub may have kept them signed in; an issuer of OpenID Connect says when it asked them, if asked to."""

    def can_step_up(of: LogoAdmin, tokens: Tokens) -> bool:
        return of.sessions.me(sessions.WhoAmI(), caller(of, tokens)).can_step_up

    assert can_step_up(gallery, sign_in(gallery))
    client = {"oidc_issuer": GITHUB, "oidc_roles": (), "oidc_default_role": "1"}
    github, without = opened(**client), opened(**client, password_sign_in=False)
    tokens = sign_in(github, IssuedIdentity("583231", None, ("octo-ann",)))
    user = user_of(github, tokens)
    assert not can_step_up(github, tokens)
    code = github.sign_in_codes.create(CreateSignInCode(user_id=user.user_id)).code
    by_code = github.sign_in_codes.sign_in(SignInWithCode(username=user.username, code=code), FROM_HOME)
    assert can_step_up(github, by_code)
    command = users.SetPassword(user_id=user.user_id, password=ANN_PASSWORD)
    github.users.set_password(command, caller(github, by_code))
    tokens = sign_in(github, IssuedIdentity("583231", None, ("octo-ann",)))
    assert can_step_up(github, tokens)
    assert not can_step_up(without, tokens)


def test_the_last_administrator_keeps_their_role(gallery: LogoAdmin, opened: Opened) -> None:
    tokens = sign_in(gallery, with_groups("admins"))
    gallery.users.amend(users.AmendUser(user_id=ADMIN_ID, role_id=1))
    assert failure(sign_in, gallery, with_groups("editors")) is errors.Conflict
    assert user_of(gallery, tokens).role_id == 2
    assert failure(refresh, opened(oidc_roles="admins=painter"), tokens) is errors.InvalidToken


# Refusals


def test_a_refusal_by_the_issuer_creates_no_session(gallery: LogoAdmin, fake: FakeIssuer) -> None:
    for error in (errors.IssuerRefused(), errors.IssuerUnavailable("login.example", "500")):
        fake.fails = error
        with pytest.raises(type(error)):
            sign_in(gallery)
    assert gallery.users.list(users.ListUsers()).first[-1].user_id == ADMIN_ID


def test_another_redirect_uri_never_reaches_the_issuer(gallery: LogoAdmin, fake: FakeIssuer) -> None:
    """The code was meant for another page (ASVS 10.1.2)."""
    for uri in ("https://evil.example/", "http://localhost:8000/console", "http://localhost:8000/console/?x"):
        assert failure(sign_in, gallery, redirect_uri=uri) is errors.IssuerRefused
    assert fake.redeemed == []


def test_guesses_are_limited(gallery: LogoAdmin, fake: FakeIssuer) -> None:
    for _ in range(101):  # a success is not a failed attempt
        sign_in(gallery)
    fake.redeemed.clear()
    fake.fails = errors.IssuerRefused()
    for _ in range(100):
        assert failure(sign_in, gallery) is errors.IssuerRefused
    assert failure(sign_in, gallery) is errors.TooManySignIns
    assert len(fake.redeemed) == 100


def test_without_an_issuer_single_sign_on_is_refused(storage: MemoryStorage, clock: FrozenClock) -> None:
    gallery = gallery_on(storage, clock)
    assert failure(gallery.single_sign_on.sign_in, SINGLE) is errors.SignInForbidden
    assert gallery.single_sign_on.ways(ShowWays()) == SignInWays(True, True, "http://localhost:8000", None)


# The ways


def test_the_sign_in_methods_have_everything_a_browser_needs(gallery: LogoAdmin, fake: FakeIssuer) -> None:
    urls = "https://login.example/authorize", "gallery", "http://localhost:8000/console/"
    way = IssuerWay("login.example", *urls, "openid", URL, iss_in_response=True)
    assert gallery.single_sign_on.ways(ShowWays()).issuer == way
    fake.fails = errors.IssuerUnavailable("login.example", "s3cret reason")
    failure = IssuerFailure("login.example", "Cannot reach the issuer login.example")
    assert gallery.single_sign_on.ways(ShowWays()).issuer == failure


@pytest.mark.usefixtures("gallery")
def test_passwords_can_be_switched_off(opened: Opened) -> None:
    without = opened(password_sign_in=False)
    assert without.single_sign_on.ways(ShowWays()).password is False
    for username, password in (("ann", ANN_PASSWORD), ("ann", "wrong"), ("nobody", "x")):
        with pytest.raises(errors.SignInForbidden, match=r"^Signing in with a password is switched off$"):
            without.sessions.sign_in(SignIn(username=username, password=password))
    assert user_of(without, sign_in(without)).role_id == 3


@pytest.mark.rule("contract O3", "contract O7")
@pytest.mark.parametrize(
    ("ago", "is_recent"), [(None, False), (0, True), (600, True), (700, False), (10**9, False), (-30, True)]
)
def test_an_old_sign_in_at_the_issuer_is_not_recent(
    gallery: LogoAdmin, clock: FrozenClock, ago: int | None, is_recent: bool
) -> None:
    """ASVS 6.8.4, 10.3.4."""
    person = replace(ANN, authenticated_at=None if ago is None else clock.now() - ago)
    who = caller(gallery, sign_in(gallery, person))
    command = keys.CreateKey(name="script", scope=())
    if is_recent:
        assert gallery.keys.create(command, who).key.startswith("lga_")
    else:
        assert failure(gallery.keys.create, command, who) is errors.RecentSignInRequired
    assert gallery.sessions.me(sessions.WhoAmI(), who).user_id >= FIRST_USER_ID


# Names that look alike


@pytest.mark.parametrize(
    ("name", "other"),
    [
        # Letters of Cyrillic, Greek and Armenian, of mathematics, and in full width.
        *((name, "admin") for name in ("\u0430dmin", "\u03b1dmin", "\u0430\u0501m\u0456\u0578", "\u0410DMIN", "ADMIN")),
        *((name, "admin") for name in ("\uff41\uff44\uff4d\uff49\uff4e", "ad\u200bmin", "adrnin")),
        ("\U0001d41a\U0001d41d\U0001d426\U0001d422\U0001d427", "admin"),
        *(("VIadimir", "vladimir"), ("user1", "userl"), ("B0b", "BOB"), ("\u0441\u043e\u0440\u0430", "copa")),
        *(("a\u0301nn", "\u00e1nn"), ("\u00e1nn", "ann")),
    ],
)
def test_lookalikes_are_recognised(name: str, other: str) -> None:
    assert not looks(name).isdisjoint(looks(other))


@pytest.mark.parametrize("name", ["adnin", "administrator", "\u0430\u0434\u043c\u0438\u043d", "nimda", "admi2"])
def test_different_names_are_not_lookalikes(name: str) -> None:
    assert looks(name).isdisjoint(looks("admin"))


@given(st.text(max_size=MAX_NAME))
def test_every_name_looks_like_itself_in_any_case(name: str) -> None:
    assert not looks(name).isdisjoint(looks(name.casefold()))
