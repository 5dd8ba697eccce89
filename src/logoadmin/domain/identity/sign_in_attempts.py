"""Attempts to sign in, counted before anything is verified; a refused one is an event (contract C1, O2, O9)."""

from collections.abc import Callable, Sequence
from contextlib import suppress
from dataclasses import dataclass
from functools import partial
from typing import Final

from logoadmin.domain.bound_storage import OpenTransaction
from logoadmin.domain.identity.records import CountedEvent
from logoadmin.domain.identity.sign_in_events import count_event
from logoadmin.domain.identity.sign_in_limits import (
    Limit,
    UserNetwork,
    count_or_wait,
    limits_of,
    network_of_user,
    remember_network,
)
from logoadmin.domain.kernel.access import Anonymous, SignedIn
from logoadmin.domain.kernel.errors import LogoAdminError, StorageUnavailable, TooManySignIns
from logoadmin.domain.kernel.unit_of_work import AnyUnitOfWork, history_in
from logoadmin.ports.identity_storage import Account, Counts
from logoadmin.ports.storage import Storage, UnitOfWork

IN_A_BLOCK: Final = "sign in outside of the atomic block: if the block failed, the attempts in it would not be counted"

# Returns the account that an attempt is for, if it exists, and the limits on the attempt.
LookUp = Callable[[UnitOfWork], tuple[Account | None, tuple[Limit, ...]]]


@dataclass(slots=True)
class Attempt:
    """One attempt of a client to sign in, at a Unix time.

    Attributes:
        networks: those of the client, see :func:`~logoadmin.domain.kernel.access.networks_of`.
        find: finds the account for the event of a refusal, if it is not looked up before.
        account: the account that it is for, once it is counted; None if no user has it.
    """

    storage: Storage
    client: Anonymous | SignedIn
    networks: Sequence[str]
    now: int
    find: Callable[[UnitOfWork], Account | None] | None = None
    account: Account | None = None
    _limits: tuple[Limit, ...] = ()
    _network: UserNetwork | None = None
    _known_until: int = 0

    def count(self, look_up: LookUp | None = None) -> Account | None:
        """Count it in a separate write, so that concurrent attempts are all counted; return its account.

        Without ``look_up``, it is counted by its network alone.

        Raises:
            TooManySignIns: there were too many failed attempts.
            RuntimeError: the storage is that of an atomic block, which would forget the attempt if it failed.
        """
        if isinstance(self.storage, OpenTransaction):
            raise RuntimeError(IN_A_BLOCK)
        wait = self.storage.write(partial(self._count, look_up))
        if wait is not None:
            raise TooManySignIns(wait)
        return self.account

    def _count(self, look_up: LookUp | None, uow: UnitOfWork) -> int | None:
        self.account, limits = (None, limits_of(self.networks)) if look_up is None else look_up(uow)
        names = [limit.counted for limit in limits]
        if any(limit.elsewhere for limit in limits):
            user_id = None if self.account is None else self.account.user_id
            self._network = network_of_user(uow.changes, user_id, self.networks[0])
            names.append(self._network.counted)
        stored = uow.identity.counts.several(names)
        self._known_until = 0 if self._network is None else stored[-1].ends_at
        is_known = self.now < self._known_until
        found = [
            (limit, count) for limit, count in zip(limits, stored, strict=False) if not (is_known and limit.elsewhere)
        ]
        self._limits = tuple(limit for limit, _ in found)
        return count_or_wait(uow.identity.counts, found, self.now)

    def refuse(self, error: LogoAdminError, now: int) -> None:
        """Count a refusal in the events; if the database is unavailable, it stands uncounted."""
        event: CountedEvent = "sign_in_limited" if isinstance(error, TooManySignIns) else "sign_in_refused"

        def count(uow: UnitOfWork) -> None:
            account = self.account if self.find is None else self.find(uow)
            count_event(uow, event, None if account is None else account.user_id, self.client, now)

        with suppress(StorageUnavailable):
            self.storage.write(count)

    def take_back(self, uow: UnitOfWork, *, named: bool = False) -> None:
        """Take it back, because it was right so far; attempts for the name stay counted unless ``named``."""
        uow.identity.counts.take_back([limit.counted for limit in self._limits if named or not limit.named])

    def succeed(self, uow: AnyUnitOfWork, counts: Counts, user_id: int, days: int) -> int:
        """Take it back, forget the failures for the name, and remember the network for some days.

        Return the change that created the user who signed in.
        """
        network, known_until = self._network, self._known_until
        forgiven = next((limit.counted for limit in self._limits if limit.forgives), "")
        counts.take_back([limit.counted for limit in self._limits], forgiven)
        if network is None:  # no limit needed it
            network = network_of_user(history_in(uow), user_id, self.networks[0])
        if known_until <= self.now:  # or known since, by a concurrent sign-in
            known_until = counts.get(network.counted).ends_at
        remember_network(counts, network, known_until, self.now, days)
        return network.user_since
