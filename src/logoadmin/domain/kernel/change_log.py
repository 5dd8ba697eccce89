"""The change log of a write: its changes, numbered and written into the history (contract F1, G)."""

from collections import defaultdict
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from typing import Final, Protocol

from logoadmin.domain.kernel.access import OWNER, Caller
from logoadmin.domain.kernel.act_log import AMENDED, BLOCKED, BLOCKED_FIELD, UNBLOCKED, ActLog, Snapshot
from logoadmin.domain.kernel.kinds import pictures_in
from logoadmin.domain.kernel.limits import MAX_ID, Origin
from logoadmin.domain.kernel.records import Change, Kind
from logoadmin.ports.gallery_storage import Withdrawal
from logoadmin.ports.history_storage import StoredAct
from logoadmin.ports.storage import UnitOfWork

# Up to this many changes are held in memory.
_MOST_HELD: Final = 16
# Up to this many withdrawals are held in memory, beside those that are not stored yet.
_MOST_WITHDRAWALS: Final = 256
# Above all ids.
_NEVER: Final = MAX_ID + 1


class Subscriber(Protocol):
    """Follows the changes of a write, in the same transaction."""

    def __call__(self, uow: UnitOfWork, change_log: "ChangeLog", changes: Sequence[Change], /, *, final: bool) -> None:
        """Follow changes that were just stored; they are the last ones of the write if ``final``.

        New records under ids that no record had before are left out unless they name a picture of the gallery: nobody
        knows them yet.
        """


@dataclass(slots=True, eq=False)
class ChangeLog:
    """The changes of one unit of work, numbered and written into the history.

    Consecutive changes of one record are merged: a record that gets new values and new links is amended once. Its
    removal, and a new record in its place, are changes of their own.

    Attributes:
        now: the time of the changes, as Unix time.
        act: the act of the write.
        last_id: the id of the last change, also one before this unit of work.
        caller: the caller of the write.
        undoes: the change that is being undone.
        submitter_id: the user who proposed the changes.
        changes: the last changes, which are not stored yet.
        withdrawals: the withdrawals that this write has read or changed; None for an artwork without one.
        unstored_withdrawals: those that it has changed and not stored.
        once_withdrawn: the artworks that were withdrawn before this write.
    """

    _uow: UnitOfWork
    now: int
    _user_id: int | None
    act: ActLog
    last_id: int
    _origin: Origin | None = None
    _subscribers: Sequence[Subscriber] = ()
    caller: Caller = OWNER
    undoes: int | None = None
    submitter_id: int | None = None
    author_changes: int = 0
    changes: list[Change] = field(default_factory=list)
    withdrawals: dict[tuple[Kind, int], Withdrawal | None] = field(default_factory=dict)
    unstored_withdrawals: set[tuple[Kind, int]] = field(default_factory=set)
    once_withdrawn: set[tuple[Kind, int]] = field(default_factory=set)
    _goes_on: bool = False
    _is_followed: bool = False
    _first_new: dict[Kind, int] = field(default_factory=dict)

    def version(self, kind: Kind, id_: int) -> int:
        """Return the id that a change of a record gets."""
        if self._goes_on and self.changes[-1].id == id_ and self.changes[-1].kind is kind:
            return self.last_id
        return self.last_id + 1

    def record(
        self, action: str, kind: Kind, id_: int, change_id: int, before: Snapshot | None, after: Snapshot | None
    ) -> None:
        """Record a change that was made, under the id that :meth:`version` gave it."""
        self.author_changes += kind is Kind.AUTHOR
        if change_id == self.last_id:
            first = self.changes.pop()
            action, before = first.action.partition(".")[2], first.before
        if action == AMENDED and before is not None and after is not None:
            action = _verb(before, after)
        if len(self.changes) >= _MOST_HELD:
            self.store()
        self.last_id, self._goes_on = change_id, True
        what = (f"{kind}.{action}", kind, id_, before, after)
        how = (self.act.request_id, self._origin, self.undoes, self.submitter_id)
        why = (self.caller.occasion.source, self.caller.occasion.note)
        change = Change(change_id, self.now, self._user_id, *what, *how, *why)
        self.changes.append(change)

    def continue_request(self, request_id: str) -> None:
        """Record the next changes under the id of an earlier request: they are of its act, and undone with it."""
        self.act.request_id, self.act.is_first = request_id, False

    def begin_next(self) -> None:
        """Record the next change without merging it with those before."""
        self._goes_on = False

    def next_version(self) -> int:
        """Begin the next change, and return the id that it gets."""
        self._goes_on = False
        return self.last_id + 1

    def undo(self, change_id: int) -> None:
        """Record that the next changes undo this one; they are not merged with those before."""
        self.begin_next()
        self.undoes = change_id

    def undo_act(self, act: StoredAct, *, whole: bool) -> None:
        """Record, before any change, that this write undoes an act, or some of its changes.

        The act names the request that undid it. A write of a program without a request id gets one that no client can
        send.
        """
        if whole and self.act.request_id is None:
            self.act.request_id = f"undo:{self.last_id + 1}"
        self.act.undo(act, whole=whole)

    def note_new(self, kind: Kind, id_: int) -> None:
        """Remember that no record had this id before, nor any above it."""
        self._first_new.setdefault(kind, id_)

    def is_new(self, kind: Kind, id_: int) -> bool:
        """Return whether no record had this id before this unit of work."""
        return id_ >= self._first_new.get(kind, _NEVER)

    def load_withdrawals(self, keys: Iterable[tuple[Kind, int]]) -> None:
        """Read the withdrawals of up to 50 artworks that were not read before; new artworks have none.

        If too many are in memory, those that are stored are dropped first.
        """
        if len(self.withdrawals) > _MOST_WITHDRAWALS:
            self.withdrawals = {key: self.withdrawals[key] for key in self.unstored_withdrawals}
        unknown: defaultdict[Kind, list[int]] = defaultdict(list)
        for kind, id_ in keys:
            if (kind, id_) not in self.withdrawals and not self.is_new(kind, id_):
                self.withdrawals[kind, id_] = None
                unknown[kind].append(id_)
        for kind, ids in unknown.items():
            found = self._uow.withdrawals.get_many(kind, ids)
            self.withdrawals.update({(kind, withdrawal.id): withdrawal for withdrawal in found})

    def store(self, *, final: bool = False) -> None:
        """Store the changes so far and show them to the subscribers; later changes are not merged with them."""
        changes, self.changes, self._goes_on = self.changes, [], False
        if changes:
            self._uow.changes.add(changes, self.act.add(changes))
        if final:
            self.act.store(self.last_id)
        new = self._first_new
        followed = [
            each
            for each in changes
            if each.before is not None or each.id < new.get(each.kind, _NEVER) or pictures_in(each.kind, each.after)
        ]
        if followed or (final and self._is_followed):
            self._is_followed = True
            for subscriber in self._subscribers:
                subscriber(self._uow, self, followed, final=final)


def _verb(before: Snapshot, after: Snapshot) -> str:
    """Return the verb of an amendment: one that begins or ends a block is named after that, whatever else it did."""
    was, is_ = BLOCKED_FIELD in before, BLOCKED_FIELD in after
    return AMENDED if was == is_ else BLOCKED if is_ else UNBLOCKED
