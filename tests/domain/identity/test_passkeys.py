"""Passkeys: enrolment, sign-in and refusals (contract O1, O2; ASVS 6.5, 6.7)."""

from collections.abc import Callable
from contextlib import nullcontext
from typing import Final

import pytest

from logoadmin import ANONYMOUS, Anonymous, ListSessions, LogoAdmin, NewFactor, SignedIn, SignInWithFactor, Tokens
from logoadmin.adapters.memory_storage import MemoryStorage
from logoadmin.adapters.system_environment import SystemRandomness
from logoadmin.domain.identity.challenges import Purpose, SignedChallenges
from logoadmin.domain.identity.factors import ListFactors, RemoveFactor
from logoadmin.domain.identity.passkeys import AskPasskey, BeginPasskey, EnrolPasskey, SignInWithPasskey
from logoadmin.domain.kernel import errors
from logoadmin.domain.public_url import LOCAL, PublicUrl
from logoadmin.ports.passkeys import NO_NAME, NOT_INSTALLED
from tests.domain.identity.second_factors import challenged
from tests.domain.identity.sign_ins import ADMIN, ANN, caller, works
from tests.gallery import TOKEN_KEY, FrozenClock, WatchedStorage, failure, gallery_on, problems, stock
from tests.passkeys import Authenticator, Json, encoded

pytestmark = [pytest.mark.rule("contract O1"), pytest.mark.rule("contract O2")]

ANN_ID: Final = 7


@pytest.fixture
def storage() -> WatchedStorage:
    return WatchedStorage(MemoryStorage())


@pytest.fixture
def ann(stocked: LogoAdmin) -> SignedIn:
    return caller(stocked, stocked.sessions.sign_in(ANN))


@pytest.fixture
def device() -> Authenticator:
    return Authenticator(site=LOCAL)


def enrol(gallery: LogoAdmin, who: SignedIn, device: Authenticator, name: str = "Laptop") -> NewFactor:
    begun = gallery.passkeys.begin(BeginPasskey(), who)
    answer = device.create(begun.options)
    return gallery.passkeys.enrol(enrolment(begun.challenge, answer, name), who)


def enrolment(challenge: str, answer: Json, name: str = "Laptop") -> EnrolPasskey:
    return EnrolPasskey.model_validate({"challenge": challenge, "name": name, "credential": answer})


def alone(gallery: LogoAdmin, device: Authenticator, client: Anonymous = ANONYMOUS) -> Tokens:
    asked = gallery.passkeys.options(AskPasskey())
    return gallery.passkeys.sign_in(sign_in(asked.challenge, device.get(asked.options)), client)


def sign_in(challenge: str, answer: Json) -> SignInWithPasskey:
    values = {"challenge": challenge, "passkey": answer}
    return SignInWithPasskey.model_validate(values)


def second(challenge: str, answer: Json) -> SignInWithFactor:
    values = {"challenge": challenge, "passkey": answer}
    return SignInWithFactor.model_validate(values)


def both(gallery: LogoAdmin, device: Authenticator) -> Tokens:
    """Sign in with a password, then with a passkey."""
    required = challenged(gallery)
    assert required.passkey is not None
    return gallery.factors.sign_in(second(required.challenge, device.get(required.passkey)))


def test_the_first_passkey_comes_with_recovery_codes(stocked: LogoAdmin, ann: SignedIn, device: Authenticator) -> None:
    first = enrol(stocked, ann, device)
    assert (first.kind, first.name, first.last_used_at, len(set(first.recovery_codes or ()))) == (
        *("passkey", "Laptop", None),
        10,
    )
    other = enrol(stocked, ann, Authenticator(site=LOCAL), "Key ring")
    assert other.recovery_codes is None
    listed = stocked.factors.list(ListFactors(), ann)
    assert [(each.factor_id, each.kind, each.name) for each in listed] == [
        (first.factor_id, "passkey", "Laptop"),
        (other.factor_id, "passkey", "Key ring"),
    ]


