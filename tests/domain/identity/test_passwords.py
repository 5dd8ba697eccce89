"""New passwords, and changing a password with the current one (contract O5)."""

import json
from collections.abc import Callable, Sequence
from functools import partial
from importlib.resources import files
from typing import Any, Final

import pytest

import logoadmin
from logoadmin import AmendSettings, ApplyChanges, ImportRecords, LogoAdmin, SignIn, WhoAmI, starting
from logoadmin.adapters.argon2_passwords import Argon2Passwords
from logoadmin.adapters.memory_storage import MemoryStorage
from logoadmin.adapters.system_environment import SystemRandomness
from logoadmin.domain.identity.first_start import first_start
from logoadmin.domain.identity.new_passwords import NewPasswords
from logoadmin.domain.identity.sign_in_rules import SignInRules, Ways
from logoadmin.domain.identity.users import AmendUser, CreateUser, GetUser, RemoveUser, SetPassword
from logoadmin.domain.kernel import errors
from logoadmin.domain.kernel.access import ANONYMOUS, OWNER, PUBLIC, Anonymous, Caller, Policy, SignedIn
from logoadmin.domain.kernel.records import PasswordHash
from logoadmin.ports.storage import Storage, UnitOfWork
from tests.domain.identity.second_factors import challenged, code_of, enrol, second_step
from tests.domain.identity.sign_ins import ADMIN, ANN, WatchedPasswords, caller, works
from tests.domain.undone import error_of
from tests.gallery import (
    ADMIN_ID,
    ADMIN_PASSWORD,
    ANN_PASSWORD,
    ASKED,
    CHEAP_PASSWORDS,
    FrozenClock,
    WatchedStorage,
    exported,
    failure,
    gallery_on,
    problems,
    right_to,
    stock,
)

pytestmark = pytest.mark.rule("contract O5")

GUARDED: Final = SignInRules(min_password_length=8)
TOO_SHORT: Final = ("String should have at least 8 characters", "string_too_short")
COMMON: Final = ("Password should not be one of the most common ones", "value_error")
REPEATED: Final = ("Password should not repeat one character or run", "value_error")
OBVIOUS: Final = "Password should not be the name of the user, the gallery, the host or the product"
HERE, THERE = "192.0.2.1", "192.0.2.2"


@pytest.fixture
def hasher() -> WatchedPasswords:
    return WatchedPasswords()


@pytest.fixture
def guarded(storage: MemoryStorage, clock: FrozenClock, hasher: WatchedPasswords) -> LogoAdmin:
    """A stocked gallery with the rules of the policy ``guarded``."""
    gallery = stock(gallery_on(storage, clock, Policy.GUARDED, hasher=hasher, sign_in=GUARDED))
    hasher.asked.clear()
    return gallery


def found(password: str, min_length: int | None = 8) -> list[tuple[str, str]]:
    return [(problem.msg, problem.type) for problem in NewPasswords(CHEAP_PASSWORDS, min_length).problems(password)]


# The rules.


@pytest.mark.parametrize(
    ("passwords", "problems"),
    [
        (("", "a", "1234567", "123456é", "😀" * 7), [TOO_SHORT]),
        (("zqxjvkwp", "é" * 7 + "e", "😀" * 7 + "x", " " * 7 + "x", "password and more", "qzxjqzxjq", "zzzzzzzzq"), []),
        (("password", "12345678", "Password1", "QWERTYUIOP", "iLoveYou", "password123", "Jennifer"), [COMMON]),
        (("z" * 9, "é" * 8, "😀" * 8, " " * 8, "qzqzqzqz", "qzxqzxqzx", "Qzxjqzxj"), [REPEATED]),
    ],
    ids=["short", "good", "common in any case", "repetitive"],
)
def test_a_new_password_is_long_rare_and_varied(passwords: Sequence[str], problems: list[tuple[str, str]]) -> None:
    """ASVS 6.2.1 and 6.2.4. The length is counted in characters."""
    assert {password: found(password) for password in passwords} == dict.fromkeys(passwords, problems)


def test_the_minimum_length_is_a_setting() -> None:
    assert found("zqxjvkwpzqx", 12) == [("String should have at least 12 characters", "string_too_short")]
    assert found("zqxjvkwpzqxj", 12) == []
    assert found("wonderwoman", 11) == [COMMON]


