"""The issuer adapter against an issuer that forges any field (contract O7, ASVS 10.5.1 to 10.5.4)."""

import base64
import hmac
import json
import ssl
import threading
import time
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace
from functools import partial
from typing import Any

import jwt
import pytest
from cryptography.hazmat.primitives.asymmetric import rsa
from cryptography.hazmat.primitives.serialization import Encoding, PublicFormat

from logoadmin.adapters.httpcore_outgoing import GuardedOutgoing
from logoadmin.adapters.oauth_issuer.oidc import OidcIssuer
from logoadmin.domain.kernel.errors import IssuerUnavailable
from logoadmin.ports.issuer import Authorization, IssuedIdentity
from tests.issuer import (
    CLIENT_ID,
    CLIENT_SECRET,
    NONCE,
    VERIFIER,
    FakeIssuer,
    fake_issuer,
    private_key,
    public_jwk,
    redeem,
    refusal,
    unavailable,
)

RETURN_URL = "http://localhost:8000/console/"

pytestmark = pytest.mark.rule("contract O7")

ANN = IssuedIdentity("248289761001", ("editors",), ("ann", "248289761001"))
HERE = "127.0.0.1"
SECRETS = (CLIENT_SECRET, VERIFIER, NONCE, "eyJ")
Refused = Callable[..., str]
CONTEXT = ssl.create_default_context()  # one for all tests: loading the certificates of the system is slow


class Timer:
    """The clock of the document cache."""

    now = 1000.0

    def __call__(self) -> float:
        return self.now


@pytest.fixture
def fake() -> Iterator[FakeIssuer]:
    with fake_issuer() as running:
        yield running


@pytest.fixture
def timer() -> Timer:
    return Timer()


def issuer_at(
    url: str, secret: str = CLIENT_SECRET, outgoing: type[GuardedOutgoing] = GuardedOutgoing, **more: Any
) -> OidcIssuer:
    return OidcIssuer(url, CLIENT_ID, secret, RETURN_URL, outgoing([HERE], context=CONTEXT), **more)


@pytest.fixture
def issuer(fake: FakeIssuer, timer: Timer) -> OidcIssuer:
    return issuer_at(fake.url, monotonic=timer)


@pytest.fixture
def refused(issuer: OidcIssuer, fake: FakeIssuer, caplog: pytest.LogCaptureFixture) -> Refused:
    """Requires that a sign-in is refused, and returns the logged reason."""
    return lambda **instead: refusal(issuer, fake.code(), caplog, SECRETS, **instead)


# What is right


@pytest.mark.parametrize("algorithm", ["RS256", "PS256", "ES256", "EdDSA"])
def test_a_code_is_exchanged_for_a_person(issuer: OidcIssuer, fake: FakeIssuer, algorithm: str) -> None:
    fake.algorithm, fake.keys = algorithm, [public_jwk(algorithm)]
    assert redeem(issuer, fake.code()) == ANN
    assert fake.paths() == ["/.well-known/openid-configuration", "/token", "/keys"]
    form = fake.asked[1].form
    assert form.keys() == {"grant_type", "code", "redirect_uri", "code_verifier"}
    assert form["grant_type"] == "authorization_code"


def test_the_secret_may_be_sent_in_the_form(issuer: OidcIssuer, fake: FakeIssuer) -> None:
    fake.metadata["token_endpoint_auth_methods_supported"] = ["private_key_jwt", "client_secret_post"]
    assert redeem(issuer, fake.code()) == ANN
    assert "authorization" not in fake.asked[1].headers


def test_the_authorization_url_is_returned(issuer: OidcIssuer, fake: FakeIssuer) -> None:
    """Only needed scopes are requested (ASVS 10.2.3)."""
    endpoint = f"{fake.url}/authorize"
    assert issuer.authorization() == Authorization(
        endpoint, "openid profile email groups", fake.url, iss_in_response=True
    )
    assert (issuer.name, issuer.url, issuer.client_id) == (HERE, fake.url, CLIENT_ID)


