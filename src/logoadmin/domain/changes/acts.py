"""The acts of the history: what each request did, read from its changes (contract G5).

They are derived and not stored: the history has every record as it was called at any moment.
"""

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from enum import StrEnum
from operator import attrgetter
from typing import Annotated, Any, Final, NamedTuple

from logoadmin.domain.changes.change_list import undoer_of
from logoadmin.domain.changes.history import ListChanges
from logoadmin.domain.gallery.audited_artworks import AUTHORS_FIELD
from logoadmin.domain.kernel.access import OWNER, Anonymous, Caller, Held, Permission, Scope
from logoadmin.domain.kernel.audited_unit_of_work import MOST_LOADED, Reading
from logoadmin.domain.kernel.change_log import BLOCKED, BLOCKED_FIELD, CREATED, PASSWORD_SET
from logoadmin.domain.kernel.context_ports import gallery_in, history_in
from logoadmin.domain.kernel.gate import Gate
from logoadmin.domain.kernel.kinds import ARTWORK_KINDS, RECORDED_KINDS, USERS
from logoadmin.domain.kernel.limits import Origin, RequestId, Source, described
from logoadmin.domain.kernel.lists import ChangeFilter, Filter, ListCommand, Listing, PageSizes
from logoadmin.domain.kernel.pagination import FirstPage, Pages, listing
from logoadmin.domain.kernel.records import Change, Kind
from logoadmin.domain.kernel.use_cases import Service, use_case
from logoadmin.ports.kernel.change_storage import Span

# Up to this many changes of an act are read, with their texts, for its fields.
_MOST_READ: Final = 200
# Of up to this many, the records are looked up for whether it can be undone.
_MOST_JUDGED: Final = 1_000
# Up to this many of its records that were changed since are compared with what they were.
_MOST_COMPARED: Final = 20
_MOST_NAMED: Final = 3
_PAGE_SIZES: Final = PageSizes(20, 50)


class ActOrigin(StrEnum):
    """Where an act came from (contract G5)."""

    FIRST_START = "first start"
    COMMAND_LINE = "command line"
    IMPORT = "import"
    CONSOLE = "console"
    INTERFACE = "interface"
    PROPOSAL = "proposal"
    UNDO = "undo"


@dataclass(frozen=True, slots=True)
class Act:
    """What one request did (contract G5): the same whatever happened since, but for the last three fields.

    Attributes:
        change_id: the id of its first change, by which acts are in order.
        request_id: its id; None for a change without a request, which is an act of its own.
        at: Unix time in whole seconds.
        user_id: the user who did it; None without a token.
        user_name: how this user was called.
        origin: what it was part of, or else where it came from.
        source: where its request came from; None for changes of older versions.
        count: how many changes it made.
        actions: how often it took each action.
        fields: the fields that all of its changes changed; none if it created or removed a record.
        names: of its first three records, as they were called after it.
        authors: of the first three authors that it linked or unlinked, as they were called.
        active: what all of its changes switched their records to; None if they did something else.
        reason: why it blocked its records; None if it blocked none, or if the reasons differ.
        undid: where the act came from that it undid; None if it undid none.
        submitter_id: the user who proposed it; None if it was not proposed.
        submitter_name: how this user was called.
        note: why it was done, in the words of who did it.
        undone_by: the id of the request that undid it, unless that was undone.
        can_undo: whether the caller can undo it.
        why_not: why the caller cannot.
    """

    change_id: Annotated[int, described("The id of its first change.", 41)]
    request_id: RequestId | None
    at: Annotated[int, described("When it was done, as Unix time in seconds.", 1_800_000_000)]
    user_id: Annotated[int | None, described("The user who did it; `null` if unknown.", 1042)]
    user_name: Annotated[str | None, described("The username of that user at that time.", "ann")]
    origin: Annotated[ActOrigin, described("Where it came from.", "console")]
    source: Annotated[Source | None, described("Where its request came from; `null` if unknown.", "console")]
    count: Annotated[int, described("The number of changes that it made.", 40)]
    actions: Annotated[Mapping[str, int], described("How many changes had each action.", {"logo.amended": 40})]
    fields: Annotated[tuple[str, ...], described("The fields that all of its changes changed.", ["active"])]
    names: Annotated[
        tuple[str, ...], described("The names of the first three records, as they were called then.", ["Aurora"])
    ]
    authors: Annotated[
        tuple[str, ...],
        described(
            "The names of the first three authors that it linked or unlinked, as they were called then.", ["Ben"]
        ),
    ]
    active: Annotated[
        bool | None, described("Whether it switched all of its records on or off; `null` if it did not.", False)
    ]
    reason: Annotated[
        str | None,
        described("The reason for which it blocked all that it blocked; `null` without one.", "It covers the page"),
    ]
    undid: Annotated[
        ActOrigin | None, described("Where the act came from that it undid; `null` if it undid none.", "import")
    ]
    submitter_id: Annotated[int | None, described("The user who proposed it; `null` if it was not proposed.", 1043)]
    submitter_name: Annotated[str | None, described("The username of the submitter at that time.", "ben")]
    note: Annotated[
        str | None, described("The `X-Change-Note` of the request; `null` without one.", "Asked for by Ann")
    ]
    undone_by: Annotated[
        str | None, described("The `X-Request-Id` of the request that undid it; `null` if none did.", "8e03978e40d5")
    ]
    can_undo: Annotated[bool, described("Whether you can undo it.", True)]
    why_not: Annotated[
        str | None, described("Why you cannot undo it; `null` if you can.", "Logo 7 was changed since, by change 57")
    ]


