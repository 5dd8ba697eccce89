"""An OpenID Connect issuer for tests on loopback, which is honest unless a test makes it lie."""

import base64
import hashlib
import json
import re
import secrets
import time
from collections.abc import Callable, Iterable, Iterator, Mapping
from contextlib import AbstractContextManager, contextmanager
from dataclasses import dataclass, field
from email.utils import formatdate
from functools import lru_cache
from typing import Any, TypeVar
from urllib.parse import parse_qs, unquote_plus, urlencode, urlsplit

import jwt
import pytest
from cryptography.hazmat.primitives.asymmetric import ec, ed25519, rsa

from logoadmin.domain.kernel.errors import IssuerRefused, IssuerUnavailable
from logoadmin.ports.issuer import IssuedIdentity, Issuer
from tests import answering

CLIENT_ID = "gallery & co"
CLIENT_SECRET = "s3cret:of+the client%"
REDIRECT_URI = "http://localhost:8000/console/"
VERIFIER = "v" * 20 + "-._~" + "V" * 20
NONCE = "n-0S6_WzA2Mj-of-this-sign-in"
ANN = {"sub": "248289761001", "preferred_username": "ann", "groups": ["editors"]}

Private = rsa.RSAPrivateKey | ec.EllipticCurvePrivateKey | ed25519.Ed25519PrivateKey
Answer = Callable[["Asked"], tuple[int, Any]]


@lru_cache(maxsize=8)
def private_key(algorithm: str, number: int = 0) -> Private:
    """Return a key, always the same in one run, since generating RSA keys is slow."""
    del number
    if algorithm == "EdDSA":
        return ed25519.Ed25519PrivateKey.generate()
    if algorithm == "ES256":
        return ec.generate_private_key(ec.SECP256R1())
    return rsa.generate_private_key(65_537, 2_048)


def public_jwk(algorithm: str, kid: str | None = "1", number: int = 0, **more: Any) -> dict[str, Any]:
    public: Any = private_key(algorithm, number).public_key()
    jwk: dict[str, Any] = jwt.get_algorithm_by_name(algorithm).to_jwk(public, as_dict=True)
    jwk.pop("key_ops", None)
    return jwk | {"use": "sig"} | ({} if kid is None else {"kid": kid}) | more


def challenge_of(verifier: str) -> str:
    """Return the S256 challenge of a verifier (RFC 7636 §4.2)."""
    return base64.urlsafe_b64encode(hashlib.sha256(verifier.encode()).digest()).decode().rstrip("=")


@dataclass(frozen=True)
class Asked:
    """A received request."""

    path: str
    query: dict[str, str]
    headers: dict[str, str]
    form: dict[str, str]


@dataclass
class StandIn:
    """A stand-in for an issuer, which tests change.

    Attributes:
        url: its address.
        answers: responses by path: a status, and JSON, bytes, a form as text, or the target of a redirect.
        asked: the requests so far.
        clock: returns its time.
    """

    url: str
    answers: dict[str, Answer | tuple[int, Any]] = field(default_factory=dict)
    asked: list[Asked] = field(default_factory=list)
    clock: Callable[[], float] = time.time
    _codes: dict[str, dict[str, Any]] = field(default_factory=dict)
    _tokens: dict[str, dict[str, Any]] = field(default_factory=dict)
    person: dict[str, Any] = field(default_factory=dict)

    def paths(self) -> list[str]:
        return [asked.path for asked in self.asked]

    def routes(self) -> dict[str, Answer]:
        """Return the handler for each path."""
        raise NotImplementedError

    def answer(self, asked: Asked) -> tuple[int, Any]:
        """Return the status and the body of a response."""
        self.asked.append(asked)
        response = self.answers.get(asked.path) or self.routes().get(asked.path)
        if response is None:
            return 404, {"message": "Not Found"}
        return response if isinstance(response, tuple) else response(asked)

    def _authorized(self, query: Mapping[str, str]) -> str:
        code = secrets.token_hex(10)
        self._codes[code] = {**query, "person": dict(self.person)}
        return code

    def _person_of(self, asked: Asked) -> dict[str, Any] | None:
        """Return the user whose access token was sent, or None."""
        return self._tokens.get(asked.headers.get("authorization", "").removeprefix("Bearer "))


