"""Making the tables, telling whether they fit, and bringing older ones up to date."""

import contextlib
import hashlib
import json
import multiprocessing
import re
import stat
from collections.abc import Callable, Iterator
from concurrent.futures import ProcessPoolExecutor, ThreadPoolExecutor
from functools import partial
from pathlib import Path
from typing import Any, Final

import pytest
from alembic import command
from alembic.autogenerate import compare_metadata
from alembic.config import Config
from alembic.migration import MigrationContext
from alembic.script import ScriptDirectory
from sqlalchemy import Connection, Engine, column, event, inspect, table, text

from logoadmin.adapters.sql_storage import SqlStorage, leases, open_sql_storage, schema
from logoadmin.adapters.sql_storage.tables import COUNTED, LEASE_TABLE, VERSION_TABLE, metadata
from logoadmin.domain.model.errors import SchemaMismatch, StartError, StorageUnavailable
from logoadmin.domain.model.kinds import AUTHORS, KINDS, LOGOS, ROLES, THEMES, USERS, RecordKind
from logoadmin.domain.model.limits import MAX_CUSTOM_CSS, MAX_ID
from logoadmin.domain.model.lists import Filter
from logoadmin.domain.model.records import Author, Kind, Link, Logo, PasswordHash, Role, Theme, User
from logoadmin.domain.stored_hashes import stored_hash
from logoadmin.ports.storage import Credentials, UnitOfWork
from tests.gallery import link_author
from tests.mariadb import MariaDb, MariaDbServer
from tests.options import GALLERY


@pytest.fixture
def new(url: str) -> Iterator[SqlStorage]:
    storage = open_sql_storage(url)
    yield storage
    storage.close()


@pytest.fixture
def prepared(prepared_url: str) -> Iterator[SqlStorage]:
    storage = open_sql_storage(prepared_url)
    yield storage
    storage.close()


def execute(storage: SqlStorage, statement: str) -> None:
    with storage._pool.engine.connect() as connection:
        connection.exec_driver_sql(statement)


def differences(connection: Connection) -> list[Any]:
    """Return what the tables of a database are not like; that of leases, no migration makes."""
    opts = {
        "version_table": VERSION_TABLE,
        "compare_type": True,
        "include_name": lambda name, *_: name != LEASE_TABLE,
    }
    found: list[Any] = compare_metadata(MigrationContext.configure(connection, opts=opts), metadata)
    return found


@pytest.mark.rule("contract H2", "contract H3")
def test_the_migrations_make_exactly_the_tables(new: SqlStorage) -> None:
    new.prepare()
    with new._pool.engine.connect() as connection:
        assert differences(connection) == []
        rows = connection.execute(text("SELECT * FROM state")).mappings().all()
        assert [dict(row) for row in rows] == [{"state_id": 1, "writes": 0} | dict.fromkeys(COUNTED, 0)]


@pytest.mark.rule("contract H3")
def test_the_newest_migration_is_the_one_that_is_looked_for() -> None:
    assert ScriptDirectory(str(schema._MIGRATIONS)).get_heads() == [schema.NEWEST]


@pytest.mark.rule("contract A6")
def test_every_text_is_compared_exactly(mariadb: MariaDb) -> None:
    collations = mariadb.execute(
        "SELECT DISTINCT collation_name FROM information_schema.columns WHERE table_schema = DATABASE()"
        f" AND collation_name IS NOT NULL AND table_name <> '{VERSION_TABLE}'"
    )
    assert collations == [("utf8mb4_nopad_bin",)]


@pytest.mark.rule("contract H3")
def test_a_database_without_tables_is_empty_and_refused(new: SqlStorage) -> None:
    assert new.is_empty()
    missing = (
        "There is no file new.db; if that is its name,"
        if new.embedded
        else "The database has no tables of logoadmin yet;"
    )
    with pytest.raises(SchemaMismatch, match=f"^{missing} run logoadmin init for the same database$"):
        new.check()
    new.prepare()
    assert not new.is_empty()
    new.check()


