"""Services of a cluster, writers that log their writes, and a reader that follows the history."""

import math
import random
import subprocess
import threading
import time
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from itertools import count
from typing import Final

import httpx2
from httpx2 import Response

from tests import services

PASSWORD: Final = "correct horse battery staple"
_ANSWERS_WITHIN: Final = 10.0
_ENDS_WITHIN: Final = 30.0
_PAUSE: Final = 0.05
_GONE_WITHIN: Final = 0.002


def command(*arguments: str, log: int = subprocess.PIPE) -> services.Service:
    """Start the command logoadmin."""
    return services.start("-m", "logoadmin", *arguments, log=log, environment={"LOGOADMIN_ADMIN_PASSWORD": PASSWORD})


class Address:
    """Where a service is reached."""

    def __init__(self, address: str) -> None:
        self._address = address
        self._client = self.client()

    def client(self) -> httpx2.Client:
        """Return a client with its own connections."""
        return httpx2.Client(base_url=self._address, timeout=_ANSWERS_WITHIN)

    def end(self) -> None:
        """Close the connections."""
        self._client.close()

    def ask(self, method: str, path: str, body: object = None, headers: Mapping[str, str] | None = None) -> Response:
        """Make one request."""
        return self._client.request(method, path, json=body, headers=headers)

    def sign_in(self) -> Response:
        """Sign the administrator in."""
        return self.persistently("POST", "/api/auth/token", {"username": "admin", "password": PASSWORD})

    def persistently(
        self, method: str, path: str, body: object = None, headers: Mapping[str, str] | None = None
    ) -> Response:
        """Repeat a request until its status is not 503."""
        deadline = time.monotonic() + _ENDS_WITHIN
        while True:
            answer = self.ask(method, path, body, headers)
            if answer.status_code != 503 or time.monotonic() > deadline:
                return answer
            time.sleep(_PAUSE)


class Service(Address):
    """A process that serves a database."""

    def __init__(self, database: str) -> None:
        """Start it, and wait until it listens."""
        options = ("--port", "0", "--database", database, "--access", "open")
        self._served = command("serve", *options, log=subprocess.DEVNULL)
        super().__init__(self._served.address)

    def end(self) -> None:
        """Stop only this service."""
        super().end()
        self._served.kill()


def bearer(token: str) -> dict[str, str]:
    """Return the header that a token is sent in."""
    return {"authorization": f"Bearer {token}"}


@dataclass
class WriteLog:
    """What the writers were told.

    Attributes:
        acknowledged: the id that was answered for each name, and when.
        asked: every name that was asked for.
        unknown: how often the answer was 503.
        slowest: how many seconds the slowest 503 took.
        interrupted: how many requests lost their connection before the answer; None if none may.
        wrong: answers that no writer should get.
    """

    acknowledged: dict[str, tuple[int, float]] = field(default_factory=dict)
    asked: set[str] = field(default_factory=set)
    unknown: int = 0
    slowest: float = 0.0
    interrupted: int | None = None
    wrong: list[object] = field(default_factory=list)

    def since(self, moment: float) -> int:
        """Return how many writes were acknowledged since a moment."""
        return sum(at >= moment for _, at in self.acknowledged.values())

    def first_after(self, moment: float) -> float | None:
        """Return when the first write was acknowledged after a moment."""
        return min((at for _, at in list(self.acknowledged.values()) if at > moment), default=None)

    def compare(self, service: Address, prefix: str) -> tuple[int, int]:
        """Return the number of lost acknowledged writes, and of names that are duplicated or have another id."""
        there: dict[str, list[int]] = {}
        for kind, name in (("author", "username"), ("logo", "name")):
            answer = service.persistently("GET", f"/api/{kind}s")
            assert answer.status_code == 200, answer
            for record in answer.json():
                if record[name].startswith(prefix):
                    there.setdefault(record[name], []).append(record[f"{kind}_id"])
        lost = sum(name not in there for name in self.acknowledged)
        doubled = sum(len(ids) > 1 for ids in there.values())
        doubled += sum(there.get(name, [id_])[0] != id_ for name, (id_, _) in self.acknowledged.items())
        assert there.keys() <= self.asked
        return lost, doubled


