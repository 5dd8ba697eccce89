"""Checks of a MariaDB or MySQL server: its version, limits, settings and security (contract K4)."""

import time
from collections.abc import Callable, Iterable
from typing import Final

from sqlalchemy import Connection, text

from logoadmin.adapters.sql_storage.databases.dialect import Checks
from logoadmin.adapters.sql_storage.tables import metadata
from logoadmin.domain.model.access import is_loopback
from logoadmin.domain.model.checks import Result, ok, warning, wrong
from logoadmin.domain.model.limits import CLOCK_SKEW

_MIB: Final = 2**20
_PACKET: Final = 4 * _MIB
_OLDEST: Final = {True: (10, 2), False: (8, 0)}
_ON: Final = frozenset({"1", "ON", "YES"})


def looks_inside(host: str, connections: int, exact: Callable[[Connection], str]) -> Checks:
    """Return the checks of a server by name.

    Args:
        host: the host name of the server.
        connections: the number of connections that the service needs.
        exact: returns the collation that compares names exactly.
    """
    return {
        "product": lambda connection: [_product(connection)],
        "cluster": _cluster,
        "packets": lambda connection: [_packets(connection)],
        "connections": lambda connection: [_connections(connection, connections)],
        "session": lambda connection: [_session(connection)],
        "names": lambda connection: [_names(connection, exact(connection))],
        "durability": lambda connection: [_durability(connection)],
        "replication": lambda connection: [_replication(connection)],
        "TLS": lambda connection: [_tls(connection, host)],
        "clock": lambda connection: [_clock(connection)],
    }


def _product(connection: Connection) -> Result:
    """Check that the server supports the tables."""
    version = str(connection.exec_driver_sql("SELECT VERSION()").scalar())
    is_mariadb = bool(getattr(connection.dialect, "is_mariadb", False))
    found = connection.dialect.server_version_info or (0,)
    name = "MariaDB" if is_mariadb else "MySQL"
    if tuple(found[:2]) < _OLDEST[is_mariadb]:
        oldest = ".".join(map(str, _OLDEST[is_mariadb]))
        return wrong("product", f"{name} {version} cannot compare names exactly", f"use {name} {oldest} or newer")
    return ok("product", f"{name} {version}")


def _cluster(connection: Connection) -> Iterable[Result]:
    """Check the state of a Galera cluster node."""
    found = {
        str(name): str(value) for name, value in connection.exec_driver_sql("SHOW GLOBAL STATUS LIKE 'wsrep\\_%%'")
    }
    if not _is_on(_variables(connection, "wsrep_on").get("wsrep_on", "OFF")):
        return [ok("cluster", "none: one server alone")]
    size, status = found.get("wsrep_cluster_size", "?"), found.get("wsrep_cluster_status", "?")
    if not _is_on(found.get("wsrep_ready", "OFF")) or status != "Primary":
        state = found.get("wsrep_local_state_comment", "?")
        cure = "point the proxy at another node, and rejoin this node to the cluster"
        return [wrong("cluster", f"this Galera node is {state} in a {status} component", cure)]
    if size.isdigit() and int(size) < 3:
        cure = "use three nodes, or two and an arbitrator"
        return [warning("cluster", f"Galera with {size} nodes: writes stop when one fails", cure)]
    return [ok("cluster", f"a node in a Galera cluster of {size}")]


def _packets(connection: Connection) -> Result:
    """Check that the longest CSS fits into a packet."""
    size = int(_variables(connection, "max_allowed_packet")["max_allowed_packet"])
    if size < _PACKET:
        return wrong(
            "packets",
            f"max_allowed_packet is {size / _MIB:.3g} MiB: writes with long CSS fail (too_large)",
            "set max_allowed_packet = 4M or more in the server's configuration",
        )
    return ok("packets", f"max_allowed_packet is {size / _MIB:.3g} MiB")


def _connections(connection: Connection, wanted: int) -> Result:
    """Check that the server allows the connections that the processes here may open."""
    found = _variables(connection, "max_connections", "max_user_connections")
    given = {name: int(value) for name, value in found.items() if int(value) > 0}
    name, least = min(given.items(), key=lambda item: item[1])
    told = f"up to {wanted} for the processes here, of {name} {least}"
    if wanted > least:
        cure = f"set {name} above {wanted} times the number of machines, or run fewer workers"
        return wrong("connections", told, cure)
    if 2 * wanted > least:
        cure = f"raise {name} before adding a second machine or another program"
        return warning("connections", told, cure)
    return ok("connections", told)