@pytest.mark.rule("contract H3")
def test_preparing_again_changes_nothing(prepared: SqlStorage) -> None:
    prepared.write(lambda uow: uow.records(AUTHORS).add(Author(uow.records(AUTHORS).next_id(), 1, "ann", 1)))
    prepared.prepare()
    assert prepared.read(lambda uow: uow.records(AUTHORS).get(1)) == Author(1, 1, "ann", 1)
    assert prepared.write(lambda uow: uow.records(AUTHORS).next_id()) == 2


@pytest.mark.rule("contract H3")
@pytest.mark.parametrize(
    ("version", "sentence"),
    [
        ("0000", r"^The database is older than this program; run logoadmin init for the same database$"),
        ("0999", r"^The database was made by a newer logoadmin; install that version or a newer one$"),
    ],
)
def test_tables_of_another_version_are_refused(prepared: SqlStorage, version: str, sentence: str) -> None:
    execute(prepared, f"UPDATE {VERSION_TABLE} SET version_num = '{version}', usable_from = '{version}'")
    with pytest.raises(SchemaMismatch, match=sentence):
        prepared.check()
    assert not prepared.is_empty()
    if version > schema.NEWEST:
        with pytest.raises(SchemaMismatch, match=sentence):
            prepared.prepare()


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
def test_a_migration_that_broke_off_can_be_repeated(prepared: SqlStorage) -> None:
    # What MySQL keeps when the server goes away in the middle: some tables, and no version.
    for statement in (f"DELETE FROM {VERSION_TABLE}", "DROP TABLE state", "DROP TABLE logo_authors"):
        execute(prepared, statement)
    assert prepared.is_empty()
    prepared.prepare()
    prepared.check()
    assert prepared.write(lambda uow: uow.records(LOGOS).next_id()) == 1


def prepare(url: str) -> bool:
    storage = open_sql_storage(url)
    try:
        storage.prepare()
        storage.check()
        return storage.is_empty()
    finally:
        storage.close()


@pytest.mark.rule("contract H3", "contract H5")
def test_threads_that_prepare_at_once_do_not_collide(url: str) -> None:
    with ThreadPoolExecutor(4) as executor:
        assert list(executor.map(prepare, [url] * 4)) == [False] * 4


@pytest.mark.slow("processes are started and stopped")
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
    sentence = "The database file new.db cannot be made: its directory is not there; make it first"
    with pytest.raises(StartError, match=f"^{sentence}$"):
        prepare(f"sqlite:///{tmp_path / 'nowhere' / 'new.db'}")
    (tmp_path / "file").touch()
    with pytest.raises(StartError, match=r"file new.db cannot be made: Not a directory; name one that can$"):
        prepare(f"sqlite:///{tmp_path / 'file' / 'new.db'}")


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


# From the first version

# What a database of the first version may hold, by table.
Rows = dict[str, list[dict[str, Any]]]

NAMES: Final = ("Ann", "ann", "ánn", "Straße", "İstanbul", "Åsa", "A\u030asa", "100%_\\", "🦊", "ΐ" * 64, 'O\'Neil "Q"')
_ARTWORK: Final = {"preview_url": "https://example.org/p.png", "target": "forum", "created_at": 9}


def _artwork(id_name: str, id_: int, name: str, css: str = "", **values: Any) -> dict[str, Any]:
    return {id_name: id_, "name": name, "custom_css": css, "active": False, **_ARTWORK, **values}