def test_the_names_of_the_user_the_host_and_the_product_are_refused() -> None:
    passwords = NewPasswords(CHEAP_PASSWORDS, 8, "gallery-of-ann.example")
    refused = ("logoadmin", "LogoAdmin2026!", "Annabella", "annabella1", "gallery-of-ann", "gallery-of-ann.example")
    for password in refused:
        assert [problem.msg for problem in passwords.problems(password, "Annabella")] == [OBVIOUS], password
    for other in ("logoadministrator", "annabella and ben", "gallery-of-ben"):
        assert passwords.problems(other, "Annabella") == ()
    assert passwords.problems("12345670!", "007") == ()


def test_the_current_title_of_the_gallery_is_refused(storage: MemoryStorage, clock: FrozenClock) -> None:
    gallery = gallery_on(storage, clock, Policy.GUARDED, sign_in=GUARDED)
    gallery.users.create(CreateUser(user_id=1, username="ann", password="aurora2026"))
    gallery.settings.amend(AmendSettings(gallery_title="Aurora Works"))
    for number, password in enumerate(("aurora2026", "Auroraworks!", "aurora works", "2026 works!")):
        with pytest.raises(errors.InvalidInput) as error:
            gallery.users.create(CreateUser(user_id=2, username="ben", password=password))
        assert [problem.msg for problem in error.value.problems] == [OBVIOUS], number
    gallery.users.create(CreateUser(user_id=2, username="ben", password="aurora and more"))


def test_the_list_has_more_than_the_three_thousand_most_common_passwords() -> None:
    """ASVS 6.2.4: those of at least 8 characters, normalised, most common first."""
    listed = files("logoadmin.domain.identity").joinpath("common_passwords.txt").read_text("utf-8").splitlines()
    assert {"password", "12345678", "123456789", "jennifer", "michelle", "88888888"} <= {*listed[:60]}
    assert len(set(listed)) == len(listed) > 10_000
    assert all(len(each) >= 8 and each == each.casefold() == each.strip() for each in listed)


def test_under_open_only_the_limits_of_the_specification_hold(gallery: LogoAdmin) -> None:
    gallery.users.create(CreateUser(user_id=7, username="ann", password="1"))
    gallery.users.set_password(SetPassword(user_id=7, password="password"))
    gallery.sessions.sign_in(SignIn(username="ann", password="password"))


# Every way to set a password.


def applied(*changes: dict[str, Any]) -> ApplyChanges:
    return ApplyChanges.model_validate({"changes": changes})


NEW_USER: Final[dict[str, Any]] = {"user_id": 8, "username": "ben"}
WAYS: Final[dict[str, tuple[Callable[[LogoAdmin, str, Caller], object], tuple[str | int, ...]]]] = {
    "a new user": (
        lambda gallery, password, who: gallery.users.create(CreateUser(**NEW_USER, password=password), who),
        ("password",),
    ),
    "a new password": (
        lambda gallery, password, who: gallery.users.set_password(SetPassword(user_id=7, password=password), who),
        ("password",),
    ),
    "one's own": (
        lambda gallery, password, who: gallery.users.set_password(
            SetPassword(user_id=ADMIN_ID, password=password, current_password=ADMIN_PASSWORD), who
        ),
        ("password",),
    ),
    "bulk changes": (
        lambda gallery, password, who: gallery.bulk.apply(
            applied(
                {"kind": "author", "create": {"user_id": 103, "username": "Cyd"}},
                {"kind": "user", "create": {**NEW_USER, "password": password}},
            ),
            who,
        ),
        ("changes", 1, "create", "password"),
    ),
    "in a transaction": (
        lambda gallery, password, who: gallery.atomic(
            lambda atomic: atomic.users.create(CreateUser(**NEW_USER, password=password), who)
        ),
        ("password",),
    ),
}