@pytest.mark.parametrize("synced", [False, True])
def test_a_passkey_signs_in(
    stocked: LogoAdmin, ann: SignedIn, device: Authenticator, clock: FrozenClock, synced: bool
) -> None:
    device.synced = synced
    enrol(stocked, ann, device)
    clock.pass_by(60)
    tokens = alone(stocked, device)
    assert works(stocked, tokens)
    who = caller(stocked, tokens)
    assert who.user_id == ANN_ID
    assert [each.factor for each in stocked.sessions.list(ListSessions(), who) if each.current] == ["passkey"]
    assert [each.last_used_at for each in stocked.factors.list(ListFactors(), who)] == [clock.now()]
    assert works(stocked, alone(stocked, device))


def test_a_passkey_follows_the_password(stocked: LogoAdmin, ann: SignedIn, device: Authenticator) -> None:
    enrol(stocked, ann, device)
    device.verifies = False
    required = challenged(stocked)
    assert required.factors == ("passkey", "recovery_code")
    assert required.passkey is not None
    assert required.passkey["userVerification"] == "preferred"
    assert [each["id"] for each in required.passkey["allowCredentials"]] == [encoded(device.credential_id)]
    assert works(stocked, stocked.factors.sign_in(second(required.challenge, device.get(required.passkey))))


def test_a_passkey_alone_must_verify_its_user(stocked: LogoAdmin, ann: SignedIn, device: Authenticator) -> None:
    """ASVS 6.5.7: an authenticator alone must prove two factors."""
    enrol(stocked, ann, device)
    assert stocked.passkeys.options(AskPasskey()).options["userVerification"] == "required"
    device.verifies = False
    assert failure(alone, stocked, device) is errors.SignInRefused


def test_forged_responses_neither_enrol_nor_sign_in(stocked: LogoAdmin, ann: SignedIn, device: Authenticator) -> None:
    """The forgeries are listed with the port."""
    evil = PublicUrl("https://evil.example", "localhost")
    begun = stocked.passkeys.begin(BeginPasskey(), ann)
    answer = Authenticator(site=evil).create(begun.options)
    assert [*problems(stocked.passkeys.enrol, enrolment(begun.challenge, answer), ann)] == [("credential",)]
    assert stocked.factors.list(ListFactors(), ann) == ()
    enrol(stocked, ann, device)
    known = stocked.passkeys.begin(BeginPasskey(), ann).options["excludeCredentials"]
    assert [each["id"] for each in known] == [encoded(device.credential_id)]
    device.site = evil
    for way in (alone, both):
        assert failure(way, stocked, device) is errors.SignInRefused


@pytest.mark.parametrize("back", [0, 1, 2])
def test_a_decreasing_counter_is_refused(stocked: LogoAdmin, ann: SignedIn, device: Authenticator, back: int) -> None:
    """A cloned authenticator would count separately."""
    device.counter = 5
    enrol(stocked, ann, device)
    alone(stocked, device)
    device.counter -= back + 1
    for way in (alone, both):
        assert failure(way, stocked, device) is errors.SignInRefused
        device.counter = 5 - back
    device.counter = 6
    assert works(stocked, both(stocked, device))


def test_the_counter_of_a_synced_passkey_is_ignored(stocked: LogoAdmin, ann: SignedIn, device: Authenticator) -> None:
    device.synced, device.counter = True, 9
    enrol(stocked, ann, device)
    device.counter = 3
    assert works(stocked, alone(stocked, device))
    device.counter = 0
    assert works(stocked, both(stocked, device))


