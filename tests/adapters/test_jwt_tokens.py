"""Tokens with several keys and kinds of keys: each verifies only its own signatures (contract C2)."""

import base64
import hashlib
import hmac
import itertools
import json
from collections.abc import Callable, Mapping
from dataclasses import replace
from functools import cache
from pathlib import Path
from typing import Any

import jwt
import pytest
from cryptography.hazmat.primitives.asymmetric import ec, ed448, ed25519, rsa
from cryptography.hazmat.primitives.serialization import (
    BestAvailableEncryption,
    Encoding,
    NoEncryption,
    PrivateFormat,
    PublicFormat,
)

from logoadmin import InvalidToken, SettingsError, SignedIn
from logoadmin.adapters.jwt_tokens import JwtTokens, Key, hs256_key, key_from_file
from logoadmin.ports.tokens import Grant
from tests.gallery import NOW
from tests.passkeys import encoded

pytestmark = pytest.mark.rule("contract C2")

SHARED = hs256_key("the key of these tests, of more than 32 bytes")
GRANT = Grant(7, "session", NOW, NOW + 900, ("logos:write",))
PUBLIC_MEMBERS = {"EdDSA": {"kty", "crv", "x"}, "RS256": {"kty", "n", "e"}}


def private_pem(key: Any, password: bytes | None = None) -> bytes:
    encryption = BestAvailableEncryption(password) if password else NoEncryption()
    pem: bytes = key.private_bytes(Encoding.PEM, PrivateFormat.PKCS8, encryption)
    return pem


def public_pem(key: Any) -> bytes:
    pem: bytes = key.public_key().public_bytes(Encoding.PEM, PublicFormat.SubjectPublicKeyInfo)
    return pem


ED25519 = ed25519.Ed25519PrivateKey.from_private_bytes(b"7" * 32)


@cache
def rsa_key() -> rsa.RSAPrivateKey:
    """Return a key that is slow to generate, and needed only by these tests."""
    return rsa.generate_private_key(65537, 2048)


@pytest.fixture(params=["EdDSA", "RS256"])
def pair(request: pytest.FixtureRequest) -> Any:
    return ED25519 if request.param == "EdDSA" else rsa_key()


@pytest.fixture
def private(pair: Any, tmp_path: Path) -> Key:
    (tmp_path / "private.pem").write_bytes(private_pem(pair))
    return key_from_file(str(tmp_path / "private.pem"), signs=True)


@pytest.fixture
def public(pair: Any, tmp_path: Path) -> Key:
    (tmp_path / "public.pem").write_bytes(public_pem(pair))
    return key_from_file(str(tmp_path / "public.pem"), signs=False)


def tokens(*keys: Key) -> JwtTokens:
    return JwtTokens(keys, "logoadmin", "gallery")


def accepted(by: JwtTokens, token: str, now: int = NOW) -> bool:
    try:
        return by.verify(token, now) == SignedIn(7, "session")
    except InvalidToken:
        return False


def with_header(token: str, changes: Mapping[str, object], secret: bytes | None = None) -> str:
    """Change the header of a token and re-sign it with HMAC, or leave its signature as it was."""
    _, claims, signature = token.split(".")
    header = {**jwt.get_unverified_header(token), **changes}
    signed = f"{encoded(json.dumps({k: v for k, v in header.items() if v is not None}).encode())}.{claims}"
    return f"{signed}.{signature if secret is None else encoded(hmac.digest(secret, signed.encode(), hashlib.sha256))}"


def test_a_token_is_verified_with_its_private_and_its_public_key(private: Key, public: Key) -> None:
    token = tokens(private).sign(GRANT)
    assert jwt.get_unverified_header(token) == {"alg": private.algorithm, "typ": "at+jwt", "kid": private.kid}
    assert accepted(tokens(private), token)
    assert accepted(tokens(SHARED, public), token)
    assert not accepted(tokens(SHARED), token)


@pytest.mark.rule("contract A11")
def test_a_token_with_the_longest_possible_scope_is_accepted(private: Key, public: Key) -> None:
    longest = Grant(7, "session", NOW, NOW + 900, tuple(f"{number:064}" for number in range(64)))
    for key in (private, SHARED):
        assert accepted(tokens(key), tokens(key).sign(longest))
        assert accepted(tokens(SHARED, public), tokens(key).sign(longest))
    named = JwtTokens([SHARED], "https://example.org/" + "i" * 4096, "https://example.org/" + "a" * 4096)
    assert accepted(named, named.sign(longest))