class ListActs(ListChanges):
    """All acts, or those with a change that matches the filters, by the id of their first change (contract G5)."""


class ActService(Service):
    """The use cases of acts."""

    @use_case(Permission(Scope.CHANGES_READ))
    def list(self, gate: Gate, command: ListActs, caller: Caller = OWNER) -> Listing[Act]:
        """Return the acts, in the order in which they were done.

        Raises:
            NotModified: the caller has this version of the list.
        """

        def first(uow: Reading, command: ListActs, held: Held) -> tuple[Pages[Act], FirstPage[Act]]:
            pages = _pages(command, None if isinstance(caller, Anonymous) else _Undoer(held))
            return pages, pages.first(uow, command)

        pages, found = gate.snapshot_with_rights(command, caller, first)
        return listing(gate, command, pages, found)


class _Undoer(NamedTuple):
    """Somebody who may want to undo an act; with None for every right."""

    held: Held

    def missing(self, kinds: Iterable[Kind]) -> list[str]:
        """Return the scopes that this caller lacks to change records of these kinds."""
        scopes = dict.fromkeys(RECORDED_KINDS[kind].write_scope for kind in kinds)
        return [scope.value for scope in scopes if not self.held.hold(scope)]


class _Found(NamedTuple):
    change: Change
    span: Span


def _pages(command: ListActs, undoer: _Undoer | None) -> Pages[Act]:
    def page(after: Any, limit: int, uow: Reading) -> tuple[Act, ...]:
        return tuple(_act(uow, found, undoer) for found in _found(command, after, limit, uow))

    def version(uow: Reading, _: ListCommand) -> int:
        return history_in(uow).last_id()

    id_of = attrgetter("change_id")
    return Pages(page, version, _PAGE_SIZES, id_of, id_of)


def _found(command: ListActs, after: int, limit: int, uow: Reading) -> Iterator[_Found]:
    """Yield one change of each act that matches the filters, and skip its other changes."""
    where, order, yielded = command.filter(), command.order, 0
    cursor = after
    while yielded < limit and (page := history_in(uow).page(cursor, 1, where, order)):
        (change,) = page
        span = None if change.request_id is None else history_in(uow).span(change.request_id)
        span = span or Span(change.change_id, change.change_id)
        whole = span.is_whole
        cursor = change.change_id if not whole else span.last if order == "asc" else span.first
        begun_before = order == "asc" and span.first <= after
        if not begun_before and (whole or change.change_id == span.first):
            yielded += 1
            yield _Found(change, span)


