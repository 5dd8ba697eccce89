"""Signing in over HTTP: limits, sessions, second factors, passkeys and races (contract C1, C6, O1 to O5)."""

import sys
from typing import Any

import pytest
from pyotp import TOTP

import logoadmin
from logoadmin.bootstrap import open_gallery
from logoadmin.domain.public_url import LOCAL
from logoadmin.settings import settings_of
from tests.asgi import AppClient
from tests.domain.identity.sign_ins import caller
from tests.entrypoints.conftest import Headers, bearer
from tests.gallery import ADMIN_PASSWORD, ANN_PASSWORD, NOW, FrozenClock
from tests.passkeys import Authenticator

PASSWORD = {"username": "ann", "password": ANN_PASSWORD}
STEP = 30


def bearer_of(tokens: dict[str, Any]) -> Headers:
    return {"authorization": f"Bearer {tokens['access_token']}"}


@pytest.mark.rule("contract O3")
def test_an_old_sign_in_gets_the_challenge_of_rfc_9470(client: AppClient, admin: Headers, clock: FrozenClock) -> None:
    """ASVS 7.5.1."""
    clock.pass_by(601)
    refused = client.post("/api/auth/keys", json={"name": "script", "scope": []}, headers=admin)
    assert (refused.status_code, refused.json()) == (401, {"detail": "A recent sign-in is required"})
    expected = 'Bearer error="insufficient_user_authentication", max_age=600'
    assert refused.headers["www-authenticate"] == expected
    # The token itself is as valid as before: other requests get no challenge.
    assert client.get("/api/auth/keys", headers=admin).status_code == 200
    body = {"username": "admin", "password": ADMIN_PASSWORD}
    again = bearer_of(client.post("/api/auth/token", json=body).json())
    made = client.post("/api/auth/keys", json={"name": "script", "scope": ["*"]}, headers=again).json()
    key = {"authorization": f"Bearer {made['key']}"}
    refused = client.post("/api/auth/keys", json={"name": "script", "scope": []}, headers=key)
    assert (refused.status_code, "www-authenticate" in refused.headers) == (403, False)


@pytest.mark.rule("contract C1")
def test_a_refused_sign_in_names_the_seconds_to_wait(client: AppClient, clock: FrozenClock) -> None:
    for _ in range(10):
        assert sign_in(client, **PASSWORD | {"password": "wrong"}).status_code == 401
    clock.pass_by(100)
    answer = sign_in(client)
    assert (answer.status_code, answer.headers["retry-after"]) == (429, "200")
    assert answer.headers["cache-control"] == "no-store"
    clock.pass_by(200)
    assert sign_in(client).status_code == 200


@pytest.mark.rule("contract C6")
def test_the_list_of_sessions_has_the_address_and_browser_of_each_sign_in(client: AppClient) -> None:
    told = {b"user-agent": "Browser/1\u00e9\u0085 (X11)".encode("latin-1") + b"x" * 300}
    tokens = client.post("/api/auth/token", json=PASSWORD, headers=told).json()
    listed = client.get("/api/auth/sessions", headers=bearer_of(tokens))
    assert (listed.status_code, listed.headers["cache-control"], "etag" in listed.headers) == (200, "no-store", False)
    (session,) = listed.json()
    assert session.pop("session_id") not in (tokens["refresh_token"], tokens["access_token"])
    assert session == {
        "created_at": NOW,
        "refreshed_at": None,
        "expires_at": NOW + 30 * 86_400,
        "address": "192.0.2.1",
        "user_agent": ("Browser/1\u00e9 (X11)" + "x" * 300)[:256],
        "factor": "password",
        "current": True,
    }


# Second factors.


def sign_in(client: AppClient, **instead: Any) -> Any:
    """Sign in as ann with her password, or in another way."""
    return client.post("/api/auth/token", json=instead or PASSWORD)


def second(challenge: str, **answer: Any) -> dict[str, Any]:
    return {"grant_type": "second_factor", "challenge": challenge, **answer}


def enrol(client: AppClient, who: Headers) -> tuple[TOTP, dict[str, Any]]:
    """Enrol an app over HTTP; return it and the factor."""
    begun = client.post("/api/auth/factors/totp", json={"name": "Phone"}, headers=who)
    assert begun.status_code == 200, begun.text
    totp = TOTP(begun.json()["secret"])
    asked = {"factor_id": begun.json()["factor_id"], "code": totp.at(NOW)}
    confirmed = client.post("/api/auth/factors/totp/confirm", json=asked, headers=who)
    assert confirmed.status_code == 201, confirmed.text
    return totp, confirmed.json()


