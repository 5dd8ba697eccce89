"""A Galera cluster of three servers behind HAProxy, in temporary directories, on loopback addresses only."""

import contextlib
import os
import re
import shutil
import socket
import subprocess
import tempfile
import time
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Final

import pymysql  # type: ignore[import-untyped]  # the driver has no types

from tests.deploy.nginx import placed
from tests.mariadb import MariaDbServer, free_port, missing_reason, search_path

_PROVIDERS: Final = ("/usr/lib/galera/libgalera_smm.so", "/usr/lib64/galera-4/libgalera_smm.so")
_CONFIG: Final = Path(__file__).parent.parent / "deploy" / "haproxy-galera.cfg"
_NAMES: Final = ("one", "two", "three")
_SYNCED: Final = "4"
_READY_WITHIN: Final = 60.0
_STARTS: Final = 3
# As in docs/proxy.md, except for the size of the cache.
_TIMES: Final = (
    "evs.keepalive_period=PT0.5S;evs.suspect_timeout=PT2S;evs.inactive_timeout=PT5S;evs.inactive_check_period=PT0.5S;"
    "pc.recovery=true;gcache.size=64M"
)
# The copied part of a data directory, without the state of the other members.
_NOT_COPIED: Final = shutil.ignore_patterns("gvwstate.dat", "galera.cache", "*.pid")


def galera_missing_reason() -> str | None:
    """Return why no cluster can run here, or None."""
    if missing_reason() is not None:
        return missing_reason()
    if _provider() is None:
        return "galera-4 is not installed"
    missing = [name for name in ("haproxy", "rsync") if shutil.which(name, path=search_path()) is None]
    return f"{' and '.join(missing)} not installed" if missing else None


def _provider() -> str | None:
    return next((path for path in _PROVIDERS if Path(path).exists()), None)


class Node(MariaDbServer):
    """One of the servers; it affects no other process."""

    def __init__(self, number: int, base: Path, ports: Sequence[int]) -> None:
        """Copy the data directory of a cleanly stopped server."""
        self.name = _NAMES[number]
        self.host = f"127.0.1.{number + 1}"
        directory = Path(tempfile.mkdtemp(prefix=f"logoadmin-galera-{self.name}-"))
        super().__init__(directory, ports[0])
        self._ports = ports
        shutil.copytree(base, directory / "data", ignore=_NOT_COPIED)
        for path in (directory, directory / "data", *(directory / "data").rglob("*")):
            self._own(path)

    def start(self, *options: str) -> None:
        """Start or restart the server, and wait until it is synchronized."""
        for attempt in range(1, _STARTS + 1):
            try:
                super().start(*options, *self._position())
                break
            except RuntimeError:
                # Galera sometimes aborts when several servers return at once; systemd would also restart it.
                if attempt == _STARTS or self._process is None or self._process.poll() is None:
                    raise
        deadline = time.monotonic() + _READY_WITHIN
        while not self._is_synced():
            if time.monotonic() > deadline:
                raise RuntimeError(self.log()[-4000:])
            time.sleep(0.05)

    def _is_synced(self) -> bool:
        # While it joins the others, it may close connections.
        with contextlib.suppress(pymysql.err.OperationalError):
            return self.status("wsrep_local_state") == _SYNCED
        return False

    def start_first(self) -> None:
        self.start("--wsrep-new-cluster")

    def status(self, name: str) -> str:
        # Without a database, since an isolated server refuses to select one.
        return str(self._execute(None, f"SHOW GLOBAL STATUS LIKE '{name}'")[0][1])

    def isolate(self, *, cut_off: bool) -> None:
        self._execute(None, f"SET GLOBAL wsrep_provider_options = 'gmcast.isolate={int(cut_off)}'")

    def _command(self) -> list[str]:
        _, group, transfer, state = self._ports
        hosts = ",".join(f"127.0.1.{number + 1}:{group}" for number in range(len(_NAMES)))
        addresses = f"gmcast.listen_addr=tcp://{self.host}:{group};ist.recv_addr={self.host}:{transfer}"
        return [
            *(*super()._command(), "--wsrep-on=ON", f"--wsrep-provider={_provider()}", "--wsrep-cluster-name=gallery"),
            *(f"--wsrep-cluster-address=gcomm://{hosts}", f"--wsrep-node-name={self.name}"),
            *(f"--wsrep-node-address={self.host}", f"--wsrep-provider-options={addresses};{_TIMES}"),
            *("--wsrep-sst-method=rsync", f"--wsrep-sst-receive-address={self.host}:{state}"),
            *("--binlog-format=ROW", "--innodb-autoinc-lock-mode=2"),
        ]

    def _position(self) -> list[str]:
        """Return the option with the position of a killed server."""
        state = self.data / "grastate.dat"
        if not state.exists() or "seqno:   -1" not in state.read_text():
            return []
        # Without networking, since two concurrent recoveries would both listen on the default port.
        arguments = [*self._command(), "--wsrep-recover", "--skip-networking"]
        environment = {**os.environ, "PATH": search_path()}
        completed = subprocess.run(arguments, check=False, capture_output=True, text=True, env=environment, timeout=60)
        if completed.returncode != 0:
            raise RuntimeError(completed.stderr[-4000:])
        found = re.findall(r"Recovered position: (\S+)", completed.stderr)
        return [f"--wsrep-start-position={found[-1]}"] if found else []


