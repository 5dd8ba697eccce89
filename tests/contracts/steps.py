"""Records for storage tests, and the steps of a write that store, change, link and remove them."""

import threading
import time
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from typing import Any, Final, TypeVar

import pytest

from logoadmin.domain.kernel.kinds import KINDS, AnyArtworkKind, AnyKind, RecordKind
from logoadmin.domain.kernel.lists import EVERYTHING, Filter
from logoadmin.domain.kernel.records import Author, Logo, Role, StoredRecord, Theme, User
from logoadmin.ports.identity_storage import Session
from logoadmin.ports.storage import Storage, UnitOfWork
from tests.gallery import link_author

Record = TypeVar("Record", bound=StoredRecord)
Step = Callable[[UnitOfWork], object]

KIND_OF: Final[dict[type, AnyKind]] = {kind.record: kind for kind in KINDS.values()}


def role(role_id: int = 1, name: str = "member", scope: tuple[str, ...] = ()) -> Role:
    return Role(role_id, name, scope, 1_700_000_000)


def user(user_id: int, username: str, avatar: str | None = None, role_id: int = 1) -> User:
    return User(user_id, username, avatar, role_id, 1_700_000_000 + user_id % 7)


def author(author_id: int, user_id: int | None = None, username: str | None = None) -> Author:
    return Author(author_id, 100 + author_id if user_id is None else user_id, username or f"author {author_id}", 5)


def logo(logo_id: int, custom_css: str = "a { }", *, active: bool = True) -> Logo:
    return Logo(logo_id, f"logo {logo_id}", "https://example.org/l.png", "forum", custom_css, active, (), 9)


def theme(theme_id: int) -> Theme:
    return Theme(theme_id, f"theme {theme_id}", "https://example.org/t.png", "wiki", "", False, (), 9)


def session(session_id: str, user_id: int, expires_at: int = 2_000) -> Session:
    return Session(session_id, user_id, 1_000, expires_at)


def add(*records: StoredRecord) -> Step:
    def step(uow: UnitOfWork) -> None:
        for record in records:
            uow.records(KIND_OF[type(record)]).add(record)

    return step


def update(*records: StoredRecord) -> Step:
    def step(uow: UnitOfWork) -> None:
        for record in records:
            uow.records(KIND_OF[type(record)]).update(record)

    return step


def remove(kind: AnyKind, id_: int) -> Step:
    """Return a step that removes a record and returns whether it existed."""
    return lambda uow: uow.records(kind).remove(id_)


def link(kind: AnyArtworkKind, artwork_id: int, *author_ids: int) -> Step:
    """Return a step that links authors at the end and returns the id of the last link, 0 without authors."""
    return lambda uow: [0, *(link_author(uow, kind, artwork_id, author_id) for author_id in author_ids)][-1]


def write(storage: Storage, *steps: Step) -> Any:
    return storage.write(lambda uow: [step(uow) for step in steps][-1])


def write_and_fail(storage: Storage, *steps: Step) -> None:
    with pytest.raises(ZeroDivisionError):
        write(storage, *steps, lambda _: 1 // 0)


def get(storage: Storage, kind: RecordKind[Record], id_: int) -> Record | None:
    return storage.read(lambda uow: uow.records(kind).get(id_))


def find(storage: Storage, kind: RecordKind[Record], field: str, value: str) -> Record | None:
    return storage.read(lambda uow: uow.records(kind).find(field, value))


def page(
    storage: Storage, kind: RecordKind[Record], after: int = -1, limit: int = 99, where: Filter = EVERYTHING
) -> tuple[Record, ...]:
    return storage.read(lambda uow: uow.records(kind).page(after, limit, where))


def at_once(*works: Callable[[], object]) -> list[object]:
    """Run functions in threads that start together; return the result or error of each."""
    start = threading.Barrier(len(works))

    def run(work: Callable[[], object]) -> object:
        start.wait()
        try:
            return work()
        except Exception as error:
            return error

    with ThreadPoolExecutor(len(works)) as executor:
        return list(executor.map(run, works))


def quickest(work: Callable[[], bool], times: int = 5) -> float:
    """Return the seconds of the fastest of several calls, since a busy machine delays some; all must return True."""

    def seconds() -> float:
        began = time.monotonic()
        assert work()
        return time.monotonic() - began

    return min(seconds() for _ in range(times))