@pytest.mark.rule("contract O1", "contract O2")
def test_an_enrolled_app_signs_in(client: AppClient, ann: Headers, clock: FrozenClock) -> None:
    totp, factor = enrol(client, ann)
    codes = factor.pop("recovery_codes")
    assert len(set(codes)) == 10
    expected = {"factor_id": factor["factor_id"], "kind": "totp", "name": "Phone", "created_at": NOW}
    assert client.get("/api/auth/factors", headers=ann).json() == [factor] == [{**expected, "last_used_at": NOW}]
    assert client.get("/api/auth/recovery-codes", headers=ann).json() == {"left": 10}
    first = sign_in(client)
    challenge = first.json().get("challenge")
    factors = ["totp", "recovery_code"]
    body = {"detail": "A second factor is required", "challenge": challenge, "factors": factors}
    assert (first.status_code, first.json()) == (401, body)
    assert (first.headers["www-authenticate"], first.headers["cache-control"]) == ("Bearer", "no-store")
    clock.pass_by(STEP)
    wrong = sign_in(client, **second(challenge, recovery_code="0"))
    assert (wrong.status_code, wrong.json()) == (401, {"detail": "Incorrect code"})
    signed_in = sign_in(client, **second(challenge, totp=totp.at(clock.now())))
    assert signed_in.status_code == 200
    assert list(signed_in.json()) == ["access_token", "token_type", "expires_in", "refresh_token", "scope"]
    who = bearer_of(signed_in.json())
    assert client.get("/api/auth/me", headers=who).json()["must_enrol"] is False
    current = [each["factor"] for each in client.get("/api/auth/sessions", headers=who).json() if each["current"]]
    assert current == ["totp"]
    assert sign_in(client, **second(challenge, recovery_code=codes[0])).status_code == 401


@pytest.mark.rule("contract O2")
def test_the_oauth_form_gets_the_challenge_but_takes_no_second_step(client: AppClient, ann: Headers) -> None:
    _, factor = enrol(client, ann)
    first = client.post("/api/auth/token", data=PASSWORD)
    assert (first.status_code, first.json()["factors"]) == (401, ["totp", "recovery_code"])
    asked = second(first.json()["challenge"], recovery_code=factor["recovery_codes"][0])
    assert client.post("/api/auth/token", data=asked).status_code == 422
    assert client.post("/api/auth/token", json=asked).status_code == 200


# Passkeys.


@pytest.mark.rule("contract O1", "contract O2")
def test_a_passkey_signs_in_alone_and_after_the_password(client: AppClient, ann: Headers) -> None:
    device = Authenticator(site=LOCAL)
    begun = client.post("/api/auth/factors/passkeys/options", headers=ann)
    assert (begun.status_code, begun.headers["cache-control"]) == (200, "no-store")
    credential = device.create(begun.json()["options"])
    body = {"challenge": begun.json()["challenge"], "name": "Laptop", "credential": credential}
    made = client.post("/api/auth/factors/passkeys", json=body, headers=ann)
    assert (made.status_code, made.json().get("kind"), made.json().get("name")) == (201, "passkey", "Laptop")
    asked = client.post("/api/auth/passkey/options").json()
    alone = {"grant_type": "passkey", "challenge": asked["challenge"], "passkey": device.get(asked["options"])}
    tokens = sign_in(client, **alone)
    assert (tokens.status_code, tokens.headers["cache-control"]) == (200, "no-store")
    assert client.get("/api/auth/me", headers=bearer_of(tokens.json())).json()["username"] == "ann"
    again = sign_in(client, **alone)
    assert (again.status_code, again.headers["www-authenticate"]) == (401, "Bearer")
    required = sign_in(client)
    body = required.json()
    assert (required.status_code, body["detail"]) == (401, "A second factor is required")
    assert (body["factors"], body["passkey"]["challenge"]) == (["passkey", "recovery_code"], body["challenge"])
    assert sign_in(client, **second(body["challenge"], passkey=device.get(body["passkey"]))).status_code == 200


@pytest.mark.rule("contract O1", "contract O2")
def test_without_the_package_everything_else_works(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "fido2", None)
    monkeypatch.delitem(sys.modules, "logoadmin.adapters.fido2_passkeys", raising=False)
    settings = settings_of(database="memory:", access="open", admin_password=ADMIN_PASSWORD)
    with open_gallery(settings) as gallery, AppClient(logoadmin.asgi(gallery)) as client:
        refused = client.post("/api/auth/passkey/options")
        assert (refused.status_code, "logoadmin[passkeys]" in refused.json()["detail"]) == (409, True)
        headers = bearer(gallery, "admin", ADMIN_PASSWORD)
        assert client.post("/api/auth/factors/totp", json={"name": "Phone"}, headers=headers).status_code == 200
        assert client.post("/api/auth/factors/passkeys/options", headers=headers).status_code == 409
        who = caller(gallery, gallery.sessions.sign_in(logoadmin.SignIn(username="admin", password=ADMIN_PASSWORD)))
        assert gallery.factors.list(logoadmin.ListFactors(), who) == ()