class HaProxy:
    """HAProxy with the shipped configuration, on different addresses."""

    def __init__(self, nodes: Sequence[Node]) -> None:
        """Start it, and wait until the first server is in use."""
        self.port = free_port()
        self._directory = Path(tempfile.mkdtemp(prefix="logoadmin-haproxy-"))
        self._socket = self._directory / "socket"
        places = {"127.0.0.1:3307": f"127.0.0.1:{self.port}", "/run/haproxy/admin.sock": str(self._socket)}
        places |= {f"192.0.2.{11 + number}:3306": node.address for number, node in enumerate(nodes)}
        config = placed(_CONFIG.read_text(), places)
        file = self._directory / "haproxy.cfg"
        file.write_text(config)
        program = str(shutil.which("haproxy", path=search_path()))
        self._process = subprocess.Popen([program, "-db", "-f", str(file)], stderr=subprocess.DEVNULL)
        self.leads_to("one")

    def led_to(self) -> str | None:
        with contextlib.suppress(OSError), socket.socket(socket.AF_UNIX) as connection:
            connection.settimeout(5)
            connection.connect(str(self._socket))
            connection.sendall(b"show stat\n")
            text = b"".join(iter(lambda: connection.recv(65536), b"")).decode()
            lines = [line.split(",") for line in text.splitlines() if line.startswith("galera,")]
            up = [line[1] for line in lines if line[17].startswith("UP")]
            return next((name for name in _NAMES if name in up), None)
        return None

    def leads_to(self, *names: str | None, within: float = 30.0) -> float:
        """Wait until one of these servers is in use; return the seconds it took."""
        began = time.monotonic()
        while self.led_to() not in names:
            if time.monotonic() - began > within:
                raise TimeoutError(f"the proxy leads to {self.led_to()}, not to any of {names}")
            time.sleep(0.02)
        return time.monotonic() - began

    def remove(self) -> None:
        self._process.kill()
        self._process.wait()
        shutil.rmtree(self._directory, ignore_errors=True)


class Cluster:
    """Three replicated servers behind the proxy."""

    def __init__(self) -> None:
        """Create one server, copy its data to three servers, and start these one after another."""
        self.nodes: list[Node] = []
        self._databases = 0
        base = MariaDbServer()
        try:
            base.execute("CREATE USER 'haproxy'@'127.0.0.1'", "CREATE USER 'haproxy'@'localhost'")
            base.stop()
            ports = [free_port() for _ in range(4)]
            # Running it once as a cluster of one gives it a position; copies with the same position need no transfer.
            first = Node(0, base.data, ports)
            self.nodes.append(first)
            first.start_first()
            first.stop()
            self.nodes += [Node(number, first.data, ports) for number in range(1, len(_NAMES))]
            first.start_first()
            for node in self.nodes[1:]:
                node.start()
            self.proxy = HaProxy(self.nodes)
        except BaseException:
            self.remove()
            raise
        finally:
            base.remove()

    def new_database(self) -> str:
        """Return the name of a new, empty database on all servers."""
        name = self.nodes[0].new_database()
        # A connection selects its database before it can wait for the writes of other servers.
        for node in self.nodes[1:]:
            node.execute("SET SESSION wsrep_sync_wait = 1", "SHOW DATABASES")
        return name

    def url_of(self, database: str) -> str:
        quoted = self.nodes[0].url_of(database)
        return quoted.replace(self.nodes[0].address, f"127.0.0.1:{self.proxy.port}")

    def remove(self) -> None:
        for node in self.nodes:
            node.remove()
        if hasattr(self, "proxy"):
            self.proxy.remove()


@contextlib.contextmanager
def running_cluster() -> Iterator[Cluster]:
    """Yield a cluster, and remove it afterwards."""
    cluster = Cluster()
    try:
        yield cluster
    finally:
        cluster.remove()