def _act(uow: Reading, found: _Found, undoer: _Undoer | None) -> Act:
    change, span = found
    actions = {change.action: 1} if change.request_id is None else history_in(uow).actions_of(change.request_id, span)
    read = _read(uow, found)
    undone_by = _undone_by(uow, span, actions)
    if undone_by is not None:
        why_not: str | None = f"Request {undone_by} undid it"
    else:
        why_not = _refusal(change, undoer, actions) or _changed_since(uow, found) or _in_use(uow, read.created)
    return Act(
        change_id=span.first,
        request_id=change.request_id,
        at=change.at,
        user_id=change.user_id,
        user_name=_called(uow, Kind.USER, change.user_id, span.first + 1),
        origin=_origin(change),
        source=change.source,
        count=span.count,
        actions=actions,
        fields=read.fields,
        names=read.names,
        authors=read.authors,
        active=read.active,
        reason=read.reason,
        undid=_undid(uow, change),
        submitter_id=change.submitter_id,
        submitter_name=_called(uow, Kind.USER, change.submitter_id, span.first + 1),
        note=change.note,
        undone_by=undone_by,
        can_undo=why_not is None,
        why_not=why_not,
    )


def _origin(change: Change) -> ActOrigin:
    if change.source in (Source.FIRST_START, Source.COMMAND_LINE):
        return ActOrigin(change.source)
    if change.origin not in (None, Origin.BULK):
        return ActOrigin(change.origin)
    return ActOrigin.CONSOLE if change.source is Source.CONSOLE else ActOrigin.INTERFACE


def _undid(uow: Reading, change: Change) -> ActOrigin | None:
    undone = None if change.undoes is None else history_in(uow).get(change.undoes)
    return None if undone is None else _origin(undone)


class _Read(NamedTuple):
    """What the changes of an act say."""

    fields: tuple[str, ...]
    names: tuple[str, ...]
    authors: tuple[str, ...]
    active: bool | None
    reason: str | None
    created: tuple[Change, ...]


def _read(uow: Reading, found: _Found) -> _Read:
    """Read the changes of an act: all of the first page, and later ones while they have fields in common."""
    names: dict[tuple[Kind, int], str] = {}
    authors: dict[int, str] = {}
    common: set[str] | None = None
    in_order: list[str] = []
    created: list[Change] = []
    active: set[bool] = set()
    reasons: set[str] = set()
    for place, change in enumerate(_changes(uow, found)):
        if place >= MOST_LOADED and not common:
            break
        changed = _changed_fields(change)
        in_order = changed if common is None else in_order
        common = {*changed} if common is None else common & {*changed}
        # Users have it only during a suspension.
        active.add(bool((change.after or {}).get("active", True)))
        if change.action.endswith(f".{BLOCKED}"):
            reasons.add((change.after or {})[BLOCKED_FIELD])
        name = _name(change)
        if name and len(names) < _MOST_NAMED:
            names.setdefault((change.kind, change.id), name)
        if AUTHORS_FIELD in changed and len(authors) < _MOST_NAMED:
            authors.update(_authors(uow, change))
        if change.action.partition(".")[2] == CREATED and len(created) < MOST_LOADED:
            created.append(change)
    shared = tuple(field for field in in_order if field in (common or ()))
    switched = active.pop() if shared == ("active",) and len(active) == 1 else None
    reason = reasons.pop() if len(reasons) == 1 else None
    return _Read(shared, tuple(names.values()), tuple(authors.values())[:_MOST_NAMED], switched, reason, tuple(created))


def _changes(uow: Reading, found: _Found) -> Iterator[Change]:
    """Yield the first changes of an act."""
    if found.change.request_id is None:
        yield found.change
        return
    after, left = found.span.first - 1, min(found.span.count, _MOST_READ)
    where = ChangeFilter(request_id=found.change.request_id)
    while left and (page := history_in(uow).page(after, min(left, MOST_LOADED), where)):
        yield from page
        after, left = page[-1].change_id, left - len(page)


def _changed_fields(change: Change) -> list[str]:
    """Return the fields that a change of an existing record changed."""
    if change.before is None or change.after is None:
        return []
    names = dict.fromkeys((*change.before, *change.after))
    return [name for name in names if change.before.get(name) != change.after.get(name)]


