"""Signing in, refreshing, and what ends a session (spec §Authentication, contract A19, B5, C1 to C4)."""

from dataclasses import replace
from functools import partial

import pytest

from logoadmin import AmendUser, CreateUser, GetUser, ListChanges, LogoAdmin, MakeRecoveryCodes, RemoveUser, SetPassword
from logoadmin.adapters.memory_storage import MemoryStorage
from logoadmin.domain.identity.records import EndedSession, Me, RemovedServiceKey, ServiceKey
from logoadmin.domain.identity.service_keys import CreateKey, ListKeys, RemoveKey
from logoadmin.domain.identity.sessions import Refresh, Revoke, SignIn, WhoAmI
from logoadmin.domain.identity.sign_in_rules import SESSION_SECONDS
from logoadmin.domain.kernel import errors
from logoadmin.domain.kernel.access import OWNER, Anonymous, SignedIn
from logoadmin.domain.kernel.kinds import USERS
from logoadmin.domain.kernel.records import Kind, PasswordHash, User
from logoadmin.domain.kernel.unit_of_work import count_use
from tests.domain.identity.second_factors import enrol
from tests.domain.identity.sign_ins import ADMIN, ANN, WatchedPasswords, caller, key_of, refresh, works, works_as_key
from tests.gallery import (
    ADMIN_ID,
    ADMIN_PASSWORD,
    ANN_PASSWORD,
    NOW,
    FrozenClock,
    WatchedStorage,
    failure,
    gallery_on,
    stock,
)


@pytest.fixture
def storage() -> WatchedStorage:
    return WatchedStorage(MemoryStorage())


@pytest.mark.rule("contract C1")
def test_failed_sign_ins_soon_take_the_time_of_imported_hashes(storage: WatchedStorage, clock: FrozenClock) -> None:
    hasher = WatchedPasswords()
    gallery = stock(gallery_on(storage, clock, hasher=hasher))

    def classes_for(username: str) -> frozenset[str]:
        assert failure(gallery.sessions.sign_in, SignIn(username=username, password="wrong")) is errors.SignInRefused
        return hasher.classes[-1]

    expensive = "$argon2id$v=19$m=65536,t=3,p=4"
    assert expensive not in classes_for("nobody")
    hash_ = PasswordHash(f"{expensive}$c2FsdHNhbHQ$c2FsdHNhbHRzYWx0c2FsdA")
    storage.write(lambda uow: uow.identity.passwords.set(7, hash_))
    clock.pass_by(60)
    assert {expensive in classes_for(name) for name in ("nobody", "admin", "ann")} == {True}


def refused_refresh(gallery: LogoAdmin, token: str) -> bool:
    """Return whether a refresh token is refused."""
    try:
        gallery.sessions.refresh(Refresh(refresh_token=token))
    except errors.InvalidToken as error:
        return str(error) == "Couldn't validate credentials"
    return False


@pytest.mark.rule("contract C1", "contract C3")
def test_signing_in_returns_tokens(stocked: LogoAdmin) -> None:
    tokens = stocked.sessions.sign_in(ADMIN)
    assert (tokens.token_type, tokens.expires_in, tokens.scope) == ("bearer", 900, "*")
    assert caller(stocked, tokens).user_id == ADMIN_ID
    assert len(tokens.refresh_token) >= 32
    assert stocked.sessions.sign_in(ANN).scope == "proposals:write"


@pytest.mark.rule("contract C1")
@pytest.mark.parametrize(
    ("username", "password"),
    [
        *(("ann", "wrong"), ("nobody", ANN_PASSWORD), ("Ann", ANN_PASSWORD), ("ann ", ANN_PASSWORD)),
        ("ann", "ANN'S PASSWORD"),
    ],
)
def test_a_wrong_name_and_a_wrong_password_are_refused_alike(stocked: LogoAdmin, username: str, password: str) -> None:
    with pytest.raises(errors.SignInRefused, match=r"^Incorrect username or password$") as caught:
        stocked.sessions.sign_in(SignIn(username=username, password=password))
    assert caught.value.__context__ is None


