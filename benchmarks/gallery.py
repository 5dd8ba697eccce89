"""Generates the contents of the servers, and fills their databases."""

import contextlib
import json
import os
import subprocess
import sys
import time
from collections import defaultdict
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import Any, Final

from argon2 import PasswordHasher
from sqlalchemy import (
    Connection,
    Engine,
    FromClause,
    String,
    cast,
    create_engine,
    func,
    insert,
    literal,
    select,
    true,
    union_all,
)

from benchmarks.usual.models import Base, engine_of
from logoadmin.adapters.sql_storage.tables import users

LOGOS: Final = 200
USERS: Final = 100_000
MANY_USERS: Final = 1_000_000
PASSWORD: Final = "correct-horse-battery"
# Removed from the environment, because the service would reject it as a misspelt setting.
_NAMED: Final = os.environ.pop("LOGOADMIN_GALLERY", "")
GALLERY_FILE: Final = Path(_NAMED) if _NAMED else None

_AUTHORS: Final = 75
# A factor coprime with ten million, so that no two numbers below it are mapped to the same remainder.
_SCATTERING: Final = 7_654_321
_CREATED_AT: Final = 1_800_000_000


def write_gallery(
    file: Path, *, themes: int = 0, logos: int = LOGOS, two_authors_every: int = 1, all_active: bool = False
) -> None:
    """Write a gallery.

    Args:
        file: the file.
        themes: the number of themes.
        logos: the number of logos.
        two_authors_every: one in this many logos and themes has two authors, the others none.
        all_active: whether all are active, or only every second one.
    """
    lines = [
        {"kind": "author", "author_id": number, "user_id": number, "username": f"maker {number}"}
        for number in range(1, _AUTHORS + 1)
    ]
    lines += (
        _artwork(kind, number, two_authors_every, all_active)
        for kind, count in (("theme", themes), ("logo", logos))
        for number in range(1, count + 1)
    )
    file.write_text("".join(json.dumps({**line, "created_at": _CREATED_AT}) + "\n" for line in lines))


def _artwork(kind: str, number: int, two_authors_every: int, all_active: bool) -> dict[str, Any]:
    picture = f"https://example.org/pictures/{number}.svg"
    makers = [number % _AUTHORS + 1, (number + 7) % _AUTHORS + 1] if number % two_authors_every == 0 else []
    return {
        "kind": kind,
        f"{kind}_id": number,
        "name": f"The {kind} number {number}",
        "preview_url": picture,
        "target": "forum",
        "custom_css": f"background: url({picture}) center / contain no-repeat; color: #{number:06x}",
        "active": all_active or number % 2 == 0,
        "author_ids": makers,
    }


def import_gallery(file: Path, database: str) -> float:
    """Import a gallery with the command line; return the seconds it took."""
    began = time.perf_counter()
    _logoadmin(database, "import", str(file))
    return time.perf_counter() - began


def _logoadmin(database: str, *arguments: str) -> None:
    environment = {**os.environ, "LOGOADMIN_DATABASE": database, "LOGOADMIN_ADMIN_PASSWORD": PASSWORD}
    command = [sys.executable, "-m", "logoadmin", *arguments]
    subprocess.run(command, check=True, stdout=subprocess.DEVNULL, env=environment)


def insert_gallery(file: Path, database: str) -> float:
    """Parse a gallery and insert it into the tables of the usual way without checks; return the seconds it took."""
    with _engine(engine_of(database)) as engine:
        Base.metadata.create_all(engine)
        began = time.perf_counter()
        with engine.begin() as connection, file.open(encoding="utf-8") as lines:
            _insert(connection, lines)
        return time.perf_counter() - began


def _insert(connection: Connection, lines: Iterable[str]) -> None:
    rows = defaultdict(list, roles=[{"role_id": 1, "name": "member", "scope": "", "created_at": _CREATED_AT}])
    for line in map(json.loads, lines):
        kind, makers = line.pop("kind"), line.pop("author_ids", ())
        rows[f"{kind}s"].append({"created_at": _CREATED_AT, **line})
        rows[f"{kind}_authors"] += ({f"{kind}_id": line[f"{kind}_id"], "author_id": maker} for maker in makers)
    for table in Base.metadata.sorted_tables:
        if rows[table.name]:
            connection.execute(insert(table), rows[table.name])


def insert_users(database: str) -> None:
    """Fill a database up to :data:`USERS` users, whose names and password wrk knows."""
    password = PasswordHasher(time_cost=2, memory_cost=19_456, parallelism=1).hash(PASSWORD)
    same = {"role_id": 1, "created_at": _CREATED_AT, "password": password}
    with _engine(create_engine(database)) as engine, engine.begin() as connection:
        users = Base.metadata.tables["users"]
        existing = connection.scalar(select(func.count()).select_from(users)) or 0
        numbers = range(1, USERS - existing + 1)
        connection.execute(
            insert(users),
            [
                {"user_id": number, "username": f"user {number}", "avatar": f"{number}.png", **same}
                for number in numbers
            ],
        )


def insert_many_users(database: str) -> None:
    """Store a million users in a new database, with names in a different order from their ids.

    The database generates them: creating them one by one through logoadmin would take minutes.
    """
    _logoadmin(database, "init")
    digits = [union_all(*(select(literal(digit).label("digit")) for digit in range(10))).subquery() for _ in range(6)]
    number = 1 + sum(each.c.digit * 10**place for place, each in enumerate(digits))
    name = literal("user") + func.substr(cast(10**7 + number * _SCATTERING % 10**7, String(8)), 2)
    every: FromClause = digits[0]
    for each in digits[1:]:
        every = every.join(each, true())
    rows = select(number, name, literal(1), literal(_CREATED_AT), name).select_from(every)
    # Each digit is combined with every other one, as intended.
    with _engine(create_engine(database, enable_from_linting=False)) as engine, engine.begin() as connection:
        columns = ["user_id", "username", "role_id", "created_at", "name_casefold"]
        connection.execute(insert(users).from_select(columns, rows))


@contextlib.contextmanager
def _engine(engine: Engine) -> Iterator[Engine]:
    try:
        yield engine
    finally:
        engine.dispose()
