"""The rules of :mod:`logoadmin.ports.passkeys`, over every adapter (contract O1, O2; ASVS 6.5.1, 6.7.2)."""

import os
from collections.abc import Callable
from typing import Any, Final

import pytest
from cryptography.hazmat.primitives.asymmetric import ec, ed25519, rsa
from fido2 import cbor
from fido2.cose import ES256, ES384
from hypothesis import given
from hypothesis import strategies as st

from logoadmin.adapters.fido2_passkeys import Fido2Passkeys
from logoadmin.domain.kernel.errors import InvalidInput
from logoadmin.domain.public_url import PublicUrl
from logoadmin.ports.passkeys import CreatedCredential, Passkey, PasskeyRefused, Passkeys
from tests.passkeys import BE, BS, SITE, UP, UV, Authenticator, Json, created, decoded, encoded, public, used

pytestmark = [
    pytest.mark.rule("contract O1"),
    pytest.mark.parametrize("passkeys", [Fido2Passkeys(SITE)], ids=["fido2"]),
]

FIRST: Final = encoded(b"the first challenge, of 40 bytes or more")
SECOND: Final = encoded(b"the second challenge, which is also long")
HANDLE: Final = "7"
KEYS: Final[dict[str, Callable[[], Any]]] = {
    "ES256": lambda: ec.generate_private_key(ec.SECP256R1()),
    "EdDSA": ed25519.Ed25519PrivateKey.generate,
    "RS256": lambda: rsa.generate_private_key(65537, 2048),
}
# The lies of an authenticator or of the page that uses it; all are refused, on creation and on use.
LIES: Final[dict[str, Json]] = {
    "another origin": {"site": PublicUrl("https://evil.example", "gallery.example")},
    "a sub-domain": {"site": PublicUrl("https://evil.gallery.example", "gallery.example")},
    "a parent domain": {"site": PublicUrl("https://example", "gallery.example")},
    "another port": {"site": PublicUrl("https://gallery.example:8443", "gallery.example")},
    "http": {"site": PublicUrl("http://gallery.example", "gallery.example")},
    "upper case": {"site": PublicUrl("https://GALLERY.example", "gallery.example")},
    "an origin that begins alike": {"site": PublicUrl("https://gallery.example.evil.example", "gallery.example")},
    "another RP ID": {"site": PublicUrl(SITE.origin, "evil.example")},
    "the RP ID of a parent": {"site": PublicUrl(SITE.origin, "example")},
    "nobody present": {"flags": UV},
    "backed up without being eligible": {"flags": UP | UV | BS},
    "a frame of another origin": {"client_data": {"crossOrigin": True}},
    "a frame within": {"client_data": {"crossOrigin": False, "topOrigin": "https://evil.example"}},
    "a number as flag": {"client_data": {"crossOrigin": 0}},
    "another challenge": {"client_data": {"challenge": SECOND}},
    "no challenge": {"client_data": {"challenge": ""}},
    "a number as challenge": {"client_data": {"challenge": 50_000_000_000}},
    "a list as challenge": {"client_data": {"challenge": [1]}},
    "a list of origins": {"client_data": {"origin": [SITE.origin]}},
    "another ceremony": {"client_data": {"type": "payment.get"}},
    "no ceremony": {"client_data": {"type": None}},
}


def enrolled(passkeys: Passkeys, authenticator: Authenticator) -> Passkey:
    return passkeys.created(FIRST, created(authenticator.create(passkeys.creation_options(FIRST, HANDLE, "ann", ()))))


def use(passkeys: Passkeys, passkey: Passkey, authenticator: Authenticator, *, verified: bool = True) -> int:
    options = passkeys.request_options(FIRST, [passkey], verified=verified)
    return passkeys.used(FIRST, passkey, HANDLE, used(authenticator.get(options)), verified=verified)


def lying(authenticator: Authenticator, lie: Json) -> Authenticator:
    for name, value in lie.items():
        setattr(authenticator, name, value)
    return authenticator


