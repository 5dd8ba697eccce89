"""Users in a write, whose suspension ends what lets them in (contract D)."""

from logoadmin.domain.identity.events.event_records import EventName
from logoadmin.domain.identity.events.recording import record_event
from logoadmin.domain.identity.signing_out import end_access
from logoadmin.domain.kernel.audited_records import AuditedRecords, log_of, uow_of
from logoadmin.domain.kernel.records import User


class AuditedUsers(AuditedRecords[User]):
    """The users. A suspension ends their sessions and keys; its end lets them sign in as before."""

    def update(self, record: User) -> User:
        """Give a user new values; return the user with their version."""
        before = self.get_existing(record.user_id)
        if record.active and not before.active:
            self.authorize(before, active=True)
        updated = super().update(record)
        if before.active and not record.active:
            end_access(uow_of(self), record.user_id)
        if before.active != record.active:
            event: EventName = "suspension_ended" if record.active else "suspended"
            log = log_of(self)
            record_event(uow_of(self), event, record.user_id, log.caller, log.now)
        return updated
