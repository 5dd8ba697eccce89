"""Second factors over HTTP, and requests that race, on every storage and from two processes (contract O1, O2, O4)."""

import asyncio
from collections.abc import Sequence
from typing import Any

import pytest
from pyotp import TOTP

from logoadmin.domain.logo_admin import LogoAdmin
from tests.asgi import AppClient
from tests.conftest import STORAGES
from tests.domain.identity.second_factors import enrolled
from tests.entrypoints.concurrent_clients import Clients, with_clients
from tests.entrypoints.conftest import Headers
from tests.gallery import ANN_PASSWORD, NOW, SPARE_CODE, SPARE_SECRET, FrozenClock

EVERYWHERE = pytest.mark.parametrize("watched", STORAGES, indirect=True)
PASSWORD = {"username": "ann", "password": ANN_PASSWORD}
STEP = 30


def enrol(client: AppClient, who: Headers) -> tuple[TOTP, dict[str, Any]]:
    """Enrol an app over HTTP; return it and the factor."""
    begun = client.post("/api/auth/factors/totp", json={"name": "Phone"}, headers=who)
    assert begun.status_code == 200, begun.text
    totp = TOTP(begun.json()["secret"])
    asked = {"factor_id": begun.json()["factor_id"], "code": totp.at(NOW)}
    confirmed = client.post("/api/auth/factors/totp/confirm", json=asked, headers=who)
    assert confirmed.status_code == 201, confirmed.text
    return totp, confirmed.json()


def second(challenge: str, **answer: str) -> dict[str, str]:
    return {"grant_type": "second_factor", "challenge": challenge, **answer}


@EVERYWHERE
@pytest.mark.rule("contract O1", "contract O2")
def test_enrolling_an_app_and_signing_in_with_it(client: AppClient, ann: Headers, clock: FrozenClock) -> None:
    totp, factor = enrol(client, ann)
    codes = factor.pop("recovery_codes")
    assert len(set(codes)) == 10
    expected = {"factor_id": factor["factor_id"], "kind": "totp", "name": "Phone", "created_at": NOW}
    assert client.get("/api/auth/factors", headers=ann).json() == [factor] == [{**expected, "last_used_at": NOW}]
    assert client.get("/api/auth/recovery-codes", headers=ann).json() == {"left": 10}

    first = client.post("/api/auth/token", json=PASSWORD)
    challenge = first.json().get("challenge")
    factors = ["totp", "recovery_code"]
    body = {"detail": "A second factor is required", "challenge": challenge, "factors": factors}
    assert (first.status_code, first.json()) == (401, body)
    assert (first.headers["www-authenticate"], first.headers["cache-control"]) == ("Bearer", "no-store")

    clock.pass_by(STEP)
    wrong = client.post("/api/auth/token", json=second(challenge, recovery_code="0"))
    assert (wrong.status_code, wrong.json()) == (401, {"detail": "Incorrect code"})
    signed_in = client.post("/api/auth/token", json=second(challenge, totp=totp.at(clock.now())))
    assert signed_in.status_code == 200
    tokens = signed_in.json()
    assert list(tokens) == ["access_token", "token_type", "expires_in", "refresh_token", "scope"]
    who = {"authorization": f"Bearer {tokens['access_token']}"}
    assert client.get("/api/auth/me", headers=who).json()["enrol_by"] is None
    current = [each["factor"] for each in client.get("/api/auth/sessions", headers=who).json() if each["current"]]
    assert current == ["totp"]
    again = client.post("/api/auth/token", json=second(challenge, recovery_code=codes[0]))
    assert again.status_code == 401


@pytest.mark.rule("contract O2")
def test_the_oauth_form_gets_the_challenge_but_takes_no_second_step(client: AppClient, ann: Headers) -> None:
    _, factor = enrol(client, ann)
    first = client.post("/api/auth/token", data=PASSWORD)
    assert (first.status_code, first.json()["factors"]) == (401, ["totp", "recovery_code"])
    asked = second(first.json()["challenge"], recovery_code=factor["recovery_codes"][0])
    assert client.post("/api/auth/token", data=asked).status_code == 422
    assert client.post("/api/auth/token", json=asked).status_code == 200


