"""Making the tables, and telling whether they fit."""

import multiprocessing
import stat
from collections.abc import Iterator
from concurrent.futures import ProcessPoolExecutor, ThreadPoolExecutor
from pathlib import Path

import pytest
from alembic.autogenerate import compare_metadata
from alembic.migration import MigrationContext
from alembic.script import ScriptDirectory
from sqlalchemy import text

from logoadmin.adapters.sql_storage import SqlStorage, open_sql_storage, schema
from logoadmin.adapters.sql_storage.tables import COUNTED, VERSION_TABLE, metadata
from logoadmin.domain.errors import SchemaMismatch, StartError
from logoadmin.domain.records import Author
from tests.mariadb import MariaDb


@pytest.fixture
def sqlite_url(tmp_path: Path) -> str:
    return f"sqlite:///{tmp_path / 'new.db'}"


@pytest.fixture
def mariadb_url(mariadb: MariaDb) -> str:
    return mariadb.url_of(mariadb.new_database())


@pytest.fixture(params=["sqlite_url", "mariadb_url"])
def url(request: pytest.FixtureRequest) -> str:
    """A database without tables."""
    found: str = request.getfixturevalue(request.param)
    return found


@pytest.fixture
def new(url: str) -> Iterator[SqlStorage]:
    storage = open_sql_storage(url)
    yield storage
    storage.close()


def execute(storage: SqlStorage, statement: str) -> None:
    with storage._engine.connect() as connection:
        connection.exec_driver_sql(statement)


@pytest.mark.rule("contract H2", "contract H3")
def test_the_migrations_make_exactly_the_tables(new: SqlStorage) -> None:
    new.prepare()
    with new._engine.connect() as connection:
        context = MigrationContext.configure(connection, opts={"version_table": VERSION_TABLE, "compare_type": True})
        assert compare_metadata(context, metadata) == []
        names = connection.execute(text("SELECT name FROM counters WHERE last_id = 0")).scalars()
        assert set(names) == set(COUNTED)


@pytest.mark.rule("contract H3")
def test_the_newest_migration_is_the_one_that_is_looked_for() -> None:
    assert ScriptDirectory(str(schema._MIGRATIONS)).get_heads() == [schema.NEWEST]


@pytest.mark.rule("contract A6")
def test_every_text_is_compared_exactly(mariadb: MariaDb) -> None:
    collations = mariadb.execute(
        "SELECT DISTINCT collation_name FROM information_schema.columns WHERE table_schema = 'gallery'"
        f" AND collation_name IS NOT NULL AND table_name <> '{VERSION_TABLE}'"
    )
    assert collations == [("utf8mb4_nopad_bin",)]


@pytest.mark.rule("contract H3")
def test_a_database_without_tables_is_empty_and_refused(new: SqlStorage) -> None:
    assert new.is_empty()
    with pytest.raises(SchemaMismatch, match=r"^The database has no tables of logoadmin yet; run: logoadmin init$"):
        new.check_schema()
    new.prepare()
    assert not new.is_empty()
    new.check_schema()


@pytest.mark.rule("contract H3")
def test_preparing_again_changes_nothing(new: SqlStorage) -> None:
    new.prepare()
    new.write(lambda uow: uow.authors.add(Author(uow.authors.next_id(), 1, "ann", 1)))
    new.prepare()
    assert new.read(lambda uow: uow.authors.get(1)) == Author(1, 1, "ann", 1)
    assert new.write(lambda uow: uow.authors.next_id()) == 2


@pytest.mark.rule("contract H3")
@pytest.mark.parametrize(
    ("version", "sentence"),
    [
        ("0000", r"^The database is older than this program; run: logoadmin init$"),
        ("0999", r"^The database was made by a newer logoadmin; install that version or a newer one$"),
    ],
)
def test_tables_of_another_version_are_refused(new: SqlStorage, version: str, sentence: str) -> None:
    new.prepare()
    execute(new, f"UPDATE {VERSION_TABLE} SET version_num = '{version}'")
    with pytest.raises(SchemaMismatch, match=sentence):
        new.check_schema()
    assert not new.is_empty()
    if version > schema.NEWEST:
        with pytest.raises(SchemaMismatch, match=sentence):
            new.prepare()


