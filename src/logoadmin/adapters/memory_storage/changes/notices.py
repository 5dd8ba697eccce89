"""The notices."""

from dataclasses import replace

from logoadmin.adapters.memory_storage.tables import IdCounter, Repository
from logoadmin.ports.proposal_storage import StoredNotice


class MemoryNotices(Repository):
    """The notices, as :class:`~logoadmin.ports.proposal_storage.Notices` says."""

    def next_id(self) -> int:
        return IdCounter(self._tables, self._journal, "notice_id").next()

    def add(self, notice: StoredNotice) -> None:
        self._journal.set(self._tables.notices, notice.notice_id, notice)

    def due(self, now: int) -> StoredNotice | None:
        due = (each for each in self._tables.notices.values() if each.due_at <= now)
        return min(due, key=lambda each: (each.due_at, each.notice_id), default=None)

    def attempt(self, notice_id: int, due_at: int, attempts: int) -> None:
        self.add(replace(self._tables.notices[notice_id], due_at=due_at, attempts=attempts))

    def remove(self, notice_id: int) -> None:
        self._journal.delete(self._tables.notices, notice_id)