FIRST: Final[Rows] = {
    "roles": [
        {"role_id": 1, "name": "member", "scope": "", "created_at": 1},
        {"role_id": 2, "name": "Admin", "scope": "* a", "created_at": 2**53 - 1},
    ],
    "users": [
        {"user_id": id_, "username": name, "avatar": None, "role_id": 1, "created_at": id_, "password": f"hash {id_}"}
        for id_, name in enumerate(NAMES)
    ]
    + [{"user_id": MAX_ID, "username": "B" * 64, "avatar": "", "role_id": 2, "created_at": 0, "password": None}],
    "authors": [
        {"author_id": 3 * number, "user_id": number, "username": name, "created_at": number}
        for number, name in enumerate(NAMES)
    ],
    "themes": [_artwork("theme_id", 0, ""), _artwork("theme_id", 7, "Dawn", active=True, target="Wiki")],
    "logos": [
        _artwork("logo_id", 1, "DAWN", "🂡" * MAX_CUSTOM_CSS),
        _artwork("logo_id", 5, "🂡" * 128, preview_url="https://" + "🂡" * 2040, target="🂡" * 64),
        _artwork("logo_id", 9, "ẞ", active=True),
    ],
    "theme_authors": [{"theme_author_id": 1, "theme_id": 7, "author_id": 3}],
    "logo_authors": [
        {"logo_author_id": 2, "logo_id": 5, "author_id": 6},
        {"logo_author_id": 3, "logo_id": 1, "author_id": 6},
        {"logo_author_id": 8, "logo_id": 5, "author_id": 0},
    ],
    "sessions": [
        {"session_id": "one", "user_id": MAX_ID, "created_at": 5, "expires_at": 2**53 - 1},
        {"session_id": "One", "user_id": 0, "created_at": 5, "expires_at": 6},
    ],
    "refresh_tokens": [
        {"token_hash": "t", "session_id": "one", "used": True},
        {"token_hash": "T", "session_id": "one", "used": False},
    ],
    "secrets": [{"name": "token_key", "value": "🗝" * 1000}, {"name": "Token_key", "value": ""}],
}
ENDED: Final = ("sessions", "refresh_tokens")
LAST_IDS: Final = {
    "role_id": 4,
    "author_id": 30,
    "theme_id": 70,
    "logo_id": MAX_ID - 1,
    "theme_author_id": 11,
    "logo_author_id": 8,
}


def go_to(storage: SqlStorage, revision: str) -> None:
    """Run the migrations up to one of them."""
    dialect = storage._dialect
    dialect.create()
    engine = dialect.engine(2, None)
    try:
        with engine.connect() as connection, dialect.migration_lock(connection):
            config = Config()
            config.set_main_option("script_location", str(schema._MIGRATIONS))
            config.attributes["connection"] = connection
            config.attributes["table_options"] = dialect.table_options(connection)
            command.upgrade(config, revision)
    finally:
        engine.dispose()


def fill(storage: SqlStorage, rows: Rows, last_ids: dict[str, int]) -> None:
    """Put rows into the tables of the first version, and say what its counters say."""
    with storage._pool.engine.connect() as connection:
        for name, of in rows.items():
            if of:
                connection.execute(table(name, *map(column, of[0])).insert(), of)
        for name, last_id in last_ids.items():
            change = text("UPDATE counters SET last_id = :last_id WHERE name = :name")
            connection.execute(change, {"last_id": last_id, "name": name})


def kept(storage: SqlStorage, rows: Rows) -> Rows:
    """Return what the tables hold in the columns of the first version."""
    found: Rows = {}
    with storage._pool.engine.connect() as connection:
        for name, of in rows.items():
            if of:
                query = table(name, *map(column, of[0])).select()
                found[name] = [dict(row) for row in connection.execute(query).mappings()]
    return found


def assert_kept(storage: SqlStorage, rows: Rows) -> None:
    found = kept(storage, rows)
    for name, of in rows.items():
        first = next(iter(of[0])) if of else ""
        # Compared by itself: pytest would print a difference of megabytes.
        same = sorted(found.get(name, []), key=lambda row, key=first: row[key]) == sorted(  # type: ignore[misc]  # has a default
            of,
            key=lambda row, key=first: row[key],  # type: ignore[misc]  # has a default
        )
        assert same, name


def counted(storage: SqlStorage) -> dict[str, int]:
    """Return the last ids, wherever they are kept."""
    with storage._pool.engine.connect() as connection:
        if inspect(connection).has_table("state"):
            row = connection.execute(text("SELECT * FROM state")).mappings().first()
            if row is not None:
                return {name: row[name] for name in LAST_IDS}
        rows = connection.execute(text("SELECT name, last_id FROM counters"))
        return {row.name: row.last_id for row in rows}


