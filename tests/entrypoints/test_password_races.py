"""Two services on one database that guess at the same moment (contract C1, O2, O5)."""

import asyncio
from collections import Counter
from collections.abc import Callable, Sequence
from concurrent.futures import ThreadPoolExecutor
from functools import partial
from typing import Any

import pytest

from logoadmin.domain.identity.factors.factors import ConfirmTotp, EnrolTotp
from logoadmin.domain.identity.sign_in.password import SignIn
from logoadmin.domain.identity.sign_in.second_step import SignInWithFactor
from logoadmin.domain.kernel.access import Anonymous, SignedIn
from logoadmin.domain.kernel.errors import LogoAdminError, SecondFactorRequired, SignInRefused, TooManySignIns
from logoadmin.domain.logo_admin import LogoAdmin
from tests.domain.identity.second_factors import code_of
from tests.entrypoints.concurrent_clients import Clients, with_clients
from tests.gallery import ANN_PASSWORD, FrozenClock

Workers = tuple[LogoAdmin, LogoAdmin]
ANN = SignIn(username="ann", password=ANN_PASSWORD)


def at_once(calls: Sequence[Callable[[], object]]) -> Counter[str]:
    """Make calls in threads, and return how often each ended how."""

    def outcome(call: Callable[[], object]) -> str:
        try:
            call()
        except LogoAdminError as error:
            return type(error).__name__
        return "done"

    with ThreadPoolExecutor(8) as threads:
        return Counter(threads.map(outcome, calls))


@pytest.mark.rule("contract O5", "contract C1")
def test_wrong_current_passwords_are_counted_together(workers: Workers) -> None:
    async def guess(clients: Clients) -> None:
        body: dict[str, Any] = {"username": "ann", "password": ANN_PASSWORD}
        tokens = (await clients[0].post("/api/auth/token", json=body)).json()
        headers = {"authorization": f"Bearer {tokens['access_token']}"}
        body = {"password": "long and rare", "current_password": "wrong"}
        answers = await asyncio.gather(
            *(clients[side % 2].put("/api/users/7/password", json=body, headers=headers) for side in range(30))
        )
        assert Counter(answer.status_code for answer in answers) == {403: 10, 429: 20}

    with_clients(workers, guess)


@pytest.mark.rule("contract O5")
def test_one_current_password_sets_one_new_password(workers: Workers) -> None:
    async def race(clients: Clients) -> None:
        body: dict[str, Any] = {"username": "ann", "password": ANN_PASSWORD}
        tokens = (await clients[0].post("/api/auth/token", json=body)).json()
        headers = {"authorization": f"Bearer {tokens['access_token']}"}
        answers = await asyncio.gather(
            *(
                clients[side % 2].put(
                    "/api/users/7/password",
                    json={"password": f"long and rare {side}", "current_password": ANN_PASSWORD},
                    headers=headers,
                )
                for side in range(6)
            )
        )
        assert Counter(answer.status_code for answer in answers) == {200: 1, 403: 5}
        (side,) = (side for side, answer in enumerate(answers) if answer.status_code == 200)
        body = {"username": "ann", "password": f"long and rare {side}"}
        assert (await clients[1].post("/api/auth/token", json=body)).status_code == 200

    with_clients(workers, race)


@pytest.mark.rule("contract O2", "contract C1")
def test_wrong_codes_from_many_addresses_are_counted_together(workers: Workers, clock: FrozenClock) -> None:
    """ASVS 6.5.1 and 6.3.1: a known password, two services and 40 addresses give 20 guesses an hour."""
    tokens = workers[0].sessions.sign_in(ANN)
    ann = workers[0].sessions.caller(tokens.access_token)
    assert isinstance(ann, SignedIn)
    totp = workers[0].factors.enrol_totp(EnrolTotp(name="Phone"), ann)
    code = code_of(totp, clock.now())
    workers[0].factors.confirm_totp(ConfirmTotp(factor_id=totp.factor_id, code=code), ann)
    clock.pass_by(30)

    def guess(number: int) -> None:
        worker, client = workers[number % 2], Anonymous(f"198.51.100.{number}")
        try:
            worker.sessions.sign_in(ANN, client)
        except SecondFactorRequired as required:
            answer = SignInWithFactor(grant_type="second_factor", challenge=required.challenge, totp="000000")
            worker.factors.sign_in(answer, client)

    outcomes = at_once([partial(guess, number) for number in range(40)])
    assert outcomes == {SignInRefused.__name__: 20, TooManySignIns.__name__: 20}