def _name(change: Change) -> str | None:
    field = RECORDED_KINDS[change.kind].name_field
    return (change.after or change.before or {}).get(field) if field else None


def _called(uow: Reading, kind: Kind, id_: int | None, before: int) -> str | None:
    """Return the name that a record had before a change."""
    if id_ is None:
        return None
    found = history_in(uow).page(before, 1, ChangeFilter(kind=kind, id=id_), "desc")
    return _name(found[0]) if found else None


def _authors(uow: Reading, change: Change) -> Iterator[tuple[int, str]]:
    """Yield the first authors that a change linked or unlinked, with their names."""
    linked = [
        [link["author_id"] for link in (side or {}).get(AUTHORS_FIELD, ())] for side in (change.before, change.after)
    ]
    differing = [id_ for id_ in dict.fromkeys(linked[1] + linked[0]) if (id_ in linked[0]) != (id_ in linked[1])]
    for id_ in differing[:_MOST_NAMED]:
        name = _called(uow, Kind.AUTHOR, id_, change.change_id)
        if name is not None:
            yield id_, name


def _undone_by(uow: Reading, span: Span, actions: Mapping[str, int]) -> str | None:
    """Return the request that undid an act whole; passwords stay."""
    undoer = undoer_of(uow, span.first)
    if undoer is None or span.count == 1:
        return None if undoer is None else undoer[1]
    passwords = any(action.endswith(PASSWORD_SET) for action in actions)
    return undoer[1] if passwords or undoer_of(uow, span.last) is not None else None


def _refusal(change: Change, undoer: _Undoer | None, actions: Mapping[str, int]) -> str | None:
    """Return why a caller cannot undo such an act, whatever its records are now."""
    if change.source is Source.FIRST_START:
        return "The first start cannot be undone"
    if undoer is None:
        return "You are not signed in"
    missing = undoer.missing({Kind(action.partition(".")[0]) for action in actions})
    if missing:
        return f"Requires {' and '.join(missing)}"
    if all(action.endswith(PASSWORD_SET) for action in actions):
        return "Old passwords are not kept"
    if all(action.startswith(f"{Kind.PICTURE}.") for action in actions):
        return "Removed pictures are not kept"
    return None


def _changed_since(uow: Reading, found: _Found) -> str | None:
    """Return which record of an act is not as the act left it, among the first ones."""
    request_id = found.change.request_id
    since = history_in(uow).changed_since(found.span, request_id, _MOST_JUDGED)
    for kind, id_, change_id in since[:_MOST_COMPARED]:
        where = ChangeFilter(kind=kind, id=id_, request_id=request_id)
        own = [found.change] if request_id is None else history_in(uow).page(found.span.last + 1, 1, where, "desc")
        newest = history_in(uow).get(change_id)
        if newest is None or newest.after != own[0].after:
            return f"{RECORDED_KINDS[kind].name} {id_} was changed since, by change {change_id}"
    return None


def _in_use(uow: Reading, created: Iterable[Change]) -> str | None:
    """Return which record that an act created cannot be removed, because later records refer to it."""
    for change in created:
        if change.kind is Kind.AUTHOR:
            for linked in ARTWORK_KINDS:
                links = gallery_in(uow).links(linked).of_author(change.id)
                by_others = [link for link in links if not _made(uow, linked.kind, link.artwork_id, change)]
                if by_others:
                    return f"{linked.name} {by_others[0].artwork_id} has this author since"
        elif change.kind is Kind.ROLE and uow.records(USERS).page(-1, 1, Filter(role_id=change.id)):
            return f"Role {change.id} is the role of a user"
    return None


def _made(uow: Reading, kind: Kind, id_: int, change: Change) -> bool:
    """Return whether the request of a change created a record, which is removed with it."""
    if change.request_id is None:
        return False
    where = ChangeFilter(kind=kind, id=id_, request_id=change.request_id, action=f"{kind}.{CREATED}")
    return bool(history_in(uow).page(-1, 1, where))