@pytest.mark.rule("contract H3")
def test_tables_of_another_program_are_left_alone(new: SqlStorage, sqlite_url: str) -> None:
    if new.embedded:
        Path(sqlite_url.removeprefix("sqlite:///")).touch()
    execute(new, "CREATE TABLE users (login VARCHAR(9))")
    with pytest.raises(StartError, match=r"has a table users that is not logoadmin's; give logoadmin a database"):
        new.prepare()
    assert new.is_empty()
    execute(new, "SELECT login FROM users")


@pytest.mark.rule("contract H3")
def test_a_database_user_who_may_not_make_tables_is_told_what_is_missing(mariadb: MariaDb) -> None:
    database = mariadb.new_database()
    mariadb.execute(
        "CREATE OR REPLACE USER 'reader'@'127.0.0.1' IDENTIFIED BY 'secret'",
        f"GRANT SELECT, INSERT ON {database}.* TO 'reader'@'127.0.0.1'",
    )
    storage = open_sql_storage(f"mysql://reader:secret@{mariadb.address}/{database}")
    with pytest.raises(StartError, match=r"may not make tables; grant it ALL on the database$"):
        storage.prepare()
    storage.close()


@pytest.mark.rule("contract H3")
def test_a_migration_that_broke_off_can_be_repeated(new: SqlStorage) -> None:
    new.prepare()
    # What MySQL keeps when the server goes away in the middle: some tables, and no version.
    for statement in (f"DELETE FROM {VERSION_TABLE}", "DROP TABLE counters", "DROP TABLE logo_authors"):
        execute(new, statement)
    assert new.is_empty()
    new.prepare()
    new.check_schema()
    assert new.write(lambda uow: uow.logos.next_id()) == 1


def prepare(url: str) -> bool:
    storage = open_sql_storage(url)
    try:
        storage.prepare()
        storage.check_schema()
        return storage.is_empty()
    finally:
        storage.close()


@pytest.mark.rule("contract H3", "contract H5")
def test_threads_that_prepare_at_once_do_not_collide(url: str) -> None:
    with ThreadPoolExecutor(4) as executor:
        assert list(executor.map(prepare, [url] * 4)) == [False] * 4


@pytest.mark.rule("contract H3", "contract H5")
def test_processes_that_prepare_at_once_do_not_collide(sqlite_url: str, mariadb_url: str) -> None:
    with ProcessPoolExecutor(2, mp_context=multiprocessing.get_context("spawn")) as executor:
        assert list(executor.map(prepare, [sqlite_url] * 2 + [mariadb_url] * 2)) == [False] * 4


@pytest.mark.rule("contract H2")
def test_a_new_file_is_for_its_owner_alone(tmp_path: Path) -> None:
    prepare(f"sqlite:///{tmp_path / 'new.db'}")
    assert stat.S_IMODE((tmp_path / "new.db").stat().st_mode) == 0o600


@pytest.mark.rule("contract H2")
def test_a_file_that_cannot_be_made_is_named_without_its_path(tmp_path: Path) -> None:
    with pytest.raises(StartError, match=r"file new.db cannot be made: No such file or directory; name one"):
        prepare(f"sqlite:///{tmp_path / 'nowhere' / 'new.db'}")


@pytest.mark.rule("contract H2")
def test_a_relative_path_is_taken_from_where_the_service_was_started(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    storage = open_sql_storage("sqlite:///new.db")
    monkeypatch.chdir("/")
    storage.prepare()
    storage.close()
    assert (tmp_path / "new.db").exists()