def test_during_a_rotation_every_process_accepts_all_tokens() -> None:
    first, second, third = (hs256_key(f"the key number {number} of these tests, long enough") for number in (1, 2, 3))
    steps = [tokens(first, second), tokens(second, third, first), tokens(third, first, second)]
    for before, after in itertools.pairwise(steps):
        assert accepted(before, after.sign(GRANT))
        assert accepted(after, before.sign(GRANT))


def test_a_token_that_lives_longer_than_access_tokens_is_refused(private: Key) -> None:
    ours = JwtTokens([private], "logoadmin", "gallery", 900)
    assert accepted(ours, ours.sign(GRANT))
    assert not accepted(ours, ours.sign(replace(GRANT, expires_at=NOW + 901)))
    assert not accepted(ours, ours.sign(replace(GRANT, issued_at=NOW - 10**9)))


def verified_at(by: JwtTokens, key: Key, now: int) -> bool:
    """Return whether a token that a key signs now is accepted."""
    token = tokens(replace(key, trusted_since=None)).sign(replace(GRANT, issued_at=now, expires_at=now + 900))
    return accepted(by, token, now)


def test_a_replaced_key_is_trusted_only_for_the_lifetime_of_a_token(private: Key) -> None:
    ours = JwtTokens([private, replace(SHARED, trusted_since=NOW)], "logoadmin", "gallery", 900)
    assert [verified_at(ours, SHARED, NOW + passed) for passed in (0, 899, 900)] == [True, True, False]
    assert not verified_at(ours, SHARED, NOW)  # by a clock that was set back
    assert verified_at(ours, private, NOW + 900)
    # A key that is also in the settings is trusted permanently.
    both = JwtTokens([private, SHARED, replace(SHARED, trusted_since=NOW)], "logoadmin", "gallery", 900)
    assert verified_at(both, SHARED, NOW + 900)


@pytest.mark.rule("contract K7")
def test_a_key_recorded_with_a_clock_ahead_is_never_trusted(private: Key) -> None:
    ours = JwtTokens([private, replace(SHARED, trusted_since=NOW + 86_400)], "logoadmin", "gallery", 900)
    assert not any(verified_at(ours, SHARED, NOW + passed) for passed in (0, 86_400))


@pytest.mark.parametrize("kid", [None, "", "x", "../../dev/null", 5, ["x"], {}, True])
def test_a_missing_or_unknown_kid_is_refused_even_if_a_key_verifies(kid: object) -> None:
    token = tokens(SHARED).sign(GRANT)
    assert accepted(tokens(SHARED), with_header(token, {}, str(SHARED.signing).encode()))
    assert not accepted(tokens(SHARED), with_header(token, {"kid": kid}, str(SHARED.signing).encode()))


def test_a_public_key_is_never_used_as_a_shared_one(pair: Any, private: Key) -> None:
    service = tokens(private, SHARED)
    token = service.sign(GRANT)
    der = pair.public_key().public_bytes(Encoding.DER, PublicFormat.SubjectPublicKeyInfo)
    encodings = (public_pem(pair), public_pem(pair).strip(), der, json.dumps(private.public).encode())
    algorithms = ("HS256", "HS512", private.algorithm)
    for secret in (*encodings, private.kid.encode(), b""):
        for kid, algorithm in itertools.product((private.kid, SHARED.kid, None), algorithms):
            assert not accepted(service, with_header(token, {"alg": algorithm, "kid": kid}, secret))


@pytest.mark.parametrize(
    "algorithm", ["none", "None", "", "HS256", "HS384", "RS256", "RS512", "PS256", "ES256", "EdDSA", "Ed25519", None, 5]
)
def test_the_algorithm_is_that_of_the_key_that_the_header_names(private: Key, algorithm: object) -> None:
    service = tokens(private, SHARED)
    for key in (private, SHARED):
        token = tokens(key).sign(GRANT)
        if algorithm != key.algorithm:
            assert not accepted(service, with_header(token, {"alg": algorithm}))
            assert not accepted(service, with_header(token, {"alg": algorithm}).rpartition(".")[0] + ".")
            assert not accepted(service, with_header(token, {"alg": algorithm}, str(SHARED.signing).encode()))


def test_the_kid_of_the_rfc_8037_key_matches_the_rfc(tmp_path: Path) -> None:
    secret = base64.urlsafe_b64decode("nWGxne_9WmC6hEr0kuwsxERJxWl7MmkZcDusAxyuf2A=")
    (tmp_path / "key.pem").write_bytes(private_pem(ed25519.Ed25519PrivateKey.from_private_bytes(secret)))
    key = key_from_file(str(tmp_path / "key.pem"), signs=True)
    assert key.kid == "kPrK_qmxVWaYVA9wwBF6Iuo3vVzz7TxHCTwXBygrS4k"  # appendix A.3


