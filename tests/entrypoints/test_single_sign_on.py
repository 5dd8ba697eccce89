"""Single sign-on over HTTP, at an issuer that can forge any field, and at a certified one (contract O7)."""

import re
import shutil
import subprocess
from collections.abc import Iterator
from contextlib import contextmanager
from html import unescape
from pathlib import Path
from typing import Any, Final
from urllib.parse import parse_qs, urlencode, urljoin, urlsplit

import httpx2
import pytest

from logoadmin.bootstrap import open_gallery
from logoadmin.domain.logo_admin import LogoAdmin
from logoadmin.entrypoints.http_api.app import http_application
from logoadmin.settings import settings_of
from tests.asgi import AppClient, ask
from tests.issuer import CLIENT_ID, CLIENT_SECRET, NONCE, REDIRECT_URI, VERIFIER, FakeIssuer, challenge_of, fake_issuer
from tests.mariadb import free_port
from tests.options import skip_without

pytestmark = [pytest.mark.server("an issuer in a thread or a process"), pytest.mark.rule("contract O7")]

HERE: Final = Path(__file__).parents[1]
NODES: Final = (str(HERE.parent / ".venv-node/bin/node"), "node")
CODE: Final = {"grant_type": "authorization_code", "redirect_uri": REDIRECT_URI}
UNVERIFIED: Final = {"detail": "The sign-in at the issuer could not be verified"}


@contextmanager
def gallery_with(issuer: str, directory: Path, **given: Any) -> Iterator[LogoAdmin]:
    own = {"argon2_memory_kib": 8, "argon2_passes": 1, "oidc_roles": {"editors": "admin"}}
    client = {"oidc_issuer": issuer, "oidc_client_id": CLIENT_ID, "oidc_client_secret": CLIENT_SECRET}
    settings = settings_of(**{"database": f"sqlite:///{directory}/logoadmin.db", **own, **client, **given})
    with open_gallery(settings, create="always") as gallery:
        yield gallery


@pytest.fixture
def fake() -> Iterator[FakeIssuer]:
    with fake_issuer() as running:
        yield running


@pytest.fixture
def client(fake: FakeIssuer, tmp_path: Path) -> Iterator[AppClient]:
    with gallery_with(fake.url, tmp_path) as gallery, AppClient(http_application(gallery)) as opened:
        yield opened


def sign_in(client: AppClient, code: str, **instead: str) -> httpx2.Response:
    body = {**CODE, "code": code, "code_verifier": VERIFIER, "nonce": NONCE, **instead}
    return client.post("/api/auth/token", json=body)


def me(client: AppClient, tokens: Any) -> Any:
    return client.get("/api/auth/me", headers={"authorization": f"Bearer {tokens['access_token']}"}).json()


def test_a_code_of_the_issuer_starts_a_session(client: AppClient, fake: FakeIssuer) -> None:
    """The browser gets the tokens of this service alone (ASVS 10.1.1)."""
    response = sign_in(client, fake.code())
    assert (response.status_code, response.headers["cache-control"]) == (200, "no-store")
    assert {*response.json()} == {"access_token", "token_type", "expires_in", "refresh_token", "scope"}
    found = me(client, response.json())
    assert (found["user_id"], found["username"], found["scope"]) == (2_000_000_001, "ann", ["*"])


@pytest.mark.parametrize(
    "wrong",
    [
        *({"code": code} for code in ("", "a\nb", "x" * 4097)),
        *({"code_verifier": verifier} for verifier in ("short", "v" * 129, "v" * 42 + "=")),
        *({"nonce": nonce} for nonce in ("short", "n" * 256)),
        *({"redirect_uri": ""}, {"iss": "x"}),
    ],
)
def test_a_malformed_request_reaches_no_issuer(client: AppClient, fake: FakeIssuer, wrong: dict[str, str]) -> None:
    response = sign_in(client, **{"code": "c", **wrong})
    assert (response.status_code, VERIFIER in response.text, fake.asked) == (422, False, [])


def test_an_unreachable_issuer_is_unavailable(client: AppClient, fake: FakeIssuer) -> None:
    fake.answers["/token"] = (500, {})
    response = sign_in(client, fake.code())
    assert (response.status_code, response.json()) == (503, {"detail": "Cannot reach the issuer 127.0.0.1"})
    assert int(response.headers["retry-after"]) > 0


