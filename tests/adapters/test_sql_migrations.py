"""Creating the tables, checking their version, and migrating older ones."""

from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import closing, contextmanager, suppress
from pathlib import Path
from typing import Any

import pytest
from alembic.autogenerate import compare_metadata
from alembic.migration import MigrationContext
from alembic.script import ScriptDirectory
from sqlalchemy import Connection, Engine, event, text

from logoadmin.adapters.sql_storage import SqlStorage, open_sql_storage, schema
from logoadmin.adapters.sql_storage.databases.mysql_connections import LEASE_TABLE
from logoadmin.adapters.sql_storage.tables import COUNTED, STATE_ID, VERSION_TABLE, metadata
from logoadmin.domain.kernel.errors import SchemaMismatch, StartError
from logoadmin.domain.kernel.kinds import AUTHORS
from tests.mariadb import MariaDb

pytestmark = pytest.mark.rule("contract H3")


@pytest.fixture
def new(url: str) -> Iterator[SqlStorage]:
    with closing(open_sql_storage(url)) as storage:
        yield storage


@pytest.fixture
def prepared(prepared_url: str) -> Iterator[SqlStorage]:
    with closing(open_sql_storage(prepared_url)) as storage:
        yield storage


def execute(storage: SqlStorage, statement: str) -> None:
    with storage._pool.engine.connect() as connection:
        connection.exec_driver_sql(statement)


def differences(connection: Connection) -> list[Any]:
    """Return how the tables of a database differ, except that of leases, which no migration creates."""
    opts = {"version_table": VERSION_TABLE, "compare_type": True, "include_name": lambda name, *_: name != LEASE_TABLE}
    found: list[Any] = compare_metadata(MigrationContext.configure(connection, opts=opts), metadata)
    return found


@pytest.mark.rule("contract H2")
def test_the_migrations_create_exactly_the_tables(new: SqlStorage) -> None:
    new.prepare()
    with new._pool.engine.connect() as connection:
        assert differences(connection) == []
        rows = connection.execute(text("SELECT * FROM state")).mappings().all()
        assert [dict(row) for row in rows] == [{"state_id": STATE_ID, "writes": 0} | dict.fromkeys(COUNTED, 0)]


def test_the_newest_migration_is_looked_for() -> None:
    assert ScriptDirectory(str(schema.MIGRATIONS)).get_heads() == [schema.NEWEST]


@pytest.mark.rule("contract A6")
def test_every_text_is_compared_exactly(mariadb: MariaDb) -> None:
    collations = mariadb.execute(
        "SELECT DISTINCT collation_name FROM information_schema.columns WHERE table_schema = DATABASE()"
        f" AND collation_name IS NOT NULL AND table_name <> '{VERSION_TABLE}'"
    )
    assert collations == [("utf8mb4_nopad_bin",)]


def test_a_database_without_tables_is_empty_and_refused(new: SqlStorage) -> None:
    assert new.is_empty()
    missing = (
        "File new.db does not exist; if the name is right,"
        if new.embedded
        else "The database has no logoadmin tables yet;"
    )
    with pytest.raises(SchemaMismatch, match=f"^{missing} run logoadmin init for the same database$"):
        new.check()
    new.prepare()
    assert not new.is_empty()
    new.check()


def test_tables_of_another_program_are_left_alone(new: SqlStorage, sqlite_url: str) -> None:
    if new.embedded:
        Path(sqlite_url.removeprefix("sqlite:///")).touch()
    execute(new, "CREATE TABLE users (login VARCHAR(9))")
    with pytest.raises(StartError, match=r"has a table users that is not logoadmin's; give logoadmin a database"):
        new.prepare()
    assert new.is_empty()
    execute(new, "SELECT login FROM users")


def test_missing_privileges_to_create_tables_are_named(mariadb: MariaDb) -> None:
    database = mariadb.new_database()
    mariadb.execute(
        "CREATE OR REPLACE USER 'reader'@'127.0.0.1' IDENTIFIED BY 'secret'",
        f"GRANT SELECT, INSERT ON {database}.* TO 'reader'@'127.0.0.1'",
    )
    with pytest.raises(StartError, match=r"may not make tables; grant it ALL on the database$"):
        prepare(f"mysql://reader:secret@{mariadb.address}/{database}")


def prepare(url: str) -> bool:
    with closing(open_sql_storage(url)) as storage:
        storage.prepare()
        storage.check()
        return storage.is_empty()


@pytest.mark.rule("contract H5")
def test_concurrent_threads_prepare_without_conflict(url: str) -> None:
    with ThreadPoolExecutor(4) as executor:
        assert list(executor.map(prepare, [url] * 4)) == [False] * 4


@pytest.mark.rule("contract H2")
def test_a_file_that_cannot_be_created_is_named_without_its_path(tmp_path: Path) -> None:
    sentence = "The database file new.db cannot be made: its directory is missing; create it first"
    with pytest.raises(StartError, match=f"^{sentence}$"):
        prepare(f"sqlite:///{tmp_path / 'nowhere' / 'new.db'}")
    (tmp_path / "file").touch()
    with pytest.raises(StartError, match=r"file new.db cannot be made: Not a directory; name one that can$"):
        prepare(f"sqlite:///{tmp_path / 'file' / 'new.db'}")


@pytest.mark.rule("contract H2")
def test_a_relative_path_is_resolved_at_the_start(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    with closing(open_sql_storage("sqlite:///new.db")) as storage:
        monkeypatch.chdir("/")
        storage.prepare()
    assert (tmp_path / "new.db").exists()


class PowerCut(Exception):
    """Ends every operation."""


@contextmanager
def cut_after(allowed: int) -> Iterator[None]:
    """Cut a migration short at the statement after `allowed` others that change something permanently."""
    left = allowed

    def before(_connection: object, _cursor: object, statement: str, *_: object) -> None:
        nonlocal left
        changes = statement.split()[0] in {"CREATE", "ALTER", "DROP", "INSERT", "DELETE"}
        if LEASE_TABLE in statement or (not changes and not statement.startswith(f"UPDATE {VERSION_TABLE}")):
            return
        if left == 0:
            raise PowerCut
        left -= 1

    event.listen(Engine, "before_cursor_execute", before)
    try:
        yield
    finally:
        event.remove(Engine, "before_cursor_execute", before)


@pytest.mark.slow("tables are made step by step")
@pytest.mark.rule("contract H5")
def test_preparing_can_be_repeated_after_an_interruption_at_any_step(new: SqlStorage) -> None:
    cuts = 0
    while True:
        # A file is unchanged; a server keeps each step, so that the next attempt gets further. A migration may
        # begin with an update, which only the next step keeps.
        with cut_after(cuts if new.embedded else 2), suppress(PowerCut):
            new.prepare()
            break
        cuts += 1
        assert cuts < 200
        with pytest.raises(SchemaMismatch):
            new.check()
    assert cuts > 15
    new.check()
    with new._pool.engine.connect() as connection:
        assert differences(connection) == []
    assert new.write(lambda uow: uow.records(AUTHORS).next_id()) == 1


@pytest.mark.parametrize("made_by", ["0009", "r0001", "v0001", "w0008"])
def test_tables_from_before_the_first_release_are_refused_with_a_remedy(prepared: SqlStorage, made_by: str) -> None:
    execute(prepared, f"UPDATE {VERSION_TABLE} SET version_num = '{made_by}'")
    sentence = "made by a version before 0.1.0; run logoadmin export with that version, and logoadmin import with this"
    for refused in (prepared.check, prepared.prepare):
        with pytest.raises(SchemaMismatch, match=sentence):
            refused()