def test_options_for_a_new_passkey(passkeys: Passkeys) -> None:
    known = Passkey(encoded(b"known"), "", 0, synced=True, transports=("usb", "nfc"))
    assert passkeys.creation_options(FIRST, HANDLE, "ann", [known]) == {
        "rp": {"id": "gallery.example", "name": "logoadmin"},
        "user": {"id": encoded(b"7"), "name": "ann", "displayName": "ann"},
        "challenge": FIRST,
        "pubKeyCredParams": [{"type": "public-key", "alg": alg} for alg in (-7, -8, -257)],
        "timeout": 300_000,
        "excludeCredentials": [{"type": "public-key", "id": known.credential, "transports": ["usb", "nfc"]}],
        "authenticatorSelection": {
            "residentKey": "required",
            "requireResidentKey": True,
            "userVerification": "preferred",
        },
        "attestation": "none",
    }


def test_options_for_using_a_passkey(passkeys: Passkeys) -> None:
    alone = {"challenge": FIRST, "timeout": 300_000, "rpId": "gallery.example", "userVerification": "required"}
    assert passkeys.request_options(FIRST, verified=True) == alone
    known = Passkey(encoded(b"known"), "", 0, synced=True)
    assert passkeys.request_options(FIRST, [known], verified=False) == alone | {
        "allowCredentials": [{"type": "public-key", "id": known.credential}],
        "userVerification": "preferred",
    }


@pytest.mark.parametrize("synced", [False, True])
@pytest.mark.parametrize("kind", KEYS)
def test_a_passkey_is_created_and_used(passkeys: Passkeys, kind: str, synced: bool) -> None:
    authenticator = Authenticator(KEYS[kind](), synced=synced)
    passkey = enrolled(passkeys, authenticator)
    assert (passkey.credential, passkey.counter) == (encoded(authenticator.credential_id), 0)
    assert (passkey.synced, passkey.transports) == (synced, ("internal", "hybrid"))
    assert use(passkeys, passkey, authenticator) == (0 if synced else 1)
    assert use(passkeys, passkey, authenticator) == (0 if synced else 2)


@pytest.mark.parametrize("lie", LIES.values(), ids=LIES)
def test_a_lie_creates_no_passkey_and_signs_nobody_in(passkeys: Passkeys, lie: Json) -> None:
    with pytest.raises(PasskeyRefused):
        enrolled(passkeys, lying(Authenticator(), lie))
    authenticator = Authenticator()
    passkey = enrolled(passkeys, authenticator)
    with pytest.raises(PasskeyRefused):
        use(passkeys, passkey, lying(authenticator, lie), verified=False)


def test_a_user_who_is_not_verified_needs_another_factor(passkeys: Passkeys) -> None:
    authenticator = Authenticator(verifies=False)
    passkey = enrolled(passkeys, authenticator)
    assert use(passkeys, passkey, authenticator, verified=False) == 1
    with pytest.raises(PasskeyRefused, match=r"[Uu]ser verification"):
        use(passkeys, passkey, authenticator)


@pytest.mark.parametrize("verified", [False, True])
def test_a_wrong_handle_is_refused_and_none_is_enough_for_a_second_factor(passkeys: Passkeys, verified: bool) -> None:
    authenticator = Authenticator()
    passkey = enrolled(passkeys, authenticator)
    for handle in (b"8", b"70", b"", b"\xff", *([None] if verified else [])):
        authenticator.handle = handle
        with pytest.raises(PasskeyRefused, match="handle"):
            use(passkeys, passkey, authenticator, verified=verified)
    authenticator.handle = None
    assert verified or use(passkeys, passkey, authenticator, verified=False) > 0


def test_a_passkey_may_lose_its_backup_but_not_become_synced_or_stop(passkeys: Passkeys) -> None:
    for synced, after in ((False, UP | UV | BE), (True, UP | UV)):
        authenticator = Authenticator(synced=synced)
        passkey = enrolled(passkeys, authenticator)
        authenticator.flags = after
        with pytest.raises(PasskeyRefused, match="another kind"):
            use(passkeys, passkey, authenticator)
    authenticator.flags = UP | UV | BE
    assert use(passkeys, passkey, authenticator) == 0