@pytest.mark.parametrize(
    ("claim", "groups"),
    [
        *((None, ()), ("editors", ("editors",)), (["b", "a", "b", "", "x" * 256, "a\nb"], ("b", "a")), ([], ())),
        ([*map(str, range(1_000))], (*map(str, range(1_000)),)),
    ],
    ids=["none", "text", "list", "empty", "maximum"],
)
def test_groups_are_lists_or_text(issuer: OidcIssuer, fake: FakeIssuer, claim: object, groups: tuple[str, ...]) -> None:
    fake.person["groups"] = claim
    if claim is None:
        del fake.person["groups"]
    assert redeem(issuer, fake.code()).groups == groups


def test_groups_may_be_in_the_userinfo_alone(issuer: OidcIssuer, fake: FakeIssuer) -> None:
    fake.in_userinfo = frozenset({"groups", "preferred_username"})
    assert redeem(issuer, fake.code()) == ANN
    assert fake.paths()[-1] == "/userinfo"


def test_keys_are_chosen_by_their_kind_where_no_token_names_one(issuer: OidcIssuer, fake: FakeIssuer) -> None:
    fake.keys = [
        *("rubbish", {"kty": "RSA"}, {"kty": "EC", "crv": "P-256", "x": "AA", "y": 5}, {"kty": "oct", "k": "AAAA"}),
        *(public_jwk("RS256", None), public_jwk("ES256", None, 1), public_jwk("ES256", None)),
    ]
    fake.header = {"kid": None}
    assert redeem(issuer, fake.code()) == ANN


# The cache


def test_documents_are_cached_for_an_hour(issuer: OidcIssuer, fake: FakeIssuer, timer: Timer) -> None:
    redeem(issuer, fake.code())
    timer.now += 3_599
    redeem(issuer, fake.code())
    issuer.authorization()
    assert fake.paths().count("/.well-known/openid-configuration") == fake.paths().count("/keys") == 1
    timer.now += 1
    redeem(issuer, fake.code())
    assert fake.paths().count("/.well-known/openid-configuration") == fake.paths().count("/keys") == 2


def test_a_failure_is_cached_for_ten_seconds(issuer: OidcIssuer, fake: FakeIssuer, timer: Timer) -> None:
    fake.answers["/.well-known/openid-configuration"] = (500, {})
    for _ in range(3):
        with pytest.raises(IssuerUnavailable, match=r"^Cannot reach the issuer 127\.0\.0\.1$"):
            issuer.authorization()
    assert len(fake.asked) == 1
    fake.answers.clear()
    timer.now += 10
    assert issuer.authorization().endpoint == f"{fake.url}/authorize"


def test_concurrent_callers_share_one_request(issuer: OidcIssuer, fake: FakeIssuer) -> None:
    release = threading.Event()

    def slow(_: object) -> tuple[int, Any]:
        release.wait(5)
        return 500, {}

    fake.answers["/.well-known/openid-configuration"] = slow
    with ThreadPoolExecutor(8) as threads:
        futures = [threads.submit(issuer.authorization) for _ in range(8)]
        time.sleep(0.1)
        release.set()
        assert all(isinstance(future.exception(), IssuerUnavailable) for future in futures)
    assert len(fake.asked) == 1


def test_keys_are_fetched_once_a_minute(issuer: OidcIssuer, fake: FakeIssuer, timer: Timer, refused: Refused) -> None:
    assert redeem(issuer, fake.code()) == ANN
    fake.keys = [public_jwk("ES256", "2", 2)]
    fake.signs_with, fake.header = 2, {"kid": "2"}
    for _ in range(3):  # within the first minute
        assert "does not publish" in refused()
    timer.now += 60
    assert redeem(issuer, fake.code()) == ANN
    fake.header = {"kid": "3"}
    for _ in range(3):
        assert "does not publish" in refused()
    assert fake.paths().count("/keys") == 2


# Forged ID tokens and responses (ASVS 10.5.1 to 10.5.4)