@pytest.mark.rule("contract C1")
def test_a_wrong_name_and_a_wrong_password_do_the_same_work(storage: WatchedStorage, clock: FrozenClock) -> None:
    hasher = WatchedPasswords()
    gallery = gallery_on(storage, clock, hasher=hasher)
    gallery.users.create(CreateUser(user_id=7, username="ann", password=ANN_PASSWORD))
    storage.write(lambda uow: uow.records(USERS).add(User(8, "imported", None, 1, NOW)))
    with pytest.raises(errors.SignInRefused):  # once a minute, the first one reads the classes of all hashes
        gallery.sessions.sign_in(SignIn(username="nobody", password="wrong"))
    done = []
    for username in ("ann", "nobody", "imported"):
        hasher.asked.clear()
        storage.asked.clear()
        assert failure(gallery.sessions.sign_in, SignIn(username=username, password="wrong")) is errors.SignInRefused
        done.append((tuple(hasher.asked), tuple(storage.asked)))
    assert done == [(("verify",), ("write", "write"))] * 3  # the second one counts the refusal


@pytest.mark.rule("contract C1", "contract I3")
def test_a_user_imported_without_a_password_cannot_sign_in(gallery: LogoAdmin, storage: WatchedStorage) -> None:
    storage.write(lambda uow: uow.records(USERS).add(User(8, "imported", None, 1, NOW)))
    for password in ("nobody", "None", "x"):
        assert failure(gallery.sessions.sign_in, SignIn(username="imported", password=password)) is errors.SignInRefused
    gallery.users.set_password(SetPassword(user_id=8, password="now I can"))
    assert works(gallery, gallery.sessions.sign_in(SignIn(username="imported", password="now I can")))


@pytest.mark.rule("contract C1", "contract A20")
def test_an_outage_does_not_count_as_a_failed_sign_in(stocked: LogoAdmin, storage: WatchedStorage) -> None:
    storage.go_away()
    for _ in range(12):
        assert failure(stocked.sessions.sign_in, ANN, Anonymous("192.0.2.1")) is errors.StorageUnavailable
    storage.come_back()
    assert works(stocked, stocked.sessions.sign_in(ANN, Anonymous("192.0.2.1")))


@pytest.mark.rule("contract C4")
def test_an_outdated_hash_is_renewed_at_sign_in(storage: WatchedStorage, clock: FrozenClock) -> None:
    gallery_on(storage, clock)
    stronger = WatchedPasswords(16, 2)
    gallery = gallery_on(storage, clock, hasher=stronger)

    def stored() -> PasswordHash:
        return storage.read(lambda uow: uow.identity.passwords.get(ADMIN_ID)) or PasswordHash("")

    before = stored()
    assert stronger.needs_rehash(before)
    assert failure(gallery.sessions.sign_in, SignIn(username="admin", password="wrong")) is errors.SignInRefused
    assert stored() == before
    gallery.sessions.sign_in(ADMIN)
    after = stored()
    assert not stronger.needs_rehash(after)
    assert stronger.verify(after, ADMIN_PASSWORD)
    stronger.asked.clear()
    gallery.sessions.sign_in(ADMIN)
    assert stronger.asked == ["verify"]
    assert stored() == after


@pytest.mark.rule("contract C1", "contract B5")
def test_a_password_that_changes_during_a_sign_in_is_refused(storage: WatchedStorage, clock: FrozenClock) -> None:
    class ChangedMeanwhile(WatchedPasswords):
        def verify(self, hash_: PasswordHash | None, password: str) -> bool:
            right = super().verify(hash_, password)
            gallery.users.set_password(SetPassword(user_id=ADMIN_ID, password="new"))
            return right

    gallery = gallery_on(storage, clock, hasher=ChangedMeanwhile())
    assert failure(gallery.sessions.sign_in, ADMIN) is errors.SignInRefused


