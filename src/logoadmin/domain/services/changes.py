"""What happened, and undoing it (contract G, G2)."""

from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any, Final

from logoadmin.domain.audit.change_log import (
    CREATED,
    PASSWORD_SET,
    RESTORED,
    artwork_snapshot,
    deserialized,
    snapshot,
    with_defaults,
)
from logoadmin.domain.audit.unit_of_work import AuditedUnitOfWork
from logoadmin.domain.model.access import OWNER, SIGNED_IN, Caller, Permission, Rights, Scope
from logoadmin.domain.model.command import Command
from logoadmin.domain.model.errors import Conflict, NotFound, NotPermitted
from logoadmin.domain.model.limits import Id
from logoadmin.domain.model.lists import CHANGES, ListCommand, Listing
from logoadmin.domain.model.records import Author, Change, Kind, Link, Role, User
from logoadmin.domain.services.artworks import ArtworkKind
from logoadmin.domain.services.logos import LOGO
from logoadmin.domain.services.roles import check_unused
from logoadmin.domain.services.themes import THEME
from logoadmin.domain.transactions import Transactions

_SCOPES: Final[Mapping[Kind, Scope]] = {
    Kind.ROLE: Scope.ROLES_WRITE,
    Kind.USER: Scope.USERS_WRITE,
    Kind.AUTHOR: Scope.AUTHORS_WRITE,
    Kind.THEME: Scope.THEMES_WRITE,
    Kind.LOGO: Scope.LOGOS_WRITE,
}
_PIECES: Final[Mapping[Kind, ArtworkKind[Any, Any, Any, Any]]] = {Kind.LOGO: LOGO, Kind.THEME: THEME}


class ListChanges(ListCommand):
    """What happened, in order."""

    permission = Permission(Scope.CHANGES_READ)


class Revert(Command):
    """That a change be undone; it takes the right to change such a record."""

    permission = SIGNED_IN

    change_id: Id


class ChangeService:
    """What can be done with the history. Every method may also raise what :class:`Transactions` raises."""

    def __init__(self, transactions: Transactions) -> None:
        self._transactions = transactions

    def list(self, command: ListChanges, caller: Caller = OWNER) -> Listing[Change]:
        """Return what happened, by change_id, the order in which it was kept (contract G)."""
        return self._transactions.list(
            command,
            caller,
            lambda uow, after, limit, _: uow.changes.page(after, limit),
            lambda change: change.change_id,
            None,
            CHANGES,
        )

    def version(self) -> int:
        """Return the version of all records together, which rises with every change of any of them (contract F1)."""
        return self._transactions.version()

    def revert(self, command: Revert, caller: Caller = OWNER) -> Change:
        """Undo a change, and return the change that this is (contract G2).

        A record that was amended gets its old values, one that was created goes, one that was removed comes back
        with its id, its ``created_at`` and its author links; a user comes back without a password.

        Raises:
            NotFound: there is no such change.
            NotPermitted: the caller may not change such records, or not this one (contract B4).
            Conflict: the record, or what its links lead to, was changed since, and the text says by which change; or
                the change is of a kind that cannot be undone.
            DuplicateUpdate: another record has one of the old values by now; DuplicateEntry: of one that comes back.
        """

        def work(uow: AuditedUnitOfWork, held: Rights | None) -> Change:
            if held is not None and not any(map(held.hold, _SCOPES.values())):
                raise NotPermitted  # to strangers, changes that are there and that are not look alike
            found = uow.changes.get(command.change_id)
            if found is None:
                raise NotFound("Change", command.change_id)
            change = _in_full(found)
            if held is not None and not held.hold(_SCOPES[change.kind]):
                raise NotPermitted
            _authorize(uow, change)
            if change.action == f"{change.kind}.{PASSWORD_SET}":
                raise Conflict(f"Change {change.change_id} cannot be undone: old passwords are not kept")
            if _now(uow, change.kind, change.id) != change.after:
                raise Conflict(_since(uow, change.kind, change.id))
            _undo(uow, change)
            return uow.change_log.changes[-1]

        return self._transactions.write_as(command, caller, work)


def _authorize(uow: AuditedUnitOfWork, change: Change) -> None:
    """Refuse who goes beyond themselves by bringing back what was, before anything else is said of it (contract B4)."""
    if change.kind is Kind.ROLE:
        uow.roles.authorize(uow.roles.get(change.id), **(change.before or {}))
    elif change.kind is Kind.USER:
        uow.users.authorize(uow.users.get(change.id), **(change.before or {}))


