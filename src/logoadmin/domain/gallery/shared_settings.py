"""The settings that administrators decide for everybody (contract J8)."""

from logoadmin.domain.kernel.access import SIGNED_IN, Permission, Scope
from logoadmin.domain.kernel.audited_unit_of_work import AuditedUnitOfWork, unless_unmodified
from logoadmin.domain.kernel.command import UNSET, Command
from logoadmin.domain.kernel.context_ports import history_in
from logoadmin.domain.kernel.kinds import SETTINGS
from logoadmin.domain.kernel.limits import GalleryHome, GalleryTitle, PictureHosts
from logoadmin.domain.kernel.read_unit_of_work import ReadUnitOfWork
from logoadmin.domain.kernel.records import SharedSettings
from logoadmin.domain.kernel.settings_in_history import SettingsInHistory
from logoadmin.domain.kernel.use_cases import Service, reads, writes


class GetSettings(Command):
    """The settings for everybody."""


class AmendSettings(Command):
    """New values for the settings; fields that are left out stay as they are."""

    picture_hosts: PictureHosts = UNSET
    gallery_title: GalleryTitle | None = UNSET
    gallery_home: GalleryHome | None = UNSET


class SettingsService(Service):
    """The use cases of settings."""

    @reads(SIGNED_IN)
    def get(self, uow: ReadUnitOfWork, command: GetSettings) -> SharedSettings:
        """Return the settings; before the first change, there are none."""
        return unless_unmodified(SettingsInHistory(history_in(uow)).get(SharedSettings.settings_id), command)

    @writes(Permission(Scope.ALL))
    def amend(self, uow: AuditedUnitOfWork, command: AmendSettings) -> SharedSettings:
        """Change the settings; like every change of a record, this is in the history and can be undone.

        Raises:
            NotPermitted: the caller does not hold everything.
            Outdated: the settings have none of the versions in ``if_match``.
        """
        return uow.records(SETTINGS).amend(SharedSettings.settings_id, command.if_match, command.new_values())
