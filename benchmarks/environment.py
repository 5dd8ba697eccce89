"""The databases and the servers of one run."""

import itertools
import json
import os
import tempfile
import urllib.request
from collections.abc import Callable
from contextlib import AbstractContextManager, ExitStack
from functools import cached_property
from pathlib import Path
from types import TracebackType
from typing import Final

from benchmarks import servers
from benchmarks.gallery import (
    GALLERY_FILE,
    import_gallery,
    insert_gallery,
    insert_many_users,
    insert_users,
    write_gallery,
)
from benchmarks.servers import Server
from tests.galera import running_cluster
from tests.mariadb import MariaDbServer

SQLITE: Final = "SQLite"
MARIADB: Final = "MariaDB"

ONE_LOGO: Final = "/api/logos/1"
ONE_USER: Final = "/api/users/7"
ALL_LOGOS: Final = "/api/logos"
# The numbers of new authors, which no two requests of a run may share.
NEW_AUTHORS: Final = itertools.count(1_000_000, 100_000)


class Environment:
    """Creates databases and servers on first use; a context manager that stops and removes them all."""

    def __init__(self, *databases: str) -> None:
        """Use these kinds of database."""
        self.databases = databases
        self._ends = ExitStack()
        self._database_count = 0
        self.directory = Path(self._ends.enter_context(tempfile.TemporaryDirectory(prefix="logoadmin-bench-")))
        # Programs start from bytecode, like installed ones; all child processes inherit this.
        os.environ.pop("PYTHONDONTWRITEBYTECODE", None)
        os.environ["PYTHONPYCACHEPREFIX"] = str(self.directory / "bytecode")

    def __enter__(self) -> "Environment":
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self._ends.close()

    def new_database(self, kind: str) -> str:
        """Return the URL of a new, empty database."""
        if kind == MARIADB:
            return f"mysql+pymysql://bench:bench@{self._mariadb.address}/{self._mariadb.new_database()}"
        self._database_count += 1
        return f"sqlite:///{self.directory}/{self._database_count}.db"

    @cached_property
    def logoadmin(self) -> dict[str, Server]:
        """The service with default settings, on each kind of database."""
        return {kind: self._start(servers.logoadmin(self._filled(kind, import_gallery))) for kind in self.databases}

    def served(self, kind: str, **settings: object) -> Server:
        """Return the service with other settings, on a separate database."""
        return self._start(servers.logoadmin(self._filled(kind, import_gallery), **settings))

    @cached_property
    def whole(self) -> Server:
        """The service with a whole gallery on SQLite: the file LOGOADMIN_GALLERY, or a generated one."""
        database = self.new_database(SQLITE)
        import_gallery(self.whole_gallery, database)
        return self._start(servers.logoadmin(database))

    @cached_property
    def whole_gallery(self) -> Path:
        """The file LOGOADMIN_GALLERY, or a file with 3,700 generated records."""
        file = GALLERY_FILE or self.directory / "whole.jsonl"
        if GALLERY_FILE is None:
            write_gallery(file, themes=131, logos=3494, two_authors_every=50)
        return file

    @cached_property
    def clustered(self) -> Server:
        """The service on a Galera cluster of three servers, through its proxy."""
        cluster = self._ends.enter_context(running_cluster())
        database = cluster.url_of(cluster.new_database())
        file = self.directory / "gallery.jsonl"
        write_gallery(file)
        import_gallery(file, database)
        return self._start(servers.logoadmin(database))

    @cached_property
    def without_history(self) -> dict[str, Server]:
        """The service without history and rights."""
        return self._without("history")

    @cached_property
    def without_cache(self) -> dict[str, Server]:
        """The service without the response cache, which renders each response."""
        return self._without("cache")

    @cached_property
    def with_many_users(self) -> dict[str, Server]:
        """The service with a million users."""
        found = {}
        for kind in self.databases:
            database = self.new_database(kind)
            insert_many_users(database)
            found[kind] = self._start(servers.logoadmin(database))
        return found

    @cached_property
    def usual(self) -> dict[str, Server]:
        """The usual way of writing the service, on each kind of database."""
        found = {}
        for kind in self.databases:
            database = self._filled(kind, insert_gallery)
            found[kind] = self._start(servers.uvicorn("benchmarks.usual.app:app", DATABASE=database))
            self._compare(found[kind], self.logoadmin[kind])
        return found

    @cached_property
    def bare(self) -> Server:
        """The bare routes."""
        server = self.logoadmin[self.databases[0]]
        (self.directory / "logo.json").write_bytes(_body(server, ONE_LOGO))
        (self.directory / "logos.json").write_bytes(_body(server, ALL_LOGOS))
        return self._start(servers.uvicorn("benchmarks.bare:app", BODIES=str(self.directory)))

    @cached_property
    def _mariadb(self) -> MariaDbServer:
        server = MariaDbServer()
        self._ends.callback(server.remove)
        # Not the user of the tests, since the driver of the usual way supports only ASCII passwords.
        server.execute(
            "CREATE USER 'bench'@'127.0.0.1' IDENTIFIED BY 'bench'", "GRANT ALL ON `gallery%`.* TO 'bench'@'127.0.0.1'"
        )
        return server

    def _filled(self, kind: str, fill: Callable[[Path, str], object]) -> str:
        file = self.directory / "gallery.jsonl"
        write_gallery(file)
        database = self.new_database(kind)
        fill(file, database)
        insert_users(database)
        return database

    def _without(self, part: str) -> dict[str, Server]:
        return {kind: self._start(servers.without(part, self._filled(kind, import_gallery))) for kind in self.databases}

    def _start(self, server: AbstractContextManager[Server]) -> Server:
        return self._ends.enter_context(server)

    def _compare(self, one: Server, other: Server) -> None:
        for path in (ONE_LOGO, ALL_LOGOS):
            if json.loads(_body(one, path)) != json.loads(_body(other, path)):
                raise RuntimeError(f"{path} has different responses, so the servers cannot be compared")


def _body(server: Server, path: str) -> bytes:
    with urllib.request.urlopen(server.url(path)) as answer:
        body: bytes = answer.read()
        return body