NOW = 10**9
LIES: dict[str, list[object]] = {
    "iss": [None, "https://evil.example", "http://127.0.0.1", ["http://127.0.0.1"], 5, ""],
    "aud": [None, "another", ["another"], [], {CLIENT_ID: 1}, CLIENT_ID + " ", 5],
    "azp": ["another", 5, ""],
    "nonce": [None, "", "of-another-sign-in", NONCE.lower(), [NONCE], 5, "\N{SNOWMAN}"],
    "exp": [None, 0, -1, True, NOW, "9999999999", [], {}],
    "iat": [None, 0, NOW, 10**10, True, "now"],
    "nbf": [10**10, "soon", True],
    "at_hash": ["", "AAAAAAAAAAAAAAAAAAAAAA", 5, []],
}
UNUSABLE = [*("", 5, ["1"], "x" * 256, "a\0b", "a\nb", "\N{RIGHT-TO-LEFT OVERRIDE}a", None)]
# The nonce, the audience and the rest are compared (ASVS 10.5.1, 10.5.4).
CLAIMS: list[tuple[Any, str]] = [
    *(({claim: lie}, f"the ID token has a wrong {claim}") for claim, lies in LIES.items() for lie in lies),
    *(({"aud": ["other", CLIENT_ID], **party}, "the ID token has a wrong azp") for party in ({}, {"azp": "other"})),
    *(({"sub": subject}, "the sub is missing or unusable") for subject in UNUSABLE),
    *(({"groups": groups}, "the groups") for groups in (5, {"editors": 1}, ["editors", 5], [["editors"]], True)),
    ({"groups": [str(number) for number in range(1_001)]}, "1,000 groups"),
]


def test_several_audiences_with_our_authorized_party_are_accepted(issuer: OidcIssuer, fake: FakeIssuer) -> None:
    fake.claims = {"aud": ["other", CLIENT_ID], "azp": CLIENT_ID}
    assert redeem(issuer, fake.code()) == ANN


def ahead(seconds: float) -> float:
    return time.time() + seconds


def test_clocks_may_differ_by_a_minute(issuer: OidcIssuer, fake: FakeIssuer, refused: Refused) -> None:
    for seconds, is_right in [(55, True), (70, False), (-300, True), (-660, False)]:
        fake.clock = partial(ahead, seconds)
        fake.claims = {"exp": int(time.time()) + 30}
        if is_right:
            assert redeem(issuer, fake.code()) == ANN
        else:
            assert refused() == "the ID token has a wrong iat"


@pytest.mark.parametrize(
    ("claim", "known"), [(None, None), (1_700_000_000, 1_700_000_000), ("1700000000", None), (True, None), ([], None)]
)
def test_the_sign_in_time_is_passed_on(issuer: OidcIssuer, fake: FakeIssuer, claim: object, known: int | None) -> None:
    """ASVS 6.8.4."""
    fake.claims = {"auth_time": claim}
    assert redeem(issuer, fake.code()) == replace(ANN, authenticated_at=known)


@pytest.mark.parametrize(("seconds", "is_right"), [(55, True), (120, False), (1e300, False)])
def test_a_sign_in_in_the_future_is_refused(
    issuer: OidcIssuer, fake: FakeIssuer, refused: Refused, seconds: float, is_right: bool
) -> None:
    """Otherwise it would be recent until then (contract O3)."""
    fake.claims = {"auth_time": int(time.time()) + seconds}
    if is_right:
        assert redeem(issuer, fake.code()).authenticated_at == fake.claims["auth_time"]
    else:
        assert refused() == "the ID token has a wrong auth_time"


# Keys and algorithms


def of_header(header: dict[str, Any], signature: bytes = b"") -> Callable[[dict[str, Any]], str]:
    def token(claims: dict[str, Any]) -> str:
        parts = (json.dumps(header).encode(), json.dumps(claims).encode(), signature)
        return ".".join(base64.urlsafe_b64encode(part).decode().rstrip("=") for part in parts)

    return token


def with_public_key_as_secret(claims: dict[str, Any]) -> str:
    public = private_key("ES256").public_key().public_bytes(Encoding.PEM, PublicFormat.SubjectPublicKeyInfo)
    head = of_header({"alg": "HS256", "kid": "1"})(claims).rpartition(".")[0]
    return f"{head}.{base64.urlsafe_b64encode(hmac.digest(public, head.encode(), 'sha256')).decode().rstrip('=')}"