@contextmanager
def writing(
    services: Sequence[Address], token: str, prefix: str, writers: int = 8, *, killed: bool = False
) -> Iterator[WriteLog]:
    """Run writers until the end; each retries writes refused with 503, with the same key.

    Half of them make authors, whose names are unique, half logos, of which nothing but the key keeps a second one away;
    without a token, all make authors. If services are ``killed``, writers repeat requests without an answer, and do not
    wait for the answers of a tenth.
    """
    write_log, done = WriteLog(interrupted=0 if killed else None), threading.Event()
    threads = [
        threading.Thread(target=_write, args=(services[number % len(services)], token, prefix, number, write_log, done))
        for number in range(writers)
    ]
    for thread in threads:
        thread.start()
    try:
        yield write_log
    finally:
        done.set()
        for thread in threads:
            thread.join()


def _write(service: Address, token: str, prefix: str, writer: int, write_log: WriteLog, done: threading.Event) -> None:
    """Write records in sequence, until one gets a wrong response."""
    with service.client() as client:
        for number in count(1):
            name = f"{prefix}-{writer}-{number}"
            if done.is_set() or not _acknowledged(client, token, writer, name, write_log, done):
                return


def _acknowledged(
    client: httpx2.Client, token: str, writer: int, name: str, write_log: WriteLog, done: threading.Event
) -> bool:
    """Send a record until it is acknowledged; at the end, for a while longer."""
    kind, body = _record(writer, name, authors_only=not token)
    headers = {**(bearer(token) if token else {}), "idempotency-key": name}
    write_log.asked.add(name)
    gives_up = math.inf
    while time.monotonic() < gives_up:
        began = time.monotonic()
        if done.is_set() and gives_up == math.inf:
            gives_up = began + _ENDS_WITHIN
        is_hasty = write_log.interrupted is not None and random.random() < 0.1
        try:
            timeout = _GONE_WITHIN if is_hasty else _ANSWERS_WITHIN
            answer = client.post(f"/api/{kind}s", json=body, headers=headers, timeout=timeout)
        except httpx2.HTTPError as error:
            if write_log.interrupted is None:
                write_log.wrong.append(error)
                return False
            write_log.interrupted += not isinstance(error, httpx2.TimeoutException)
            continue
        if answer.status_code == 201:
            write_log.acknowledged[name] = answer.json()[f"{kind}_id"], time.monotonic()
            return True
        if answer.status_code != 503:
            write_log.wrong.append(answer)
            return False
        write_log.unknown += 1
        write_log.slowest = max(write_log.slowest, time.monotonic() - began)
        time.sleep(_PAUSE)
    return False


def _record(writer: int, name: str, *, authors_only: bool) -> tuple[str, dict[str, object]]:
    if writer % 2 and not authors_only:
        return "logo", {"name": name, "preview_url": "https://example.org/p.png", "target": "forum", "custom_css": ""}
    prefix, _, number = name.split("-")
    user_id = int(prefix.removeprefix("w")) * 10_000_000 + writer * 1_000_000 + int(number)
    return "author", {"user_id": user_id, "username": name}


@contextmanager
def following(services: Sequence[Address], token: str) -> Iterator[list[int]]:
    """Follow the history from its present end to its end then, through one service after the other.

    Yields:
        The ids of changes, in the order in which they were read.
    """
    last = newest(services[0], token)
    seen: list[int] = [last]
    done = threading.Event()
    thread = threading.Thread(target=_follow, args=(services, token, seen, done))
    thread.start()
    try:
        yield seen
    finally:
        done.set()
        thread.join()


def newest(service: Address, token: str) -> int:
    """Return the id of the last change."""
    answer = service.persistently("GET", "/api/changes?limit=1&order=desc", headers=bearer(token))
    assert answer.status_code == 200, answer
    return int(answer.json()[0]["change_id"]) if answer.json() else 0


def _follow(services: Sequence[Address], token: str, seen: list[int], done: threading.Event) -> None:
    gives_up = math.inf
    for turn in count():
        ending = done.is_set()
        if ending and gives_up == math.inf:
            gives_up = time.monotonic() + _ENDS_WITHIN
        path = f"/api/changes?limit=1000&after={seen[-1]}"
        answer = services[turn % len(services)].ask("GET", path, headers=bearer(token))
        if answer.status_code == 200:
            seen += [change["change_id"] for change in answer.json()]
        is_end = ending and answer.status_code == 200 and not answer.json()
        if is_end or time.monotonic() > gives_up or answer.status_code not in {200, 503}:
            return
        time.sleep(_PAUSE)


def statuses(answers: Sequence[Response]) -> Counter[int]:
    """Return how often there was each status."""
    return Counter(answer.status_code for answer in answers)
