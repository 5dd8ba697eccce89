"""The repository of notices."""

from dataclasses import asdict
from typing import Any, Final

from sqlalchemy import bindparam, select

from logoadmin.adapters.sql_storage.repository import Repository
from logoadmin.adapters.sql_storage.tables.changes_tables import notices
from logoadmin.ports.proposal_storage import StoredNotice

_NOW: Any = bindparam("now")
_DUE: Final = select(notices).where(notices.c.due_at <= _NOW).order_by(notices.c.due_at, notices.c.notice_id).limit(1)


class SqlNotices(Repository):
    """Implements :class:`~logoadmin.ports.proposal_storage.Notices`."""

    def next_id(self) -> int:
        return self._transaction.next_id("notice_id")

    def add(self, notice: StoredNotice) -> None:
        self._add(notices, asdict(notice))

    def due(self, now: int) -> StoredNotice | None:
        row = self._transaction.row(_DUE, {"now": now})
        return None if row is None else StoredNotice(*row)

    def attempt(self, notice_id: int, due_at: int, attempts: int) -> None:
        self._update(notices, {"notice_id": notice_id}, {"due_at": due_at, "attempts": attempts})

    def remove(self, notice_id: int) -> None:
        self._remove(notices, notice_id=notice_id)
