"""The one door to storage: nothing is read or written but by somebody who may (contract A19, B5)."""

from collections.abc import Callable
from typing import TypeVar

from logoadmin.domain.access import PUBLIC, Caller, Policy, SignedIn, admit, permit
from logoadmin.domain.command import Command
from logoadmin.domain.errors import StorageUnavailable
from logoadmin.domain.lists import SMALL_RECORDS, Listing, Pages
from logoadmin.ports.storage import Storage, UnitOfWork

Answer = TypeVar("Answer")
Record = TypeVar("Record")


class Transactions:
    """Runs the work of a command in one transaction, once the caller's rights were read in that transaction.

    Every method takes the command, who asks, and the work, a function of the unit of work that may be run again
    from its start when the database asks for that; it must touch nothing but the unit of work.

    Raises, all of them: NotAuthenticated, InvalidToken, NotPermitted, StorageUnavailable, and what the work raises.
    """

    def __init__(self, storage: Storage, policy: Policy) -> None:
        """Work on a storage under an access policy."""
        self._storage = storage
        self._policy = policy

    def admit(self, command: Command, caller: Caller) -> None:
        """Refuse a caller without a token where one is needed; the other methods do this first, too."""
        admit(self._policy, command.need, caller)

    def read(self, command: Command, caller: Caller, work: Callable[[UnitOfWork], Answer]) -> Answer:
        """Return the answer of work that changes nothing."""
        if command.need == PUBLIC or not isinstance(caller, SignedIn):
            self.admit(command, caller)
            return self._storage.read(work)
        # Rights and record are two statements that must see the same moment.
        return self.snapshot(command, caller, work)

    def check(self, command: Command, caller: Caller) -> None:
        """Refuse a caller who may not, before work that costs much; whatever then writes judges again."""
        self.admit(command, caller)
        if isinstance(caller, SignedIn):
            self.snapshot(command, caller, lambda _: None)

    def snapshot(self, command: Command, caller: Caller, work: Callable[[UnitOfWork], Answer]) -> Answer:
        """Return the answer of work that changes nothing and sees one moment, however much it reads."""
        self.admit(command, caller)
        return self._storage.snapshot(self._permitted(command, caller, work))

    def pour(self, command: Command, caller: Caller, work: Callable[[UnitOfWork], Answer]) -> Answer:
        """Do the same for work that lets out what it reads while it reads, which cannot be done twice.

        Raises:
            StorageUnavailable: also where other work would have been run again.
        """
        begun = False

        def once(uow: UnitOfWork) -> Answer:
            nonlocal begun
            if begun:
                raise StorageUnavailable(self._storage.server)
            begun = True
            return work(uow)

        return self.snapshot(command, caller, once)

    def write(self, command: Command, caller: Caller, work: Callable[[UnitOfWork], Answer]) -> Answer:
        """Return the answer of work that changes records, all of its changes or none."""
        self.admit(command, caller)
        return self._storage.write(self._permitted(command, caller, work))

    def list(
        self,
        command: Command,
        caller: Caller,
        page: Callable[[UnitOfWork, int, int], tuple[Record, ...]],
        id_of: Callable[[Record], int],
        pages: Pages = SMALL_RECORDS,
    ) -> Listing[Record]:
        """Return a list; ``page`` fetches records that follow an id, -1 for the first ones, up to so many."""
        first = self.read(command, caller, lambda uow: page(uow, -1, pages.first))
        return Listing(first, lambda last, limit: self._storage.read(lambda uow: page(uow, id_of(last), limit)), pages)

    def _permitted(
        self, command: Command, caller: Caller, work: Callable[[UnitOfWork], Answer]
    ) -> Callable[[UnitOfWork], Answer]:
        if not isinstance(caller, SignedIn):
            return work
        own = command.need.own
        user_id = None if own is None else getattr(command, own)

        def permitted(uow: UnitOfWork) -> Answer:
            held = uow.sessions.rights(caller.session_id, caller.user_id)
            permit(self._policy, command.need, caller, held, user_id)
            return work(uow)

        return permitted
