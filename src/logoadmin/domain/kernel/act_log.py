"""What a write did, summed up as its changes are recorded: the act of its request (contract G5).

It is stored with the changes, so that it reads the same whatever happens later.
"""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from enum import StrEnum
from typing import Any, Final

from logoadmin.domain.kernel.kinds import AUTHORS, RECORDED_KINDS, USERS
from logoadmin.domain.kernel.limits import Origin, Source
from logoadmin.domain.kernel.records import Change, Kind
from logoadmin.ports.kernel.act_storage import StoredAct
from logoadmin.ports.storage import UnitOfWork

Snapshot = Mapping[str, Any]

CREATED: Final = "created"
AMENDED: Final = "amended"
REMOVED: Final = "removed"
RESTORED: Final = "restored"
LINKED: Final = "linked"
UNLINKED: Final = "unlinked"
PASSWORD_SET: Final = "password_set"
BLOCKED: Final = "blocked"
UNBLOCKED: Final = "unblocked"
# The field of a snapshot with the reason why an artwork is blocked; others do not have it.
BLOCKED_FIELD: Final = "blocked"
# The field of a snapshot with the links of an artwork; an author has one for each kind of artwork, named in the plural.
AUTHORS_FIELD: Final = "authors"
_MOST_NAMED: Final = 3
# Up to this many are listed of the records that later ones can refer to.
_MOST_CREATED: Final = 50
_REFERRED_TO: Final = (Kind.AUTHOR, Kind.ROLE)


class ActOrigin(StrEnum):
    """Where an act came from (contract G5)."""

    FIRST_START = "first start"
    COMMAND_LINE = "command line"
    IMPORT = "import"
    CONSOLE = "console"
    INTERFACE = "interface"
    PROPOSAL = "proposal"
    UNDO = "undo"


@dataclass(slots=True)
class ActSummary:
    """What an act did, see :class:`~logoadmin.domain.changes.acts.Act`.

    Attributes:
        switched: the values of ``active`` that it set.
        reasons: the reasons for which it blocked artworks, up to two.
        created: the first authors and roles that it created, to which others may refer.
    """

    at: int
    source: str | None
    user_id: int | None
    user_name: str | None
    submitter_id: int | None
    submitter_name: str | None
    note: str | None
    origin: str
    undid: str | None
    count: int = 0
    actions: dict[str, int] = field(default_factory=dict)
    fields: list[str] | None = None
    names: dict[str, str] = field(default_factory=dict)
    authors: dict[str, str] = field(default_factory=dict)
    switched: list[bool] = field(default_factory=list)
    reasons: list[str] = field(default_factory=list)
    created: dict[str, list[int]] = field(default_factory=dict)

    def as_json(self) -> dict[str, Any]:
        """Return its fields."""
        return {name: getattr(self, name) for name in self.__slots__}

    def add(self, change: Change, uow: UnitOfWork) -> None:
        """Add a change."""
        self.count += 1
        self.actions[change.action] = self.actions.get(change.action, 0) + 1
        changed = _changed_fields(change)
        self.fields = changed if self.fields is None else [name for name in self.fields if name in changed]
        if len(self.names) < _MOST_NAMED and (name := _name(change)):
            self.names.setdefault(f"{change.kind} {change.id}", name)
        after = change.after or {}
        # Users have it only during a suspension.
        if "active" in changed and (is_active := after.get("active", True)) not in self.switched:
            self.switched.append(is_active)
        verb = change.action.partition(".")[2]
        if verb == BLOCKED and len(self.reasons) < 2 and (reason := after[BLOCKED_FIELD]) not in self.reasons:
            self.reasons.append(reason)
        if AUTHORS_FIELD in changed and len(self.authors) < _MOST_NAMED:
            self.authors.update(_authors(change, uow))
        created = self.created.setdefault(change.kind, []) if change.kind in _REFERRED_TO else []
        if verb == CREATED and len(created) < _MOST_CREATED:
            created.append(change.id)