@pytest.mark.parametrize("by_admin", [True, False])
@pytest.mark.parametrize("way", WAYS)
def test_every_way_to_set_a_password_enforces_the_rules(
    guarded: LogoAdmin, hasher: WatchedPasswords, way: str, by_admin: bool
) -> None:
    """ASVS 6.2.1 and 6.2.4, also for the library and the command line, which call the same use cases."""
    who: Caller = caller(guarded, guarded.sessions.sign_in(ADMIN)) if by_admin else OWNER
    set_to, place = WAYS[way]
    before = exported(guarded)
    hasher.asked.clear()
    for password, problem in (("1234567", TOO_SHORT), ("Password1", COMMON)):
        with pytest.raises(errors.InvalidInput) as caught:
            set_to(guarded, password, who)
        assert [(each.loc, (each.msg, each.type)) for each in caught.value.problems] == [(place, problem)]
        assert password not in repr(caught.value)
    assert exported(guarded) == before
    assert "hash" not in hasher.asked
    set_to(guarded, "long and rare", who)
    assert hasher.asked.count("hash") == 1


@pytest.mark.parametrize("way", ["a new user", "bulk changes"])
def test_callers_without_the_right_have_nothing_hashed(guarded: LogoAdmin, hasher: WatchedPasswords, way: str) -> None:
    ann = caller(guarded, guarded.sessions.sign_in(ANN))
    hasher.asked.clear()
    assert failure(WAYS[way][0], guarded, "long and rare", ann) is errors.NotPermitted
    assert hasher.asked == []


def test_a_bad_password_opens_no_database_connection(clock: FrozenClock) -> None:
    watched = WatchedStorage(MemoryStorage())
    gallery = gallery_on(watched, clock, Policy.GUARDED, sign_in=GUARDED)
    watched.asked.clear()
    admin = SignedIn(ADMIN_ID, "not asked for")
    for set_to in (WAYS["a new user"][0], WAYS["a new password"][0], WAYS["bulk changes"][0]):
        assert failure(set_to, gallery, "short", admin) is errors.InvalidInput
        assert failure(set_to, gallery, "short", ANONYMOUS) is errors.NotAuthenticated
    assert watched.asked == []


@pytest.mark.rule("contract H3")
def test_the_first_administrator_gets_no_bad_password(storage: MemoryStorage, clock: FrozenClock) -> None:
    def start(password: str | None, min_length: int = 8) -> str | None:
        rules = NewPasswords(CHEAP_PASSWORDS, min_length)
        return storage.write(lambda uow: first_start(uow, rules, SystemRandomness(), clock, password))

    for password in ("short", "password"):
        assert failure(start, password) is errors.InvalidInput
    assert storage.read(lambda uow: uow.secrets.get("token_key")) is None
    assert start(None, 64)  # a generated one is random enough


def test_a_user_whose_password_is_older_than_the_rules_signs_in(storage: MemoryStorage, clock: FrozenClock) -> None:
    gallery_on(storage, clock).users.create(CreateUser(user_id=7, username="ann", password="1"))
    guarded = gallery_on(storage, clock, Policy.GUARDED, sign_in=GUARDED)
    ann = caller(guarded, guarded.sessions.sign_in(SignIn(username="ann", password="1")))
    guarded.users.set_password(SetPassword(user_id=7, password="long and rare", current_password="1"), ann)


# Hashes in files.


def user_line(user_id: int, password: str, **values: object) -> str:
    line = {"kind": "user", "user_id": user_id, "username": f"user {user_id}", "avatar": None, "role_id": 1, **values}
    return json.dumps({**line, "password_hash": CHEAP_PASSWORDS.hash(password).hash})


def test_only_the_owner_imports_hashes_which_hide_the_password(guarded: LogoAdmin) -> None:
    """ASVS 6.2.1 and 6.2.4: callers with a token cannot bypass the rules with a file."""
    admin = caller(guarded, guarded.sessions.sign_in(ADMIN))
    with pytest.raises(errors.InvalidLines) as caught:
        guarded.import_export.load(ImportRecords(), [user_line(8, "1")], admin)
    assert [problem.msg for problem in caught.value.lines[0].problems] == ["Password hashes are not accepted here"]
    guarded.import_export.load(ImportRecords(), [user_line(8, "1")])
    guarded.sessions.sign_in(SignIn(username="user 8", password="1"))


@pytest.mark.rule("contract C5")
def test_an_import_cannot_change_the_importers_password(stocked: LogoAdmin) -> None:
    """ASVS 6.2.3: an open session is no proof of the password."""
    tokens = stocked.sessions.sign_in(ADMIN)
    admin = caller(stocked, tokens)
    line = user_line(ADMIN_ID, "mine now", username="admin", role_id=2)
    assert failure(stocked.import_export.load, ImportRecords(), [user_line(8, "1"), line], admin) is errors.NotPermitted
    assert works(stocked, stocked.sessions.sign_in(ADMIN))
    stocked.import_export.load(ImportRecords(), [line])
    assert not works(stocked, tokens)


