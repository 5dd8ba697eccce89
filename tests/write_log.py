"""Services of a cluster, writers that log their writes, and a reader that follows the history."""

import math
import random
import ssl
import subprocess
import threading
import time
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from itertools import count, cycle, islice
from pathlib import Path
from typing import Any, Final

import httpx2
from httpx2 import Response

from tests import services

PASSWORD: Final = "correct horse battery staple"
_ANSWERS_WITHIN: Final = 10.0
_ENDS_WITHIN: Final = 30.0
_PAUSE: Final = 0.05
_GONE_WITHIN: Final = 0.002
ALWAYS: Final = math.inf
# A proxy that reaches no service: not its answer.
_OF_PROXY: Final = b"The service is unreachable"


def command(*arguments: str, log: int = subprocess.PIPE) -> services.Service:
    """Start the command logoadmin."""
    return services.start("-m", "logoadmin", *arguments, log=log, environment={"LOGOADMIN_ADMIN_PASSWORD": PASSWORD})


class Address:
    """Where a service is reached."""

    def __init__(self, address: str, certificate: Path | None = None, within: float = _ANSWERS_WITHIN) -> None:
        """Connect with TLS if a certificate is to be trusted, and wait some seconds for each answer."""
        self._address, self._within = address, within
        self._trust = True if certificate is None else ssl.create_default_context(cafile=str(certificate))

    def client(self) -> httpx2.Client:
        """Return a client with its own connections."""
        return httpx2.Client(base_url=self._address, timeout=self._within, verify=self._trust)

    def ask(self, method: str, path: str, body: object = None, headers: Mapping[str, str] | None = None) -> Response:
        """Make one request."""
        with self.client() as client:
            return client.request(method, path, json=body, headers=headers)

    def sign_in(self, password: str = PASSWORD) -> Response:
        """Sign the administrator in."""
        return self.persistently("POST", "/api/auth/token", {"username": "admin", "password": password})

    def persistently(self, method: str, path: str, body: object = None, headers: Any = None) -> Response:
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
        interrupted: how many requests lost their connection before the answer, and were repeated.
        wrong: answers that no writer should get.
    """

    acknowledged: dict[str, tuple[int, float]] = field(default_factory=dict)
    asked: set[str] = field(default_factory=set)
    unknown: int = 0
    slowest: float = 0.0
    interrupted: int = 0
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


@dataclass
class Writer:
    """A client that writes one record after another.

    Attributes:
        number: odd writers make logos if they have a token, all others authors.
        repeats: how often a request may be repeated because its connection was lost; if always, the writer does not
            wait for the answers of a tenth.
        reads: whether it reads each record after the answer.
    """

    service: Address
    token: str
    number: int
    log: WriteLog
    done: threading.Event
    repeats: float = 0
    reads: bool = False

    def run(self, prefix: str) -> None:
        """Write until the end, or until one request gets a wrong response."""
        with self.service.client() as client:
            for number in count(1):
                if self.done.is_set() or not self._write(client, f"{prefix}-{self.number}-{number}"):
                    return

    def _write(self, client: httpx2.Client, name: str) -> bool:
        kind, body = _record(self.number, name, authors_only=not self.token)
        self.log.asked.add(name)
        headers = {**(bearer(self.token) if self.token else {}), "idempotency-key": name}
        answer = self._answer(client, "POST", f"/api/{kind}s", json=body, headers=headers)
        if answer is None or answer.status_code != 201:
            self.log.wrong += [] if answer is None else [answer]
            return False
        id_ = answer.json()[f"{kind}_id"]
        self.log.acknowledged[name] = id_, time.monotonic()
        if self.reads:
            read = self._answer(client, "GET", f"/api/{kind}s/{id_}")
            self.log.wrong += [] if read is None or read.content == answer.content else [read]
            time.sleep(_PAUSE)  # leaves time to the processes that start meanwhile
        return True

    def _answer(self, client: httpx2.Client, method: str, path: str, **sent: Any) -> Response | None:
        """Send a request until the service answers something else than 503; at the end, for a while longer."""
        gives_up, lost = math.inf, 0
        while time.monotonic() < gives_up:
            began = time.monotonic()
            if self.done.is_set() and gives_up == math.inf:
                gives_up = began + _ENDS_WITHIN
            is_hasty = self.repeats == ALWAYS and random.random() < 0.1
            try:
                timeout = _GONE_WITHIN if is_hasty else client.timeout
                answer = client.request(method, path, timeout=timeout, **sent)
            except httpx2.HTTPError as error:
                lost += 1
                if lost > self.repeats:
                    self.log.wrong.append(error)
                    return None
                self.log.interrupted += not isinstance(error, httpx2.TimeoutException)
                continue
            if answer.status_code != 503 or _OF_PROXY in answer.content:
                return answer
            self.log.unknown += 1
            self.log.slowest = max(self.log.slowest, time.monotonic() - began)
            time.sleep(_PAUSE)
        return None


@contextmanager
def writing(
    services: Sequence[Address], token: str, prefix: str, writers: int = 8, *, repeats: float = 0, reads: bool = False
) -> Iterator[WriteLog]:
    """Run writers until the end; each retries writes refused with 503, with the same key.

    Half of them make authors, whose names are unique, half logos, of which nothing but the key keeps a second one away;
    without a token, all make authors.
    """
    write_log, done = WriteLog(), threading.Event()
    turns = enumerate(islice(cycle(services), writers))
    made = (Writer(service, token, number, write_log, done, repeats, reads) for number, service in turns)
    threads = [threading.Thread(target=writer.run, args=(prefix,)) for writer in made]
    for thread in threads:
        thread.start()
    try:
        yield write_log
    finally:
        done.set()
        for thread in threads:
            thread.join()


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
