"""The settings that administrators decide for everybody, as they are stored: in the history (contract J8)."""

from typing import Any

from logoadmin.domain.kernel.kinds import SETTINGS
from logoadmin.domain.kernel.records import Kind, SharedSettings
from logoadmin.domain.kernel.unit_of_work import AnyUnitOfWork, history_in
from logoadmin.ports.history_storage import ReadsChanges


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


def shared_settings(uow: AnyUnitOfWork) -> SharedSettings:
    """Return the settings as they are now."""
    return SettingsInHistory(history_in(uow)).get(SharedSettings.settings_id)
