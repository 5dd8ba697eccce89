"""The tables of the next program are served as long as they are only wider (contract K7)."""

import contextlib
import io
import json
import shutil
import textwrap
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import closing
from itertools import cycle, islice
from pathlib import Path
from threading import Event
from typing import Any, Final

import pytest
from sqlalchemy import inspect, text

import logoadmin
from logoadmin.adapters.sql_storage import SqlStorage, open_sql_storage
from logoadmin.adapters.sql_storage.schema import schema
from logoadmin.adapters.sql_storage.tables.all_tables import VERSION_TABLE, metadata
from logoadmin.bootstrap import open_gallery
from logoadmin.domain.changes.history import RevertRequest
from logoadmin.domain.changes.import_export import ExportRecords, ImportRecords
from logoadmin.domain.gallery.artworks import AmendLogo
from logoadmin.domain.gallery.authors import CreateAuthor, RemoveAuthor
from logoadmin.domain.identity.service_keys import CreateKey
from logoadmin.domain.identity.sessions.sessions import Refresh
from logoadmin.domain.identity.sign_in.password import SignIn
from logoadmin.domain.kernel import errors
from logoadmin.domain.kernel.access import Owner
from logoadmin.settings import settings_of
from tests.asgi import AppClient
from tests.domain.identity.second_factors import challenged, enrolled, second_step
from tests.gallery import ADMIN_ID, ADMIN_PASSWORD, ARTWORK, ASKED, FrozenClock, ask, gallery_on, once, signed_in, stock

pytestmark = pytest.mark.rule("contract K7")

NEXT: Final = "w8000"
_HEAD: Final = """
import sqlalchemy as sa
from alembic import context, op

from logoadmin.adapters.sql_storage.schema.migrations.numbers import number_before, number_of

revision, down_revision = number_of(__file__), number_before(__file__)
"""
# Columns come first where a server lets them: code that counts columns instead of naming them fails there.
WIDER: Final = f"""{_HEAD}
def upgrade():
    first = "" if op.get_bind().dialect.name == "sqlite" else " FIRST"
    for table in {sorted(metadata.tables)!r}:
        op.execute(f"ALTER TABLE {{table}} ADD COLUMN stars INTEGER NOT NULL DEFAULT 5{{first}}")
        op.execute(f"ALTER TABLE {{table}} ADD COLUMN remark VARCHAR(99){{first}}")
    op.create_index("ix_logos_created_at", "logos", ["created_at"])
    op.create_table(
        "ratings",
        sa.Column("logo_id", sa.Integer, sa.ForeignKey("logos.logo_id", ondelete="CASCADE"), primary_key=True),
        **context.config.attributes["table_options"],
    )
"""
A_LITTLE_WIDER: Final = f"""{_HEAD}
def upgrade():
    for table in ("logos", "authors", "state"):
        op.add_column(table, sa.Column("stars", sa.Integer, nullable=False, server_default="5"))
"""
NOT_FOR_OLDER: Final = f"op.execute(f\"UPDATE {VERSION_TABLE} SET usable_from = '{{revision}}'\")"
OTHERS: Final = f"""{_HEAD}
def upgrade():
    {NOT_FOR_OLDER}
    op.execute("ALTER TABLE logos RENAME COLUMN target TO place")
"""


_GALLERY: Final = Path(__file__).parents[1] / "gallery.jsonl"
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
        # Undone below: only their history remains.
        gallery.logos.amend(AmendLogo(logo_id=200 + number, name=f"Renamed {number}"), Owner("renamed"))
    gallery.authors.create(once(CreateAuthor(user_id=9000, username="Gone"), "a key"))
    gallery.authors.remove(RemoveAuthor(author_id=_EACH + 1))
    tuple(gallery.changes.revert_request(RevertRequest(request_id="renamed")))
    admin = SignIn(username="admin", password=ADMIN_PASSWORD)
    tokens = gallery.sessions.sign_in(admin)
    gallery.sessions.refresh(Refresh(grant_type="refresh_token", refresh_token=str(tokens.refresh_token)))
    with contextlib.suppress(errors.SignInRefused):
        gallery.sessions.sign_in(admin.model_copy(update={"password": "wrong"}))
    key = CreateKey(name="script", scope=("*",))
    return gallery.keys.create(key, gallery.sessions.caller(tokens.access_token)).key


def filled(url: str) -> str:
    """Fill new tables; return a service key of the administrator."""
    with closing(open_sql_storage(url)) as storage:
        storage.prepare()
        return fill(storage)


@contextlib.contextmanager
def knowing(step: str, directory: Path) -> Iterator[None]:
    """Be the next program meanwhile: one that knows one migration more."""
    shutil.copytree(schema._MIGRATIONS, directory)
    (directory / "versions" / f"{NEXT[1:]}_next.py").write_text(step)
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(schema, "_MIGRATIONS", directory)
        patch.setattr(schema, "NEWEST", NEXT)
        yield


def upgrade(url: str, step: str, directory: Path) -> None:
    """Let the next program make its tables of those that there are."""
    with knowing(step, directory / "next"), closing(open_sql_storage(url)) as storage:
        storage.prepare()
        storage.check()


