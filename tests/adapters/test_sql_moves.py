"""A gallery is moved to another database completely or not at all (contract K9)."""

import json
import time
from collections.abc import Callable
from contextlib import ExitStack, closing
from pathlib import Path
from typing import Any, Final

import pytest
from sqlalchemy import Boolean, Connection, LargeBinary, String, Table, insert, select

import logoadmin
from logoadmin import BlockLogo, Cause, Owner, Refresh, SignIn
from logoadmin.adapters.sql_storage import copies, open_sql_storage, schema
from logoadmin.adapters.sql_storage.databases import dialect_of
from logoadmin.adapters.sql_storage.tables import MOVED_TO, VERSION_TABLE, metadata
from logoadmin.bootstrap import open_gallery
from logoadmin.domain.kernel.errors import SchemaMismatch, SettingsError, StartError, StorageUnavailable, TablesMissing
from logoadmin.entrypoints.http_api.app import http_application
from logoadmin.reader.signatures import verified
from logoadmin.settings import settings_of
from logoadmin.starting import folder
from tests.adapters.filled import filled
from tests.asgi import AppClient
from tests.domain.identity.second_factors import challenged, code_of, enrolled, second_step
from tests.gallery import ADMIN_PASSWORD
from tests.mariadb import PASSWORD, MariaDb
from tests.writers import writing

pytestmark = pytest.mark.rule("contract K9")

ADMIN: Final = SignIn(username="admin", password=ADMIN_PASSWORD)
_LISTS: Final = ("logos", "themes", "authors", "users", "roles")
_PATHS: Final = (
    *(f"/api/{name}?limit=30" for name in _LISTS),
    *(f"/api/{name}/{number}" for name in ("logos", "themes") for number in (200, 207, 211, 299)),
    *(f"/api/{name}/{number}/css" for name in ("logos", "themes") for number in (201, 250)),
    *(f"/api/authors/{number}" for number in (1, 50, 100)),
    *(f"/api/users/{number}" for number in (0, 5, 99)),
    *(f"/api/roles/{number}" for number in (1, 2, 150)),
    *(f"/api/changes?order={order}&limit=50" for order in ("asc", "desc")),
    "/api/changes?kind=logo&id=200",
    "/api/changes?after=100&limit=9",
    "/api/logos?order=desc",
    "/api/themes?sort=name",
    *(f"/api/auth/{name}" for name in ("me", "keys", "sessions", "factors", "recovery-codes", "me/preferences")),
    *("/api/settings", "/api/export", "/.well-known/jwks.json"),
)


def at(url: str, create: Any = "never") -> logoadmin.LogoAdmin:
    return open_gallery(settings_of(database=url), create=create)


def on(url: str, work: Callable[[Connection], Any]) -> Any:
    """Work on a database with any content."""
    with ExitStack() as stack:
        engine = dialect_of(url).engine(1, None)
        stack.callback(engine.dispose)
        return work(stack.enter_context(engine.connect()))


def rows(url: str) -> dict[str, list[Any]]:
    def read(connection: Connection) -> dict[str, list[Any]]:
        return {
            table.name: [tuple(row) for row in connection.execute(select(table).order_by(*table.primary_key))]
            for table in metadata.sorted_tables
        }

    found: dict[str, list[Any]] = on(url, read)
    return found


def is_empty(url: str) -> bool:
    """Return whether a database has no tables, or nothing in them beside the counters."""
    with closing(open_sql_storage(url)) as storage:
        if storage.is_empty():
            return True
    found = rows(url)
    return not any(content for name, content in found.items() if name != "state")


def complete(connection: Connection) -> None:
    """Put a row into each table that has none."""
    for table in metadata.sorted_tables:
        if connection.execute(select(table).limit(1)).first() is None:
            connection.execute(insert(table).values(made_up(connection, table)))


def made_up(connection: Connection, table: Table) -> dict[str, Any]:
    made: dict[type, object] = {String: "É\N{GRINNING FACE} ", LargeBinary: bytes(range(256)) * 4, Boolean: True}
    values: dict[str, Any] = {}
    for column in table.columns:
        values[column.name] = next((value for kind, value in made.items() if isinstance(column.type, kind)), 9)
        for key in column.foreign_keys:
            values[column.name] = connection.execute(select(key.column).order_by(key.column).limit(1)).scalar()
    return values