def test_bulk_changes_cannot_change_the_callers_password(stocked: LogoAdmin) -> None:
    """ASVS 6.2.3."""
    stocked.users.amend(AmendUser(user_id=7, role_id=2))
    ann = caller(stocked, stocked.sessions.sign_in(ANN))
    again = {"user_id": 7, "username": "ann", "password": "mine now"}
    version = stocked.changes.version()
    removal = {"kind": "user", "id": 7, "version": version, "remove": True}
    with pytest.raises(errors.NotPermitted, match=r"^Change 1: "):
        stocked.bulk.apply(applied(removal, {"kind": "user", "create": again}), ann)
    stocked.sessions.sign_in(ANN)


# One's own password.


def own(password: str, **values: Any) -> SetPassword:
    return SetPassword(user_id=7, password=password, **values)


@pytest.fixture
def ann(stocked: LogoAdmin) -> SignedIn:
    signed_in = caller(stocked, stocked.sessions.sign_in(ANN))
    return SignedIn(signed_in.user_id, signed_in.session_id, origin=HERE)


def test_users_change_their_password_with_the_current_one(stocked: LogoAdmin, ann: SignedIn) -> None:
    """ASVS 6.2.2 and 6.2.3."""
    stocked.users.set_password(own("long and rare", current_password=ANN_PASSWORD), ann)
    assert failure(stocked.sessions.sign_in, ANN) is errors.SignInRefused
    stocked.sessions.sign_in(SignIn(username="ann", password="long and rare"))


def test_an_open_session_is_not_enough_to_take_over_its_user(stocked: LogoAdmin, ann: SignedIn) -> None:
    """ASVS 6.2.3: a minute at an unlocked screen does not reveal the current password."""
    assert problems(stocked.users.set_password, own("mine now"), ann) == {("current_password",): "missing"}
    for wrong in ("wrong", ANN_PASSWORD + " ", ANN_PASSWORD.upper(), ADMIN_PASSWORD):
        with pytest.raises(errors.IncorrectPassword, match=r"^Incorrect password$"):
            stocked.users.set_password(own("mine now", current_password=wrong), ann)
    stocked.sessions.sign_in(ANN)


def test_right_current_passwords_do_not_count_towards_the_limits(stocked: LogoAdmin, ann: SignedIn) -> None:
    for _ in range(11):
        stocked.users.set_password(own(ANN_PASSWORD, current_password=ANN_PASSWORD), ann)


def test_wrong_current_passwords_are_failed_sign_ins(stocked: LogoAdmin, ann: SignedIn) -> None:
    for _ in range(10):
        with pytest.raises(errors.IncorrectPassword):
            stocked.users.set_password(own("mine now", current_password="wrong"), ann)
    with pytest.raises(errors.TooManySignIns):
        stocked.users.set_password(own("mine now", current_password=ANN_PASSWORD), ann)
    assert failure(stocked.sessions.sign_in, ANN, Anonymous(HERE)) is errors.TooManySignIns
    stocked.sessions.sign_in(ANN, Anonymous(THERE))


def test_a_user_without_a_password_may_set_one_soon_after_signing_in(
    stocked: LogoAdmin, storage: MemoryStorage, ann: SignedIn, clock: FrozenClock
) -> None:
    """ASVS 7.5.1: there is no current password to ask for."""
    line = {"kind": "user", "user_id": 9, "username": "ida", "avatar": None, "role_id": 1}
    stocked.import_export.load(ImportRecords(), [json.dumps(line)])
    ida = storage.write(lambda uow: session_of(uow, 9, ann))
    clock.pass_by(601)
    with pytest.raises(errors.RecentSignInRequired):
        stocked.users.set_password(SetPassword(user_id=9, password="mine now"), ida)
    clock.pass_by(-1)
    stocked.users.set_password(SetPassword(user_id=9, password="long and rare"), ida)
    with pytest.raises(errors.InvalidInput):
        stocked.users.set_password(SetPassword(user_id=9, password="another one"), ida)


