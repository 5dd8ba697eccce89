"""The one door for changes: work that sees the repositories of records only as recorded ones (contract B4, F1, G)."""

from collections.abc import Callable
from functools import cached_property
from typing import TypeVar

from logoadmin.domain.audit.change_log import ChangeLog
from logoadmin.domain.audit.repositories import AuditedArtworks, AuditedAuthors, AuditedRoles, AuditedUsers
from logoadmin.domain.model.access import Rights
from logoadmin.domain.model.records import Kind, Logo, Theme
from logoadmin.ports.storage import Changes, Secrets, ServiceKeys, Sessions, SignInAttempts, StoredResponses, UnitOfWork

Answer = TypeVar("Answer")


def recorded(
    work: Callable[["AuditedUnitOfWork"], Answer],
    now: int,
    *,
    user_id: int | None = None,
    request_id: str | None = None,
    held: Rights | None = None,
) -> Callable[[UnitOfWork], Answer]:
    """Return work that does the same, and whose changes of records are judged, numbered and kept in the history.

    Args:
        work: what is to be done.
        now: when, as Unix time.
        user_id: who does it, if that is known.
        request_id: of the request that asked for it.
        held: what they may do; None for those who may do everything.
    """

    def in_history(uow: UnitOfWork) -> Answer:
        change_log = ChangeLog(uow, now, user_id, request_id, held)
        answer = work(AuditedUnitOfWork(uow, change_log))
        change_log.close()
        return answer

    return in_history


class AuditedUnitOfWork:
    """Every repository at work in the same transaction, those of records through the change_log.

    They are made when they are asked for: most work needs one of them.
    """

    def __init__(self, uow: UnitOfWork, change_log: ChangeLog) -> None:
        self.change_log = change_log
        self._uow = uow

    @cached_property
    def users(self) -> AuditedUsers:
        """The users."""
        return AuditedUsers(self._uow, self.change_log)

    @cached_property
    def roles(self) -> AuditedRoles:
        """The roles."""
        return AuditedRoles(self._uow, self.change_log)

    @cached_property
    def authors(self) -> AuditedAuthors:
        """The authors."""
        return AuditedAuthors(self._uow, self.change_log)

    @cached_property
    def logos(self) -> AuditedArtworks[Logo]:
        """The logos."""
        return AuditedArtworks(self._uow.logos, Kind.LOGO, self.change_log)

    @cached_property
    def themes(self) -> AuditedArtworks[Theme]:
        """The themes."""
        return AuditedArtworks(self._uow.themes, Kind.THEME, self.change_log)

    @property
    def sessions(self) -> Sessions:
        """The sessions."""
        return self._uow.sessions

    @property
    def secrets(self) -> Secrets:
        """The secrets."""
        return self._uow.secrets

    @property
    def keys(self) -> ServiceKeys:
        """The service keys."""
        return self._uow.keys

    @property
    def changes(self) -> Changes:
        """The history."""
        return self._uow.changes

    @property
    def stored_responses(self) -> StoredResponses:
        """The answers to commands that may be sent again."""
        return self._uow.stored_responses

    @property
    def sign_in_attempts(self) -> SignInAttempts:
        """The attempts to sign in."""
        return self._uow.sign_in_attempts


# What work that only reads is given as well as work that changes something.
AnyUnitOfWork = UnitOfWork | AuditedUnitOfWork