def at(url: str, **how: Any) -> logoadmin.LogoAdmin:
    return open_gallery(settings_of(database=url, access="open", argon2_memory_kib=8, argon2_passes=1), **how)


def exported(gallery: logoadmin.LogoAdmin) -> list[Any]:
    lines = io.StringIO()
    gallery.import_export.dump(ExportRecords(), lines.write)
    return [json.loads(line) for line in lines.getvalue().splitlines()]


def assert_served(gallery: logoadmin.LogoAdmin, key: str) -> None:
    """Make sure that the records of a release's file exist, and are found and changed over HTTP as ever."""
    last = gallery.changes.version()
    given = {(line["kind"], line[f"{line['kind']}_id"]): line for line in records()}
    there = {(line["kind"], line[f"{line['kind']}_id"]): line for line in exported(gallery)}
    assert there.keys() - given.keys() == {("role", 1), ("role", 2), ("user", ADMIN_ID)}
    assert {name: {**there[name], **line} for name, line in given.items()} == {name: there[name] for name in given}
    assert gallery.sessions.sign_in(SignIn(username="admin", password=ADMIN_PASSWORD)).scope == "*"
    with AppClient(logoadmin.asgi(gallery)) as client:
        client.headers["Authorization"] = f"Bearer {key}"
        pages = [client.get("/api/changes", params={"limit": 500, "after": after}).json() for after in (0, 500)]
        assert [change["change_id"] for page in pages for change in page] == list(range(1, last + 1))
        found = client.get("/api/users", params={"q": "zoë 🦊 5"}).json()
        assert [user["username"] for user in found] == ["Zoë 🦊 5", "Zoë 🦊 55"]
        made = client.post("/api/authors", json={"user_id": 8000, "username": "new"}, headers={"Idempotency-Key": "k"})
        assert (made.status_code, made.json()["author_id"]) == (201, 102)
        etag = client.get("/api/logos/201").headers["etag"]
        body = {"name": "Amended"}
        assert client.patch("/api/logos/201", json=body, headers={"If-Match": '"0"'}).status_code == 412
        assert client.patch("/api/logos/201", json=body, headers={"If-Match": etag}).status_code == 200
        assert client.delete("/api/logos/200").status_code == 200
        assert client.get("/api/changes", params={"after": last}).json()[-1]["change_id"] == last + 3


def stars(storage: SqlStorage) -> list[tuple[Any, ...]]:
    """Return what only the next program reads of some logos."""
    with storage._pool.engine.connect() as connection:
        query = "SELECT logo_id, stars, remark, name FROM logos WHERE logo_id IN (200, 201, 202, 300) ORDER BY logo_id"
        return [tuple(row) for row in connection.execute(text(query))]


def test_wider_tables_are_served_and_their_writes_suit_the_next_version(prepared_url: str, tmp_path: Path) -> None:
    key = filled(prepared_url)
    upgrade(prepared_url, WIDER, tmp_path)
    with closing(open_sql_storage(prepared_url)) as storage:
        with storage._pool.engine.connect() as connection:
            connection.execute(text("UPDATE logos SET stars = 3, remark = 'kept' WHERE logo_id < 202"))
            connection.execute(text("INSERT INTO ratings (logo_id) VALUES (200), (201)"))
        with at(prepared_url) as gallery:
            assert_served(gallery, key)
            new = gallery.logos.create(logoadmin.CreateLogo(**{**ARTWORK, "name": "New"}))
            assert new.logo_id == 300
        # To make what is missing finds nothing to make.
        at(prepared_url, create="always").close()
        names = [name for _, _, _, name in stars(storage)]
        assert stars(storage) == [(201, 3, "kept", "Amended"), (202, 5, None, names[1]), (300, 5, None, "New")]
        with storage._pool.engine.connect() as connection:
            assert connection.execute(text("SELECT logo_id FROM ratings")).scalars().all() == [201]
            assert connection.execute(text(f"SELECT version_num FROM {VERSION_TABLE}")).scalar() == NEXT
    with knowing(WIDER, tmp_path / "again"), at(prepared_url) as gallery:
        assert len([*gallery.logos.list(logoadmin.ListLogos())]) == 100


@pytest.mark.slow("a gallery is filled and upgraded")
def test_every_command_names_the_columns_that_it_uses(prepared_url: str, tmp_path: Path) -> None:
    with closing(open_sql_storage(prepared_url)) as storage:
        upgrade(prepared_url, WIDER, tmp_path)
        gallery = gallery_on(storage, FrozenClock())
        stock(gallery)
        # The steps of a sign-in each need the one before.
        _, _, codes = enrolled(gallery)
        tokens = second_step(gallery, challenged(gallery), recovery_code=codes[0])
        gallery.sessions.refresh(Refresh(grant_type="refresh_token", refresh_token=tokens.refresh_token))
        refused = []
        # What others need is removed last.
        for number, command in enumerate(sorted(ASKED, key=lambda command: command.__name__.startswith("Remove"))):
            try:
                ask(gallery, command(**ASKED[command][1]), signed_in(storage, "*", user_id=500 + number))
            except errors.StorageUnavailable:
                raise
            except errors.LogoAdminError as error:
                refused.append((command.__name__, error))
        # Their records are missing, or were changed by other commands.
        assert len(refused) < 28, refused