def with_own_key_in_header(claims: dict[str, Any]) -> str:
    headers = {"kid": "1", "jwk": public_jwk("ES256", number=3), "jku": "https://evil.example/keys"}
    return jwt.encode(claims, private_key("ES256", 3), "ES256", headers)


def signed(content: bytes) -> Callable[[dict[str, Any]], str]:
    return lambda _: jwt.PyJWS().encode(content, private_key("ES256"), "ES256", {"kid": "1"})


def with_critical_header(claims: dict[str, Any]) -> str:
    return jwt.encode(claims, private_key("ES256"), "ES256", {"kid": "1", "crit": ["exp2"], "exp2": 1})


# Keys and algorithms cannot be confused (ASVS 6.8.2, 9.1.1 to 9.1.3).
TOKENS: list[Callable[[dict[str, Any]], str]] = [
    *[of_header({"alg": alg, "kid": "1"}) for alg in ("none", "None", "", None, 5, ["ES256"], "HS256", "ES256")],
    *(of_header({"kid": "1"}), of_header({"alg": "ES256", "kid": ["1"]})),
    *(of_header({"alg": "ES256", "kid": "1"}, b"\0" * 64), of_header({"alg": "RS256", "kid": "1"}, b"\0" * 256)),
    *(with_public_key_as_secret, with_own_key_in_header, with_critical_header),
    lambda claims: jwt.encode(claims, CLIENT_SECRET * 2, "HS256", {"kid": "1"}),
    lambda claims: jwt.encode(claims, private_key("ES256", 3), "ES256", {"kid": "1"}),
    lambda claims: jwt.encode(claims, private_key("RS256"), "RS256", {"kid": "1"}),
    lambda claims: jwt.encode(claims, private_key("ES256"), "ES256", {"kid": "1"})[:-4] + "AAAA",
    *(lambda claims: jwt.encode(claims, private_key("ES256"), "ES256", {"kid": "1"}) + ".a.b", lambda _: ""),
    *(lambda _: "rubbish", lambda _: "a.b.c", lambda _: "\N{SNOWMAN}.\N{SNOWMAN}.\N{SNOWMAN}"),
    lambda _: base64.urlsafe_b64encode(b"[" * 100_000).decode() + ".e30.AA",
    *(signed(content) for content in (b"[1]", b"[" * 100_000, b'{"iat": 1e999}', b"\xff")),
]
NO_TOKEN = (
    *("the ID token has an algorithm that is not accepted", "the ID token is malformed"),
    *("the ID token is signed with a key that the issuer does not publish", "the signature of the ID token is wrong"),
)
OTHER_KEYS: list[dict[str, Any]] = [
    *(public_jwk("ES256", use="enc"), public_jwk("ES256", alg="ES384"), public_jwk("ES256", alg="none")),
    *(public_jwk("ES256", key_ops=["encrypt"]), public_jwk("ES256", key_ops=5), public_jwk("ES256", crv="P-384")),
    *(public_jwk("ES256", "2"), {"kty": "oct", "k": "AAAA", "kid": "1", "alg": "ES256"}),
    {"kty": ["EC"], "kid": {"1": "1"}},
]
RESPONSES: list[tuple[int, Any]] = [
    *((200, b""), (200, b"[]"), (200, b"null"), (200, b"\xff"), (200, b"[" * 100_000), (200, b'{"a": NaN}')),
    *((200, {}), (200, {"token_type": "Bearer", "access_token": "a"})),
    (200, {"token_type": "Bearer", "access_token": "a", "id_token": 5}),
    *((200, {"token_type": "mac", "access_token": "a", "id_token": "a.b.c"}), (204, b"")),
    *((302, "https://evil.example/"), (400, {"error": "s3cret " * 10}), (400, {"error": ["invalid_grant"]})),
    *((403, b"<html>s3cret"), (404, {})),
]


