"""Two services on one database that guess at the same moment (contract C1, O2, O5)."""

import asyncio
from collections import Counter
from typing import Any

import pytest

from logoadmin.domain.logo_admin import LogoAdmin
from tests.entrypoints.concurrent_clients import Clients, with_clients
from tests.gallery import ANN_PASSWORD

Workers = tuple[LogoAdmin, LogoAdmin]


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
