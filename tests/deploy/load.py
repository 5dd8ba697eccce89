"""Clients that send requests on persistent connections, and the results of their requests."""

import http.client
import itertools
import json
import ssl
import sys
import threading
import time
from collections import Counter
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from contextlib import closing
from pathlib import Path
from typing import Any, Final

from tests.options import LONG

# How often the service may ask for a retry, and the statuses of a proxy that cannot reach it.
BUSY: Final = 10
AWAY: Final = b"The service is unreachable"

Request = tuple[str, str, dict[str, Any] | None]
Answer = tuple[int, bytes]

CLIENTS: Final = 8
# Per client, at least; 10,000 in total for a release.
REQUESTS: Final = 1250 if LONG else 100


class Load:
    """Sends requests to a port of this machine, reads and writes in turns; with TLS if a certificate is given.

    A request whose connection ends without an answer is sent once more on a new one, as browsers do (RFC 9112 §9.3.1);
    so is one for which the database had too much to do, as on a machine that has. The writes have an
    ``Idempotency-Key``; after each of them the client reads what it made.

    Attributes:
        statuses: how often each was answered, at last.
        failed: what did not go well.
        acknowledged: the user_id of each author that was made.
        repeated: how many requests were sent once more; busy: how many were to wait for the database.
    """

    def __init__(self, port: int, prefix: str = "", certificate: Path | None = None, token: str | None = None) -> None:
        self.statuses: Counter[int] = Counter()
        self.failed: list[str] = []
        self.acknowledged: list[int] = []
        self.repeated = self.busy = 0
        self._port = port
        self._prefix = prefix
        self._trust = ssl.create_default_context(cafile=str(certificate)) if certificate else None
        self._headers = {"Content-Type": "application/json"} | ({"Authorization": f"Bearer {token}"} if token else {})
        self._asked = 0
        self._changed = threading.Condition()
        self._is_over = threading.Event()

    def run(self, meanwhile: Callable[[], None]) -> None:
        """Run ``action`` after a third of the requests, and continue until it and all requests are done."""
        with ThreadPoolExecutor(CLIENTS) as executor:
            asking = [executor.submit(self._ask, number) for number in range(CLIENTS)]
            try:
                with self._changed:
                    assert self._changed.wait_for(lambda: self._asked > CLIENTS * REQUESTS // 3, timeout=120)
                meanwhile()
            finally:
                self._is_over.set()
            for future in asking:
                future.result()

    def verify(self) -> None:
        """Fail if a request failed, if there were too few, or if a write was lost or doubled."""
        asked = sum(self.statuses.values())
        lost, doubled = self.lost_and_doubled()
        # For pytest -rA.
        counted = f"{asked} requests, {len(self.failed)} failed, {self.repeated} repeated, {self.busy} waited; "
        sys.stdout.write(f"{counted}{len(self.acknowledged)} writes, {len(lost)} lost, {len(doubled)} doubled\n")
        assert self.failed == []
        assert asked >= CLIENTS * REQUESTS
        assert (lost, doubled) == (set(), set())

    def _ask(self, client: int) -> None:
        made: bytes | None = None
        with closing(self._connection()) as connection:
            for number in itertools.count():
                if number >= REQUESTS and self._is_over.is_set():
                    return
                request = self._request(client, number, made)
                answer = self._answer(connection, request)
                for _ in range(BUSY):
                    if isinstance(answer, str) or answer[0] != 503 or AWAY in answer[1]:
                        break
                    self.busy += 1
                    time.sleep(1)  # Retry-After
                    answer = self._answer(connection, request)
                self._take(request, answer, made)
                made = answer[1] if request[2] and not isinstance(answer, str) and answer[0] == 201 else None
                with self._changed:
                    self._asked += 1
                    self._changed.notify_all()

    def _request(self, client: int, number: int, made: bytes | None) -> Request:
        if made is not None:
            return "GET", f"/api/authors/{json.loads(made)['author_id']}", None
        if number % 4:
            return "GET", f"/api/logos/{1001 + number % 20}", None
        user_id = 100_000 * (client + 1) + number
        return "POST", "/api/authors", {"user_id": user_id, "username": f"author {user_id}"}

    def _answer(self, connection: http.client.HTTPConnection, request: tuple[str, str, Any]) -> tuple[int, bytes] | str:
        method, path, body = request
        headers = {**self._headers, "Idempotency-Key": f"key-{body['user_id']}"} if body else self._headers
        for last in (False, True):
            try:
                connection.request(method, self._prefix + path, json.dumps(body) if body else None, headers)
                answer = connection.getresponse()
                return answer.status, answer.read()
            except (http.client.HTTPException, OSError) as error:
                self.repeated += not last
                connection.close()  # the next request opens another one
                if last:
                    return repr(error)
        raise AssertionError

    def _take(self, request: Request, answer: Answer | str, made: bytes | None) -> None:
        method, path, body = request
        with self._changed:
            if isinstance(answer, str):
                self.failed.append(f"{method} {path}: {answer}")
                return
            self.statuses[answer[0]] += 1
            if answer[0] not in (200, 201) or made not in (None, answer[1]):
                self.failed.append(f"{method} {path}: {answer}")
            elif body:
                self.acknowledged.append(body["user_id"])

    def _connection(self) -> http.client.HTTPConnection:
        if self._trust is None:
            return http.client.HTTPConnection("127.0.0.1", self._port, timeout=60)
        return http.client.HTTPSConnection("127.0.0.1", self._port, timeout=60, context=self._trust)

    def lost_and_doubled(self) -> tuple[set[int], set[int]]:
        """Return the acknowledged authors that are missing, and the duplicates."""
        with closing(self._connection()) as connection:
            connection.request("GET", f"{self._prefix}/api/authors", headers=self._headers)
            answer = connection.getresponse()
            assert answer.status == 200, answer.read()
            there = Counter(author["user_id"] for author in json.loads(answer.read()))
        return set(self.acknowledged) - there.keys(), {user_id for user_id, count in there.items() if count > 1}