@pytest.mark.parametrize(
    ("forged", "value", "reasons"),
    [
        *(("claims", claims, (reason,)) for claims, reason in CLAIMS),
        *(("token", token, NO_TOKEN) for token in TOKENS),
        *(("keys", [key], (NO_TOKEN[2],)) for key in OTHER_KEYS),
        *(("answers", {"/token": response}, ("its token ",)) for response in RESPONSES),
    ],
)
def test_a_forged_token_or_response_is_refused(
    fake: FakeIssuer, refused: Refused, forged: str, value: object, reasons: tuple[str, ...]
) -> None:
    setattr(fake, forged, value)
    reason = refused()
    assert any(each in reason for each in reasons)


def test_a_short_rsa_key_is_not_accepted(fake: FakeIssuer, refused: Refused) -> None:
    short = rsa.generate_private_key(65_537, 1_024)
    public = jwt.get_algorithm_by_name("RS256").to_jwk(short.public_key(), as_dict=True)
    fake.keys = [{**public, "kid": "1", "key_ops": ["verify"]}]
    from cryptography.hazmat.primitives.asymmetric.padding import PKCS1v15
    from cryptography.hazmat.primitives.hashes import SHA256

    def token(claims: dict[str, Any]) -> str:
        head = of_header({"alg": "RS256", "kid": "1"})(claims).rpartition(".")[0]
        signature = short.sign(head.encode(), PKCS1v15(), SHA256())
        return f"{head}.{base64.urlsafe_b64encode(signature).decode().rstrip('=')}"

    fake.token = token
    assert refused() == "the signature of the ID token is wrong"


# Codes and the token endpoint


def test_a_wrong_verifier_and_a_wrong_secret_are_logged(
    fake: FakeIssuer, refused: Refused, caplog: pytest.LogCaptureFixture
) -> None:
    """An injected code has another challenge (ASVS 10.2.1)."""
    assert refused(code_verifier="w" * 43).endswith("refuses the code: invalid_grant")
    reason = refusal(issuer_at(fake.url, "wrong"), fake.code(), caplog, SECRETS)
    assert reason.endswith("refuses the code: invalid_client")


def test_the_userinfo_does_not_determine_the_time_of_the_sign_in(issuer: OidcIssuer, fake: FakeIssuer) -> None:
    fake.in_userinfo = frozenset({"groups"})
    fake.answers["/userinfo"] = (200, {**fake.person, "auth_time": int(time.time()) + 3600})
    assert redeem(issuer, fake.code()).authenticated_at is None


def test_the_userinfo_must_be_for_the_same_person(issuer: OidcIssuer, fake: FakeIssuer, refused: Refused) -> None:
    fake.in_userinfo = frozenset({"groups"})
    fake.answers["/userinfo"] = (200, {"sub": "1", "groups": ["admins"]})
    assert refused() == "its userinfo response is about somebody else"
    fake.answers["/userinfo"] = (403, {"sub": ANN.subject})
    assert refused() == "its userinfo endpoint responds with status 403"
    fake.answers["/userinfo"] = (200, {**fake.person, "iss": "x", "nonce": "x", "groups": "admins", "name": "Ann"})
    assert redeem(issuer, fake.code()) == IssuedIdentity(ANN.subject, ("admins",), ("ann", "Ann", ANN.subject))


@pytest.mark.parametrize("access_token", [None, 5, "", "a b", "a\r\nX: y", "\N{SNOWMAN}"])
def test_a_token_invalid_in_a_header_is_not_sent(fake: FakeIssuer, refused: Refused, access_token: object) -> None:
    fake.in_userinfo = frozenset({"groups"})
    fake.claims = {"at_hash": None}
    honest = fake._token
    fake.answers["/token"] = lambda asked: (200, {**honest(asked)[1], "access_token": access_token})
    assert refused() == "its token response has no usable access token"
    assert "/userinfo" not in fake.paths()


def test_an_issuer_that_is_not_running_is_unavailable() -> None:
    with fake_issuer() as gone:
        issuer, code = issuer_at(gone.url), gone.code()
    assert unavailable(issuer, code).explained == f"Cannot reach the issuer {HERE}: {HERE}: cannot be reached"


# Metadata and keys


