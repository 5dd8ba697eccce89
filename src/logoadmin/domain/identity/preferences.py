"""The preferences of users, which the service keeps and does not interpret (contract J8)."""

import json
from typing import Any

from logoadmin.domain.kernel.access import SIGNED_IN, Held, user_of
from logoadmin.domain.kernel.command import Command
from logoadmin.domain.kernel.limits import Preferences
from logoadmin.domain.kernel.unit_of_work import AuditedUnitOfWork, ReadUnitOfWork, identity_in
from logoadmin.domain.kernel.use_cases import Service, reads_with_rights, writes


class GetPreferences(Command):
    """The caller's own preferences."""


class SetPreferences(Command):
    """New preferences of the caller, which replace all old ones."""

    preferences: Preferences


class PreferenceService(Service):
    """The use cases of preferences."""

    @reads_with_rights(SIGNED_IN)
    def get(self, uow: ReadUnitOfWork, _command: GetPreferences, held: Held) -> dict[str, Any]:
        """Return the caller's preferences, empty if none were set.

        Raises:
            NotAuthenticated: the caller is not a user; NotPermitted: it is a service key.
        """
        stored = identity_in(uow).preferences.get(user_of(held))
        found: dict[str, Any] = {} if stored is None else json.loads(stored)
        return found

    @writes(SIGNED_IN)
    def set(self, uow: AuditedUnitOfWork, command: SetPreferences) -> dict[str, Any]:
        """Replace the caller's preferences and return them. They are not in the history, and go with their user.

        Raises:
            NotAuthenticated: the caller is not a user; NotPermitted: it is a service key.
        """
        identity_in(uow).preferences.set(user_of(uow.held), json.dumps(command.preferences, ensure_ascii=False))
        return command.preferences
