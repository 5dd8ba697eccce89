"""The act of a request: its changes, summed up as they are recorded (contract G5).

It is stored with the changes, so that it reads the same whatever happens later.
"""

from collections.abc import Iterator, Mapping, Sequence
from copy import deepcopy
from dataclasses import dataclass, replace
from enum import StrEnum
from typing import Any, Final, TypedDict, cast

from logoadmin.domain.kernel.access import Source
from logoadmin.domain.kernel.kinds import AUTHORS, RECORDED_KINDS, USERS
from logoadmin.domain.kernel.limits import Origin
from logoadmin.domain.kernel.records import Change, Kind
from logoadmin.ports.history_storage import StoredAct
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
    """The origin of an act (contract G5)."""

    FIRST_START = "first start"
    COMMAND_LINE = "command line"
    IMPORT = "import"
    CONSOLE = "console"
    INTERFACE = "interface"
    PROPOSAL = "proposal"
    UNDO = "undo"


class ActSummary(TypedDict):
    """The summary of an act, as it is stored; see :class:`~logoadmin.domain.changes.acts.Act`.

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
    count: int
    actions: dict[str, int]
    fields: list[str] | None
    names: dict[str, str]
    authors: dict[str, str]
    switched: list[bool]
    reasons: list[str]
    created: dict[str, list[int]]


@dataclass(slots=True, eq=False)
class ActLog:
    """The act of one write, which continues that of earlier writes of its request.

    Attributes:
        request_id: the id of the request.
        is_first: whether no earlier write had this id.
    """

    _uow: UnitOfWork
    request_id: str | None
    is_first: bool
    _user_name: str | None
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
            self._summary = self._begin(changes[0])
        for change in changes:
            self._add(self._summary, change)
        return self._first

    def store(self, last_id: int) -> None:
        """Store the act, if it has changes, and mark the one that it undid."""
        if self._summary is None:
            return
        undoes = None
        if self._undone is not None and self._undoes_all:
            undoes = self._undone.act_id
            self._mark_undone(self._undone)
        act = StoredAct(self._first, last_id, self.request_id, undoes, None, self._summary)
        if self._earlier is None:
            self._uow.acts.add(act)
        else:
            self._uow.acts.update(act)

    def _begin(self, first: Change) -> ActSummary:
        if self.request_id is not None and not self.is_first:
            self._earlier = self._uow.acts.of_request(self.request_id)
        if self._earlier is not None:
            self._first = self._earlier.act_id
            return cast(ActSummary, deepcopy(self._earlier.summary))
        self._first = first.change_id
        submitter = None if first.submitter_id is None else self._uow.records(USERS).get(first.submitter_id)
        return {
            "at": first.at,
            "source": first.source,
            "user_id": first.user_id,
            "user_name": self._user_name,
            "submitter_id": first.submitter_id,
            "submitter_name": None if submitter is None else submitter.username,
            "note": first.note,
            "origin": _origin(first),
            "undid": None if self._undone is None else self._undone.summary["origin"],
            "count": 0,
            "actions": {},
            "fields": None,
            "names": {},
            "authors": {},
            "switched": [],
            "reasons": [],
            "created": {},
        }

    def _add(self, summary: ActSummary, change: Change) -> None:
        before, after = change.before or {}, change.after or {}
        summary["count"] += 1
        summary["actions"][change.action] = summary["actions"].get(change.action, 0) + 1
        # A record that is created or removed changes no fields.
        both = {**before, **after} if before and after else {}
        fields = [name for name in both if before.get(name) != after.get(name)]
        summary["fields"] = fields if summary["fields"] is None else [x for x in summary["fields"] if x in fields]
        name = (after or before).get(RECORDED_KINDS[change.kind].name_field)
        if name and len(summary["names"]) < _MOST_NAMED:
            summary["names"].setdefault(f"{change.kind} {change.id}", name)
        # Users have it only during a suspension.
        if "active" in fields and (is_active := after.get("active", True)) not in summary["switched"]:
            summary["switched"].append(is_active)
        verb = change.action.partition(".")[2]
        if verb == BLOCKED and len(summary["reasons"]) < 2 and after[BLOCKED_FIELD] not in summary["reasons"]:
            summary["reasons"].append(after[BLOCKED_FIELD])
        if AUTHORS_FIELD in fields and len(summary["authors"]) < _MOST_NAMED:
            summary["authors"].update(_authors(change, self._uow))
        if verb == CREATED and change.kind in _REFERRED_TO:
            created = summary["created"].setdefault(change.kind, [])
            if len(created) < _MOST_CREATED:
                created.append(change.id)

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
