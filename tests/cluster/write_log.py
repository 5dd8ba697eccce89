"""Services of a cluster, writers that log their writes, and a reader that follows the history."""

import math
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


def command(*arguments: str, log: int = subprocess.PIPE) -> services.Service:
    """Start the command logoadmin."""
    return services.start("-m", "logoadmin", *arguments, log=log, environment={"LOGOADMIN_ADMIN_PASSWORD": PASSWORD})


class Service:
    """A process that serves a database."""

    def __init__(self, database: str) -> None:
        """Start it, and wait until it listens."""
        options = ("--port", "0", "--database", database, "--access", "open")
        self._served = command("serve", *options, log=subprocess.DEVNULL)
        self._client = self.client()

    def client(self) -> httpx2.Client:
        """Return a client with its own connections."""
        return httpx2.Client(base_url=self._served.address, timeout=_ANSWERS_WITHIN)

    def end(self) -> None:
        """Stop only this service."""
        self._client.close()
        self._served.kill()

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
        wrong: answers that no writer should get.
    """

    acknowledged: dict[str, tuple[int, float]] = field(default_factory=dict)
    asked: set[str] = field(default_factory=set)
    unknown: int = 0
    slowest: float = 0.0
    wrong: list[object] = field(default_factory=list)

    def since(self, moment: float) -> int:
        """Return how many writes were acknowledged since a moment."""
        return sum(at >= moment for _, at in self.acknowledged.values())

    def first_after(self, moment: float) -> float | None:
        """Return when the first write was acknowledged after a moment."""
        return min((at for _, at in list(self.acknowledged.values()) if at > moment), default=None)

    def compare(self, service: Service, prefix: str) -> tuple[int, int]:
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
def writing(services: Sequence[Service], token: str, prefix: str, writers: int = 8) -> Iterator[WriteLog]:
    """Run writers until the end; each retries writes refused with 503, with the same key.

    Half of them make authors, whose names are unique, half logos, of which nothing but the key keeps a second one away.
    """
    write_log, done = WriteLog(), threading.Event()
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


def _write(service: Service, token: str, prefix: str, writer: int, write_log: WriteLog, done: threading.Event) -> None:
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
    kind, body = _record(writer, name)
    write_log.asked.add(name)
    gives_up = math.inf
    while time.monotonic() < gives_up:
        began = time.monotonic()
        try:
            headers = {**bearer(token), "idempotency-key": name}
            answer = client.post(f"/api/{kind}s", json=body, headers=headers)
        except httpx2.HTTPError as error:
            write_log.wrong.append(error)
            return False
        if answer.status_code == 201:
            write_log.acknowledged[name] = answer.json()[f"{kind}_id"], time.monotonic()
            return True
        if answer.status_code != 503:
            write_log.wrong.append(answer)
            return False
        write_log.unknown += 1
        write_log.slowest = max(write_log.slowest, time.monotonic() - began)
        if done.is_set() and gives_up == math.inf:
            gives_up = time.monotonic() + _ENDS_WITHIN
        time.sleep(_PAUSE)
    return False


def _record(writer: int, name: str) -> tuple[str, dict[str, object]]:
    if writer % 2:
        return "logo", {"name": name, "preview_url": "https://example.org/p.png", "target": "forum", "custom_css": ""}
    prefix, _, number = name.split("-")
    user_id = int(prefix.removeprefix("w")) * 10_000_000 + writer * 1_000_000 + int(number)
    return "author", {"user_id": user_id, "username": name}


@contextmanager
def following(services: Sequence[Service], token: str) -> Iterator[list[int]]:
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


def newest(service: Service, token: str) -> int:
    """Return the id of the last change."""
    answer = service.persistently("GET", "/api/changes?limit=1&order=desc", headers=bearer(token))
    assert answer.status_code == 200, answer
    return int(answer.json()[0]["change_id"]) if answer.json() else 0


def _follow(services: Sequence[Service], token: str, seen: list[int], done: threading.Event) -> None:
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
