"""Processes that begin on the same new or empty SQLite file lose nothing, double nothing and are not refused.

It is done some times, with other pauses between the starts, or 50 times in a closer look.
"""

import json
import random
import secrets
import signal
import sqlite3
import time
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import ExitStack, closing
from pathlib import Path
from typing import Final

import pytest

import logoadmin
from tests.options import LONG, OPTIONS
from tests.services import Service, ask, start

pytestmark = [pytest.mark.slow("processes are killed"), pytest.mark.rule("contract H2", "contract H3", "contract H5")]

ROUNDS: Final = int(OPTIONS.get("LOGOADMIN_TEST_STARTS", "8" if LONG else "1"))
IMPORTED: Final = range(1001, 1201)
# A command takes about this long to load; a pause in between lets one process meet every step of another.
_LONGEST_PAUSE: Final = 0.6
_REPEATS: Final = 20

# The returned ids, by the author's user id.
Authors = dict[int, int]


class Started(Service):
    """A process that serves or imports into a file."""

    def __init__(self, file: Path, *arguments: str) -> None:
        super().__init__(start("-m", "logoadmin", *arguments, "--database", f"sqlite:///{file}").process)

    def create(self, *user_ids: int) -> Authors:
        """Create authors, one after the other."""
        return {user_id: self._create(user_id) for user_id in user_ids}

    def _create(self, user_id: int) -> int:
        body = {"user_id": user_id, "username": str(user_id)}
        for _ in range(_REPEATS):
            answer = ask(self.port, None, "POST", "/api/authors", body, Idempotency_Key=str(user_id))
            if answer.status != 503:  # an import blocks other writes
                break
        assert answer.status == 201, answer
        author_id: int = json.loads(answer.body)["author_id"]
        return author_id

    def accepts(self, password: str) -> bool:
        """Return whether this is the first administrator's password."""
        return (
            ask(self.port, None, "POST", "/api/auth/token", {"username": "admin", "password": password}).status == 200
        )


def first_passwords(lines: list[str]) -> Iterator[str]:
    """Yield the password of the first administrator, if one was made."""
    return (line.split()[-1] for line in lines if line.startswith("The first administrator"))


def start_together(directory: Path, chance: random.Random) -> None:
    """Start two services and an import on a missing or empty file, write to both, kill one, and stop the other."""
    file, lines = directory / "gallery.db", directory / "authors.jsonl"
    if chance.random() < 0.5:
        file.touch()
    records = ({"kind": "author", "author_id": id_, "user_id": id_, "username": str(id_)} for id_ in IMPORTED)
    lines.write_text("\n".join(map(json.dumps, records)))
    commands = [("serve", "--port", "0"), ("serve", "--port", "0"), ("import", str(lines))]
    chance.shuffle(commands)
    running: dict[str, list[Started]] = {"serve": [], "import": []}
    with ExitStack() as ended:
        for command in commands:
            running[command[0]].append(Started(file, *command))
            ended.callback(running[command[0]][-1].kill)
            time.sleep(chance.choice([0, chance.random() * _LONGEST_PAUSE]))
        (one, two), (importing,) = running["serve"], running["import"]
        assert one.address
        assert two.address
        with ThreadPoolExecutor(2) as executor:
            made = list(executor.map(Started.create, (one, two), (1, 2), (3, 4), (5, 6)))
        out, err = importing.process.communicate(timeout=90)
        assert (importing.process.returncode, "Imported 200 authors (200 created)" in out) == (0, True), err
        (password,) = first_passwords([*one.printed, *two.printed, *out.splitlines()])
        assert one.accepts(password)
        assert two.accepts(password)
        one.stop(signal.SIGKILL)
        made.append(two.create(7))
        two.stop(signal.SIGTERM)
    check_file(file, *made, {id_: id_ for id_ in IMPORTED})


def check_file(file: Path, *answered: Authors) -> None:
    """Check that the file is intact and has exactly the acknowledged records, each id once."""
    with closing(sqlite3.connect(file)) as connection:
        assert connection.execute("PRAGMA integrity_check").fetchall() == [("ok",)]
    expected = {user_id: id_ for authors in answered for user_id, id_ in authors.items()}
    assert len(set(expected.values())) == len(expected), "an id was given twice"
    with logoadmin.connect(f"sqlite:///{file}") as gallery:
        assert {each.user_id: each.author_id for each in gallery.authors.list(logoadmin.ListAuthors())} == expected


def test_a_first_start_loses_nothing_whatever_else_starts(tmp_path: Path) -> None:
    seed = secrets.randbits(32)
    for number in range(ROUNDS):
        directory = tmp_path / f"{seed} {number}"
        directory.mkdir()
        start_together(directory, random.Random(seed + number))