@dataclass(slots=True, eq=False)
class ActLog:
    """The act of one write, which goes on with what earlier writes of its request did.

    Attributes:
        request_id: the id of the request.
    """

    _uow: UnitOfWork
    request_id: str | None
    _undone: StoredAct | None = None
    _undoes_all: bool = False
    _first: int = 0
    _earlier: StoredAct | None = None
    _summary: ActSummary | None = None

    def undo(self, act: StoredAct, *, whole: bool) -> None:
        """Record, before any change, that this write undoes an act, or some of its changes."""
        self._undone, self._undoes_all = act, whole

    def add(self, changes: Sequence[Change]) -> int:
        """Add changes that are about to be stored, and return the id of the act."""
        if self._summary is None:
            self._summary = self._begin(changes)
        for change in changes:
            self._summary.add(change, self._uow)
        return self._first

    def store(self, last_id: int) -> None:
        """Store the act, if there were changes, and what follows for the act that it undid."""
        if self._summary is None:
            return
        act = StoredAct(self._first, last_id, self.request_id, None, None, self._summary.as_json())
        if self._undone is not None and self._undoes_all:
            act = replace(act, undoes=self._undone.act_id)
            self._mark_undone(self._undone)
        if self._earlier is None:
            self._uow.acts.add(act)
        else:
            self._uow.acts.update(act)

    def _begin(self, changes: Sequence[Change]) -> ActSummary:
        first = changes[0]
        if self.request_id is not None:
            self._earlier = self._uow.acts.of_request(self.request_id)
        if self._earlier is not None:
            self._first = self._earlier.act_id
            return ActSummary(**self._earlier.summary)
        self._first = first.change_id
        return ActSummary(
            at=first.at,
            source=first.source,
            user_id=first.user_id,
            user_name=self._username(first.user_id, changes),
            submitter_id=first.submitter_id,
            submitter_name=self._username(first.submitter_id, changes),
            note=first.note,
            origin=_origin(first),
            undid=None if self._undone is None else self._undone.summary["origin"],
        )

    def _username(self, user_id: int | None, changes: Sequence[Change]) -> str | None:
        """Return how a user was called before these changes."""
        if user_id is None:
            return None
        for change in changes:
            if change.kind is Kind.USER and change.id == user_id and change.before is not None:
                return _name(replace(change, after=change.before))
        user = self._uow.records(USERS).get(user_id)
        return None if user is None else user.username

    def _mark_undone(self, undone: StoredAct) -> None:
        """Mark an act as undone; what it had undone itself holds again, and so on."""
        acts, by, holds = self._uow.acts, self.request_id, True
        act: StoredAct | None = undone
        while act is not None:
            acts.update(replace(act, undone_by=by if holds else None))
            by, holds = act.request_id, not holds
            act = None if act.undoes is None else acts.get(act.undoes)


def _origin(change: Change) -> ActOrigin:
    if change.source in (Source.FIRST_START, Source.COMMAND_LINE):
        return ActOrigin(change.source)
    if change.origin not in (None, Origin.BULK):
        return ActOrigin(change.origin)
    return ActOrigin.CONSOLE if change.source is Source.CONSOLE else ActOrigin.INTERFACE


def _changed_fields(change: Change) -> list[str]:
    """Return the fields that a change of an existing record changed."""
    before, after = change.before, change.after
    if before is None or after is None:
        return []
    return [name for name in {**before, **after} if before.get(name) != after.get(name)]


def _name(change: Change) -> str | None:
    field_ = RECORDED_KINDS[change.kind].name_field
    return (change.after or change.before or {}).get(field_) if field_ else None


def _authors(change: Change, uow: UnitOfWork) -> Iterator[tuple[str, str]]:
    """Yield the first authors that a change linked or unlinked, with their names."""
    was, is_ = (
        dict.fromkeys(link["author_id"] for link in (side or {}).get(AUTHORS_FIELD, ()))
        for side in (change.before, change.after)
    )
    differing = [id_ for id_ in {**is_, **was} if (id_ in was) != (id_ in is_)]
    for id_ in differing[:_MOST_NAMED]:
        author = uow.records(AUTHORS).get(id_)
        if author is not None:
            yield str(id_), author.username
