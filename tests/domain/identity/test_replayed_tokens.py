"""Responses that carry tokens, and the requests that are sent again for them (contract F3)."""

import base64
import hashlib
from collections.abc import Callable, Iterator

import pytest

from logoadmin.adapters.fernet_encryption import FernetEncryption
from logoadmin.adapters.memory_storage import MemoryStorage
from logoadmin.domain.identity.service_keys import CreateKey, ListKeys, RemoveKey
from logoadmin.domain.identity.sessions.sessions import Revoke, WhoAmI
from logoadmin.domain.identity.users import RemoveUser, SetPassword
from logoadmin.domain.kernel.access import ANONYMOUS, SignedIn
from logoadmin.domain.kernel.errors import InvalidInput, InvalidToken, SignInRefused
from logoadmin.domain.logo_admin import LogoAdmin
from tests.domain.identity.sign_ins import ANN, refreshing, works
from tests.gallery import ANN_PASSWORD, FrozenClock, once, signed_in

pytestmark = pytest.mark.rule("contract F3")

KEY = "3a8a9d0e-54b1-4c0e-9a54-1f2e5b0c9c11"
REPLAYED_FOR = 60  # seconds


@pytest.mark.rule("contract C3")
def test_a_refresh_is_replayed_for_a_minute(stocked: LogoAdmin, clock: FrozenClock) -> None:
    command = refreshing(stocked.sessions.sign_in(ANN), KEY)
    second = stocked.sessions.refresh(command)
    clock.pass_by(REPLAYED_FOR - 1)
    assert stocked.sessions.refresh(command) == second
    assert works(stocked, second)


@pytest.mark.rule("contract C3")
@pytest.mark.parametrize("seconds", [REPLAYED_FOR, REPLAYED_FOR + 1, 86_399, 86_400, -REPLAYED_FOR - 1, -86_400])
def test_a_refresh_repeated_later_is_reuse(stocked: LogoAdmin, clock: FrozenClock, seconds: int) -> None:
    """Also by a clock that ran ahead and was put right."""
    command = refreshing(stocked.sessions.sign_in(ANN), KEY)
    second = stocked.sessions.refresh(command)
    clock.pass_by(seconds)
    for _ in range(2):
        with pytest.raises(InvalidToken):
            stocked.sessions.refresh(command)
    assert not works(stocked, second)


@pytest.mark.rule("contract C3")
@pytest.mark.parametrize("key", [None, "another key"])
def test_a_refresh_repeated_after_its_tokens_were_used_is_reuse(stocked: LogoAdmin, key: str | None) -> None:
    command = refreshing(stocked.sessions.sign_in(ANN), KEY)
    second = stocked.sessions.refresh(command)
    third = stocked.sessions.refresh(refreshing(second, key))
    assert works(stocked, third)
    for _ in range(2):
        with pytest.raises(InvalidToken):
            stocked.sessions.refresh(command)
    assert not works(stocked, third)


@pytest.mark.rule("contract C3", "contract C6")
@pytest.mark.parametrize("end", ["revoke", "password", "user"])
def test_the_tokens_of_an_ended_session_are_not_replayed(stocked: LogoAdmin, end: str) -> None:
    signing_in = once(ANN, KEY)
    command = refreshing(stocked.sessions.sign_in(signing_in), KEY + "2")
    second = stocked.sessions.refresh(command)
    if end == "revoke":
        stocked.sessions.revoke(Revoke(refresh_token=second.refresh_token))
    elif end == "password":
        stocked.users.set_password(SetPassword(user_id=7, password="new"))
    else:
        stocked.users.remove(RemoveUser(user_id=7))
    with pytest.raises(InvalidToken):
        stocked.sessions.refresh(command)
    if end == "revoke":
        assert works(stocked, stocked.sessions.sign_in(signing_in))
    else:
        with pytest.raises(SignInRefused):
            stocked.sessions.sign_in(signing_in)


@pytest.mark.rule("contract C1")
def test_a_sign_in_repeated_after_its_tokens_were_used_begins_another_session(stocked: LogoAdmin) -> None:
    command = once(ANN, KEY)
    first = stocked.sessions.sign_in(command)
    assert stocked.sessions.sign_in(command) == first
    refreshed = stocked.sessions.refresh(refreshing(first))
    other = stocked.sessions.sign_in(command)
    assert other.refresh_token not in (first.refresh_token, refreshed.refresh_token)
    assert works(stocked, refreshed)
    assert stocked.sessions.sign_in(command) == other