def test_another_key_or_another_id_signs_nobody_in(passkeys: Passkeys) -> None:
    ann, ben = Authenticator(), Authenticator()
    passkey, others = enrolled(passkeys, ann), enrolled(passkeys, ben)
    ben.credential_id = ann.credential_id
    with pytest.raises(PasskeyRefused):
        use(passkeys, passkey, ben)
    with pytest.raises(PasskeyRefused):
        use(passkeys, others, ann)


def test_a_creation_cannot_sign_in_and_a_use_creates_nothing(passkeys: Passkeys) -> None:
    authenticator = Authenticator()
    passkey = enrolled(passkeys, authenticator)
    authenticator.client_data = {"type": "webauthn.create"}
    with pytest.raises(PasskeyRefused):
        use(passkeys, passkey, authenticator)
    with pytest.raises(PasskeyRefused):
        enrolled(passkeys, lying(Authenticator(), {"client_data": {"type": "webauthn.get"}}))


def _keys() -> dict[str, dict[int, Any]]:
    """Return public keys that must be rejected, by their faults."""
    p256 = public(ES256, ec.generate_private_key(ec.SECP256R1()))
    small, odd = rsa.generate_private_key(65537, 1024).public_key().public_numbers(), 2**4160 + 1
    return {
        "ES384, which was not offered": public(ES384, ec.generate_private_key(ec.SECP384R1())),
        "RS1, which was not offered": {1: 3, 3: -65535, -1: b"\xff" * 256, -2: b"\1\0\1"},
        "ESP256, which was not offered": p256 | {3: -9},
        "an unknown algorithm": p256 | {3: 4711},
        "no algorithm": {number: value for number, value in p256.items() if number != 3},
        "a text as algorithm": p256 | {3: "ES256"},
        "another curve": p256 | {-1: 2},
        "a point that is not on the curve": p256 | {-3: bytes(32)},
        "numbers as coordinates": p256 | {-2: 1, -3: [1, 2]},
        "Ed25519 of 31 bytes": {1: 1, 3: -8, -1: 6, -2: bytes(31)},
        "EdDSA with P-256": p256 | {3: -8},
        "RSA of 1024 bits": {1: 3, 3: -257, -1: small.n.to_bytes(128, "big"), -2: b"\1\0\1"},
        "RSA of 4161 bits": {1: 3, 3: -257, -1: odd.to_bytes(521, "big"), -2: b"\1\0\1"},
        "a key with a load": p256 | {-70000: bytes(2000)},
        "not a key": {},
    }


@pytest.mark.parametrize("which", _keys())
def test_a_broken_or_unrequested_key_is_refused(passkeys: Passkeys, which: str) -> None:
    with pytest.raises(PasskeyRefused):
        enrolled(passkeys, Authenticator(cose=_keys()[which]))


@pytest.fixture
def answer(passkeys: Passkeys) -> Json:
    """The response of an authenticator to a creation; its id ends with a character of insignificant bits."""
    return Authenticator(credential_id=bytes(32)).create(passkeys.creation_options(FIRST, HANDLE, "ann", ()))


def with_response(answer: Json, **members: Any) -> CreatedCredential:
    return created(answer | {"response": answer["response"] | members})