def test_a_challenge_is_used_once(stocked: LogoAdmin, ann: SignedIn, device: Authenticator) -> None:
    """ASVS 6.5.1, also for an authenticator without a counter."""
    device.synced = True
    enrol(stocked, ann, device)
    asked = stocked.passkeys.options(AskPasskey())
    command = sign_in(asked.challenge, device.get(asked.options))
    assert works(stocked, stocked.passkeys.sign_in(command))
    assert failure(stocked.passkeys.sign_in, command) is errors.SignInRefused
    with pytest.raises(errors.SignInRefused):
        stocked.passkeys.sign_in(sign_in(asked.challenge, device.get(asked.options)))
    required = challenged(stocked)
    assert required.passkey is not None
    answer = second(required.challenge, device.get(required.passkey))
    assert works(stocked, stocked.factors.sign_in(answer))
    assert failure(stocked.factors.sign_in, answer) is errors.SignInRefused


@pytest.mark.rule("contract K7")
@pytest.mark.parametrize("seconds", [299, -10, 300, 86_400, -11, -86_400])
def test_challenges_last_minutes(
    stocked: LogoAdmin, ann: SignedIn, device: Authenticator, clock: FrozenClock, seconds: int
) -> None:
    """ASVS 6.5.5. A clock that goes back makes no challenge last longer; clocks may differ by 10 seconds."""
    enrol(stocked, ann, device)
    asked, required = stocked.passkeys.options(AskPasskey()), challenged(stocked)
    assert required.passkey is not None
    clock.pass_by(seconds)
    calls: list[Callable[[], object]] = [
        lambda: stocked.passkeys.sign_in(sign_in(asked.challenge, device.get(asked.options))),
        lambda: stocked.factors.sign_in(second(required.challenge, device.get(required.passkey or {}))),
    ]
    for call in calls:
        with nullcontext() if seconds in (299, -10) else pytest.raises(errors.SignInRefused):
            call()


@pytest.mark.rule("contract K7")
def test_a_used_challenge_stays_used_when_the_clock_goes_back(
    stocked: LogoAdmin, ann: SignedIn, device: Authenticator, clock: FrozenClock
) -> None:
    device.synced = True
    enrol(stocked, ann, device)
    asked = stocked.passkeys.options(AskPasskey())
    command = sign_in(asked.challenge, device.get(asked.options))
    stocked.passkeys.sign_in(command)
    clock.pass_by(3600)
    assert stocked.sweep() == "done"
    clock.pass_by(-3600)
    assert failure(stocked.passkeys.sign_in, command) is errors.SignInRefused


def test_a_challenge_is_bound_to_its_purpose_and_user(stocked: LogoAdmin, ann: SignedIn, device: Authenticator) -> None:
    admin = caller(stocked, stocked.sessions.sign_in(ADMIN))
    enrol(stocked, ann, device)
    others = Authenticator(site=LOCAL)
    enrol(stocked, admin, others)
    required = challenged(stocked)
    for_ann = stocked.passkeys.begin(BeginPasskey(), ann)
    asked = stocked.passkeys.options(AskPasskey())
    assert required.passkey is not None

    # Of the second step, and of enrolment, for a passkey alone.
    for challenge in (required.challenge, for_ann.challenge):
        with pytest.raises(errors.SignInRefused):
            stocked.passkeys.sign_in(sign_in(challenge, device.get({"challenge": challenge})))
    # Of a passkey alone, and of enrolment, for the second step.
    for challenge in (asked.challenge, for_ann.challenge):
        with pytest.raises(errors.SignInRefused):
            stocked.factors.sign_in(second(challenge, device.get({"challenge": challenge})))
    # For an enrolment, those of both, and that of another user.
    for challenge in (asked.challenge, required.challenge, for_ann.challenge):
        new = Authenticator(site=LOCAL).create({**for_ann.options, "challenge": challenge})
        with pytest.raises(errors.InvalidInput, match="challenge"):
            stocked.passkeys.enrol(enrolment(challenge, new), admin)
    # The passkey of another user, after the password of a user.
    with pytest.raises(errors.SignInRefused):
        stocked.factors.sign_in(second(required.challenge, others.get(required.passkey)))
    # None of these used up a challenge.
    assert works(stocked, stocked.factors.sign_in(second(required.challenge, device.get(required.passkey))))
    assert works(stocked, stocked.passkeys.sign_in(sign_in(asked.challenge, device.get(asked.options))))


