"""The one door for changes: work that sees the repositories of records only as recorded ones (contract B4, F1, G)."""

from collections.abc import Callable
from functools import cached_property
from typing import TypeVar

from logoadmin.domain.access import Rights
from logoadmin.domain.ledger import Ledger
from logoadmin.domain.records import Kind, Logo, Theme
from logoadmin.domain.repositories import RecordedAuthors, RecordedPieces, RecordedRoles, RecordedUsers
from logoadmin.ports.storage import Changes, FirstAnswers, Secrets, ServiceKeys, Sessions, SignInAttempts, UnitOfWork

Answer = TypeVar("Answer")


def recorded(
    work: Callable[["RecordedUnitOfWork"], Answer],
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
        ledger = Ledger(uow, now, user_id, request_id, held)
        answer = work(RecordedUnitOfWork(uow, ledger))
        ledger.close()
        return answer

    return in_history


class RecordedUnitOfWork:
    """Every repository at work in the same transaction, those of records through the ledger.

    They are made when they are asked for: most work needs one of them.
    """

    def __init__(self, uow: UnitOfWork, ledger: Ledger) -> None:
        self.ledger = ledger
        self._uow = uow

    @cached_property
    def users(self) -> RecordedUsers:
        """The users."""
        return RecordedUsers(self._uow, self.ledger)

    @cached_property
    def roles(self) -> RecordedRoles:
        """The roles."""
        return RecordedRoles(self._uow, self.ledger)

    @cached_property
    def authors(self) -> RecordedAuthors:
        """The authors."""
        return RecordedAuthors(self._uow, self.ledger)

    @cached_property
    def logos(self) -> RecordedPieces[Logo]:
        """The logos."""
        return RecordedPieces(self._uow.logos, Kind.LOGO, self.ledger)

    @cached_property
    def themes(self) -> RecordedPieces[Theme]:
        """The themes."""
        return RecordedPieces(self._uow.themes, Kind.THEME, self.ledger)

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
    def first_answers(self) -> FirstAnswers:
        """The answers to commands that may be sent again."""
        return self._uow.first_answers

    @property
    def sign_in_attempts(self) -> SignInAttempts:
        """The attempts to sign in."""
        return self._uow.sign_in_attempts


# What work that only reads is given as well as work that changes something.
AnyUnitOfWork = UnitOfWork | RecordedUnitOfWork