@pytest.fixture(params=["into a server", "into a file"])
def pair(request: pytest.FixtureRequest, prepared_sqlite_url: str, mariadb: MariaDb, tmp_path: Path) -> tuple[str, str]:
    """The URLs of a gallery, and of a database of another kind, without tables."""
    if request.param == "into a server":
        return prepared_sqlite_url, mariadb.url_of(mariadb.new_database())
    return mariadb.url_of(mariadb.prepared_database()), f"sqlite:///{tmp_path / 'target.db'}"


@pytest.fixture
def used(pair: tuple[str, str]) -> str:
    """The URL of a gallery in use."""
    filled(pair[0])
    return pair[0]


@pytest.fixture
def source(used: str) -> str:
    """The URL of a gallery with a row in each table."""
    on(used, complete)
    return used


@pytest.fixture
def target(pair: tuple[str, str]) -> str:
    """The URL of a database of another kind, without tables."""
    return pair[1]


def moved(source: str, target: str) -> str:
    """Move a gallery without showing progress; return its new address."""
    return copies.move(source, target, lambda *_: None)


def name_version(url: str, version: str) -> None:
    on(url, lambda connection: connection.exec_driver_sql(f"UPDATE {VERSION_TABLE} SET version_num = '{version}'"))


def answers(gallery: logoadmin.LogoAdmin, token: str) -> dict[str, Any]:
    client = AppClient(http_application(gallery))
    found = {path: client.get(path, headers={"authorization": f"Bearer {token}"}) for path in _PATHS}
    return {path: (each.status_code, each.content, each.headers.get("etag")) for path, each in found.items()}


def test_every_row_of_every_table_is_copied(source: str, target: str) -> None:
    before, done = rows(source), []
    assert [name for name, content in before.items() if not content] == []
    address = copies.move(source, target, lambda *step: done.append(step))
    assert rows(target) == before
    numbers = {(name, len(content)) for name, content in before.items()}
    assert {(name, number) for what, name, number in done if what == "copied"} == numbers
    assert {(name, number) for what, name, number in done if what == "compared"} == numbers
    assert PASSWORD not in address


@pytest.mark.slow("whole galleries are copied")
def test_clients_and_readers_do_not_notice_a_move(used: str, target: str, tmp_path: Path) -> None:
    with at(used) as gallery:
        _, totp, codes = enrolled(gallery, ADMIN, int(time.time()))
        tokens = second_step(gallery, challenged(gallery, ADMIN), recovery_code=codes[0])
        gallery.logos.block(BlockLogo(logo_id=210, reason="A test"), Owner("block"))
        published = gallery.publication.publish(folder(tmp_path / "before"))
        keys = [dict(key) for key in gallery.publication.public_keys()]
        before = answers(gallery, tokens.access_token)
    assert len(before) >= 40
    assert {path: status for path, (status, *_) in before.items() if status != 200} == {}
    moved(used, target)
    with at(target) as gallery:
        assert answers(gallery, tokens.access_token) == before
        again = gallery.publication.publish(folder(tmp_path / "after"))
        pointers = [verified(each.pointer.decode(), keys).pointer for each in (published, again)]
        for name in ("gallery", "epoch", "version", "index"):
            assert pointers[0][name] == pointers[1][name]
        assert second_step(gallery, challenged(gallery, ADMIN), recovery_code=codes[1]).access_token
        in_step = code_of(totp, int(time.time()) + 30)
        assert second_step(gallery, challenged(gallery, ADMIN), totp=in_step).access_token
        refreshed = Refresh(refresh_token=str(tokens.refresh_token))
        assert gallery.sessions.refresh(refreshed).access_token
        made = gallery.authors.create(logoadmin.CreateAuthor(user_id=77777, username="New"))
        assert made.version > max(json.loads(before["/api/changes?order=desc&limit=50"][1])[0]["change_id"], 0)