def test_a_challenge_is_accepted_in_one_encoding_only(stocked: LogoAdmin, ann: SignedIn, device: Authenticator) -> None:
    """Decoders ignore some characters and the last bits: another encoding must not make a used challenge valid."""
    device.synced = True
    enrol(stocked, ann, device)
    asked = stocked.passkeys.options(AskPasskey())
    command = sign_in(asked.challenge, device.get(asked.options))
    stocked.passkeys.sign_in(command)
    text = asked.challenge
    last = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_"
    spellings = [text + "=", text + "!", f"!{text}", text.replace("-", "+"), text.replace("_", "/"), f" {text}\n"]
    spellings += [text[:-1] + each for each in last]
    for spelling in {*spellings, text}:
        with pytest.raises(errors.SignInRefused):
            stocked.passkeys.sign_in(command.model_copy(update={"challenge": spelling}))


def test_a_challenge_of_another_service_is_refused(
    stocked: LogoAdmin, ann: SignedIn, device: Authenticator, clock: FrozenClock
) -> None:
    enrol(stocked, ann, device)
    own = stocked.passkeys.options(AskPasskey()).challenge
    forged = SignedChallenges([b"another key"], SystemRandomness()).new(Purpose.SIGN_IN, clock.now())
    for challenge in (forged, "AAAA" + own, own[:-4] + "AAAA", own[4:], encoded(b"x" * 83), encoded(b"x" * 20)):
        with pytest.raises(errors.SignInRefused):
            stocked.passkeys.sign_in(sign_in(challenge, device.get({"challenge": challenge})))
    for rubbish in ("é", "=", "x", "\U0001f600" * 20):
        command = sign_in(own, device.get({"challenge": own})).model_copy(update={"challenge": rubbish})
        assert failure(stocked.passkeys.sign_in, command) is errors.SignInRefused


@pytest.mark.rule("contract C2")
def test_a_challenge_survives_a_key_rotation(stocked: LogoAdmin, clock: FrozenClock) -> None:
    challenge = stocked.passkeys.options(AskPasskey()).challenge
    rotated = SignedChallenges([b"a new key", TOKEN_KEY.encode()], SystemRandomness())
    assert rotated.opened(challenge, Purpose.SIGN_IN, clock.now()) is not None
    assert rotated.opened(challenge, Purpose.ENROLMENT, clock.now()) is None


def test_asking_for_a_challenge_stores_nothing(stocked: LogoAdmin, storage: WatchedStorage) -> None:
    """Anybody may request one, so nothing may grow; all are different (ASVS 6.7.2)."""
    storage.asked.clear()
    challenges = {stocked.passkeys.options(AskPasskey()).challenge for _ in range(50)}
    assert len(challenges) == 50
    assert set(storage.asked) == {"read"}


def test_a_passkey_is_enrolled_once(stocked: LogoAdmin, ann: SignedIn, device: Authenticator) -> None:
    enrol(stocked, ann, device)
    admin = caller(stocked, stocked.sessions.sign_in(ADMIN))
    for who in (ann, admin):
        with pytest.raises(errors.Conflict, match=r"^This passkey is enrolled already$"):
            enrol(stocked, who, device)
    assert stocked.factors.list(ListFactors(), admin) == ()


def test_enrolments_use_challenges(
    stocked: LogoAdmin, ann: SignedIn, device: Authenticator, clock: FrozenClock
) -> None:
    begun = stocked.passkeys.begin(BeginPasskey(), ann)
    stocked.passkeys.enrol(enrolment(begun.challenge, device.create(begun.options)), ann)
    again = Authenticator(site=LOCAL).create(begun.options)
    for challenge, wait in ((begun.challenge, 0), (stocked.passkeys.begin(BeginPasskey(), ann).challenge, 301)):
        clock.pass_by(wait)
        with pytest.raises(errors.InvalidInput, match="challenge"):
            stocked.passkeys.enrol(enrolment(challenge, again), ann)