@pytest.mark.rule("contract O1", "contract A5")
@pytest.mark.parametrize(
    ("body", "loc"),
    [
        ({}, ["body", "totp"]),
        ({"totp": "12345"}, ["body", "totp"]),
        ({"totp": 123456}, ["body", "totp"]),
        ({"totp": "12345\N{ARABIC-INDIC DIGIT SIX}"}, ["body", "totp"]),
        ({"recovery_code": ""}, ["body", "recovery_code"]),
        ({"recovery_code": "x" * 65}, ["body", "recovery_code"]),
        ({"totp": "123456", "recovery_code": "x"}, ["body", "recovery_code"]),
        ({"totp": "123456", "username": "ann"}, ["body", "username"]),
    ],
)
def test_a_second_step_of_another_form_is_422(client: AppClient, body: dict[str, Any], loc: list[str]) -> None:
    answer = client.post("/api/auth/token", json={"grant_type": "second_factor", "challenge": "x", **body})
    assert answer.status_code == 422
    assert [problem["loc"] for problem in answer.json()["detail"]] == [loc]
    assert "12345" not in answer.text


@pytest.mark.rule("contract O1")
def test_a_wrong_code_of_an_enrolment_is_reported_at_its_field(client: AppClient, admin: Headers) -> None:
    asked = {"factor_id": 1, "code": TOTP(SPARE_SECRET).at(NOW + 100 * STEP)}
    answer = client.post("/api/auth/factors/totp/confirm", json=asked, headers=admin)
    problem = {"loc": ["body", "code"], "msg": "Incorrect code", "type": "value_error"}
    assert (answer.status_code, answer.json()) == (422, {"detail": [problem]})
    right = client.post("/api/auth/factors/totp/confirm", json={**asked, "code": SPARE_CODE}, headers=admin)
    assert (right.status_code, right.json()["factor_id"]) == (201, 1)


# Races.


def statuses(answers: Sequence[Any]) -> list[int]:
    return sorted(answer.status_code for answer in answers)


@pytest.mark.rule("contract O1", "contract O2")
def test_only_one_of_many_sign_ins_with_one_totp_code_succeeds(
    workers: tuple[LogoAdmin, LogoAdmin], clock: FrozenClock
) -> None:
    _, totp, _ = enrolled(workers[0])

    async def rush(clients: Clients) -> None:
        for _ in range(3):
            clock.pass_by(STEP)
            code = TOTP(totp.secret).at(clock.now())
            challenges = [
                (await clients[side % 2].post("/api/auth/token", json=PASSWORD)).json()["challenge"]
                for side in range(4)
            ]
            answers = await asyncio.gather(
                *(
                    clients[side % 2].post("/api/auth/token", json=second(challenge, totp=code))
                    for side, challenge in enumerate(challenges)
                )
            )
            assert statuses(answers) == [200] + [401] * 3

    with_clients(workers, rush)


@pytest.mark.rule("contract O1")
def test_of_many_who_confirm_one_app_one_gets_the_codes(workers: tuple[LogoAdmin, LogoAdmin]) -> None:
    async def rush(clients: Clients) -> None:
        tokens = (await clients[0].post("/api/auth/token", json=PASSWORD)).json()
        who = {"authorization": f"Bearer {tokens['access_token']}"}
        begun = (await clients[0].post("/api/auth/factors/totp", json={"name": "x"}, headers=who)).json()
        asked = {"factor_id": begun["factor_id"], "code": TOTP(begun["secret"]).at(NOW)}
        path = "/api/auth/factors/totp/confirm"
        answers = await asyncio.gather(*(clients[side % 2].post(path, json=asked, headers=who) for side in range(6)))
        assert statuses(answers) == [201] + [409] * 5
        keys = {**who, "idempotency-key": "one"}
        answers = await asyncio.gather(
            *(clients[side % 2].post("/api/auth/recovery-codes", headers=keys) for side in range(6))
        )
        assert statuses(answers) == [200] * 6
        assert len({answer.text for answer in answers}) == 1

    with_clients(workers, rush)
