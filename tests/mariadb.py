"""MariaDB servers for a test run, each in a temporary directory and on a free port."""

import contextlib
import fcntl
import json
import os
import pwd
import shutil
import signal
import socket
import subprocess
import tempfile
import time
from collections.abc import Iterator
from importlib import import_module
from pathlib import Path
from typing import Any, Final

from logoadmin.adapters.sql_storage import open_sql_storage
from logoadmin.adapters.sql_storage.tables import COUNTED, VERSION_TABLE, metadata, state

pymysql = import_module("pymysql")

PASSWORD: Final = "s3cret-pässword"
_READY_WITHIN: Final = 60.0
_ZEROS: Final = ", ".join(f"{name} = 0" for name in COUNTED)
_UNCOUNTED: Final = f"UPDATE {{}} SET {_ZEROS}, writes = 0"
_SMALL: Final = (
    *("--skip-name-resolve", "--skip-log-bin", "--performance-schema=OFF", "--max-connections=300"),
    *("--innodb-buffer-pool-size=32M", "--innodb-log-file-size=16M", "--key-buffer-size=1M"),
    *("--innodb-buffer-pool-load-at-startup=OFF", "--innodb-buffer-pool-dump-at-shutdown=OFF"),
    *("--innodb-stats-auto-recalc=OFF", "--aria-pagecache-buffer-size=1M"),
    # No file is flushed to disk: the page cache survives a killed server, and no test cuts the power.
    *("--innodb-flush-log-at-trx-commit=2", "--innodb-flush-method=nosync"),
)


def missing_reason() -> str | None:
    """Return why no server can run here, or None."""
    return None if shutil.which("mariadbd", path=search_path()) else "mariadbd is not installed"


def search_path() -> str:
    """Return the search path for programs, including the directories of root's path, where servers are."""
    return f"{os.environ.get('PATH', '')}:/usr/sbin:/usr/local/sbin"


def free_port() -> int:
    with socket.socket() as listener:
        listener.bind(("127.0.0.1", 0))
        port: int = listener.getsockname()[1]
        return port


class MariaDb:
    """A database on a server."""

    host = "127.0.0.1"

    def __init__(self, directory: Path, port: int, database: str = "gallery") -> None:
        self.port = port
        self.database = database
        self._directory = directory
        self._databases = 0

    @property
    def url(self) -> str:
        """The URL of the database, with user and password."""
        return self.url_of(self.database)

    @property
    def socket(self) -> Path:
        return self._directory / "socket"

    @property
    def address(self) -> str:
        return f"{self.host}:{self.port}"

    def url_of(self, database: str, *, port: int | None = None, password: str = PASSWORD) -> str:
        """Return the URL of one of the server's databases, by default at its own port."""
        quoted = "".join(f"%{byte:02X}" for byte in password.encode())
        return f"mysql+pymysql://logoadmin:{quoted}@{self.host}:{port or self.port}/{database}"

    def connect(self) -> Any:
        """Return a connection as root in autocommit mode."""
        return self._connect(self.database)

    def execute(self, *statements: str) -> list[tuple[Any, ...]]:
        """Run statements as root; return the rows of the last one."""
        return self._execute(self.database, *statements)

    def end_connections(self) -> None:
        for (number,) in self.execute("SELECT id FROM information_schema.processlist WHERE user = 'logoadmin'"):
            with contextlib.suppress(Exception):
                self.execute(f"KILL {number}")

    def prepare(self) -> None:
        storage = open_sql_storage(self.url)
        storage.prepare()
        storage.close()

    def empty(self) -> None:
        tables = [table.name for table in reversed(metadata.sorted_tables) if table is not state]
        looks = (f"(SELECT '{table}' FROM {table} LIMIT 1)" for table in tables)
        filled = {name for (name,) in self.execute(" UNION ALL ".join(looks))}
        deletions = (f"DELETE FROM {name}" for name in tables if name in filled)
        self.execute("START TRANSACTION", *deletions, _UNCOUNTED.format("state"), "COMMIT")

    def new_database(self) -> str:
        """Return the name of a new, empty database, whose default collation considers most names equal."""
        self._databases += 1
        name = f"{self.database}_{self._databases}"
        self.create(name)
        return name

    def prepared_database(self) -> str:
        """Return the name of a new database with the tables of this one, and their contents before a first start.

        Copying them is much faster than running all migrations again.
        """
        name = self.new_database()
        tables = [table for (table,) in self.execute("SHOW TABLES")]
        statements = [self.execute(f"SHOW CREATE TABLE {table}")[0][1] for table in tables]
        self._execute(name, "SET foreign_key_checks = 0", *statements)
        filled = ("state", VERSION_TABLE)
        self.execute(*(f"INSERT INTO {name}.{table} SELECT * FROM {table}" for table in filled))
        self.execute(_UNCOUNTED.format(f"{name}.state"))
        return name

    def create(self, database: str) -> None:
        self._execute(None, f"CREATE DATABASE {database} CHARACTER SET utf8mb4 COLLATE utf8mb4_general_ci")

    def _connect(self, database: str | None) -> Any:
        how = {"charset": "utf8mb4", "autocommit": True, "ssl_disabled": True, "read_timeout": 20}
        return pymysql.connect(unix_socket=str(self.socket), user="root", database=database, **how)

    def _execute(self, database: str | None, *statements: str) -> list[tuple[Any, ...]]:
        with contextlib.closing(self._connect(database)) as connection, connection.cursor() as cursor:
            for statement in statements:
                cursor.execute(statement)
            return list(cursor.fetchall())


