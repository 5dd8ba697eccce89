"""Processes that begin on the same new or empty SQLite file lose nothing, double nothing and are not refused.

It is done some times, with other pauses between the starts, or 50 times in a closer look.
"""

import json
import random
import secrets
import signal
import sqlite3
import time
from collections.abc import Mapping
from contextlib import ExitStack, closing
from pathlib import Path
from typing import Final

import pytest

import logoadmin
from tests.options import LONG, OPTIONS
from tests.services import Service, comes_true, start
from tests.write_log import Address, writing

pytestmark = [pytest.mark.slow("processes are killed"), pytest.mark.rule("contract H2", "contract H3", "contract H5")]

ROUNDS: Final = int(OPTIONS.get("LOGOADMIN_TEST_STARTS", "8" if LONG else "1"))
IMPORTED: Final = 200
# A command takes about this long to load; a pause in between lets one process meet every step of another.
_LONGEST_PAUSE: Final = 0.6


def started(file: Path, *arguments: str) -> Service:
    """Start a process that serves or imports into a file."""
    return start("-m", "logoadmin", *arguments, "--database", f"sqlite:///{file}")


def start_together(directory: Path, chance: random.Random) -> None:
    """Start two services and an import on a missing or empty file, write to both, kill one, and stop the other."""
    file, lines = directory / "gallery.db", directory / "authors.jsonl"
    if chance.random() < 0.5:
        file.touch()
    records = ({"kind": "author", "user_id": id_, "username": f"imported {id_}"} for id_ in range(IMPORTED))
    lines.write_text("\n".join(map(json.dumps, records)))
    commands = [("serve", "--port", "0"), ("serve", "--port", "0"), ("import", str(lines))]
    chance.shuffle(commands)
    with ExitStack() as ended:
        running: list[Service] = []
        for command in commands:
            running.append(started(file, *command))
            ended.callback(running[-1].kill)
            time.sleep(chance.choice([0, chance.random() * _LONGEST_PAUSE]))
        importing = running.pop(next(place for place, (name, *_) in enumerate(commands) if name == "import"))
        one, two = addresses = [Address(each.address) for each in running]
        with writing(addresses, "", "w1", 2) as both:
            comes_true(lambda: len(both.acknowledged) > 6)
            out, err = importing.process.communicate(timeout=90)
        assert (importing.process.returncode, f"{IMPORTED} authors ({IMPORTED} created)" in out) == (0, True), err
        lines_of_all = [*running[0].printed, *running[1].printed, *out.splitlines()]
        (password,) = (line.split()[-1] for line in lines_of_all if line.startswith("The first administrator"))
        for address in (one, two):
            assert address.sign_in(password).status_code == 200
        running[0].stop(signal.SIGKILL)
        with writing([two], "", "w2", 1) as later:
            comes_true(lambda: len(later.acknowledged) > 1)
        running[1].stop(signal.SIGTERM)
    assert (both.wrong, later.wrong) == ([], [])
    check_file(file, {**both.acknowledged, **later.acknowledged})


def check_file(file: Path, acknowledged: Mapping[str, tuple[int, float]]) -> None:
    """Check that the file is intact and has exactly the imported and the acknowledged records, each with its id."""
    with closing(sqlite3.connect(file)) as connection:
        assert connection.execute("PRAGMA integrity_check").fetchall() == [("ok",)]
    with logoadmin.connect(f"sqlite:///{file}") as gallery:
        found = {each.username: each.author_id for each in gallery.authors.list(logoadmin.ListAuthors())}
    imported = {name: id_ for name, id_ in found.items() if name.startswith("imported")}
    assert (len(imported), len({*found.values()})) == (IMPORTED, len(found))
    assert found == imported | {name: id_ for name, (id_, _) in acknowledged.items()}


def test_a_first_start_loses_nothing_whatever_else_starts(tmp_path: Path) -> None:
    seed = secrets.randbits(32)
    for number in range(ROUNDS):
        directory = tmp_path / f"{seed} {number}"
        directory.mkdir()
        start_together(directory, random.Random(seed + number))