def _session(connection: Connection) -> Result:
    """Check that session settings reach the server, which a database proxy may prevent."""
    isolation = "tx_isolation" if getattr(connection.dialect, "is_mariadb", False) else "transaction_isolation"
    query = f"SELECT @@SESSION.sql_mode, @@SESSION.{isolation}, @@SESSION.character_set_client, @@SESSION.autocommit"
    mode, level, characters, autocommit = connection.exec_driver_sql(query).one()
    wrongly = [
        told
        for told, is_right in (
            (f"sql_mode is {mode}", "STRICT_ALL_TABLES" in str(mode)),
            (f"{isolation} is {level}", level == "REPEATABLE-READ"),
            (f"character_set_client is {characters}", characters == "utf8mb4"),
            (f"autocommit is {autocommit}", int(autocommit) == 1),
        )
        if not is_right
    ]
    if wrongly:
        cure = "configure the proxy between service and server to keep the settings of each connection"
        return wrong("session", "; ".join(wrongly), cure)
    return ok("session", "sql_mode, isolation level and character set are as the service sets them")


def _names(connection: Connection, exact: str) -> Result:
    """Check that all tables still compare names exactly."""
    query = text("SELECT table_name, table_collation FROM information_schema.tables WHERE table_schema = DATABASE()")
    found = {str(name): str(collation) for name, collation in connection.execute(query)}
    loose = sorted(name for name in metadata.tables.keys() & found.keys() if found[name] != exact)
    if loose:
        cure = f"ALTER TABLE {loose[0]} CONVERT TO CHARACTER SET utf8mb4 COLLATE {exact}, and the same for each"
        return wrong("names", f"not {exact}, so that different names may be equal: {', '.join(loose)}", cure)
    return ok("names", f"all tables compare by {exact}")


def _durability(connection: Connection) -> Result:
    """Check that acknowledged writes survive a power cut."""
    found = _variables(connection, "innodb_flush_log_at_trx_commit", "log_bin", "sync_binlog")
    weak = []
    if found["innodb_flush_log_at_trx_commit"] != "1":
        weak.append(f"innodb_flush_log_at_trx_commit = {found['innodb_flush_log_at_trx_commit']}")
    if _is_on(found["log_bin"]) and found["sync_binlog"] != "1":
        weak.append(f"sync_binlog = {found['sync_binlog']}")
    if weak:
        text = f"a power cut would undo the last acknowledged changes: {', '.join(weak)}"
        return warning("durability", text, "set them to 1, unless other nodes of a cluster have the changes")
    return ok("durability", "every commit is on the disk")


def _replication(connection: Connection) -> Result:
    """Check that replicas receive rows, and not statements, whose effect may differ."""
    found = _variables(connection, "log_bin", "binlog_format")
    form = found.get("binlog_format", "ROW")
    if _is_on(found["log_bin"]) and form == "STATEMENT":
        text = "the binary log contains statements, which may change other rows on a replica"
        return warning("replication", text, "set binlog_format = ROW, or MIXED")
    return ok("replication", f"the binary log has the format {form}" if _is_on(found["log_bin"]) else "no binary log")


def _tls(connection: Connection, host: str) -> Result:
    """Check that the network cannot read the traffic."""
    cipher = dict(map(tuple, connection.exec_driver_sql("SHOW SESSION STATUS LIKE 'Ssl_cipher'"))).get("Ssl_cipher")
    if cipher:
        return ok("TLS", f"the connection is encrypted ({cipher})")
    if is_loopback(host):
        return ok("TLS", "none, on this machine")
    return warning(
        "TLS", "the traffic can be read on the network", "enable TLS on the server, and add ?ssl=true to the URL"
    )


def _clock(connection: Connection) -> Result:
    """Check that the clocks of the server and of this machine agree."""
    before = time.time()
    there = float(connection.exec_driver_sql("SELECT UNIX_TIMESTAMP(NOW(6))").scalar() or 0)
    apart = there - (before + time.time()) / 2
    if abs(apart) > CLOCK_SKEW:
        told = f"the server's is {abs(apart):.0f} s {'ahead of' if apart > 0 else 'behind'} this one"
        return wrong("clock", told, "set the clocks of all machines by NTP")
    return ok("clock", f"the server's is within {abs(apart):.1f} s of this one")


def _variables(connection: Connection, *names: str) -> dict[str, str]:
    """Return the session values of variables, without those that the server does not know."""
    listed = ", ".join(f"'{name}'" for name in names)
    rows = connection.exec_driver_sql(f"SHOW SESSION VARIABLES WHERE Variable_name IN ({listed})")
    return {str(name): str(value) for name, value in rows}


def _is_on(value: str) -> bool:
    return value.upper() in _ON