@dataclass
class FakeIssuer(StandIn):
    """The state of the issuer, which tests change.

    Attributes:
        person: the claims of the signed-in user.
        metadata: values that replace those in its metadata; None removes one.
        claims: values that replace those in ID tokens; None removes one.
        header: values that replace those in the header of ID tokens.
        keys: the published keys.
        algorithm: the algorithm of signatures.
        signs_with: the number of the signing key.
        token: makes an ID token from claims in place of the usual one.
        in_userinfo: the claims that only its userinfo endpoint has.
    """

    person: dict[str, Any] = field(default_factory=lambda: dict(ANN))
    metadata: dict[str, Any] = field(default_factory=dict)
    claims: dict[str, Any] = field(default_factory=dict)
    header: dict[str, Any] = field(default_factory=dict)
    keys: list[Any] = field(default_factory=lambda: [public_jwk("ES256")])
    algorithm: str = "ES256"
    signs_with: int = 0
    token: Callable[[dict[str, Any]], str] | None = None
    in_userinfo: frozenset[str] = frozenset()

    def code(self, nonce: str = NONCE, verifier: str = VERIFIER, redirect_uri: str = REDIRECT_URI) -> str:
        """Return the code of a sign-in, as a browser would receive it."""
        query = {"client_id": CLIENT_ID, "redirect_uri": redirect_uri, "nonce": nonce, "state": "s"}
        return self._authorized({**query, "code_challenge": challenge_of(verifier)})

    def routes(self) -> dict[str, Answer]:
        return {
            "/.well-known/openid-configuration": lambda _: (200, _merged(self._metadata(), self.metadata)),
            "/keys": lambda _: (200, {"keys": self.keys}),
            "/authorize": self._authorize,
            "/token": self._token,
            "/userinfo": self._userinfo,
        }

    def _metadata(self) -> dict[str, Any]:
        return {
            "issuer": self.url,
            "authorization_endpoint": f"{self.url}/authorize",
            "token_endpoint": f"{self.url}/token",
            "userinfo_endpoint": f"{self.url}/userinfo",
            "jwks_uri": f"{self.url}/keys",
            "scopes_supported": ["openid", "profile", "email", "groups"],
            "token_endpoint_auth_methods_supported": ["client_secret_basic", "client_secret_post"],
            "code_challenge_methods_supported": ["S256"],
            "authorization_response_iss_parameter_supported": True,
        }

    def _authorize(self, asked: Asked) -> tuple[int, Any]:
        """Redirect the browser back with a code, as if the user had just signed in."""
        assert (asked.query["response_type"], asked.query["code_challenge_method"]) == ("code", "S256")
        back = {"code": self._authorized(asked.query), "state": asked.query["state"], "iss": self.url}
        return 302, f"{asked.query['redirect_uri']}?{urlencode(back)}"

    def _token(self, asked: Asked) -> tuple[int, Any]:
        authorization, form = asked.headers.get("authorization", ""), asked.form
        client = (form.get("client_id"), form.get("client_secret"))
        if authorization:
            pair = base64.b64decode(authorization.removeprefix("Basic ")).decode()
            client_id, _, client_secret = pair.partition(":")
            client = (unquote_plus(client_id), unquote_plus(client_secret))
        if client != (CLIENT_ID, CLIENT_SECRET):
            return 401, {"error": "invalid_client"}
        sign_in = self._codes.pop(form.get("code", ""), None)
        verifier = challenge_of(form.get("code_verifier", ""))
        if sign_in is None or form["redirect_uri"] != sign_in["redirect_uri"] or verifier != sign_in["code_challenge"]:
            return 400, {"error": "invalid_grant", "error_description": "s3cret"}
        access_token = secrets.token_urlsafe()
        self._tokens[access_token] = sign_in["person"]
        id_token = self._id_token(sign_in, access_token)
        return 200, {"access_token": access_token, "token_type": "Bearer", "id_token": id_token}

    def _id_token(self, sign_in: dict[str, Any], access_token: str) -> str:
        now = int(self.clock())
        digest = hashlib.new("sha512" if self.algorithm == "EdDSA" else "sha256", access_token.encode()).digest()
        true_claims = {
            **{name: value for name, value in sign_in["person"].items() if name not in self.in_userinfo},
            "iss": self.url,
            "aud": CLIENT_ID,
            "iat": now,
            **({"auth_time": now} if "max_age" in sign_in else {}),  # required then, otherwise optional
            "exp": now + 300,
            "nonce": sign_in["nonce"],
            "at_hash": base64.urlsafe_b64encode(digest[: len(digest) // 2]).decode().rstrip("="),
        }
        claims = _merged(true_claims, self.claims)
        if self.token is not None:
            return self.token(claims)
        headers = _merged({"kid": "1"}, self.header)
        signing = private_key(self.algorithm, self.signs_with)
        # Without checking the claims, which may be lies.
        return jwt.PyJWS().encode(json.dumps(claims).encode(), signing, self.algorithm, {"typ": "JWT", **headers})

    def _userinfo(self, asked: Asked) -> tuple[int, Any]:
        person = self._person_of(asked)
        return (401, {"error": "invalid_token"}) if person is None else (200, person)


def _merged(values: dict[str, Any], instead: dict[str, Any]) -> dict[str, Any]:
    return {name: value for name, value in {**values, **instead}.items() if value is not None}


def redeem(issuer: Issuer, code: str, **instead: str) -> IssuedIdentity:
    """Exchange a code as the service does."""
    return issuer.redeem(code, **{"code_verifier": VERIFIER, "nonce": NONCE, **instead}, now=int(time.time()))


def refusal(issuer: Issuer, code: str, caplog: pytest.LogCaptureFixture, hidden: Iterable[str], **instead: str) -> str:
    """Return the logged reason of a refused sign-in; neither it nor the error contains received or sent data."""
    caplog.clear()
    with pytest.raises(IssuerRefused, match=r"^The sign-in at the issuer could not be verified$") as caught:
        redeem(issuer, code, **instead)
    assert caught.value.__cause__ is None
    (record,) = caplog.records
    assert not any(secret in record.getMessage() for secret in (code, "s3cret", *hidden, *instead.values()))
    return record.getMessage().removeprefix(f"Refused a sign-in at the issuer {issuer.name}: ")


def unavailable(issuer: Issuer, code: str) -> IssuerUnavailable:
    """Return the error of an issuer that cannot be reached."""
    with pytest.raises(IssuerUnavailable, match=f"^Cannot reach the issuer {re.escape(issuer.name)}$") as caught:
        redeem(issuer, code)
    return caught.value


Stand = TypeVar("Stand", bound=StandIn)


@contextmanager
def standing(make: Callable[[str], Stand]) -> Iterator[Stand]:
    """Serve a stand-in, made for its URL."""

    def answer(request: answering.Request) -> answering.Answer:
        parts = urlsplit(request.path)
        asked = Asked(parts.path, _fields(parts.query), dict(request.headers), _fields(request.body.decode()))
        status, response = stand.answer(asked)
        is_form = isinstance(response, str)
        content_type = "application/x-www-form-urlencoded" if is_form else "application/json"
        headers = {"Date": formatdate(stand.clock(), usegmt=True)} | ({"Location": response} if status == 302 else {})
        sent = response if isinstance(response, bytes) else (response if is_form else json.dumps(response)).encode()
        return answering.Answer(b"" if status == 302 else sent, content_type, status, headers)

    with answering.answering(answer) as server:
        stand = make(f"http://{server.host}")
        yield stand


def fake_issuer() -> AbstractContextManager[FakeIssuer]:
    return standing(FakeIssuer)


def _fields(query: str) -> dict[str, str]:
    return {name: values[0] for name, values in parse_qs(query, keep_blank_values=True).items()}