def _in_full(change: Change) -> Change:
    """Return a change as it would be written today: old history stays usable after an upgrade (contract G4)."""
    return replace(
        change, before=with_defaults(change.kind, change.before), after=with_defaults(change.kind, change.after)
    )


def _since(uow: AuditedUnitOfWork, kind: Kind, id_: int) -> str:
    last = uow.changes.last_of(kind, id_)
    if kind in _PIECES:
        # An artwork that lost an author, or got one back, was changed by a change of that author.
        artwork = _PIECES[kind].recorded(uow).get(id_)
        last = last if artwork is None else max(last, artwork.version)
    return f"{kind.capitalize()} {id_} was changed since, by change {last}"


def _now(uow: AuditedUnitOfWork, kind: Kind, id_: int) -> Mapping[str, Any] | None:
    """Return what the history would say of a record as it is now; None if it is not there."""
    if kind in _PIECES:
        artworks = _PIECES[kind].recorded(uow)
        artwork = artworks.get(id_)
        return None if artwork is None else artwork_snapshot(artwork, kind, artworks.links(id_))
    read = {Kind.ROLE: uow.roles.get, Kind.USER: uow.users.get, Kind.AUTHOR: uow.authors.get}[kind]
    record = read(id_)
    return None if record is None else snapshot(record)


def _undo(uow: AuditedUnitOfWork, change: Change) -> None:
    if change.before is None:
        if change.action == f"{Kind.AUTHOR}.{CREATED}":
            _check_unlinked(uow, change.id)
        _remove(uow, change.kind, change.id)
        return
    values = deserialized(change.before)
    match change.kind:
        case Kind.ROLE:
            role = Role(**values)
            uow.roles.update(role) if change.after else uow.roles.add(role, RESTORED)
        case Kind.USER:
            _check_there(uow, Kind.ROLE, values["role_id"])
            user = User(**values)
            uow.users.update(user) if change.after else uow.users.add(user, None, RESTORED)
        case Kind.AUTHOR:
            links = {
                kind: _links(kind, values.pop(f"{kind}s", ()), author_id=change.id) for kind in (Kind.LOGO, Kind.THEME)
            }
            for kind, theirs in links.items():
                for link in theirs:
                    _check_there(uow, kind, link.artwork_id)
            author = Author(**values)
            uow.authors.update(author) if change.after else uow.authors.add(author, RESTORED, links)
        case Kind.LOGO | Kind.THEME:
            _undo_artwork(uow, _PIECES[change.kind], change)


def _undo_artwork(uow: AuditedUnitOfWork, kind: ArtworkKind[Any, Any, Any, Any], change: Change) -> None:
    values = deserialized(change.before or {})
    links = _links(change.kind, values.pop("authors"), artwork_id=change.id)
    for link in links:
        _check_there(uow, Kind.AUTHOR, link.author_id)
    artworks = kind.recorded(uow)
    artwork = kind.record(**values, authors=())
    if change.after is None:
        artworks.restore(artwork, links)
        return
    relinked = links != artworks.links(change.id)
    if relinked:
        artworks.set_links(change.id, links)
    # Also where nothing differs: that it was undone is a change, too.
    if not relinked or snapshot(artwork) != snapshot(artworks.get(change.id) or artwork):
        artworks.update(artwork)


def _check_unlinked(uow: AuditedUnitOfWork, author_id: int) -> None:
    """Make sure that nobody linked an author since they were created, or raise Conflict."""
    for kind, artworks in _PIECES.items():
        for link in artworks.recorded(uow).links_of(author_id):
            raise Conflict(_since(uow, kind, link.artwork_id))


def _remove(uow: AuditedUnitOfWork, kind: Kind, id_: int) -> None:
    if kind in _PIECES:
        _PIECES[kind].recorded(uow).remove(id_)
    elif kind is Kind.AUTHOR:
        uow.authors.remove(id_)
    elif kind is Kind.USER:
        uow.users.remove(id_)
    else:
        check_unused(uow, id_)
        uow.roles.remove(id_)


def _links(kind: Kind, said: Sequence[Mapping[str, int]], **same: int) -> tuple[Link, ...]:
    """Return the links that the history says a record had; one of their sides is the record itself."""
    ids = {f"{kind}_author_id": "link_id", kind.id_field: "artwork_id", "author_id": "author_id"}
    return tuple(Link(**{**{ids[name]: value for name, value in link.items()}, **same}) for link in said)


def _check_there(uow: AuditedUnitOfWork, kind: Kind, id_: int) -> None:
    """Make sure that what a record is to refer to again is there."""
    if _now(uow, kind, id_) is None:
        raise Conflict(_since(uow, kind, id_))
