"""Passkeys over HTTP, and a service without them (contract O1, O2, O8)."""

import sys

import pytest

import logoadmin
from logoadmin.bootstrap import open_gallery
from logoadmin.domain.kernel.public_url import LOCAL
from logoadmin.settings import settings_of
from tests.asgi import AppClient
from tests.domain.identity.sign_ins import caller
from tests.entrypoints.conftest import Headers
from tests.gallery import ADMIN_PASSWORD, ANN_PASSWORD
from tests.passkeys import Authenticator

pytestmark = pytest.mark.rule("contract O1", "contract O2")


def enrol(client: AppClient, headers: Headers, device: Authenticator) -> dict[str, object]:
    begun = client.post("/api/auth/factors/passkeys/options", headers=headers)
    assert (begun.status_code, begun.headers["cache-control"]) == (200, "no-store")
    body = {
        "challenge": begun.json()["challenge"],
        "name": "Laptop",
        "credential": device.create(begun.json()["options"]),
    }
    answer = client.post("/api/auth/factors/passkeys", json=body, headers=headers)
    assert answer.status_code == 201, answer.text
    found: dict[str, object] = answer.json()
    return found


def test_a_passkey_signs_in_alone_and_after_the_password(client: AppClient, ann: Headers) -> None:
    device = Authenticator(site=LOCAL)
    factor = enrol(client, ann, device)
    assert (factor["kind"], factor["name"]) == ("passkey", "Laptop")
    asked = client.post("/api/auth/passkey/options").json()
    body = {"grant_type": "passkey", "challenge": asked["challenge"], "passkey": device.get(asked["options"])}
    tokens = client.post("/api/auth/token", json=body)
    assert (tokens.status_code, tokens.headers["cache-control"]) == (200, "no-store")
    headers = {"authorization": f"Bearer {tokens.json()['access_token']}"}
    assert client.get("/api/auth/me", headers=headers).json()["username"] == "ann"
    again = client.post("/api/auth/token", json=body)
    assert (again.status_code, again.headers["www-authenticate"]) == (401, "Bearer")
    required = client.post("/api/auth/token", json={"username": "ann", "password": ANN_PASSWORD})
    assert required.status_code == 401
    detail, challenge = required.json()["detail"], required.json()["challenge"]
    assert (detail, required.json()["factors"]) == ("A second factor is required", ["passkey", "recovery_code"])
    assert required.json()["passkey"]["challenge"] == challenge
    body = {"grant_type": "second_factor", "challenge": challenge, "passkey": device.get(required.json()["passkey"])}
    assert client.post("/api/auth/token", json=body).status_code == 200


@pytest.mark.parametrize(
    "spoilt",
    [
        {"passkey": None},
        {"passkey": {}},
        {"passkey": {"id": "AA", "type": "public-key", "response": {}}},
        {"passkey": {"id": "AA", "type": "public-key", "response": {"clientDataJSON": 1}}},
        {"challenge": 5},
        {"challenge": "x" * 129},
        {"username": "ann"},
    ],
)
def test_rubbish_is_422_and_repeats_nothing(client: AppClient, spoilt: dict[str, object]) -> None:
    response = {"clientDataJSON": "e30", "authenticatorData": "SECRET", "signature": "SECRET"}
    passkey = {"id": "AAAA", "type": "public-key", "response": response}
    answer = client.post(
        "/api/auth/token", json={"grant_type": "passkey", "challenge": "x", "passkey": passkey} | spoilt
    )
    assert answer.status_code == 422
    assert "SECRET" not in answer.text


def test_a_form_has_no_passkey(client: AppClient) -> None:
    answer = client.post("/api/auth/token", data={"grant_type": "passkey", "challenge": "x", "passkey": "{}"})
    assert answer.status_code == 422


def test_without_the_package_everything_else_works(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "fido2", None)
    monkeypatch.delitem(sys.modules, "logoadmin.adapters.fido2_passkeys", raising=False)
    settings = settings_of(database="memory:", admin_password=ADMIN_PASSWORD)
    with open_gallery(settings) as gallery, AppClient(logoadmin.asgi(gallery)) as client:
        refused = client.post("/api/auth/passkey/options")
        assert (refused.status_code, "logoadmin[passkeys]" in refused.json()["detail"]) == (409, True)
        tokens = client.post("/api/auth/token", json={"username": "admin", "password": ADMIN_PASSWORD}).json()
        headers = {"authorization": f"Bearer {tokens['access_token']}"}
        assert client.post("/api/auth/factors/totp", json={"name": "Phone"}, headers=headers).status_code == 200
        assert client.post("/api/auth/factors/passkeys/options", headers=headers).status_code == 409
        who = caller(gallery, gallery.sessions.sign_in(logoadmin.SignIn(username="admin", password=ADMIN_PASSWORD)))
        assert gallery.factors.list(logoadmin.ListFactors(), who) == ()
