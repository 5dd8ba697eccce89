"""Leases on a server: one process at a time holds a lease, across all servers of a cluster.

A named lock only exists on one server, but a row exists in the whole cluster. The process that inserted the row holds
the lease until the time in it, by the database's clock. In case that clock is set back, a lease that is not renewed for
long enough also expires.
"""

import secrets
import threading
import time
from collections.abc import Iterator, Mapping
from contextlib import contextmanager, suppress
from typing import Any, Final

from sqlalchemy import BigInteger, Column, Connection, MetaData, String, Table, exc, func, select
from sqlalchemy.schema import CreateTable

from logoadmin.adapters.sql_storage.databases.mysql.error_codes import code_of
from logoadmin.domain.kernel.causes import Cause
from logoadmin.domain.kernel.errors import StorageUnavailable

# It exists before all other tables, so no migration creates it.
LEASE_TABLE: Final = "logoadmin_leases"
# The lease of a dead process expires after this time; a live process renews it three times as often.
_DURATION: Final = 30  # seconds
_POLL: Final = 0.2
_NO_TABLE: Final = 1146
# Another process holds or takes the lease, or creates the table: 1050 is from MySQL, the others from a cluster.
_TAKEN: Final = frozenset({1020, 1050, 1062, 1205, 1213, 1412, 1684})

_NOW: Final = func.unix_timestamp()


class Lease:
    """An exclusive right that at most one process holds at a time."""

    def __init__(self, name: str, server: str, table_options: Mapping[str, Any]) -> None:
        """Prepare a lease of this name; ``server`` is for messages, ``table_options`` for its table."""
        self._name = name
        self._server = server
        self._holder = secrets.token_hex(16)
        self._leases = Table(
            LEASE_TABLE,
            MetaData(),
            Column("name", String(64), primary_key=True),
            Column("holder", String(64), nullable=False),
            Column("until", BigInteger, nullable=False),
            **table_options,
        )
        self._seen: object = None  # the row of another holder, unchanged since this time of our own clock
        self._since = 0.0
        self._ours = (self._leases.c.name == name, self._leases.c.holder == self._holder)

    @contextmanager
    def held(self, connection: Connection, *, wait: float) -> Iterator[None]:
        """Hold the lease, renewed on another connection of the same engine.

        Raises:
            StorageUnavailable: another process held it for the whole wait, or took it over before the end.
        """
        deadline = time.monotonic() + wait + _DURATION
        while not self._take(connection):
            if time.monotonic() > deadline:
                raise StorageUnavailable(self._server, Cause.TOO_BUSY)
            time.sleep(_POLL)
        done = threading.Event()
        renewing = threading.Thread(target=self._renew, args=(connection, done), name="lease", daemon=True)
        renewing.start()
        try:
            yield
        except BaseException:
            # If the connection was lost, the lease expires.
            with suppress(exc.SQLAlchemyError):
                self._give_back(connection)
            raise
        else:
            if not self._give_back(connection):
                raise StorageUnavailable(self._server, Cause.TOO_BUSY)
        finally:
            done.set()
            renewing.join()

    def _take(self, connection: Connection) -> bool:
        lease = {"name": self._name, "holder": self._holder, "until": _NOW + _DURATION}
        try:
            self._drop_expired(connection)
            self._drop_abandoned(connection)
            connection.execute(self._leases.insert().values(lease))
        except exc.DBAPIError as error:
            if code_of(error.orig) not in _TAKEN:
                raise
            return False
        return True

    def _drop_expired(self, connection: Connection) -> None:
        of_name = self._leases.c.name == self._name
        try:
            connection.execute(self._leases.delete().where(of_name, self._leases.c.until < _NOW))
        except exc.DBAPIError as error:
            if code_of(error.orig) != _NO_TABLE:
                raise
            connection.execute(CreateTable(self._leases, if_not_exists=True))

    def _drop_abandoned(self, connection: Connection) -> None:
        """Drop a lease that was not renewed for twice its duration, whatever its time (contract K7)."""
        columns = self._leases.c
        row = connection.execute(select(columns.holder, columns.until).where(columns.name == self._name)).first()
        if row != self._seen:
            self._seen, self._since = row, time.monotonic()
        elif row is not None and time.monotonic() - self._since > 2 * _DURATION:
            same = (columns.name == self._name, columns.holder == row.holder, columns.until == row.until)
            connection.execute(self._leases.delete().where(*same))

    def _renew(self, connection: Connection, done: threading.Event) -> None:
        pause = _DURATION / 3
        while not done.wait(pause):
            began = time.monotonic()
            # A failed renewal is retried; if all fail, the lease is lost, which is detected at the end.
            with suppress(exc.SQLAlchemyError), connection.engine.connect() as another:
                another.execute(self._leases.update().where(*self._ours).values(until=_NOW + _DURATION))
            # A change of a large table also blocks this statement.
            pause = max(0.0, _DURATION / 3 - (time.monotonic() - began))

    def _give_back(self, connection: Connection) -> bool:
        return connection.execute(self._leases.delete().where(*self._ours)).rowcount == 1
