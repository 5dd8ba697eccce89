"""Looking at a server of MariaDB or MySQL: what it is, its limits, and how safe what it answers is (contract K4)."""

import time
from collections.abc import Callable, Iterable
from typing import Final

from sqlalchemy import Connection, text

from logoadmin.adapters.sql_storage.tables import metadata
from logoadmin.domain.model.access import is_loopback
from logoadmin.domain.model.checks import Result, ok, warning, wrong
from logoadmin.domain.model.limits import CLOCK_SKEW

_MIB: Final = 2**20
_PACKET: Final = 4 * _MIB
_OLDEST: Final = {True: (10, 2), False: (8, 0)}
_ON: Final = frozenset({"1", "ON", "YES"})


def looks_inside(
    host: str, connections: int, exact: Callable[[Connection], str]
) -> dict[str, Callable[[Connection], Iterable[Result]]]:
    """Return looks at a server, by their names.

    Args:
        host: by which it is reached.
        connections: how many it is to give.
        exact: tells the collation that compares names exactly there.
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
    """Whether the server has what the tables need."""
    version = str(connection.exec_driver_sql("SELECT VERSION()").scalar())
    is_mariadb = bool(getattr(connection.dialect, "is_mariadb", False))
    found = connection.dialect.server_version_info or (0,)
    name = "MariaDB" if is_mariadb else "MySQL"
    if tuple(found[:2]) < _OLDEST[is_mariadb]:
        oldest = ".".join(map(str, _OLDEST[is_mariadb]))
        return wrong("product", f"{name} {version} cannot compare names exactly", f"use {name} {oldest} or newer")
    return ok("product", f"{name} {version}")


def _cluster(connection: Connection) -> Iterable[Result]:
    """Whether a node of a Galera cluster is of use."""
    found = {
        str(name): str(value) for name, value in connection.exec_driver_sql("SHOW GLOBAL STATUS LIKE 'wsrep\\_%%'")
    }
    if not _is_on(_variables(connection, "wsrep_on").get("wsrep_on", "OFF")):
        return [ok("cluster", "none: one server alone")]
    size, status = found.get("wsrep_cluster_size", "?"), found.get("wsrep_cluster_status", "?")
    if not _is_on(found.get("wsrep_ready", "OFF")) or status != "Primary":
        state = found.get("wsrep_local_state_comment", "?")
        cure = "have the proxy lead to another node, and bring this one back into the cluster"
        return [wrong("cluster", f"this node of Galera is {state} in a component that is {status}", cure)]
    if size.isdigit() and int(size) < 3:
        cure = "have three nodes, or two and an arbitrator"
        return [warning("cluster", f"Galera with {size} nodes: with one fewer nothing is written any more", cure)]
    return [ok("cluster", f"a node of Galera, of {size}")]


def _packets(connection: Connection) -> Result:
    """Whether the longest CSS gets through."""
    size = int(_variables(connection, "max_allowed_packet")["max_allowed_packet"])
    if size < _PACKET:
        return wrong(
            "packets",
            f"max_allowed_packet is {size / _MIB:.3g} MiB: writes with long CSS fail (too_large)",
            "set max_allowed_packet = 4M or more in the server's configuration",
        )
    return ok("packets", f"max_allowed_packet is {size / _MIB:.3g} MiB")


def _connections(connection: Connection, wanted: int) -> Result:
    """Whether the server gives as many connections as the processes here may take."""
    found = _variables(connection, "max_connections", "max_user_connections")
    given = {name: int(value) for name, value in found.items() if int(value) > 0}
    name, least = min(given.items(), key=lambda item: item[1])
    told = f"up to {wanted} for the processes here, of {name} {least}"
    if wanted > least:
        cure = f"set {name} above {wanted} times the number of machines, or run fewer workers"
        return wrong("connections", told, cure)
    if 2 * wanted > least:
        cure = f"set {name} higher before a second machine or another program comes in"
        return warning("connections", told, cure)
    return ok("connections", told)


def _session(connection: Connection) -> Result:
    """Whether what each connection sets for itself reaches the server, as through a proxy of its own it may not."""
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
        cure = "let a proxy between service and server keep each connection's own settings"
        return wrong("session", "; ".join(wrongly), cure)
    return ok("session", "sql_mode, isolation level and character set are those that the service sets")


def _names(connection: Connection, exact: str) -> Result:
    """Whether all tables compare names exactly, as they did when they were made."""
    query = text("SELECT table_name, table_collation FROM information_schema.tables WHERE table_schema = DATABASE()")
    found = {str(name): str(collation) for name, collation in connection.execute(query)}
    loose = sorted(name for name in metadata.tables.keys() & found.keys() if found[name] != exact)
    if loose:
        cure = f"ALTER TABLE {loose[0]} CONVERT TO CHARACTER SET utf8mb4 COLLATE {exact}, and so for each"
        return wrong(
            "names", f"another collation than {exact}, by which some names are the same: {', '.join(loose)}", cure
        )
    return ok("names", f"all tables compare by {exact}")


def _durability(connection: Connection) -> Result:
    """Whether what was answered outlasts a power cut."""
    found = _variables(connection, "innodb_flush_log_at_trx_commit", "log_bin", "sync_binlog")
    weak = []
    if found["innodb_flush_log_at_trx_commit"] != "1":
        weak.append(f"innodb_flush_log_at_trx_commit = {found['innodb_flush_log_at_trx_commit']}")
    if _is_on(found["log_bin"]) and found["sync_binlog"] != "1":
        weak.append(f"sync_binlog = {found['sync_binlog']}")
    if weak:
        text = f"a power cut takes back the last changes that were answered: {', '.join(weak)}"
        return warning(
            "durability", text, "set them to 1, or keep to it where other nodes of a cluster have the changes"
        )
    return ok("durability", "every commit is on the disk")


def _replication(connection: Connection) -> Result:
    """Whether replicas get rows, and not statements that may do something else there."""
    found = _variables(connection, "log_bin", "binlog_format")
    form = found.get("binlog_format", "ROW")
    if _is_on(found["log_bin"]) and form == "STATEMENT":
        text = "the binary log has statements, which may change other rows on a replica"
        return warning("replication", text, "set binlog_format = ROW, or MIXED")
    return ok("replication", f"the binary log has the format {form}" if _is_on(found["log_bin"]) else "no binary log")


def _tls(connection: Connection, host: str) -> Result:
    """Whether others on the way can read along."""
    cipher = dict(map(tuple, connection.exec_driver_sql("SHOW SESSION STATUS LIKE 'Ssl_cipher'"))).get("Ssl_cipher")
    if cipher:
        return ok("TLS", f"the connection is encrypted ({cipher})")
    if is_loopback(host):
        return ok("TLS", "none, on this machine")
    return warning(
        "TLS", "whoever is on the way can read along", "let the server offer TLS, and add ?ssl=true to the URL"
    )


def _clock(connection: Connection) -> Result:
    """Whether the clock of the server and that of this machine agree."""
    before = time.time()
    there = float(connection.exec_driver_sql("SELECT UNIX_TIMESTAMP(NOW(6))").scalar() or 0)
    apart = there - (before + time.time()) / 2
    if abs(apart) > CLOCK_SKEW:
        told = f"that of the server is {abs(apart):.0f} s {'ahead of' if apart > 0 else 'behind'} this one"
        return wrong("clock", told, "set the clocks of all machines by NTP")
    return ok("clock", f"that of the server is {abs(apart):.1f} s from this one")


def _variables(connection: Connection, *names: str) -> dict[str, str]:
    """Return variables as they are for this user, those that the server does not know left out."""
    listed = ", ".join(f"'{name}'" for name in names)
    rows = connection.exec_driver_sql(f"SHOW SESSION VARIABLES WHERE Variable_name IN ({listed})")
    return {str(name): str(value) for name, value in rows}


def _is_on(value: str) -> bool:
    return value.upper() in _ON