@pytest.mark.rule("contract C3", "contract B5")
def test_a_refresh_token_returns_new_tokens_with_the_current_scope(stocked: LogoAdmin, clock: FrozenClock) -> None:
    first = stocked.sessions.sign_in(ANN)
    clock.pass_by(60)
    second = refresh(stocked, first)
    assert caller(stocked, second) == caller(stocked, first)
    assert second.refresh_token != first.refresh_token
    assert second.access_token != first.access_token
    assert works(stocked, second)
    assert (first.scope, second.scope) == ("proposals:write", "proposals:write")
    stocked.users.amend(AmendUser(user_id=7, role_id=3))
    third = refresh(stocked, second)
    assert works(stocked, third)
    assert third.scope == "logos:write themes:write"


@pytest.mark.rule("contract C3")
def test_a_refresh_token_reused_at_once_returns_another_pair(stocked: LogoAdmin, clock: FrozenClock) -> None:
    """The response was lost, or another tab refreshed as well; neither pair invalidates the other."""
    first = stocked.sessions.sign_in(ANN)
    second = refresh(stocked, first)
    clock.pass_by(10)
    third = refresh(stocked, first)
    assert len({first.refresh_token, second.refresh_token, third.refresh_token}) == 3
    assert caller(stocked, third) == caller(stocked, first)
    for tokens in (second, third):
        assert works(stocked, tokens)
        assert works(stocked, refresh(stocked, tokens))


@pytest.mark.rule("contract C3")
@pytest.mark.parametrize("seconds", [11, 86_400, -86_400])
def test_a_refresh_token_reused_later_ends_the_session(stocked: LogoAdmin, clock: FrozenClock, seconds: int) -> None:
    """ASVS 10.4.5. It counts from the first use, also by a clock that was ahead."""
    first = stocked.sessions.sign_in(ANN)
    second = refresh(stocked, first)
    third = refresh(stocked, first)
    other = stocked.sessions.sign_in(ANN)
    clock.pass_by(seconds)
    other = refresh(stocked, other)
    assert refused_refresh(stocked, first.refresh_token)
    assert not works(stocked, second)
    assert refused_refresh(stocked, second.refresh_token)
    assert refused_refresh(stocked, third.refresh_token)
    assert works(stocked, other)  # another session of the same user goes on


@pytest.mark.rule("contract C3", "contract C5")
def test_refreshes_and_keys_that_fill_the_storage_are_limited(
    stocked: LogoAdmin, storage: WatchedStorage, clock: FrozenClock
) -> None:
    tokens = stocked.sessions.sign_in(ANN)
    key, ann = CreateKey(name="script", scope=(), expires_in=60), caller(stocked, tokens)
    for what in ("refreshes", "keys"):
        storage.write(partial(count_use, what=what, user_id=7, now=NOW, most=1_000, more=999))
    tokens = refresh(stocked, tokens)
    stocked.keys.remove(RemoveKey(key_id=stocked.keys.create(key, ann).key_id), ann)
    with pytest.raises(errors.TooManyRefreshes, match="refreshes") as limited:
        refresh(stocked, tokens)
    with pytest.raises(errors.TooManyKeys, match="service keys"):
        stocked.keys.create(key, ann)
    assert failure(stocked.factors.make_recovery_codes, MakeRecoveryCodes(), ann) is errors.TooManyKeys
    assert failure(enrol, stocked, ann) is errors.TooManyKeys
    clock.pass_by(limited.value.retry_after)
    assert works(stocked, refresh(stocked, tokens))
    stocked.keys.create(key, caller(stocked, stocked.sessions.sign_in(ANN)))


@pytest.mark.rule("contract C3")
def test_an_unknown_refresh_token_is_refused(stocked: LogoAdmin) -> None:
    tokens = stocked.sessions.sign_in(ANN)
    for never_given in ("x", "é😀", "a" * 256, "' OR 1=1", tokens.access_token[:256]):
        assert refused_refresh(stocked, never_given)
    assert failure(stocked.sessions.caller, tokens.refresh_token) is errors.InvalidToken
    assert works(stocked, tokens)