ENDPOINTS = ("authorization_endpoint", "token_endpoint", "jwks_uri")
CONFIGURATION = "/.well-known/openid-configuration"
NO_URLS = (
    *("javascript:alert(1)", "ftp://a.example/", "//a.example/", "https://u:p@a.example/", "https://a b/", 5, ""),
    *("https://a.example/#f", "https://a.example/" + "x" * 2048, "https://a.example/\n"),
)
# Nobody poses as the issuer by its metadata (ASVS 10.5.3).
METADATA: list[dict[str, Any]] = [
    *({"issuer": lie} for lie in (None, "https://evil.example", 5, "")),
    *({name: lie} for name in (*ENDPOINTS, "userinfo_endpoint") for lie in NO_URLS),
    *({name: None} for name in ENDPOINTS),
    *({"token_endpoint_auth_methods_supported": [method]} for method in ("private_key_jwt", "none")),
]
NO_KEYS: list[Any] = [None, [], {}, "keys", [{}] * 101]
DOCUMENTS: list[tuple[int, Any]] = [
    *((200, b""), (200, b"[]"), (200, b"\xff"), (200, b"{" * 9999), (302, "/x"), (404, {}), (200, b" " * 300_000)),
]


@pytest.mark.parametrize(
    ("what", "value", "reason"),
    [
        *(("metadata", metadata, "its ") for metadata in METADATA),
        *(("keys", keys, "it publishes no keys, or more than 100") for keys in NO_KEYS),
        *(("answers", {path: document}, "") for path in ("/keys", CONFIGURATION) for document in DOCUMENTS),
        *(
            ("answers", {path: (status, {})}, f"responds with status {status}")
            for path in ("/token", "/userinfo", "/keys", CONFIGURATION)
            for status in (429, 500, 503)
        ),
    ],
)
def test_an_issuer_in_trouble_is_unavailable(
    issuer: OidcIssuer, fake: FakeIssuer, what: str, value: object, reason: str
) -> None:
    fake.in_userinfo = frozenset({"groups"})
    setattr(fake, what, value)
    assert unavailable(issuer, fake.code()).reason.startswith(reason)
    assert what != "metadata" or fake.paths() == [CONFIGURATION]


def test_missing_metadata_has_defaults(issuer: OidcIssuer, fake: FakeIssuer) -> None:
    optional = (
        *("scopes_supported", "token_endpoint_auth_methods_supported", "code_challenge_methods_supported"),
        *("authorization_response_iss_parameter_supported", "userinfo_endpoint"),
    )
    fake.metadata = dict.fromkeys(optional)
    authorization = Authorization(f"{fake.url}/authorize", "openid profile email", fake.url, iss_in_response=False)
    assert issuer.authorization() == authorization
    assert redeem(issuer, fake.code()) == ANN


def test_an_issuer_with_tls_cannot_name_endpoints_without_tls(fake: FakeIssuer) -> None:
    class Pretending(GuardedOutgoing):
        """Sends every request without TLS, regardless of the URL."""

        def send(self, url: str, **given: Any) -> Any:
            return super().send(url.replace("https:", "http:"), **given)

    secure = fake.url.replace("http:", "https:")
    for name in (*ENDPOINTS, "userinfo_endpoint"):
        honest = {key: f"{secure}/{key}" for key in ENDPOINTS}
        fake.metadata = {**honest, "userinfo_endpoint": None, "issuer": secure, name: f"{fake.url}/x"}
        issuer = issuer_at(secure, outgoing=Pretending)
        assert unavailable(issuer, fake.code()).reason == f"its {name} is not encrypted"


def test_the_metadata_of_an_issuer_are_below_its_path(fake: FakeIssuer) -> None:
    for url, asked in [
        (f"{fake.url}/realms/a", "/realms/a/.well-known/openid-configuration"),
        (f"{fake.url}/o/", "/o/.well-known/openid-configuration"),
    ]:
        fake.metadata = {"issuer": url}
        fake.answers[asked] = lambda _: (200, {**fake._metadata(), **fake.metadata})
        assert issuer_at(url).authorization().endpoint == f"{fake.url}/authorize"