def test_rubbish_is_refused_quickly(passkeys: Passkeys, answer: Json) -> None:
    """Truncated at every byte, and CBOR that announces too much, is deeply nested, or has wrong types."""
    whole = decoded(answer["response"]["attestationObject"])
    data = decoded(answer["response"]["authenticatorData"])
    broken = [whole[:length] for length in range(1, len(whole))]
    broken += [cbor.encode({"fmt": "none", "attStmt": {}, "authData": data + b"\0"}), whole + b"\0"]
    others: list[Any] = [5_000_000_000, "x", [1], {}, b""]
    broken += [cbor.encode({"fmt": "none", "attStmt": {}, "authData": each}) for each in others]
    broken += [cbor.encode(each) for each in [*others, {"authData": data}]]
    broken += [b"\x81" * 20_000, b"\xa1" * 20_000, b"\x9b" + b"\xff" * 8, b"\xbb" + b"\xff" * 8, b"\x5b" + b"\xff" * 8]
    broken += [b"\xa1\x5b\xff" + b"\xff" * 100, b"\xf9\0\0", b"\xff", b"\xc0", os.urandom(1000)]
    for each in broken:
        with pytest.raises(PasskeyRefused):
            passkeys.created(FIRST, with_response(answer, attestationObject=encoded(each)))


def test_a_repeated_member_is_refused(passkeys: Passkeys, answer: Json) -> None:
    text = decoded(answer["response"]["clientDataJSON"])
    twice = text.replace(b"{", b'{"origin": "https://evil.example", ', 1)
    with pytest.raises(PasskeyRefused, match="twice"):
        passkeys.created(FIRST, with_response(answer, clientDataJSON=encoded(twice)))


def test_another_id_or_spelling_than_the_attested_one_is_refused(passkeys: Passkeys, answer: Json) -> None:
    """Decoders ignore some bits of the last base64url character, and a credential must not be enrolled twice."""
    assert answer["id"].endswith("A")
    for other, reason in ((encoded(b"another"), "id"), (answer["id"][:-1] + "B", "not base64url")):
        with pytest.raises(PasskeyRefused, match=reason):
            passkeys.created(FIRST, created(answer | {"id": other}))


@pytest.mark.parametrize(
    ("name", "value"),
    [
        *(("id", ""), ("id", "A" * 1365), ("id", "+/=="), ("id", "AA\n"), ("id", 7), ("type", "password")),
        *(("response", None), ("response", {})),
        ("response", {"clientDataJSON": "AA", "attestationObject": "A" * 32_769}),
        ("response", {"clientDataJSON": "A" * 8193, "attestationObject": "AA"}),
        ("response", {"clientDataJSON": "AA", "attestationObject": "AA", "transports": ["usb"] * 17}),
    ],
)
def test_credentials_have_limits(answer: Json, name: str, value: object) -> None:
    with pytest.raises((InvalidInput, ValueError)):
        created(answer | {name: value})


def test_unknown_transports_are_dropped(passkeys: Passkeys, answer: Json) -> None:
    found = passkeys.created(FIRST, with_response(answer, transports=["usb", "carrier pigeon"]))
    assert found.transports == ("usb",)


PROOF: Final = ("id", "clientDataJSON", "authenticatorData", "signature", "userHandle")


@given(name=st.sampled_from(PROOF), place=st.integers(0, 2**16), bit=st.integers(0, 7))
def test_no_bit_of_a_proof_can_be_changed(passkeys: Passkeys, name: str, place: int, bit: int) -> None:
    """Neither in the signed data, nor in the signature, the id or the handle."""
    authenticator = Authenticator()
    passkey = enrolled(passkeys, authenticator)
    proof = authenticator.get(passkeys.request_options(FIRST, verified=True))
    whole = bytearray(decoded(proof["id"] if name == "id" else proof["response"][name]))
    whole[place % len(whole)] ^= 1 << bit
    other = encoded(bytes(whole))
    changed = {"id": other} if name == "id" else {"response": proof["response"] | {name: other}}
    with pytest.raises(PasskeyRefused):
        passkeys.used(FIRST, passkey, HANDLE, used(proof | changed), verified=True)


@given(content=st.binary(min_size=1, max_size=300), name=st.sampled_from(["clientDataJSON", "attestationObject"]))
def test_arbitrary_bytes_create_nothing(passkeys: Passkeys, answer: Json, content: bytes, name: str) -> None:
    with pytest.raises(PasskeyRefused):
        passkeys.created(FIRST, with_response(answer, **{name: encoded(content)}))