@pytest.fixture
def first(new: SqlStorage) -> SqlStorage:
    """A database of the first version, with something of everything in it."""
    go_to(new, "0001")
    fill(new, FIRST, LAST_IDS)
    return new


@pytest.fixture(scope="module", params=["sqlite", "mariadb"])
def upgraded(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> Iterator[SqlStorage]:
    """The same, brought up to date: once for all tests that look at it."""
    if request.param == "sqlite":
        storage = open_sql_storage(f"sqlite:///{tmp_path_factory.mktemp('first') / 'new.db'}")
    else:
        server: MariaDb = request.getfixturevalue("mariadb")
        storage = open_sql_storage(server.url_of(server.new_database()))
    go_to(storage, "0001")
    fill(storage, FIRST, LAST_IDS)
    storage.prepare()
    yield storage
    storage.close()


def assert_up_to_date(storage: SqlStorage) -> None:
    """Make sure that the tables are those of today, with all that :data:`FIRST` has except sessions, which end."""
    storage.check()
    assert_kept(storage, {name: of for name, of in FIRST.items() if name not in ENDED})
    with storage._pool.engine.connect() as connection:
        assert [connection.execute(text(f"SELECT * FROM {name}")).all() for name in ENDED] == [[], []]
        assert differences(connection) == []
        assert not inspect(connection).has_table("counters")
        rows = connection.execute(text("SELECT * FROM state")).mappings().all()
        assert [dict(row) for row in rows] == [{"state_id": 1, "writes": 0} | dict.fromkeys(COUNTED, 0) | LAST_IDS]


@pytest.mark.rule("contract H3")
def test_tables_of_the_first_version_are_refused_until_they_are_migrated(first: SqlStorage) -> None:
    with pytest.raises(
        SchemaMismatch, match=r"^The database is older than this program; run logoadmin init for the same"
    ):
        first.check()
    assert not first.is_empty()
    first.prepare()
    first.check()


@pytest.mark.rule("contract H3", "contract F1")
def test_an_upgrade_keeps_every_record_with_version_0(upgraded: SqlStorage) -> None:
    assert_up_to_date(upgraded)
    records: list[Any] = upgraded.read(
        lambda uow: [
            *(*uow.records(ROLES).page(-1, 99), *uow.records(USERS).page(-1, 99), *uow.records(AUTHORS).page(-1, 99)),
            # A page of heavy logos ends before its limit.
            *(*uow.records(THEMES).page(-1, 99), *uow.records(LOGOS).page(-1, 99), *uow.records(LOGOS).page(1, 99)),
        ]
    )
    authors = [Author(3 * number, number, name, number) for number, name in enumerate(NAMES)]
    url = "https://example.org/p.png"
    expected: list[Any] = [
        Role(1, "member", (), 1),
        Role(2, "Admin", ("*", "a"), 2**53 - 1),
        *(User(id_, name, None, 1, id_) for id_, name in enumerate(NAMES)),
        User(MAX_ID, "B" * 64, "", 2, 0),
        *authors,
        Theme(0, "", url, "forum", "", False, (), 9),
        Theme(7, "Dawn", url, "Wiki", "", True, (authors[1],), 9),
        Logo(1, "DAWN", url, "forum", "🂡" * MAX_CUSTOM_CSS, False, (authors[2],), 9),
        Logo(5, "🂡" * 128, "https://" + "🂡" * 2040, "🂡" * 64, "", False, (authors[2], authors[0]), 9),
        Logo(9, "ẞ", url, "forum", "", True, (), 9),
    ]
    assert [left == right for left, right in zip(records, expected, strict=True)] == [True] * len(expected)
    assert {record.version for record in records} == {0}


@pytest.mark.rule("contract H3", "contract C2")
def test_an_upgrade_keeps_passwords_and_secrets(upgraded: SqlStorage) -> None:
    assert upgraded.read(lambda uow: uow.passwords.credentials("ánn")) == Credentials(2, PasswordHash("hash 2"))
    assert upgraded.read(lambda uow: uow.passwords.credentials("B" * 64)) == Credentials(MAX_ID, None)
    assert upgraded.read(lambda uow: uow.secrets.get("token_key")) == "🗝" * 1000
    assert upgraded.read(lambda uow: uow.secrets.get("Token_key")) == ""


def tables_of(storage: SqlStorage) -> set[str]:
    with storage._pool.engine.connect() as connection:
        return set(inspect(connection).get_table_names())


@pytest.mark.rule("contract H3", "contract F3", "contract C5")
def test_an_upgrade_that_is_repeated_hashes_service_keys_once_and_forgets_stored_responses(first: SqlStorage) -> None:
    key = "lga_" + "k" * 43
    values = {"key_id": 1, "user_id": 0, "name": "", "scope": "", "created_at": 0}
    values["key_hash"] = hashlib.sha256(key.encode()).hexdigest()
    go_to(first, "0009")
    with first._pool.engine.connect() as connection:
        connection.execute(table("service_keys", *map(column, values)).insert(), values)
        connection.execute(text("INSERT INTO first_answers VALUES ('hash', 'tokens', 9)"))
    first.prepare()
    execute(first, f"UPDATE {VERSION_TABLE} SET version_num = '0009', usable_from = '0009'")
    first.prepare()
    found = first.read(lambda uow: uow.keys.find(stored_hash("service key", key)))
    assert found is not None
    assert found[0].key_id == 1
    assert "first_answers" not in tables_of(first)
    assert first.read(lambda uow: uow.stored_responses.get("hash")) is None
    assert_up_to_date(first)


class _Undo(Exception):
    """Ends work that is not to be kept."""


@pytest.mark.rule("contract H3", "contract A2")
def test_after_an_upgrade_ids_go_on_where_they_were(upgraded: SqlStorage) -> None:

    def ids(uow: UnitOfWork) -> object:
        artworks = (
            uow.records(THEMES).next_id(),
            uow.records(LOGOS).next_id(),
            link_author(uow, THEMES, 7, 0),
            link_author(uow, LOGOS, 9, 0),
        )
        given = (
            uow.records(ROLES).next_id(),
            uow.records(AUTHORS).next_id(),
            *artworks,
            uow.keys.next_id(),
            uow.changes.last_id(),
        )
        assert given == (5, 31, 71, MAX_ID, 12, 9, 1, 0)
        assert uow.links(LOGOS).of_artwork(9) == (Link(9, 9, 0),)
        raise _Undo  # others look at the same tables

    with pytest.raises(_Undo):
        upgraded.write(ids)


@pytest.mark.rule("contract H3", "contract E3")
def test_after_an_upgrade_old_names_are_found(upgraded: SqlStorage) -> None:

    def found(q: str) -> Any:
        where = Filter(q=q)
        return upgraded.read(
            lambda uow: (
                [record.name for record in uow.records(ROLES).page(-1, 99, where)],
                [record.username for record in uow.records(USERS).page(-1, 99, where)],
                [record.username for record in uow.records(AUTHORS).page(-1, 99, where)],
                [record.name for record in uow.records(THEMES).page(-1, 99, where)],
                [record.name for record in uow.records(LOGOS).page(-1, 99, where)],
            )
        )

    for name in NAMES:
        people = [each for each in NAMES if name.casefold() in each.casefold()]
        assert found(name)[1:3] == found(name.swapcase())[1:3] == (people, people)
    assert found("dAwN") == ([], [], [], ["Dawn"], ["DAWN"])
    assert found("SS") == ([], ["Straße"], ["Straße"], [], ["ẞ"])
    assert found("ADMIN")[0] == ["Admin"]
    assert upgraded.read(lambda uow: len(uow.records(LOGOS).page(-1, 9, Filter(q="🂡" * 128)))) == 1


@pytest.mark.rule("contract H3")
def test_an_upgrade_of_empty_tables_leaves_them_empty(new: SqlStorage) -> None:
    go_to(new, "0001")
    new.prepare()
    new.check()
    assert set(counted(new).values()) == {0}
    assert new.write(lambda uow: (uow.records(AUTHORS).next_id(), uow.records(AUTHORS).page(-1, 9))) == (1, ())


@pytest.mark.rule("contract H3", "contract E3")
@pytest.mark.parametrize("many", [503, pytest.param(5_003, marks=pytest.mark.slow("names by the thousand"))])
def test_an_upgrade_folds_more_names_than_are_read_at_once(new: SqlStorage, many: int) -> None:
    go_to(new, "0001")
    rows = [{"author_id": 2 * i, "user_id": i, "username": f"A{i}", "created_at": 0} for i in range(many)]
    fill(new, {"authors": rows}, {"author_id": 2 * many})
    new.prepare()
    with new._pool.engine.connect() as connection:
        left = connection.execute(text("SELECT author_id, username, folded FROM authors ORDER BY author_id")).all()
    assert [(row[0], row[2]) for row in left] == [(2 * i, f"a{i}") for i in range(many)]

    def found(last: int) -> int:
        return new.read(lambda uow: uow.records(AUTHORS).page(-1, 1, Filter(q=f"A{last}")))[0].user_id

    for last in (0, 249, 250, many - 4, many - 3, many - 1):
        assert found(last) == last


class PowerCut(Exception):
    """Nothing runs any more."""


@contextlib.contextmanager
def cut_after(allowed: int, cut: Callable[[str], None]) -> Iterator[None]:
    """Cut a migration short at the statement that comes after so many others that change something for good."""
    left = allowed

    def before(_connection: object, _cursor: object, statement: str, *_: object) -> None:
        nonlocal left
        changes = statement.split()[0] in {"CREATE", "ALTER", "DROP", "INSERT", "DELETE"}
        if LEASE_TABLE in statement or (not changes and not statement.startswith(f"UPDATE {VERSION_TABLE}")):
            return
        if left == 0:
            cut(statement)
        # Names are folded and taken apart anew each time, so that counts as nothing done.
        left -= not re.match(r"INSERT.* INTO (\w+_name_parts|ngrams|ngram_places) ", statement)

    event.listen(Engine, "before_cursor_execute", before)
    try:
        yield
    finally:
        event.remove(Engine, "before_cursor_execute", before)


def fail(_statement: str) -> None:
    raise PowerCut


@pytest.mark.slow("an upgrade is cut short at each of its steps")
@pytest.mark.rule("contract H3", "contract H5")
def test_an_upgrade_that_is_cut_short_at_any_step_can_be_repeated(first: SqlStorage) -> None:
    cuts = 0
    while True:
        # A file is as it was before; a server keeps each step, so that the next attempt gets one step further.
        with cut_after(cuts if first.embedded else 1, fail), contextlib.suppress(PowerCut):
            first.prepare()
            break
        cuts += 1
        assert cuts < 99
        assert counted(first) == LAST_IDS
        with pytest.raises(SchemaMismatch, match="older"):
            first.check()
    assert cuts > 25
    assert_up_to_date(first)
    assert first.read(lambda uow: len(uow.records(AUTHORS).page(-1, 99, Filter(q="ANN")))) == 2
    assert first.write(lambda uow: (uow.records(AUTHORS).next_id(), link_author(uow, LOGOS, 9, 0))) == (31, 9)


OF_NAMES = ("INSERT IGNORE INTO logo_name_parts", "INSERT IGNORE INTO ngrams", "DROP TABLE author_name_parts")


@pytest.mark.slow("servers are killed")
@pytest.mark.rule("contract H3", "contract H5")
@pytest.mark.parametrize(
    "step", ["CREATE TABLE changes", "INSERT INTO state", "DROP TABLE counters", "UPDATE", *OF_NAMES]
)
def test_an_upgrade_survives_the_end_of_its_server(
    mariadb_server: MariaDbServer, monkeypatch: pytest.MonkeyPatch, step: str
) -> None:
    monkeypatch.setattr(leases, "_DURATION", 1)  # nobody can give it back
    storage = open_sql_storage(mariadb_server.url_of(mariadb_server.new_database()))
    go_to(storage, "0001")
    fill(storage, FIRST, LAST_IDS)

    def kill(_connection: object, _cursor: object, statement: str, *_: object) -> None:
        if " ".join(statement.split()).startswith(step):
            mariadb_server.kill()

    event.listen(Engine, "before_cursor_execute", kill)
    try:
        with pytest.raises(StorageUnavailable):
            storage.prepare()
    finally:
        event.remove(Engine, "before_cursor_execute", kill)
        storage.close()
        mariadb_server.kill()
        mariadb_server.start()
    again = open_sql_storage(storage._dialect._url.render_as_string(hide_password=False))  # type: ignore[attr-defined]  # MySQL's
    again.prepare()
    assert_up_to_date(again)
    again.close()


@pytest.mark.rule("contract H3", "contract H5")
def test_threads_that_upgrade_at_once_do_not_collide(first: SqlStorage, url: str) -> None:
    with ThreadPoolExecutor(4) as executor:
        assert list(executor.map(prepare, [url] * 4)) == [False] * 4
    assert_up_to_date(first)


def page_after(kind: RecordKind[Any, Any], listed: list[Any], uow: UnitOfWork) -> tuple[Any, ...]:
    """Return the page that follows what is listed already."""
    return uow.records(kind).page(kind.id_of(listed[-1]) if listed else -1, 500)


@pytest.mark.rule("contract H3", "contract I1")
def test_a_gallery_of_the_first_version_is_the_same_after_an_upgrade(new: SqlStorage) -> None:
    records = [json.loads(line) for line in GALLERY.read_text(encoding="utf-8").splitlines() if line.strip()]
    rows: Rows = {name: [] for name in ("authors", "themes", "logos", "theme_authors", "logo_authors")}
    last_ids = dict.fromkeys(LAST_IDS, 0)
    for record in records:
        kind = record.pop("kind")
        made_by, id_name = record.pop("author_ids", []), f"{kind}_id"
        rows[f"{kind}s"].append({"created_at": 1_700_000_000, **record})
        last_ids[id_name] = max(last_ids[id_name], record[id_name])
        for author_id in made_by:
            link_name = f"{kind}_author_id"
            last_ids[link_name] += 1
            link = {link_name: last_ids[link_name], id_name: record[id_name], "author_id": author_id}
            rows[f"{kind}_authors"].append(link)
    go_to(new, "0001")
    fill(new, rows, last_ids)
    new.prepare()
    assert_kept(new, rows)
    assert counted(new) == last_ids

    authors = {row["author_id"]: Author(version=0, **row) for row in rows["authors"]}
    for kind, make in (("theme", Theme), ("logo", Logo)):
        makers: dict[int, tuple[Author, ...]] = {}
        for link in rows[f"{kind}_authors"]:
            artwork_id = link[f"{kind}_id"]
            makers[artwork_id] = (*makers.get(artwork_id, ()), authors[link["author_id"]])
        expected = [make(authors=makers.get(row[f"{kind}_id"], ()), **row) for row in rows[f"{kind}s"]]
        listed: list[Any] = []
        # A page may end early, because it is heavy; an empty one is the end.
        while page := new.read(partial(page_after, KINDS[Kind(kind)], listed)):
            listed += page
        assert listed == sorted(expected, key=KINDS[Kind(kind)].id_of)
    some = rows["logos"][:: max(1, len(rows["logos"]) // 50)]
    for row in some:
        where = Filter(q=row["name"].swapcase())
        before = row["logo_id"] - 1
        (found,) = new.read(lambda uow, w=where, b=before: uow.records(LOGOS).page(b, 1, w))  # type: ignore[misc]  # has a default
        assert row["name"].swapcase().casefold() in found.name.casefold()
