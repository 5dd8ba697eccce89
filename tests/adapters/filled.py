"""A gallery with a thousand records and some of everything else, for tests that copy databases."""

import contextlib
import json
from contextlib import closing
from itertools import cycle, islice
from pathlib import Path
from typing import Any, Final

from logoadmin import AmendLogo, CreateAuthor, CreateKey, ImportRecords, Refresh, RemoveAuthor, RevertRequest, SignIn
from logoadmin.adapters.sql_storage import SqlStorage, open_sql_storage
from logoadmin.domain.kernel import errors
from logoadmin.domain.kernel.access import Owner
from tests.gallery import ADMIN_PASSWORD, FrozenClock, gallery_on, once

_GALLERY: Final = Path(__file__).parents[1] / "gallery.jsonl"
_EACH: Final = 100
_MADE: Final = 1_780_000_000


def _records() -> list[dict[str, Any]]:
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


def _fill(storage: SqlStorage) -> str:
    """Make a first start, these records, and some of everything else; return a service key of the administrator."""
    gallery = gallery_on(storage, FrozenClock(_MADE + 1000))
    gallery.import_export.load(ImportRecords(), [json.dumps(record) for record in _records()], Owner("the import"))
    for number in range(40):
        # Undone below: only their history remains.
        gallery.logos.amend(AmendLogo(logo_id=200 + number, name=f"Renamed {number}"), Owner("renamed"))
    gallery.authors.create(once(CreateAuthor(user_id=9000, username="Gone"), "a key"))
    gallery.authors.remove(RemoveAuthor(author_id=_EACH + 1))
    tuple(gallery.changes.revert_request(RevertRequest(request_id="renamed")))
    admin = SignIn(username="admin", password=ADMIN_PASSWORD)
    tokens = gallery.sessions.sign_in(admin)
    gallery.sessions.refresh(Refresh(refresh_token=str(tokens.refresh_token)))
    with contextlib.suppress(errors.SignInRefused):
        gallery.sessions.sign_in(admin.model_copy(update={"password": "wrong"}))
    key = CreateKey(name="script", scope=("*",))
    return gallery.keys.create(key, gallery.sessions.caller(tokens.access_token)).key


def filled(url: str) -> str:
    """Fill new tables; return a service key of the administrator."""
    with closing(open_sql_storage(url)) as storage:
        storage.prepare()
        return _fill(storage)