@pytest.mark.rule("contract C3")
def test_a_session_ends_when_it_is_not_refreshed_in_time(stocked: LogoAdmin, clock: FrozenClock) -> None:
    tokens = stocked.sessions.sign_in(ADMIN)
    clock.pass_by(SESSION_SECONDS - 1)
    tokens = refresh(stocked, tokens)
    clock.pass_by(SESSION_SECONDS - 1)
    tokens = refresh(stocked, tokens)
    clock.pass_by(SESSION_SECONDS)
    assert refused_refresh(stocked, tokens.refresh_token)


@pytest.mark.rule("contract C3")
def test_a_used_refresh_token_is_recognised_until_its_session_ends(storage: WatchedStorage, clock: FrozenClock) -> None:
    gallery = gallery_on(storage, clock)
    first = newest = gallery.sessions.sign_in(ADMIN)
    for _ in range(50):
        clock.pass_by(86_400)
        newest = refresh(gallery, newest)
    assert works(gallery, newest)
    assert refused_refresh(gallery, first.refresh_token)
    assert not works(gallery, newest)


@pytest.mark.rule("contract C3", "contract B5")
def test_a_new_password_ends_all_sessions_but_the_one_that_set_it(stocked: LogoAdmin) -> None:
    elsewhere, here, admin = (stocked.sessions.sign_in(who) for who in (ANN, ANN, ADMIN))
    command = SetPassword(user_id=7, password="new", current_password=ANN_PASSWORD)
    stocked.users.set_password(command, caller(stocked, here))
    assert works(stocked, here)
    here = refresh(stocked, here)
    assert not works(stocked, elsewhere)
    assert refused_refresh(stocked, elsewhere.refresh_token)
    assert failure(stocked.sessions.sign_in, ANN) is errors.SignInRefused
    for by in (caller(stocked, admin), OWNER):
        stocked.users.set_password(SetPassword(user_id=7, password=ANN_PASSWORD), by)
        assert not works(stocked, here)
        here = stocked.sessions.sign_in(ANN)
    assert works(stocked, admin)


@pytest.mark.rule("contract A19", "contract B5")
def test_a_removed_user_stays_signed_out_when_the_id_is_reused(stocked: LogoAdmin) -> None:
    tokens = stocked.sessions.sign_in(ANN)
    stocked.users.remove(RemoveUser(user_id=7))
    assert not works(stocked, tokens)
    assert failure(stocked.sessions.sign_in, ANN) is errors.SignInRefused
    stocked.users.create(CreateUser(user_id=7, username="ann", password=ANN_PASSWORD))
    assert not works(stocked, tokens)
    assert refused_refresh(stocked, tokens.refresh_token)
    assert works(stocked, stocked.sessions.sign_in(ANN))


@pytest.mark.rule("contract A19")
def test_identifying_the_caller_does_not_query_storage(stocked: LogoAdmin, storage: WatchedStorage) -> None:
    tokens = stocked.sessions.sign_in(ANN)
    storage.asked.clear()
    assert caller(stocked, tokens).user_id == 7
    assert failure(stocked.sessions.caller, "x.y.z") is errors.InvalidToken
    for missing in (None, b"x.y.z"):
        with pytest.raises(errors.InvalidInput, match="token: Input should be a valid string"):
            stocked.sessions.caller(missing)  # type: ignore[arg-type]  # the error is tested
    assert storage.asked == []


# Ending a session, and the signed-in user.