def session_of(uow: UnitOfWork, user_id: int, like: SignedIn) -> SignedIn:
    """Start a session of a user without a password, as another sign-in method would."""
    known = next(each for each in uow.identity.sessions.of_user(like.user_id) if each.session_id == like.session_id)
    session = type(known)("other means", user_id, known.created_at, known.expires_at)
    uow.identity.sessions.add(session)
    return SignedIn(user_id, session.session_id)


def test_an_ended_session_verifies_no_password(stocked: LogoAdmin, ann: SignedIn, storage: MemoryStorage) -> None:
    """A stolen token of an ended session is no password oracle, and locks nobody out."""
    storage.write(lambda uow: uow.identity.sessions.end_all(7))
    for password in ("wrong", ANN_PASSWORD) * 10:
        with pytest.raises(errors.InvalidToken):
            stocked.users.set_password(own("mine now", current_password=password), ann)
    stocked.sessions.sign_in(ANN, Anonymous(HERE))


def test_of_two_changes_with_one_password_the_second_is_refused(storage: MemoryStorage, clock: FrozenClock) -> None:
    """The password that was verified must still be the current one when the new one is stored."""

    class Racing(WatchedPasswords):
        meanwhile: Callable[[], object] | None = None

        def verify(self, stored: PasswordHash | None, password: str) -> bool:
            meanwhile, self.meanwhile = self.meanwhile, None
            if meanwhile is not None:
                meanwhile()
            return super().verify(stored, password)

    hasher = Racing()
    stocked = stock(gallery_on(storage, clock, hasher=hasher))
    ann = caller(stocked, stocked.sessions.sign_in(ANN))
    first, second = (own(each, current_password=ANN_PASSWORD) for each in ("the first", "the second"))
    hasher.meanwhile = partial(stocked.users.set_password, first, ann)
    assert failure(stocked.users.set_password, second, ann) is errors.IncorrectPassword
    stocked.sessions.sign_in(SignIn(username="ann", password="the first"))


@pytest.mark.rule("contract O2")
@pytest.mark.parametrize("by", ["oneself", "command line", "import"])
def test_a_new_password_invalidates_an_unfinished_sign_in(stocked: LogoAdmin, clock: FrozenClock, by: str) -> None:
    """A thief with the old password and a valid code is too late."""
    ann = caller(stocked, stocked.sessions.sign_in(ANN))
    totp, _ = enrol(stocked, ann)
    clock.pass_by(30)
    required = challenged(stocked)
    if by == "oneself":
        stocked.users.set_password(own("long and rare", current_password=ANN_PASSWORD), ann)
    elif by == "command line":
        stocked.users.set_password(own("long and rare"))
    else:
        line = user_line(7, "long and rare", username="ann", avatar="a.png")
        stocked.import_export.load(ImportRecords(), [line])
    assert failure(second_step, stocked, required, totp=code_of(totp, clock.now())) is errors.SignInRefused


# The first password.


def is_due(gallery: LogoAdmin, username: str, password: str) -> bool:
    who = caller(gallery, gallery.sessions.sign_in(SignIn(username=username, password=password)))
    return gallery.sessions.me(WhoAmI(), who).must_change_password


def started(
    storage: Storage, clock: FrozenClock, access: Policy = Policy.OPEN, sign_in: SignInRules | None = None
) -> tuple[LogoAdmin, SignedIn, str]:
    """Start a gallery with a generated password, and sign its administrator in; return all three."""
    rules = NewPasswords(CHEAP_PASSWORDS, 8)
    generated = storage.write(lambda uow: first_start(uow, rules, SystemRandomness(), clock, None))
    gallery = stock(gallery_on(storage, clock, access, started=False, sign_in=sign_in))
    assert generated is not None
    tokens = gallery.sessions.sign_in(SignIn(username="admin", password=generated))
    return gallery, caller(gallery, tokens), generated


