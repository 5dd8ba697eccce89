"""A private MariaDB server that lives as long as a test run, in a temporary directory, on a port that was free."""

import contextlib
import os
import pwd
import shutil
import signal
import socket
import subprocess
import tempfile
import time
from importlib import import_module
from pathlib import Path
from typing import Any, Final

from logoadmin.adapters.sql_storage.tables import COUNTED, metadata, state

pymysql = import_module("pymysql")

PASSWORD: Final = "s3cret-pässword"
_READY_WITHIN: Final = 20.0
_SMALL: Final = (
    "--skip-name-resolve",
    "--skip-log-bin",
    "--performance-schema=OFF",
    "--innodb-buffer-pool-size=32M",
    "--innodb-log-file-size=16M",
    "--innodb-buffer-pool-load-at-startup=OFF",
    "--innodb-buffer-pool-dump-at-shutdown=OFF",
    "--innodb-stats-auto-recalc=OFF",
    # No file is forced to disk: what the kernel was given outlives a server that is killed, and no test cuts the power.
    "--innodb-flush-log-at-trx-commit=2",
    "--innodb-flush-method=nosync",
    "--key-buffer-size=1M",
    "--aria-pagecache-buffer-size=1M",
    "--max-connections=100",
)


def missing_reason() -> str | None:
    """Return why there can be no server here, None if there can."""
    if shutil.which("mariadbd", path=_path()) is None:
        return "mariadbd is not installed"
    return None


def _path() -> str:
    return f"{os.environ.get('PATH', '')}:/usr/sbin:/usr/local/sbin"


def free_port() -> int:
    """Return a port of the loopback interface that nobody listens on."""
    with socket.socket() as listener:
        listener.bind(("127.0.0.1", 0))
        port: int = listener.getsockname()[1]
        return port


class MariaDb:
    """The server. It touches no process but the one that it started."""

    def __init__(self) -> None:
        """Make a data directory; nothing runs yet."""
        self.port = free_port()
        self.database = "gallery"
        self._directory = Path(tempfile.mkdtemp(prefix="logoadmin-mariadb-"))
        self._user = "mysql" if os.geteuid() == 0 else pwd.getpwuid(os.geteuid()).pw_name
        self._process: subprocess.Popen[bytes] | None = None
        self._databases = 0
        if os.geteuid() == 0:
            shutil.chown(self._directory, self._user)
        self._bootstrap()

    @property
    def url(self) -> str:
        """The URL of the database, with user and password."""
        return self.url_of(self.database)

    @property
    def address(self) -> str:
        """The host and the port."""
        return f"127.0.0.1:{self.port}"

    def url_of(self, database: str, *, port: int | None = None, password: str = PASSWORD) -> str:
        """Return the URL of one of its databases, perhaps through another port."""
        quoted = "".join(f"%{byte:02X}" for byte in password.encode())
        return f"mysql+pymysql://logoadmin:{quoted}@127.0.0.1:{port or self.port}/{database}"

    def start(self, *options: str) -> None:
        """Start the server, perhaps with more options, and wait until it answers."""
        log = (self._directory / "log").open("ab")
        arguments = [*self._command(), f"--port={self.port}", "--bind-address=127.0.0.1", *_SMALL, *options]
        self._process = subprocess.Popen(arguments, stdout=log, stderr=log, env={**os.environ, "PATH": _path()})
        log.close()
        deadline = time.monotonic() + _READY_WITHIN
        while not self._listens():
            if self._process.poll() is not None or time.monotonic() > deadline:
                raise RuntimeError((self._directory / "log").read_text()[-4000:])
            time.sleep(0.01)
        self.connect(None).close()

    def stop(self) -> None:
        """Shut the server down in good order, if it runs."""
        self._end(signal.SIGTERM)

    def kill(self) -> None:
        """End the server as a power cut would."""
        self._end(signal.SIGKILL)

    def freeze(self) -> None:
        """Let the server hang: it accepts connections, by its kernel, and answers nothing."""
        self._running().send_signal(signal.SIGSTOP)
        time.sleep(0.05)  # the signal is on its way for a moment, in which the server would still answer

    def resume(self) -> None:
        """Let a server that hangs go on."""
        self._running().send_signal(signal.SIGCONT)

    def remove(self) -> None:
        """Stop the server and remove all it had."""
        self.kill()
        shutil.rmtree(self._directory, ignore_errors=True)

    def connect(self, database: str | None = "gallery") -> Any:
        """Return a connection of the server's root, in autocommit."""
        return pymysql.connect(
            unix_socket=str(self._directory / "socket"),
            user="root",
            database=database,
            charset="utf8mb4",
            autocommit=True,
            ssl_disabled=True,
            read_timeout=20,
        )

    def execute(self, *statements: str, database: str | None = "gallery") -> list[tuple[Any, ...]]:
        """Run statements as root; return the rows of the last one."""
        with contextlib.closing(self.connect(database)) as connection, connection.cursor() as cursor:
            for statement in statements:
                cursor.execute(statement)
            return list(cursor.fetchall())

    def empty(self) -> None:
        """Empty all tables of the database as if nothing had ever been in them."""
        counted = ", ".join(f"{name} = 0" for name in COUNTED)
        self.execute(
            *("START TRANSACTION",),
            *(f"DELETE FROM {table.name}" for table in reversed(metadata.sorted_tables) if table is not state),
            *(f"UPDATE state SET {counted}", "COMMIT"),
        )

    def new_database(self) -> str:
        """Return the name of a new, empty database, whose default collation takes most names for the same."""
        self._databases += 1
        name = f"gallery_{self._databases}"
        self.execute(f"CREATE DATABASE {name} CHARACTER SET utf8mb4 COLLATE utf8mb4_general_ci", database=None)
        return name

    def _command(self) -> list[str]:
        return [
            "mariadbd",
            "--no-defaults",
            f"--user={self._user}",
            f"--datadir={self._directory / 'data'}",
            f"--socket={self._directory / 'socket'}",
            f"--pid-file={self._directory / 'pid'}",
            f"--tmpdir={self._directory}",
        ]

    def _bootstrap(self) -> None:
        (self._directory / "data").mkdir()
        if os.geteuid() == 0:
            shutil.chown(self._directory / "data", self._user)
        subprocess.run(
            [
                "mariadb-install-db",
                "--no-defaults",
                f"--user={self._user}",
                f"--datadir={self._directory / 'data'}",
                "--auth-root-authentication-method=normal",
                "--skip-test-db",
                "--skip-name-resolve",
                "--innodb-log-file-size=16M",
            ],
            check=True,
            capture_output=True,
            env={**os.environ, "PATH": _path()},
        )
        self.start()
        self.execute(
            f"CREATE DATABASE {self.database} CHARACTER SET utf8mb4 COLLATE utf8mb4_general_ci",
            f"CREATE USER 'logoadmin'@'127.0.0.1' IDENTIFIED BY '{PASSWORD}'",
            "GRANT ALL ON `gallery%`.* TO 'logoadmin'@'127.0.0.1'",
            database=None,
        )

    def _listens(self) -> bool:
        with socket.socket(socket.AF_UNIX) as probe:
            return probe.connect_ex(str(self._directory / "socket")) == 0

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