def test_the_kid_of_a_shared_key_is_short_and_not_a_plain_digest() -> None:
    secret = str(SHARED.signing).encode()
    assert len(SHARED.kid) == 16
    assert SHARED.kid == hs256_key(str(SHARED.signing)).kid
    for name in ("sha256", "sha1", "md5", "sha512"):
        assert not encoded(hashlib.new(name, secret).digest()).startswith(SHARED.kid)


def test_only_public_keys_are_published(private: Key, public: Key) -> None:
    assert private.public is not None
    jwk = {**private.public, "kid": private.kid, "use": "sig", "alg": private.algorithm}
    for keys in ([private, SHARED], [SHARED, public], [private, public, SHARED, private]):
        assert list(tokens(*keys).public_keys()) == [jwk]
    assert list(tokens(SHARED).public_keys()) == []
    assert set(private.public) == PUBLIC_MEMBERS[private.algorithm]
    assert str(SHARED.signing) not in repr(SHARED)
    assert "object at" not in repr(private)


def test_the_published_keys_verify_our_tokens(private: Key) -> None:
    service = tokens(private, SHARED)
    token = service.sign(GRANT)
    published = jwt.PyJWKSet.from_dict(json.loads(json.dumps({"keys": [dict(key) for key in service.public_keys()]})))
    key = published[jwt.get_unverified_header(token)["kid"]]
    options: Any = {"verify_exp": False, "verify_iat": False}
    claims = jwt.decode(token, key, [private.algorithm], options, audience="gallery", issuer="logoadmin")
    assert (claims["sub"], claims["scope"]) == ("7", "logos:write")


def test_a_key_file_is_read_in_any_format(tmp_path: Path) -> None:
    path = tmp_path / "key.pem"
    assert "No such file" in refusal(path)
    assert "directory" in refusal(tmp_path)
    path.write_bytes(rsa_key().private_bytes(Encoding.PEM, PrivateFormat.TraditionalOpenSSL, NoEncryption()))
    assert key_from_file(str(path), signs=True).algorithm == "RS256"


NO_KEY = "holds no key in PEM"
FORMS = (PrivateFormat.PKCS8, PrivateFormat.TraditionalOpenSSL)
OTHER_KEYS: tuple[Any, ...] = (ed448.Ed448PrivateKey.generate(), ec.generate_private_key(ec.SECP256R1()))
RUBBISH = (
    *(b"", b"\0" * 100, b"\xff\xfe", b"hidden", b"-----BEGIN PRIVATE KEY-----\nhidden", private_pem(ED25519)[:-40]),
    b"-----BEGIN PRIVATE KEY-----\naGlkZGVu\n-----END PRIVATE KEY-----\n",
    b"-----BEGIN PUBLIC KEY-----\naGlkZGVu\n-----END PUBLIC KEY-----\n",
    b"-----BEGIN CERTIFICATE-----\naGlkZGVu\n-----END CERTIFICATE-----\n",
)


def refusal(path: Path, *, signs: bool = True) -> str:
    with pytest.raises(SettingsError) as caught:
        key_from_file(str(path), signs=signs)
    text = str(caught.value)
    assert caught.value.__cause__ is None
    assert str(path) in text
    assert "\n" not in text
    return text.replace(str(path), "FILE")


ENCRYPTED = BestAvailableEncryption(b"hidden")


@pytest.mark.parametrize(
    ("make", "reason"),
    [
        (lambda: public_pem(ED25519), "private key first"),
        *((lambda form=form: rsa_key().private_bytes(Encoding.PEM, form, ENCRYPTED), "openssl pkey") for form in FORMS),
        *((lambda key=key: private_pem(key), "neither Ed25519 nor RSA") for key in OTHER_KEYS),
        *((lambda key=key: public_pem(key), "neither Ed25519 nor RSA") for key in OTHER_KEYS),
        (lambda: private_pem(rsa.generate_private_key(65537, 1024)), "of 1024 bits"),
        (lambda: private_pem(rsa_key())[200:], NO_KEY),
        *((lambda content=content: content, NO_KEY) for content in RUBBISH),
    ],
)
def test_an_invalid_key_is_refused_and_not_quoted(tmp_path: Path, make: Callable[[], bytes], reason: str) -> None:
    path = tmp_path / "key.pem"
    path.write_bytes(make())
    for signs in (True, False) if reason == NO_KEY else (True,):
        text = refusal(path, signs=signs)
        assert reason in text
        assert "hidden" not in text