@pytest.mark.slow("whole galleries are copied")
def test_the_source_is_no_longer_served_and_names_the_new_address(source: str, target: str) -> None:
    running = at(source)
    with closing(running):
        address = moved(source, target)
        with pytest.raises(StorageUnavailable) as writing:
            running.authors.create(logoadmin.CreateAuthor(user_id=77777, username="New"))
        assert writing.value.cause is Cause.MOVED
        with pytest.raises(SchemaMismatch, match="was moved"):
            running.check()
    for create in ("never", "embedded", "empty", "always"):
        with pytest.raises(SchemaMismatch) as refused:
            at(source, create)
        assert refused.value.cause is Cause.MOVED
        assert address in str(refused.value)
        assert PASSWORD not in str(refused.value)
    with pytest.raises(SchemaMismatch, match="was moved"):
        moved(source, target)
    assert MOVED_TO not in {row[0] for row in rows(target)["secrets"]}


@pytest.mark.slow("whole galleries are copied")
def test_no_acknowledged_write_is_lost(source: str, target: str) -> None:
    with at(source) as running, writing(running, 1) as answered:
        moved(source, target)
    assert {*answered} <= {row[2] for row in rows(target)["authors"]}
    assert rows(source)["authors"] == rows(target)["authors"]


@pytest.mark.slow("whole galleries are copied")
@pytest.mark.parametrize(
    "broken", ["changes", *(pytest.param(each, marks=pytest.mark.release) for each in ("roles", "state"))]
)
def test_a_failure_midway_changes_neither_database(source: str, target: str, broken: str) -> None:
    before = rows(source)
    for when in ("copied", "compared"):

        def fail(done: str, table: str, _rows: int, when: str = when) -> None:
            if (done, table) == (when, broken):
                raise OSError("The terminal is gone")

        with pytest.raises(OSError, match="terminal"):
            copies.move(source, target, fail)
        assert rows(source) == before
        assert is_empty(target)
    with at(source) as gallery:
        gallery.authors.create(logoadmin.CreateAuthor(user_id=77777, username="New"))
    moved(source, target)


@pytest.mark.slow("whole galleries are copied")
def test_a_copy_that_differs_is_not_kept(source: str, target: str, monkeypatch: pytest.MonkeyPatch) -> None:
    before = rows(source)
    copy = copies.TableCopy.copy_to

    def damage(self: Any, connection: Connection) -> None:
        copy(self, connection)
        connection.execute(metadata.tables["logos"].update().values(target="another"))

    monkeypatch.setattr(copies.TableCopy, "copy_to", damage)
    with pytest.raises(StartError, match="Table logos differs from its copy; nothing was moved"):
        moved(source, target)
    assert rows(source) == before
    assert is_empty(target)


@pytest.mark.slow("whole galleries are copied")
def test_a_database_with_records_is_refused(source: str, target: str) -> None:
    at(target, "always").close()
    before, there = rows(source), rows(target)
    with pytest.raises(StartError, match="The other database has records; name an empty one"):
        moved(source, target)
    assert (rows(source), rows(target)) == (before, there)


@pytest.mark.slow("whole galleries are copied")
def test_an_interrupted_move_is_finished_by_the_next(source: str, target: str, monkeypatch: pytest.MonkeyPatch) -> None:
    before = rows(source)
    with monkeypatch.context() as patch:
        patch.setattr(copies, "update", lambda _: 1 / 0)
        with pytest.raises(ZeroDivisionError):
            moved(source, target)
    assert (rows(source), rows(target)) == (before, before)
    moved(source, target)
    with pytest.raises(SchemaMismatch, match="was moved"):
        at(source)
    assert rows(target) == before


@pytest.mark.slow("whole galleries are copied")
def test_a_gallery_of_another_version_is_refused_and_nothing_is_created(source: str, target: str) -> None:
    for version, cause in (("x0000", Cause.OLDER_TABLES), ("x9000", Cause.NEWER_TABLES)):
        name_version(source, version)
        with pytest.raises(SchemaMismatch) as refused:
            moved(source, target)
        assert refused.value.cause is cause
        assert is_empty(target)
    name_version(source, schema.NEWEST)
    moved(source, target)


def test_a_database_is_not_moved_into_itself(source: str) -> None:
    with pytest.raises(SettingsError, match="is the database to move; name another one"):
        moved(source, source)


def test_a_missing_source_is_not_created(sqlite_url: str, tmp_path: Path) -> None:
    with pytest.raises(TablesMissing):
        moved(sqlite_url, f"sqlite:///{tmp_path / 'target.db'}")
    assert [*tmp_path.iterdir()] == []
