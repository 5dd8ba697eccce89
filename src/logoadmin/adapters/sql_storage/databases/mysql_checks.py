"""Checks of a MariaDB or MySQL server: its version, its limits and durability (contract K4)."""

from typing import Final

from sqlalchemy import Connection

from logoadmin.adapters.sql_storage.tables import metadata
from logoadmin.checks import Result, ok, warning, wrong
from logoadmin.domain.kernel.causes import Cause
from logoadmin.domain.kernel.command import MAX_JSON
from logoadmin.domain.kernel.limits import MAX_CUSTOM_CSS
from logoadmin.ports.pictures import MAX_STORED, MAX_THUMBNAIL

_MIB: Final = 2**20
# What a statement for the largest row takes, in mebibytes. Escaping makes at most two bytes of one. A change has the
# CSS of a record twice, as JSON, in which a control character takes seven bytes.
_LARGEST_ROW: Final = max(2 * (MAX_STORED + MAX_THUMBNAIL), 2 * 7 * MAX_CUSTOM_CSS, 2 * MAX_JSON)
_PACKET: Final = -(-_LARGEST_ROW // _MIB) + 1
OLDEST: Final = {True: (10, 2), False: (8, 0)}


def check_product(connection: Connection) -> Result:
    """Check that the server supports the tables."""
    version = str(connection.exec_driver_sql("SELECT VERSION()").scalar())
    is_mariadb = bool(getattr(connection.dialect, "is_mariadb", False))
    found = connection.dialect.server_version_info or (0,)
    name = "MariaDB" if is_mariadb else "MySQL"
    if tuple(found[:2]) < OLDEST[is_mariadb]:
        oldest = ".".join(map(str, OLDEST[is_mariadb]))
        return wrong("product", f"{name} {version} cannot compare names exactly", f"use {name} {oldest} or newer")
    return ok("product", f"{name} {version}")


def check_packets(connection: Connection) -> Result:
    """Check that the largest row fits into a packet."""
    size = int(session_variables(connection, "max_allowed_packet")["max_allowed_packet"])
    if size < _PACKET * _MIB:
        return wrong(
            "packets",
            f"max_allowed_packet is {size / _MIB:.3g} MiB: {Cause.TOO_LARGE.text} for large pictures and long CSS",
            f"set max_allowed_packet = {_PACKET}M or more in the server's configuration",
        )
    return ok("packets", f"max_allowed_packet is {size / _MIB:.3g} MiB")


def check_connections(wanted: int, connection: Connection) -> Result:
    """Check that the server allows the connections that the processes here may open."""
    found = session_variables(connection, "max_connections", "max_user_connections")
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


def check_durability(connection: Connection) -> Result:
    """Check that acknowledged writes survive a power cut."""
    found = session_variables(connection, "innodb_flush_log_at_trx_commit", "log_bin", "sync_binlog")
    weak = []
    if found["innodb_flush_log_at_trx_commit"] != "1":
        weak.append(f"innodb_flush_log_at_trx_commit = {found['innodb_flush_log_at_trx_commit']}")
    if found["log_bin"].upper() in {"1", "ON", "YES"} and found["sync_binlog"] != "1":
        weak.append(f"sync_binlog = {found['sync_binlog']}")
    if weak:
        text = f"a power cut would undo the last acknowledged changes: {', '.join(weak)}"
        return warning("durability", text, "set them to 1, unless other nodes of a cluster have the changes")
    return ok("durability", "every commit is written to disk")


def check_collation(connection: Connection, exact: str) -> Result:
    """Check that names that differ are not equal (contract A6)."""
    rows = connection.exec_driver_sql(
        "SELECT table_name, column_name FROM information_schema.columns"
        " WHERE table_schema = DATABASE() AND collation_name <> %s",
        (exact,),
    )
    if found := sorted(f"{table}.{column}" for table, column in rows if table in metadata.tables):
        cure = f"ALTER TABLE each table CONVERT TO CHARACTER SET utf8mb4 COLLATE {exact}"
        return wrong("collation", f"names that differ can count as equal in {', '.join(found)}", cure)
    return ok("collation", "names are compared exactly")


def session_variables(connection: Connection, *names: str) -> dict[str, str]:
    """Return the session values of variables, without those that the server does not know."""
    listed = ", ".join(f"'{name}'" for name in names)
    rows = connection.exec_driver_sql(f"SHOW SESSION VARIABLES WHERE Variable_name IN ({listed})")
    return {str(name): str(value) for name, value in rows}
