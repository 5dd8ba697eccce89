"""Every rule of :mod:`logoadmin.ports.tokens` and of contract C2: only our own tokens are trusted."""

import base64
import hmac
import json
from typing import Any

import jwt
import pytest
from hypothesis import given
from hypothesis import strategies as st

from logoadmin import InvalidToken, SettingsError, SignedIn
from logoadmin.adapters.jwt_tokens import JwtTokens, hs256_key, keys_of
from logoadmin.ports.tokens import Grant
from tests.gallery import NOW
from tests.passkeys import encoded

pytestmark = pytest.mark.rule("contract C2", "contract A19")

KEY = "the key of these tests, of more than 32 bytes"
OTHER_KEY = "another key of these tests, of more than 32 bytes"
TOKENS = JwtTokens([hs256_key(KEY)], "logoadmin", "gallery")
GRANT = Grant(7, "session", NOW, NOW + 900, ("logos:write", "users:read"))
WHOSE = {"iss": "logoadmin", "aud": "gallery", "sub": "7", "sid": "session"}
CLAIMS: dict[str, Any] = {**WHOSE, "iat": NOW, "exp": NOW + 900, "jti": "1", "scope": ""}
HEADER = {"alg": "HS256", "typ": "at+jwt", "kid": hs256_key(KEY).kid}


def forged(header: object, claims: object, key: str = KEY, digest: str = "sha256") -> str:
    """Sign any header and claims with a key, beyond what RFC 7515 allows."""
    head, body = (part if isinstance(part, bytes) else json.dumps(part).encode() for part in (header, claims))
    signed = f"{encoded(head)}.{encoded(body)}"
    return f"{signed}.{encoded(hmac.digest(key.encode(), signed.encode(), digest))}"


def refused(token: str, now: int = NOW) -> bool:
    try:
        TOKENS.verify(token, now)
    except InvalidToken as error:
        assert error.__cause__ is None  # noqa: PT017 (it returns whether it was raised)
        return str(error) == "Couldn't validate credentials"
    return False


def test_a_token_identifies_its_user() -> None:
    assert TOKENS.verify(TOKENS.sign(GRANT), NOW) == SignedIn(7, "session")
    # Valid, as the basis of the forgeries below.
    assert TOKENS.verify(forged(HEADER, CLAIMS), NOW) == SignedIn(7, "session")
    for user_id in (0, 2_147_483_647):
        grant = Grant(user_id, "s", NOW, NOW + 1, ())
        assert TOKENS.verify(TOKENS.sign(grant), NOW).user_id == user_id


def test_a_token_has_the_claims_of_rfc_9068() -> None:
    token = TOKENS.sign(GRANT)
    claims = jwt.decode(token, options={"verify_signature": False})
    assert jwt.get_unverified_header(token) == HEADER
    assert claims == {**CLAIMS, "jti": claims["jti"], "scope": "logos:write users:read"}


def test_a_token_is_valid_from_its_creation_until_it_expires() -> None:
    """Clocks may differ by ten seconds."""
    token = TOKENS.sign(GRANT)
    assert [refused(token, NOW + passed) for passed in (-10, 0, 899)] == [False] * 3
    assert [refused(token, NOW + passed) for passed in (-11, 900, 10**9)] == [True] * 3
    assert refused(forged(HEADER, {**CLAIMS, "nbf": NOW + 11}))
    assert not refused(forged(HEADER, {**CLAIMS, "nbf": NOW}))


def unsigned(algorithm: str) -> tuple[str, ...]:
    head, body = encoded(json.dumps({**HEADER, "alg": algorithm}).encode()), encoded(json.dumps(CLAIMS).encode())
    signature = forged(HEADER, CLAIMS).split(".")[2]
    return f"{head}.{body}.", f"{head}.{body}", f"{head}.{body}.{signature}"