def test_the_sign_in_methods_are_public_and_never_cached(client: AppClient, fake: FakeIssuer) -> None:
    response = client.get("/api/auth/ways")
    assert response.headers["cache-control"] == "no-store"
    assert response.json() == {
        "password": True,
        "passkey": True,
        "public_url": "http://localhost:8000",
        "issuer": {
            "name": "127.0.0.1",
            "authorization_endpoint": f"{fake.url}/authorize",
            "client_id": CLIENT_ID,
            "redirect_uri": REDIRECT_URI,
            "scope": "openid profile email groups",
            "issuer": fake.url,
            "iss_in_response": True,
        },
    }


def test_the_sign_in_methods_show_no_details_of_a_failure(fake: FakeIssuer, tmp_path: Path) -> None:
    fake.answers["/.well-known/openid-configuration"] = (500, {"detail": "s3cret"})
    with gallery_with(fake.url, tmp_path, password_sign_in=False) as gallery:
        app = http_application(gallery)
        response = ask(app, "GET", "/api/auth/ways", headers=[("host", "localhost:8000")])
        failure = {"name": "127.0.0.1", "failure": "Cannot reach the issuer 127.0.0.1"}
        assert (response.json()["issuer"], response.json()["password"]) == (failure, False)
        with AppClient(app) as client:
            refused = client.post("/api/auth/token", json={"username": "admin", "password": "wrong"})
            assert refused.status_code == 403
            assert refused.json() == {"detail": "Signing in with a password is switched off"}


# A certified issuer


@pytest.fixture
def certified() -> Iterator[str]:
    """oidc-provider, certified by the OpenID Foundation."""
    node = next(filter(None, map(shutil.which, NODES)), None)
    if node is None or not (HERE.parent / "tools/console/node_modules/oidc-provider").is_dir():
        skip_without("NODE", "oidc-provider is not installed: make tools/console/node_modules/ready")
    port = free_port()
    arguments = [node, str(HERE / "real_issuer.mjs"), str(port), CLIENT_ID, CLIENT_SECRET, REDIRECT_URI]
    with subprocess.Popen(arguments, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True) as process:
        try:
            assert process.stdout is not None
            assert process.stdout.readline() == "ready\n"
            yield f"http://127.0.0.1:{port}"
        finally:
            process.kill()


def sent_back(authorization: str, name: str) -> dict[str, str]:
    """Sign in at the issuer as a browser does; return the parameters of the redirect back."""
    with httpx2.Client() as browser:
        response = browser.get(authorization)
        for _ in range(10):
            location = response.headers.get("location")
            if location is not None:
                url = urljoin(str(response.url), location)
                if url.startswith(REDIRECT_URI):
                    return {key: values[0] for key, values in parse_qs(urlsplit(url).query).items()}
                response = browser.get(url)
                continue
            action = re.search(r'<form[^>]+action="([^"]+)"', response.text)
            assert action is not None, response.text
            fields = dict(re.findall(r'<input[^>]+type="hidden"[^>]+name="(\w+)"[^>]+value="(\w+)"', response.text))
            form = {**fields, **({"login": name, "password": "x"} if fields["prompt"] == "login" else {})}
            response = browser.post(urljoin(str(response.url), unescape(action[1])), data=form)
    raise AssertionError(response.text)


def test_a_complete_sign_in_at_a_certified_issuer(certified: str, tmp_path: Path) -> None:
    with gallery_with(certified, tmp_path) as gallery, AppClient(http_application(gallery)) as client:
        way = client.get("/api/auth/ways").json()["issuer"]
        assert (way["issuer"], way["iss_in_response"]) == (certified, True)
        asked = {
            "response_type": "code",
            "client_id": way["client_id"],
            "redirect_uri": way["redirect_uri"],
            "scope": way["scope"],
            "state": "of this sign-in",
            "nonce": NONCE,
            "code_challenge": challenge_of(VERIFIER),
            "code_challenge_method": "S256",
        }
        authorization = f"{way['authorization_endpoint']}?{urlencode(asked)}"
        got = sent_back(authorization, "ann")
        assert (got["state"], got["iss"]) == ("of this sign-in", certified)
        response = sign_in(client, got["code"])
        assert response.status_code == 200, response.text
        found = me(client, response.json())
        assert (found["username"], found["scope"]) == ("ann of the issuer", ["*"])
        assert sign_in(client, got["code"]).json() == UNVERIFIED  # used
        stolen = sent_back(authorization, "ann")["code"]
        assert sign_in(client, stolen, code_verifier="w" * 43).json() == UNVERIFIED
        other = sent_back(authorization, "ann")["code"]
        assert sign_in(client, other, nonce="of-another-sign-in").json() == UNVERIFIED
        again = sign_in(client, sent_back(authorization, "ann")["code"]).json()
        assert me(client, again)["user_id"] == found["user_id"]