@pytest.mark.rule("contract B5")
def test_a_removed_passkey_cannot_sign_in(stocked: LogoAdmin, ann: SignedIn, device: Authenticator) -> None:
    """ASVS 6.5.6."""
    factor = enrol(stocked, ann, device)
    asked, required = stocked.passkeys.options(AskPasskey()), challenged(stocked)
    assert required.passkey is not None
    stocked.factors.remove(RemoveFactor(factor_id=factor.factor_id), ann)
    with pytest.raises(errors.SignInRefused):
        stocked.passkeys.sign_in(sign_in(asked.challenge, device.get(asked.options)))
    with pytest.raises(errors.SignInRefused):
        stocked.factors.sign_in(second(required.challenge, device.get(required.passkey)))
    assert works(stocked, stocked.sessions.sign_in(ANN))


@pytest.mark.rule("contract C1")
def test_failures_are_limited_by_network(
    stocked: LogoAdmin, ann: SignedIn, device: Authenticator, clock: FrozenClock
) -> None:
    enrol(stocked, ann, device)
    nearby, elsewhere = Anonymous("192.0.2.1"), Anonymous("192.0.2.2")
    for _ in range(120):
        assert works(stocked, alone(stocked, device, nearby))
    stranger = Authenticator(site=LOCAL, handle=b"7")
    for _ in range(100):
        assert failure(alone, stocked, stranger, nearby) is errors.SignInRefused
    assert failure(alone, stocked, device, nearby) is errors.TooManySignIns
    assert works(stocked, alone(stocked, device, elsewhere))
    clock.pass_by(300)
    assert works(stocked, alone(stocked, device, nearby))


@pytest.mark.rule("contract K3")
def test_the_log_has_the_reason_for_a_refusal_but_no_secret(
    stocked: LogoAdmin, ann: SignedIn, device: Authenticator, caplog: pytest.LogCaptureFixture
) -> None:
    caplog.set_level("INFO", "logoadmin.sign_in")
    device.counter = 5
    factor = enrol(stocked, ann, device)
    device.counter = 1
    assert failure(alone, stocked, device) is errors.SignInRefused
    device.client_data = {"type": "evil\n\x1b[31m line"}
    assert failure(alone, stocked, device) is errors.SignInRefused
    assert [(record.levelname, record.getMessage()) for record in caplog.records] == [
        ("WARNING", f"Passkey {factor.factor_id} was refused: its counter went back, so it may have been copied"),
        ("INFO", f"Passkey {factor.factor_id} was refused: 'ValueError: Incorrect type in CollectedClientData.'"),
    ]


@pytest.mark.rule("contract O8")
@pytest.mark.parametrize(("why", "named"), [(NOT_INSTALLED, r"logoadmin\[passkeys\]"), (NO_NAME, "public_url")])
def test_passkeys_are_refused_with_the_reason_why_they_cannot_work(
    storage: WatchedStorage, clock: FrozenClock, device: Authenticator, why: str, named: str
) -> None:
    gallery = stock(gallery_on(storage, clock))
    ann = caller(gallery, gallery.sessions.sign_in(ANN))
    begun = gallery.passkeys.begin(BeginPasskey(), ann)
    command = enrolment(begun.challenge, device.create(begun.options))
    gallery.passkeys.enrol(command, ann)
    asked = gallery.passkeys.options(AskPasskey())
    answer = device.get(asked.options)
    without = gallery_on(storage, clock, started=False, passkeys=why)
    calls: list[Callable[[], object]] = [
        lambda: without.passkeys.begin(BeginPasskey(), ann),
        lambda: without.passkeys.options(AskPasskey()),
        lambda: without.passkeys.sign_in(sign_in(asked.challenge, answer)),
    ]
    for call in calls:
        with pytest.raises(errors.Conflict, match=named):
            call()
    required = challenged(without)
    assert (required.factors, required.passkey) == (("recovery_code",), None)
    with pytest.raises(errors.Conflict, match=named):
        without.factors.sign_in(second(required.challenge, answer))
