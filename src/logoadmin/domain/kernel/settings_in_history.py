"""The settings that administrators decide for everybody (contract J8). The history is where they are stored."""

from collections.abc import Sequence
from typing import Any

from logoadmin.domain.kernel.audited_unit_of_work import AuditedRecords
from logoadmin.domain.kernel.kinds import SETTINGS
from logoadmin.domain.kernel.records import Kind, SharedSettings
from logoadmin.ports.kernel.change_storage import ReadsChanges
from logoadmin.ports.storage import UnitOfWork


class SettingsInHistory:
    """The settings as their newest change left them; without one, they are the defaults."""

    def __init__(self, history: ReadsChanges) -> None:
        self._history = history

    def get(self, id_: int) -> SharedSettings:
        """Return the settings."""
        change_id = self._history.last_of(Kind.SETTINGS, id_)
        change = self._history.get(change_id) if change_id else None
        after = {} if change is None or change.after is None else change.after
        # A newer version of logoadmin may have recorded more of them (contract K7).
        known: dict[str, Any] = {name: after[name] for name in SETTINGS.stored_fields if name in after}
        hosts = tuple(known.pop("picture_hosts", ()))
        return SharedSettings(hosts, **known, version=change_id)

    def update(self, settings: SharedSettings) -> None:
        """Do nothing: the change that is recorded stores them."""


class AuditedSettings(AuditedRecords[SharedSettings]):
    """The settings in a write."""

    @staticmethod
    def _repository(uow: UnitOfWork) -> Any:
        return SettingsInHistory(uow.changes)

    def load(self, ids: Sequence[int]) -> None:
        """Do nothing: the one record is read when it is needed."""