@pytest.mark.rule("contract C3")
@pytest.mark.parametrize("by", ["refresh token", "access token", "used refresh token"])
def test_either_token_ends_a_session_once(stocked: LogoAdmin, by: str) -> None:
    """By a refresh token also for any other caller."""
    tokens, other = stocked.sessions.sign_in(ANN), stocked.sessions.sign_in(ANN)
    who = caller(stocked, tokens)
    if by == "access token":
        ended = stocked.sessions.revoke(Revoke(), who)
    elif by == "refresh token":
        admin = caller(stocked, stocked.sessions.sign_in(ADMIN))
        ended = stocked.sessions.revoke(Revoke(refresh_token=tokens.refresh_token), admin)
        assert stocked.sessions.me(WhoAmI(), admin).user_id == ADMIN_ID
    else:
        renewed = refresh(stocked, tokens)
        ended = stocked.sessions.revoke(Revoke(refresh_token=tokens.refresh_token))
        tokens = renewed
    assert ended == EndedSession(ended=True)
    assert not works(stocked, tokens)
    assert refused_refresh(stocked, tokens.refresh_token)
    assert works(stocked, refresh(stocked, other))
    for over in (tokens.refresh_token, "never given"):
        assert stocked.sessions.revoke(Revoke(refresh_token=over)) == EndedSession(ended=False)
    assert failure(stocked.sessions.revoke, Revoke(), who) is errors.InvalidToken


@pytest.mark.rule("contract C3", "contract B5")
def test_every_caller_may_ask_who_they_are(stocked: LogoAdmin) -> None:
    ann = caller(stocked, stocked.sessions.sign_in(ANN))
    (since,) = (each.change_id for each in stocked.changes.list(ListChanges(kind=Kind.USER, id=7)))
    nothing_due = {"must_enrol": False, "must_change_password": False, "by_link": False, "can_step_up": True}
    me = Me(7, "ann", "a.png", 1, NOW, since, ("proposals:write",), **nothing_due)
    assert stocked.sessions.me(WhoAmI(), ann) == me
    stocked.users.amend(AmendUser(user_id=7, role_id=3, avatar=None))
    now = replace(me, avatar=None, role_id=3, scope=("logos:write", "themes:write"))
    assert stocked.sessions.me(WhoAmI(), ann) == now


# Service keys.


@pytest.mark.rule("contract C5")
def test_a_new_key_is_listed_without_its_token(stocked: LogoAdmin) -> None:
    admin = caller(stocked, stocked.sessions.sign_in(ADMIN))
    made = stocked.keys.create(CreateKey(name="script", scope=("users:read", "users:read"), expires_in=60), admin)
    assert made.key.startswith("lga_")
    assert len(made.key) == 47
    listed = ServiceKey(1, "script", ("users:read",), NOW, NOW + 60, None)
    assert stocked.keys.list(ListKeys(), admin) == (listed,)
    assert (made.key_id, made.name, made.scope) == (1, "script", ("users:read",))
    assert (made.created_at, made.expires_at, made.last_used_at) == (NOW, NOW + 60, None)


@pytest.mark.rule("contract C5", "contract C3")
def test_keys_belong_to_their_user_outlive_its_session_and_list_only_themselves(stocked: LogoAdmin) -> None:
    ann, admin = (caller(stocked, stocked.sessions.sign_in(who)) for who in (ANN, ADMIN))
    stocked.keys.create(CreateKey(name="ann's", scope=()), ann)
    made = stocked.keys.create(CreateKey(name="admin's", scope=("*",)), admin)
    assert [key.name for key in stocked.keys.list(ListKeys(), ann)] == ["ann's"]
    for key_id, who in ((2, ann), (1, admin)):
        with pytest.raises(errors.NotFound, match=rf"^Key {key_id} not found$"):
            stocked.keys.remove(RemoveKey(key_id=key_id), who)
    assert stocked.keys.remove(RemoveKey(key_id=1), ann) == RemovedServiceKey(1)
    assert stocked.keys.list(ListKeys(), ann) == ()
    stocked.keys.create(CreateKey(name="another", scope=()), admin)
    stocked.sessions.revoke(Revoke(), admin)
    assert [key.name for key in stocked.keys.list(ListKeys(), stocked.sessions.caller(made.key))] == ["admin's"]