class MariaDbServer(MariaDb):
    """A server with the database ``gallery``. It affects no other process."""

    def __init__(self, directory: Path | None = None, port: int | None = None) -> None:
        """Create a data directory and start; or use an existing directory, without starting."""
        place = Path(tempfile.mkdtemp(prefix="logoadmin-mariadb-")) if directory is None else directory
        super().__init__(place, port or free_port())
        self._user = "mysql" if os.geteuid() == 0 else pwd.getpwuid(os.geteuid()).pw_name
        self._process: subprocess.Popen[bytes] | None = None
        if directory is None:
            self._bootstrap()

    @property
    def data(self) -> Path:
        return self._directory / "data"

    def log(self) -> str:
        return (self._directory / "log").read_text(errors="replace")

    def start(self, *options: str) -> None:
        """Start the server with additional options, and wait until it responds."""
        log = (self._directory / "log").open("ab")
        arguments = [*self._command(), f"--port={self.port}", f"--bind-address={self.host}", *_SMALL, *options]
        self._process = subprocess.Popen(arguments, stdout=log, stderr=log, env={**os.environ, "PATH": search_path()})
        log.close()
        deadline = time.monotonic() + _READY_WITHIN
        while not self._listens():
            if self._process.poll() is not None or time.monotonic() > deadline:
                raise RuntimeError(self.log()[-4000:])
            time.sleep(0.01)
        self._connect(None).close()

    def stop(self) -> None:
        """Shut the server down cleanly if it is running."""
        self._end(signal.SIGTERM)

    def kill(self) -> None:
        """Kill the server, as a power cut would."""
        self._end(signal.SIGKILL)

    def freeze(self) -> None:
        """Make the server hang: the kernel accepts connections, but nothing responds."""
        self._running().send_signal(signal.SIGSTOP)
        time.sleep(0.05)  # the server could still respond until the signal arrives

    def resume(self) -> None:
        self._running().send_signal(signal.SIGCONT)

    def remove(self) -> None:
        self.kill()
        shutil.rmtree(self._directory, ignore_errors=True)

    def where(self) -> dict[str, Any]:
        """Return the data that another process needs to use and remove the server."""
        return {"directory": str(self._directory), "port": self.port, "process": self._running().pid}

    def _command(self) -> list[str]:
        return [
            *("mariadbd", "--no-defaults", f"--user={self._user}", f"--datadir={self.data}"),
            *(f"--socket={self.socket}", f"--pid-file={self._directory / 'pid'}", f"--tmpdir={self._directory}"),
        ]

    def _own(self, directory: Path) -> None:
        """Make the user of the server process own a directory."""
        if os.geteuid() == 0:
            shutil.chown(directory, self._user)

    def _bootstrap(self) -> None:
        self._own(self._directory)
        self.data.mkdir()
        self._own(self.data)
        command = ["mariadb-install-db", "--no-defaults", f"--user={self._user}", f"--datadir={self.data}"]
        command += ["--auth-root-authentication-method=normal", "--skip-test-db", "--skip-name-resolve"]
        environment = {**os.environ, "PATH": search_path()}
        subprocess.run([*command, "--innodb-log-file-size=16M"], check=True, capture_output=True, env=environment)
        self.start()
        self.create(self.database)
        user = "'logoadmin'@'127.0.0.1'"
        self._execute(None, f"CREATE USER {user} IDENTIFIED BY '{PASSWORD}'", f"GRANT ALL ON `gallery%`.* TO {user}")

    def _listens(self) -> bool:
        with socket.socket(socket.AF_UNIX) as probe:
            return probe.connect_ex(str(self.socket)) == 0

    def _running(self) -> subprocess.Popen[bytes]:
        if self._process is None:
            raise RuntimeError("the server does not run")
        return self._process

    def _end(self, how: signal.Signals) -> None:
        if self._process is None:
            return
        self._process.send_signal(signal.SIGCONT)
        self._process.send_signal(how)
        self._process.wait(timeout=_READY_WITHIN)
        self._process = None


@contextlib.contextmanager
def shared(directory: Path, database: str) -> Iterator[MariaDb]:
    """Yield a new database with tables, on the server that all processes of a test run share.

    The first process starts the server. Each process holds a lock while it uses the server, which a crash also
    releases. The last one finds no other lock, and removes the server. The first one waits for that, to reap it.
    """
    place = directory / "mariadb.json"
    with (directory / "mariadb.used").open("w") as used, contextlib.ExitStack() as started:
        with alone(directory / "mariadb.lock"):
            fcntl.flock(used, fcntl.LOCK_SH)
            if not place.exists():
                server = MariaDbServer()
                started.callback(server.remove)
                place.write_text(json.dumps(server.where()))
                started.callback(place.unlink, missing_ok=True)
                started.callback(fcntl.flock, used, fcntl.LOCK_EX)
        where = json.loads(place.read_text())
        try:
            mine = MariaDb(Path(where["directory"]), where["port"], database)
            mine.create(database)
            mine.prepare()
            yield mine
        finally:
            with alone(directory / "mariadb.lock"), contextlib.suppress(BlockingIOError):
                fcntl.flock(used, fcntl.LOCK_EX | fcntl.LOCK_NB)
                place.unlink()
                os.kill(where["process"], signal.SIGKILL)
                shutil.rmtree(where["directory"], ignore_errors=True)


@contextlib.contextmanager
def alone(lock: Path) -> Iterator[None]:
    """Hold a lock that the processes of a test run share."""
    with lock.open("w") as file:
        fcntl.flock(file, fcntl.LOCK_EX)
        yield
