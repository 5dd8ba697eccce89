"""The tables of earlier versions as SQL, one file for each database, filled with a hundred records of each kind.

The files are named after the newest migration that their program knew. They are made by ``python -m tests.releases``
from what is below, and never changed once that program was released.
"""

import contextlib
import gzip
import json
import re
import sqlite3
from itertools import cycle, islice
from pathlib import Path
from typing import Any, Final

from logoadmin.adapters.sql_storage import SqlStorage
from logoadmin.domain.model.access import Owner
from logoadmin.domain.model.errors import SignInRefused
from logoadmin.domain.services.artworks import AmendLogo
from logoadmin.domain.services.authors import CreateAuthor, RemoveAuthor
from logoadmin.domain.services.changes import RevertRequest
from logoadmin.domain.services.import_export import ImportRecords
from logoadmin.domain.services.keys import CreateKey
from logoadmin.domain.services.sessions import Refresh, SignIn
from tests.gallery import ADMIN_PASSWORD, FrozenClock, gallery_on, once
from tests.mariadb import MariaDb

DIRECTORY: Final = Path(__file__).parent
RELEASES: Final = sorted({path.name[:4] for path in DIRECTORY.glob("*.sql.gz")})
_GALLERY: Final = DIRECTORY.parent / "gallery.jsonl"
_EACH: Final = 100
_MADE: Final = 1_780_000_000


def records() -> list[dict[str, Any]]:
    """Return the lines of what each file has, beside the roles and the administrator of a first start."""
    given = [json.loads(line) for line in _GALLERY.read_text(encoding="utf-8").splitlines()]
    some = {kind: cycle([line for line in given if line["kind"] == kind]) for kind in ("author", "theme", "logo")}
    names = [line["username"] for line in islice(some["author"], _EACH)]
    made: list[dict[str, Any]] = []
    for number, name in enumerate(names):
        at = {"created_at": _MADE + number}
        scope = ["logos:write", "another-service"][: number % 3]
        avatar = None if number % 2 else f"https://example.org/{number}.png"
        user = {"user_id": number, "username": f"{name} {number}", "avatar": avatar, "role_id": 100 + number}
        made.append({"kind": "role", "role_id": 100 + number, "name": f"Role {number}", "scope": scope, **at})
        made.append({"kind": "user", **user, **at})
        made.append({"kind": "author", "author_id": 1 + number, "user_id": number, "username": f"{name}{number}", **at})
        for kind in ("theme", "logo"):
            author_ids = [1 + (number + step) % _EACH for step in range(number % 4)]
            made.append({**next(some[kind]), f"{kind}_id": 200 + number, **at, "author_ids": author_ids})
    return made


def fill(storage: SqlStorage) -> str:
    """Make a first start, :func:`records`, and some of everything else; return a service key of the administrator."""
    gallery = gallery_on(storage, FrozenClock(_MADE + 1000))
    gallery.import_export.load(ImportRecords(), [json.dumps(record) for record in records()], Owner("the import"))
    for number in range(40):
        # Undone below: what is left of them is history.
        gallery.logos.amend(AmendLogo(logo_id=200 + number, name=f"Renamed {number}"), Owner("renamed"))
    gallery.authors.create(once(CreateAuthor(user_id=9000, username="Gone"), "a key"))
    gallery.authors.remove(RemoveAuthor(author_id=_EACH + 1))
    tuple(gallery.changes.revert_request(RevertRequest(request_id="renamed")))
    admin = SignIn(username="admin", password=ADMIN_PASSWORD)
    tokens = gallery.sessions.sign_in(admin)
    gallery.sessions.refresh(Refresh(grant_type="refresh_token", refresh_token=str(tokens.refresh_token)))
    with contextlib.suppress(SignInRefused):
        gallery.sessions.sign_in(admin.model_copy(update={"password": "wrong"}))
    key = CreateKey(name="script", scope=("*",))
    return gallery.keys.create(key, gallery.sessions.caller(tokens.access_token)).key


def write(release: str, database: str, sql: str, key: str) -> None:
    """Write the file of a database, the same for the same text."""
    text = f"-- A service key: {key}\n{sql}".encode()
    (DIRECTORY / f"{release}.{database}.sql.gz").write_bytes(gzip.compress(text, 9, mtime=0))


def load(release: str, url: str, mariadb: MariaDb | None) -> str:
    """Make what a file has in a database that has no tables; return the service key.

    Args:
        release: the newest migration of its program.
        url: of the database.
        mariadb: its server, None for SQLite.
    """
    name = "sqlite" if mariadb is None else "mariadb"
    sql = gzip.decompress((DIRECTORY / f"{release}.{name}.sql.gz").read_bytes()).decode()
    if mariadb is None:
        with contextlib.closing(sqlite3.connect(url.removeprefix("sqlite:///"))) as connection:
            connection.executescript(sql)
    else:
        # A line ends within no text: there it is \\n.
        statements = [statement for statement in re.split(r";$", sql, flags=re.MULTILINE) if statement.strip()]
        mariadb.execute(f"USE {url.rpartition('/')[2]}", "SET foreign_key_checks = 0", *statements)
    key = re.match(r"-- A service key: (\S+)$", sql, re.MULTILINE)
    assert key is not None
    return key[1]