@pytest.mark.rule("contract C5")
@pytest.mark.parametrize("writes", [False, True])
def test_the_last_use_of_a_key_is_recorded_but_not_on_each_call(
    stocked: LogoAdmin, storage: WatchedStorage, clock: FrozenClock, writes: bool
) -> None:
    admin = caller(stocked, stocked.sessions.sign_in(ADMIN))
    key = key_of(stocked, admin, "*")

    def used_at() -> int | None:
        return stocked.keys.list(ListKeys(), admin)[0].last_used_at

    def use() -> None:
        if writes:
            stocked.users.amend(AmendUser(user_id=7), key)
        else:
            stocked.users.get(GetUser(user_id=7), key)

    for passed, recorded in ((1, NOW + 1), (59, NOW + 1), (1, NOW + 61), (600, NOW + 661)):
        clock.pass_by(passed)
        use()
        assert used_at() == recorded
    storage.asked.clear()
    stocked.users.get(GetUser(user_id=7), key)
    assert not {"write", "try_write"} & {*storage.asked}


@pytest.mark.rule("contract C5", "contract K7")
@pytest.mark.parametrize("expires_in", [600, None])
def test_a_key_created_during_a_clock_jump_lasts_its_full_term_from_first_use(
    stocked: LogoAdmin, clock: FrozenClock, expires_in: int | None
) -> None:
    clock.pass_by(86_400)
    ann = caller(stocked, stocked.sessions.sign_in(ANN))
    key = key_of(stocked, ann, expires_in=expires_in)
    clock.pass_by(-86_400)
    for passed in (0, 300, 299):
        clock.pass_by(passed)
        assert works_as_key(stocked, key)
    (listed,) = stocked.keys.list(ListKeys(), ann)
    assert (listed.created_at, listed.last_used_at) == (clock.now() - 599, clock.now())
    clock.pass_by(1)
    assert works_as_key(stocked, key) == (expires_in is None)


@pytest.mark.rule("contract C5", "contract K7")
def test_use_of_a_key_after_a_clock_jump_is_recorded(stocked: LogoAdmin, clock: FrozenClock) -> None:
    ann = caller(stocked, stocked.sessions.sign_in(ANN))
    key = key_of(stocked, ann)
    for jump in (86_400, -86_400):
        clock.pass_by(jump)
        assert works_as_key(stocked, key)
    assert [listed.last_used_at for listed in stocked.keys.list(ListKeys(), ann)] == [clock.now()]


@pytest.mark.rule("contract C5")
def test_a_user_has_a_hundred_keys_that_have_not_expired(stocked: LogoAdmin, clock: FrozenClock) -> None:
    admin, ann = (caller(stocked, stocked.sessions.sign_in(who)) for who in (ADMIN, ANN))

    def create(seconds: int | None = None, who: SignedIn = admin) -> int:
        return stocked.keys.create(CreateKey(name="script", scope=(), expires_in=seconds), who).key_id

    for number in range(100):
        create(60 if number < 2 else None)
    with pytest.raises(errors.Conflict, match=r"^A user can have 100 service keys; remove one that is no longer used$"):
        create()
    assert create(who=ann) == 101
    clock.pass_by(59)
    assert failure(create) is errors.Conflict
    clock.pass_by(1)
    create()
    assert [key.key_id for key in stocked.keys.list(ListKeys(), admin)] == [*range(3, 101), 102]
    create()
    assert failure(create) is errors.Conflict
    stocked.keys.remove(RemoveKey(key_id=50), admin)
    create()


@pytest.mark.rule("contract C5", "contract A19")
@pytest.mark.parametrize("token", ["lga_", "lga_x", "lga_" + "x" * 42, "lga_" + "x" * 44, "LGA_" + "x" * 43])
def test_an_unknown_key_is_refused_at_once(stocked: LogoAdmin, storage: WatchedStorage, token: str) -> None:
    storage.asked.clear()
    assert failure(stocked.sessions.caller, token) is errors.InvalidToken
    assert storage.asked == []
