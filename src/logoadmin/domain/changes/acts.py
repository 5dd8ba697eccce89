"""The acts of the history: the summary of each request's changes, stored by the same write (contract G5)."""

from collections.abc import Mapping
from dataclasses import dataclass
from operator import attrgetter
from typing import Annotated, Any, Final

from logoadmin.domain.changes.history import ListChanges, kinds_of
from logoadmin.domain.kernel.access import Held, Permission, Scope, Source
from logoadmin.domain.kernel.act_log import PASSWORD_SET, ActOrigin
from logoadmin.domain.kernel.kinds import RECORDED_KINDS
from logoadmin.domain.kernel.limits import RequestId, described
from logoadmin.domain.kernel.lists import Listing, PageSizes, page_of
from logoadmin.domain.kernel.pagination import Pages
from logoadmin.domain.kernel.records import Kind
from logoadmin.domain.kernel.unit_of_work import Reading, ReadUnitOfWork, acts_in, history_in
from logoadmin.domain.kernel.use_cases import Service, reads_with_rights
from logoadmin.ports.history_storage import Obstacle, StoredAct

_MOST_NAMED: Final = 3
# Fields that are the same in an act and in its summary.
_AS_STORED: Final = ("at", "user_id", "user_name", "count", "actions", "submitter_id", "submitter_name", "note")
_PAGE_SIZES: Final = PageSizes(50, 50)


@dataclass(frozen=True, slots=True)
class Act:
    """A summary of the changes of one request (contract G5). Only the last three fields change later."""

    change_id: Annotated[int, described("The id of its first change.", 41)]
    request_id: RequestId | None
    at: Annotated[int, described("When it was done, as Unix time in seconds.", 1_800_000_000)]
    user_id: Annotated[int | None, described("The user who did it; `null` if unknown.", 1042)]
    user_name: Annotated[str | None, described("The username of that user at that time.", "ann")]
    origin: Annotated[ActOrigin, described("The origin of the act.", "console")]
    source: Annotated[Source | None, described("The source of its request; `null` if unknown.", "console")]
    count: Annotated[int, described("The number of changes that it made.", 40)]
    actions: Annotated[Mapping[str, int], described("The number of changes by action.", {"logo.amended": 40})]
    fields: Annotated[tuple[str, ...], described("The fields that every one of its changes affects.", ["active"])]
    names: Annotated[tuple[str, ...], described("The names of the first three records at that time.", ["Aurora"])]
    authors: Annotated[
        tuple[str, ...],
        described("The names of the first three authors that it linked or unlinked, at that time.", ["Ben"]),
    ]
    active: Annotated[
        bool | None, described("`true` if it switched all of its records on, `false` if off; `null` otherwise.", False)
    ]
    reason: Annotated[
        str | None,
        described(
            "The reason for its blocks; `null` if it blocked nothing, or for different reasons.", "It covers the page"
        ),
    ]
    undid: Annotated[
        ActOrigin | None, described("The origin of the act that it undid; `null` if it undid none.", "import")
    ]
    submitter_id: Annotated[int | None, described("The user who proposed it; `null` if it was not proposed.", 1043)]
    submitter_name: Annotated[str | None, described("The username of the submitter at that time.", "ben")]
    note: Annotated[
        str | None, described("Why it was done, in the user's words; `null` if not given.", "Asked for by Ann")
    ]
    undone_by: Annotated[
        str | None, described("The id of the request that undid it; `null` if none did.", "8e03978e40d5")
    ]
    can_undo: Annotated[bool, described("Whether you can undo it.", True)]
    why_not: Annotated[
        str | None, described("Why you cannot undo it; `null` if you can.", "Logo 7 was changed since, by change 57")
    ]


class ListActs(ListChanges):
    """All acts, or those with a change that matches the filters, by the id of their first change (contract G5)."""


class ActService(Service):
    """The use cases of acts."""

    @reads_with_rights(Permission(Scope.CHANGES_READ))
    def list(self, uow: ReadUnitOfWork, command: ListActs, held: Held) -> Listing[Act]:
        """Return the acts, in the order in which they were done.

        Raises:
            NotModified: the caller has this version of the list.
        """

        def page(after: Any, limit: int, uow: Reading) -> tuple[Act, ...]:
            found = acts_in(uow).page(after, limit, command.filter(), command.order)
            obstacles = acts_in(uow).obstacles(found)
            return page_of(found, lambda act: _act(act, _why_not(act, held, obstacles.get(act.act_id))))

        pages = Pages(page, _PAGE_SIZES, attrgetter("change_id"))
        return pages.listing(self, uow, command, history_in(uow).last_id())


def _act(act: StoredAct, why_not: str | None) -> Act:
    summary = act.summary
    fields = tuple(summary["fields"])
    return Act(
        change_id=act.act_id,
        request_id=act.request_id,
        origin=ActOrigin(summary["origin"]),
        source=None if summary["source"] is None else Source(summary["source"]),
        fields=fields,
        names=tuple(summary["names"].values()),
        authors=tuple(summary["authors"].values())[:_MOST_NAMED],
        active=summary["switched"][0] if fields == ("active",) and len(summary["switched"]) == 1 else None,
        reason=summary["reasons"][0] if len(summary["reasons"]) == 1 else None,
        undid=None if summary["undid"] is None else ActOrigin(summary["undid"]),
        undone_by=act.undone_by,
        can_undo=why_not is None,
        why_not=why_not,
        **{name: summary[name] for name in _AS_STORED},
    )


def _why_not(act: StoredAct, held: Held, obstacle: Obstacle | None) -> str | None:
    """Return why a caller cannot undo an act; None if they can."""
    if act.undone_by is not None:
        return f"Request {act.undone_by} undid it"
    if act.summary["source"] == Source.FIRST_START:
        return "The first start cannot be undone"
    scopes = dict.fromkeys(RECORDED_KINDS[kind].write_scope for kind in sorted(kinds_of(act)))
    missing = [scope.value for scope in scopes if not held.hold(scope)]
    if missing:
        return f"Requires {' and '.join(missing)}"
    actions = act.summary["actions"]
    if all(action.endswith(PASSWORD_SET) for action in actions):
        return "Old passwords are not kept"
    if all(action.startswith(f"{Kind.PICTURE}.") for action in actions):
        return "Removed pictures are not kept"
    if act.request_id is None and act.summary["count"] > 1:
        return "It has no request id"
    return None if obstacle is None else _obstructed(obstacle)


def _obstructed(obstacle: Obstacle) -> str:
    name = RECORDED_KINDS[obstacle.kind].name
    if obstacle.by is None:
        return f"{name} {obstacle.id} was changed since, by change {obstacle.change_id}"
    kind, id_ = obstacle.by
    if kind is Kind.USER:
        return f"{name} {obstacle.id} is the role of a user"
    return f"{RECORDED_KINDS[kind].name} {id_} has this author since"