@pytest.mark.rule("contract C1")
def test_a_sign_in_repeated_later_begins_another_session(stocked: LogoAdmin, clock: FrozenClock) -> None:
    command = once(ANN, KEY)
    first = stocked.sessions.sign_in(command)
    clock.pass_by(REPLAYED_FOR)
    assert stocked.sessions.sign_in(command) != first
    assert works(stocked, first)


def use(gallery: LogoAdmin, _clock: FrozenClock, _maker: SignedIn, key: str) -> None:
    gallery.sessions.me(WhoAmI(), gallery.sessions.caller(key))


def wait(_gallery: LogoAdmin, clock: FrozenClock, _maker: SignedIn, _key: str) -> None:
    clock.pass_by(REPLAYED_FOR)


def remove(gallery: LogoAdmin, _clock: FrozenClock, maker: SignedIn, _key: str) -> None:
    gallery.keys.remove(RemoveKey(key_id=1), maker)


@pytest.mark.rule("contract C5")
@pytest.mark.parametrize("happens", [use, wait, remove])
def test_a_new_key_is_replayed_while_it_is_new_and_unused(
    stocked: LogoAdmin,
    storage: MemoryStorage,
    clock: FrozenClock,
    happens: Callable[[LogoAdmin, FrozenClock, SignedIn, str], None],
) -> None:
    maker = signed_in(storage, "*", user_id=500)
    command = once(CreateKey(name="script", scope=()), KEY)
    made = stocked.keys.create(command, maker)
    assert stocked.keys.create(command, maker) == made
    happens(stocked, clock, maker, made.key)
    other = stocked.keys.create(command, maker)
    assert (other.key_id, other.key != made.key) == (2, True)
    assert stocked.keys.create(command, maker) == other
    listed = [key.key_id for key in stocked.keys.list(ListKeys(), maker)]
    assert listed == ([2] if happens is remove else [1, 2])


def texts(stored: object) -> Iterator[str]:
    """Return every text in the stored data, however deep."""
    if isinstance(stored, str):
        yield stored
    elif isinstance(stored, dict):
        for item in stored.items():
            yield from texts(item)
    elif isinstance(stored, list | tuple):
        for item in stored:
            yield from texts(item)
    elif hasattr(stored, "__dataclass_fields__"):
        for name in stored.__dataclass_fields__:
            yield from texts(getattr(stored, name))


def digests(text: str) -> Iterator[str]:
    """Return what may be made of a stored text: itself and its digests, as they are usually written."""
    yield text
    for name in ("sha256", "sha512", "sha1", "md5", "blake2b"):
        digest = hashlib.new(name, text.encode())
        yield digest.hexdigest()
        yield base64.urlsafe_b64encode(digest.digest()).decode()
        yield base64.urlsafe_b64encode(digest.digest()).decode().rstrip("=")


@pytest.mark.rule("contract C3", "contract C5")
def test_stored_data_cannot_decrypt_itself(stocked: LogoAdmin, storage: MemoryStorage) -> None:
    """Also where a client makes its keys of its tokens, in the way in which they might be stored."""
    tokens = stocked.sessions.sign_in(once(ANN, hashlib.sha256(ANN_PASSWORD.encode()).hexdigest()))
    for derived in (lambda text: text, lambda text: hashlib.sha256(text.encode()).hexdigest()):
        tokens = stocked.sessions.refresh(refreshing(tokens, derived(tokens.refresh_token)))
    maker = stocked.sessions.caller(tokens.access_token)
    assert isinstance(maker, SignedIn)
    stocked.keys.create(once(CreateKey(name="x", scope=()), KEY), maker)
    tables = vars(storage)["_tables"]
    known = {each for table in vars(tables).values() if isinstance(table, dict) for each in texts(table)}
    known |= {each for text in set(known) for each in digests(text)}
    assert len(tables.stored_responses) == 4
    for response in tables.stored_responses.values():
        for secret in known:
            with pytest.raises(ValueError, match="not encrypted with this key"):
                FernetEncryption().decrypt(response.encrypted, secret)


def test_the_same_key_with_another_token_is_refused(stocked: LogoAdmin) -> None:
    first, other = stocked.sessions.sign_in(ANN), stocked.sessions.sign_in(ANN)
    second = stocked.sessions.refresh(refreshing(first, KEY))
    with pytest.raises(InvalidInput):
        stocked.sessions.refresh(refreshing(other, KEY), ANONYMOUS)
    assert works(stocked, second)
    assert works(stocked, other)
