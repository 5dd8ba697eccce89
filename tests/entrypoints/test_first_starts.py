"""Processes that begin on the same new or empty SQLite file lose nothing, double nothing and are not refused.

Each test does the same some times, with other pauses between the starts, or 50 times in a closer look.
"""

import json
import random
import secrets
import signal
import sqlite3
import time
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import closing, contextmanager
from pathlib import Path
from typing import Final

import httpx2
import pytest

import logoadmin
from tests.options import LONG, OPTIONS
from tests.services import Service, start

pytestmark = [pytest.mark.rule("contract H2", "contract H3", "contract H5"), pytest.mark.slow("processes are killed")]

ROUNDS: Final = int(OPTIONS.get("LOGOADMIN_TEST_STARTS", "8" if LONG else "1"))
IMPORTED: Final = range(1001, 1201)
# A command takes about this long to load; a pause in between lets one process meet every step of another.
_LONGEST_PAUSE: Final = 0.6
_GIVE_UP: Final = 90
_REPEATS: Final = 20

# The returned ids, by the author's user id.
Authors = dict[int, int]
Attempt = Callable[[Path, random.Random], None]


def url_of(file: Path) -> str:
    return f"sqlite:///{file}"


def ended(started: Service) -> str:
    """Return the output of a process that exited with 0."""
    out, err = started.process.communicate(timeout=_GIVE_UP)
    assert started.process.returncode == 0, err
    return out


def command(file: Path, *arguments: str) -> Service:
    return start("-m", "logoadmin", *arguments, "--database", url_of(file))


class Gallery(Service):
    """A process that serves a file."""

    def __init__(self, file: Path) -> None:
        super().__init__(command(file, "serve", "--port", "0").process)

    def is_ready(self) -> None:
        """Wait until it listens."""
        assert self.address

    @property
    def password(self) -> str | None:
        """The password of the first administrator, if it made one."""
        return next((line.split()[-1] for line in self.printed if line.startswith("The first administrator")), None)

    def create(self, *user_ids: int) -> Authors:
        """Create authors, one after the other."""
        return {user_id: self._create(user_id) for user_id in user_ids}

    def _create(self, user_id: int) -> int:
        body, again = {"user_id": user_id, "username": str(user_id)}, {"idempotency-key": str(user_id)}
        for _ in range(_REPEATS):
            answer = httpx2.post(f"{self.address}/api/authors", json=body, headers=again, timeout=10)
            if answer.status_code != 503:  # an import blocks other writes
                break
        assert answer.status_code == 201, answer.text
        author_id: int = answer.json()["author_id"]
        return author_id

    def check_password(self, password: str) -> None:
        """Check that this is the first administrator's password."""
        body = {"username": "admin", "password": password}
        answer = httpx2.post(f"{self.address}/api/auth/token", json=body, timeout=10)
        assert answer.status_code == 200, "wrong password"


@contextmanager
def serving(file: Path) -> Iterator[Gallery]:
    service = Gallery(file)
    try:
        yield service
    finally:
        service.kill()


def seen_from_outside(file: Path) -> Authors:
    """Return what another process reads, this one, which then closes the file, as an export does."""
    with logoadmin.connect(url_of(file)) as gallery:
        return {author.user_id: author.author_id for author in gallery.authors.list(logoadmin.ListAuthors())}


def lines_to_import(directory: Path) -> str:
    file = directory / "authors.jsonl"
    lines = ({"kind": "author", "author_id": id_, "user_id": id_, "username": str(id_)} for id_ in IMPORTED)
    file.write_text("\n".join(map(json.dumps, lines)))
    return str(file)


def check_file(file: Path, *answered: Authors) -> None:
    """Check that the file is intact and has exactly the acknowledged records, each id once."""
    with closing(sqlite3.connect(file)) as connection:
        assert connection.execute("PRAGMA integrity_check").fetchall() == [("ok",)]
    expected = {user_id: id_ for authors in answered for user_id, id_ in authors.items()}
    assert len(set(expected.values())) == len(expected), "an id was given twice"
    assert seen_from_outside(file) == expected


def pause(chance: random.Random) -> None:
    time.sleep(chance.choice([0, chance.random() * _LONGEST_PAUSE]))


def missing_or_empty(directory: Path, chance: random.Random) -> Path:
    """Return a missing file, or an empty one."""
    file = directory / "gallery.db"
    if chance.random() < 0.5:
        file.touch()
    return file


def two_services(directory: Path, chance: random.Random) -> None:
    file = missing_or_empty(directory, chance)
    with serving(file) as one:
        pause(chance)
        with serving(file) as two:
            one.is_ready()
            two.is_ready()
            (password,) = [service.password for service in (one, two) if service.password is not None]
            with ThreadPoolExecutor(2) as executor:
                made = list(executor.map(Gallery.create, (one, two), (1, 2), (3, 4), (5, 6)))
            one.check_password(password)
            two.check_password(password)
            one.stop(signal.SIGKILL)
            made += [two.create(7)]
            two.stop(signal.SIGTERM)
    check_file(file, *made)


def a_service_and_an_import(directory: Path, chance: random.Random) -> None:
    file = missing_or_empty(directory, chance)
    with serving(file) as service:
        pause(chance)
        importing = command(file, "import", lines_to_import(directory))
        service.is_ready()
        made = service.create(1, 2, 3)
        said = ended(importing).splitlines()
        made |= service.create(4)
        assert said[0] == "Imported 200 authors (200 created)"
        passwords = [
            service.password,
            *(line.split()[-1] for line in said if line.startswith("The first administrator")),
        ]
        (password,) = [password for password in passwords if password is not None]
        service.check_password(password)
        service.stop(signal.SIGTERM)
    check_file(file, made, {id_: id_ for id_ in IMPORTED})


@pytest.mark.parametrize("attempt", [two_services, a_service_and_an_import], ids=lambda attempt: attempt.__name__)
def test_a_first_start_loses_nothing_whatever_else_starts(tmp_path: Path, attempt: Attempt) -> None:
    seed = secrets.randbits(32)
    failed = []
    for number in range(ROUNDS):
        directory = tmp_path / str(number)
        directory.mkdir()
        try:
            attempt(directory, random.Random(seed + number))
        except (AssertionError, ValueError, httpx2.HTTPError, sqlite3.DatabaseError) as error:
            failed.append(str(error))
    assert not failed, f"{len(failed)} of {ROUNDS}, seed {seed}: {failed}"