@pytest.mark.rule("contract H3")
def test_a_generated_first_password_must_be_changed(storage: MemoryStorage, clock: FrozenClock) -> None:
    """ASVS 6.4.1: the console asks for a new one before anything else."""
    gallery, admin, generated = started(storage, clock)
    assert is_due(gallery, "admin", generated)
    assert not is_due(gallery, "ann", ANN_PASSWORD)  # it was given
    gallery.users.set_password(SetPassword(user_id=7, password="of another user"))
    assert is_due(gallery, "admin", generated)
    # With passwords switched off, it cannot sign in.
    without = gallery_on(storage, clock, started=False, sign_in=SignInRules(ways=Ways(password=False)))
    assert not without.sessions.me(WhoAmI(), admin).must_change_password
    command = SetPassword(user_id=ADMIN_ID, password="long and rare", current_password=generated)
    gallery.users.set_password(command, admin)
    assert not is_due(gallery, "admin", "long and rare")


# Written by hand; everything else is refused. Public reads need no token, and are as before.
WITH_FIRST_PASSWORD: Final = {"WhoAmI", "Revoke"}


def test_under_guarded_a_generated_password_may_only_be_changed(storage: MemoryStorage, clock: FrozenClock) -> None:
    gallery, who, _ = started(storage, clock, Policy.GUARDED)
    for kind in (kind for kind in ASKED if right_to(kind) != PUBLIC):
        error = error_of(gallery, kind, who)
        assert isinstance(error, errors.PasswordChangeRequired) == (kind.__name__ not in WITH_FIRST_PASSWORD), kind
        if isinstance(error, errors.PasswordChangeRequired):
            assert str(error) == "The first password must be changed"


def test_a_generated_password_must_be_changed_before_anything_else(storage: MemoryStorage, clock: FrozenClock) -> None:
    # A user who must also enrol a factor changes the password first.
    strict = SignInRules(second_factor="required")
    gallery, who, generated = started(storage, clock, Policy.GUARDED, strict)

    def change(user_id: int, password: str) -> None:
        gallery.users.set_password(SetPassword(user_id=user_id, password=password, current_password=generated), who)

    assert failure(change, 7, "of another user") is errors.PasswordChangeRequired
    with pytest.raises(errors.InvalidInput, match="differ from the first one"):
        change(ADMIN_ID, generated)
    assert failure(gallery.users.get, GetUser(user_id=ADMIN_ID), who) is errors.PasswordChangeRequired
    change(ADMIN_ID, "long and rare")
    assert failure(gallery.users.get, GetUser(user_id=ADMIN_ID), who) is errors.EnrolmentRequired
    lenient = gallery_on(storage, clock, Policy.GUARDED, started=False)
    tokens = lenient.sessions.sign_in(SignIn(username="admin", password="long and rare"))
    lenient.users.get(GetUser(user_id=ADMIN_ID), caller(lenient, tokens))


@pytest.mark.parametrize("by", ["command line", "import", "removal"])
def test_any_other_password_replaces_the_generated_one(storage: MemoryStorage, clock: FrozenClock, by: str) -> None:
    gallery, _, _ = started(storage, clock)
    if by == "command line":
        gallery.users.set_password(SetPassword(user_id=ADMIN_ID, password="long and rare"))
    elif by == "import":
        line = user_line(ADMIN_ID, "long and rare", username="admin", role_id=2)
        gallery.import_export.load(ImportRecords(), [line])
    else:
        gallery.users.create(CreateUser(user_id=1, username="other admin", password="long and rare"))
        gallery.users.amend(AmendUser(user_id=1, role_id=2))
        gallery.users.remove(RemoveUser(user_id=ADMIN_ID))
        gallery.users.create(CreateUser(user_id=ADMIN_ID, username="admin", password="long and rare"))
    assert not is_due(gallery, "admin", "long and rare")


@pytest.mark.rule("contract H3", "contract H6")
def test_opening_a_gallery_hashes_no_password_and_the_first_sign_in_does(monkeypatch: pytest.MonkeyPatch) -> None:
    hashed: list[str] = []
    slow = Argon2Passwords.hash

    def noted(of: Argon2Passwords, given: str) -> PasswordHash:
        hashed.append(given)
        return slow(of, given)

    monkeypatch.setattr(Argon2Passwords, "hash", noted)
    monkeypatch.setattr(starting, "Argon2Passwords", Argon2Passwords)  # at the usual cost
    with logoadmin.connect() as gallery:
        assert hashed == []
        sign_in = SignIn(username="admin", password=gallery.admin_password or "")
        gallery.sessions.sign_in(sign_in)
        assert hashed == [gallery.admin_password]
        gallery.sessions.sign_in(sign_in)
        assert len(hashed) == 1
