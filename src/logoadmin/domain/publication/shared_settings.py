"""The shared settings, which administrators choose (contract J8)."""

from collections.abc import Sequence
from typing import Any

from logoadmin.domain.kernel.access import SIGNED_IN, Permission, Scope
from logoadmin.domain.kernel.audited_records import AuditedRecords
from logoadmin.domain.kernel.command import UNSET, Command
from logoadmin.domain.kernel.errors import InvalidInput
from logoadmin.domain.kernel.kinds import SETTINGS
from logoadmin.domain.kernel.limits import (
    GalleryAccent,
    GalleryHome,
    GalleryMark,
    GalleryTitle,
    PictureHosts,
    SubmissionRules,
)
from logoadmin.domain.kernel.records import SharedSettings
from logoadmin.domain.kernel.unit_of_work import (
    AuditedUnitOfWork,
    ReadUnitOfWork,
    SettingsInHistory,
    shared_settings,
    stored_pictures_in,
    unless_unmodified,
)
from logoadmin.domain.kernel.use_cases import Service, reads, writes
from logoadmin.domain.publication.css.targets import NewTargets
from logoadmin.ports.storage import UnitOfWork


class GetSettings(Command):
    """The shared settings."""


class AmendSettings(Command):
    """New values for the settings; omitted fields are unchanged."""

    picture_hosts: PictureHosts = UNSET
    gallery_title: GalleryTitle | None = UNSET
    gallery_home: GalleryHome | None = UNSET
    gallery_mark: GalleryMark | None = UNSET
    gallery_accent: GalleryAccent | None = UNSET
    gallery_targets: NewTargets = UNSET
    submission_rules: SubmissionRules = UNSET


class SettingsService(Service):
    """The use cases of settings."""

    @reads(SIGNED_IN)
    def get(self, uow: ReadUnitOfWork, command: GetSettings) -> SharedSettings:
        """Return the settings, which are empty before the first change."""
        return unless_unmodified(shared_settings(uow), command)

    @writes(Permission(Scope.ALL))
    def amend(self, uow: AuditedUnitOfWork, command: AmendSettings) -> SharedSettings:
        """Change the settings; like every change of a record, this is in the history and can be undone.

        Raises:
            NotPermitted: the caller does not hold ``*``.
            Outdated: the settings have none of the versions in ``if_match``.
            InvalidInput: the mark is not a stored picture.
        """
        if command.gallery_mark is not UNSET and command.gallery_mark is not None:
            _require_stored(uow, command.gallery_mark)
        return uow.records(SETTINGS).amend(SharedSettings.settings_id, command.if_match, command.new_values())


def _require_stored(uow: AuditedUnitOfWork, mark: str) -> None:
    found = stored_pictures_in(uow).get(mark)
    if found is None or found.is_removed:
        raise InvalidInput.of("Input should be a picture of this service; upload it first", "body", "gallery_mark")


class AuditedSettings(AuditedRecords[SharedSettings]):
    """The settings in a write."""

    @staticmethod
    def _repository(uow: UnitOfWork) -> Any:
        return SettingsInHistory(uow.changes)

    def load(self, ids: Sequence[int]) -> None:
        """Do nothing: the only record is read when needed."""