TIMES: tuple[object, ...] = (str(NOW + 1), f"{NOW}.0", True, False, NOW + 0.5, float("inf"), "", [NOW], {}, "x")
# Times are integers, a subject is a user id, and a session is a string; similar values are not accepted.
WRONG: dict[str, tuple[object, ...]] = {
    **dict.fromkeys(("exp", "iat", "nbf"), TIMES),
    "iss": ("somebody", "Logoadmin", ["logoadmin"], ""),
    "aud": ("logoadmin", ["other"], [], {"gallery": 1}, 5),
    "sub": (
        *(7, 7.0, True, ["7"], {"id": 7}, "", "-7", "+7", "7.0", " 7", "7 ", "7\n", "\uff17", "²", "1_0", "0x7"),
        *("admin", "2147483648", "9999999999", "1" * 11),
    ),
    "sid": (7, True, ["session"], {}, 1.5),
}
JWK = {"kty": "oct", "k": encoded(OTHER_KEY.encode())}
IN_TOKEN: list[dict[str, object]] = [
    {},
    {"jwk": JWK},
    {"kid": "../../dev/null"},
    {"jku": "https://attacker.example/keys"},
    {"x5c": ["x"]},
]
REQUIRED = ("iss", "aud", "sub", "sid", "iat", "exp", "jti")
ALGORITHMS: tuple[object, ...] = ("RS256", "ES256", "PS256", "EdDSA", "HS1", "dir", None, 5, ["HS256"], {})
NO_OBJECTS = (
    *(b"", b"[]", b"null", b"1", b'"x"', b"{", b"\xff", b"[" * 2000, b'{"a":' * 500, b"9" * 2900, b"NaN"),
    b'{"alg":NaN}',
)
EXTENSIONS: list[dict[str, object]] = [{"crit": ["exp"]}, {"crit": "x"}, {"b64": False}, {"zip": "DEF", "alg": "dir"}]
FORGED: dict[str, list[str]] = {
    "no signature": [token for algorithm in ("none", "None", "NONE", "nOnE", "") for token in unsigned(algorithm)],
    "another algorithm": [forged({**HEADER, "alg": algorithm}, CLAIMS) for algorithm in ALGORITHMS],
    "another key, even in the token": [forged({**HEADER, **more}, CLAIMS, key=OTHER_KEY) for more in IN_TOKEN],
    "an empty key": [forged(HEADER, CLAIMS, key="")],
    "another type": [
        *(
            forged({**HEADER, "typ": typ}, CLAIMS)
            for typ in (None, "JWT", "jwt", "", "id+jwt", "AT+JWT ", 5, ["at+jwt"])
        ),
        forged({"alg": "HS256", "kid": HEADER["kid"]}, CLAIMS),
    ],
    "a missing claim": [
        *(forged(HEADER, {name: value for name, value in CLAIMS.items() if name != claim}) for claim in REQUIRED),
        *(forged(HEADER, {**CLAIMS, claim: None}) for claim in REQUIRED),
    ],
    "a wrong claim": [forged(HEADER, {**CLAIMS, name: value}) for name, values in WRONG.items() for value in values],
    "no objects": [token for part in NO_OBJECTS for token in (forged(part, CLAIMS), forged(HEADER, part))],
    "a token of another issuer or for another audience": [
        JwtTokens([hs256_key(KEY)], "somebody", "gallery").sign(GRANT),
        JwtTokens([hs256_key(KEY)], "logoadmin", "somebody").sign(GRANT),
    ],
    "headers with extensions": [forged({**HEADER, **more}, CLAIMS) for more in EXTENSIONS],
    "no token": [
        *("", ".", "..", "...", "a.b.c", "é.é.é", "😀", "\ud800.\ud800.x", "\0", "Bearer x", "a" * 4096),
        *("a" * 10_000_000, "." * 4096, "eyJ" * 1365, "=.=.=", "-_-.-_-.-_-"),
    ],
}


@pytest.mark.parametrize("kind", FORGED)
def test_a_forged_token_is_refused(kind: str) -> None:
    for number, token in enumerate(FORGED[kind]):
        assert refused(token), (number, token[:999])


def test_a_token_that_was_altered_anywhere_is_refused() -> None:
    token = TOKENS.sign(GRANT)
    for place in range(len(token)):
        other = "A" if token[place] not in "AB" else "Z"
        changed = token[:place] + other + token[place + 1 :]
        # The last character of a part has insignificant bits.
        same = changed.rsplit(".", 1)[0] == token.rsplit(".", 1)[0] and _bytes(changed) == _bytes(token)
        assert same or refused(changed), place
    assert refused(f"{token}=")
    for cut in (1, 2, 10, len(token) - 1):
        assert refused(token[:-cut])
        assert refused(token[cut:])


def _bytes(token: str) -> bytes:
    return base64.urlsafe_b64decode(token.rsplit(".", 1)[1] + "==")


json_leaves = st.none() | st.booleans() | st.integers() | st.floats() | st.text(max_size=5)
any_json = st.recursive(
    json_leaves, lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=3), inner, max_size=3)
)


@given(st.dictionaries(st.sampled_from([*HEADER, "crit", "b64", "cty"]), any_json, min_size=1), st.booleans())
def test_a_random_header_is_refused_or_changes_nothing(changes: dict[str, object], signed: bool) -> None:
    token = forged(HEADER | changes, CLAIMS, key=KEY if signed else OTHER_KEY)
    try:
        caller = TOKENS.verify(token, NOW)
    except InvalidToken:
        return
    assert signed
    assert caller == SignedIn(7, "session")
    assert (HEADER | changes).items() >= HEADER.items()


@given(st.dictionaries(st.sampled_from([*CLAIMS, "nbf"]), any_json, min_size=1), st.booleans())
def test_random_claims_are_refused_or_valid(changes: dict[str, object], signed: bool) -> None:
    try:
        caller = TOKENS.verify(forged(HEADER, CLAIMS | changes, key=KEY if signed else OTHER_KEY), NOW)
    except InvalidToken:
        return
    assert signed
    assert 0 <= caller.user_id <= 2_147_483_647


@pytest.mark.rule("contract C2")
def test_a_short_key_does_not_start() -> None:
    assert hs256_key("x" * 32)
    assert hs256_key("é" * 16)  # counted in bytes
    for key in ("", "x" * 31, "secret"):
        with pytest.raises(SettingsError, match="LOGOADMIN_TOKEN_KEY needs at least 32 bytes") as caught:
            keys_of([], key)
        assert not key or key not in str(caught.value)