def test_tables_that_are_not_only_wider_are_refused(prepared_url: str, tmp_path: Path) -> None:
    upgrade(prepared_url, OTHERS, tmp_path)
    with closing(open_sql_storage(prepared_url)) as storage:
        for refused in (storage.check, storage.prepare):
            with pytest.raises(
                errors.SchemaMismatch, match=r"^The database was made by a newer logoadmin; install that"
            ):
                refused()


@pytest.mark.slow("a gallery is filled and upgraded")
def test_a_server_that_went_away_in_the_middle_of_such_an_upgrade_serves_no_older_program(
    prepared_mariadb_url: str, tmp_path: Path
) -> None:
    with closing(open_sql_storage(prepared_mariadb_url)) as storage:
        with pytest.raises(ZeroDivisionError):
            upgrade(prepared_mariadb_url, f"{OTHERS}    1 / 0\n", tmp_path)
        with pytest.raises(errors.SchemaMismatch, match="newer"):
            storage.check()


@pytest.mark.slow("a gallery is filled and upgraded")
def test_while_tables_are_made_wider_writes_wait_and_reads_go_on(prepared_url: str, tmp_path: Path) -> None:
    filled(prepared_url)
    done = Event()

    def write(gallery: logoadmin.LogoAdmin, writer: int) -> int:
        number = 0
        while not done.is_set():
            number += 1
            user_id = 10_000 * writer + number
            gallery.authors.create(logoadmin.CreateAuthor(user_id=user_id, username=f"{writer}: {number}"))
            done.wait(0.005)
        return number

    def read(gallery: logoadmin.LogoAdmin) -> int:
        number = 0
        while not done.is_set():
            number += len([*gallery.logos.list(logoadmin.ListLogos(limit=5))])
            done.wait(0.005)
        return number

    # Who writes waits as long as it takes: how long that is on a machine that does much else, no test can say.
    with at(prepared_url, interactive=False) as gallery, ThreadPoolExecutor(3) as pool:
        try:
            running = [*(pool.submit(write, gallery, writer) for writer in (1, 2)), pool.submit(read, gallery)]
            upgrade(prepared_url, A_LITTLE_WIDER, tmp_path)
        finally:
            done.set()
        written = [each.result() for each in running]
        assert min(written) > 0
        made = [author for author in gallery.authors.list(logoadmin.ListAuthors()) if author.user_id > 10_000]
        assert len(made) == sum(written[:2])


# What is only wider


def test_a_migration_can_be_written_as_the_docs_show(prepared_sqlite_url: str, tmp_path: Path) -> None:
    page = (Path(__file__).parents[2] / "docs" / "extend.md").read_text(encoding="utf-8")
    block = page.split("## A migration")[1].split("```python\n")[1].split("```")[0]
    step = textwrap.dedent("   " + block.removeprefix("   "))
    for _ in range(2):  # because a migration is idempotent
        upgrade(prepared_sqlite_url, step, tmp_path / "once")
        with closing(open_sql_storage(prepared_sqlite_url)) as storage, storage._pool.engine.connect() as connection:
            assert "note" in {column["name"] for column in inspect(connection).get_columns("logos")}
            connection.execute(text(f"UPDATE {VERSION_TABLE} SET version_num = '{schema.NEWEST}'"))
            connection.commit()
        shutil.rmtree(tmp_path / "once")
    with at(prepared_sqlite_url) as gallery:
        gallery.logos.create(logoadmin.CreateLogo(**ARTWORK))


GOOD_HEAD: Final = "revision, down_revision = number_of(__file__), number_before(__file__)\n"


@pytest.mark.parametrize(
    ("name", "step", "problem"),
    [
        ("8000_next.py", "revision = 'r8000'\n", "The migration 8000_next.py lacks the line: revision, "),
        ("8000_next.py", f"{GOOD_HEAD}x = 'v8000'\n", "The migration 8000_next.py has the number v8000; use revision"),
        ("8000_next.py", f'{GOOD_HEAD}x = "w8001"\n', "The migration 8000_next.py has the number w8001; use revision"),
        ("next.py", GOOD_HEAD, "The migration next.py has no number; name it like 0002_subject.py"),
        ("800_next.py", GOOD_HEAD, "The migration 800_next.py has no number"),
        ("0001_next.py", GOOD_HEAD, "The migrations 0001_next.py and 0001_tables.py have the same number"),
    ],
)
def test_a_migration_with_another_number_than_its_file_stops_the_program_before_a_database_is_touched(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, name: str, step: str, problem: str
) -> None:
    shutil.copytree(schema._MIGRATIONS, tmp_path / "next")
    (tmp_path / "next" / "versions" / name).write_text(step)
    monkeypatch.setattr(schema, "_MIGRATIONS", tmp_path / "next")
    with pytest.raises(errors.StartError, match=f"^{problem}"):
        at(f"sqlite:///{tmp_path / 'new.db'}", create="always")
    assert not (tmp_path / "new.db").exists()
