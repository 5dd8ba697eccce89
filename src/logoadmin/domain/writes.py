"""The one door for changes: judged, kept with a new version, and written into the history (contract B4, F1, G).

The work of a use case never sees the repositories of records themselves but those in here. Each method that changes
a record is written out, so one that the ports get and that is forgotten here cannot be called at all.
"""

from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from dataclasses import replace
from functools import cached_property
from typing import Generic, TypeVar

from logoadmin.domain.access import Rights, Scope
from logoadmin.domain.ledger import (
    AMENDED,
    CREATED,
    LINKED,
    PASSWORD_SET,
    REMOVED,
    RESTORED,
    UNLINKED,
    Ledger,
    Snapshot,
    links_said,
    piece_snapshot,
    snapshot,
)
from logoadmin.domain.lists import EVERYTHING, Filter
from logoadmin.domain.records import Author, Kind, Link, Logo, PasswordHash, Piece, Role, Theme, User
from logoadmin.ports.storage import (
    Changes,
    FirstAnswers,
    Pieces,
    Roles,
    Secrets,
    ServiceKeys,
    Sessions,
    SignInAttempts,
    UnitOfWork,
    Users,
)

Answer = TypeVar("Answer")
Record = TypeVar("Record")


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


class _Known(Generic[Record]):
    """What was read in this work and not changed since; nobody else changes anything meanwhile."""

    def __init__(self, read: Callable[[int], Record | None], name: str) -> None:
        self._read, self._name = read, name
        self._records: dict[int, Record | None] = {}

    def get(self, id_: int) -> Record | None:
        """Return a record, or None."""
        if id_ not in self._records:
            self._records[id_] = self._read(id_)
        return self._records[id_]

    def change(self, id_: int) -> Record:
        """Return a record that is there and about to be changed."""
        record = self.get(id_)
        if record is None:
            raise LookupError(f"{self._name} {id_} is to be changed and is not there")
        self.forget(id_)
        return record

    def put(self, id_: int, record: Record) -> Record:
        """Take note of what a record is now, and return it."""
        self._records[id_] = record
        return record

    def forget(self, id_: int) -> None:
        """Have a record read anew."""
        self._records.pop(id_, None)


class RecordedUsers:
    """The users, whose changes are recorded."""

    def __init__(self, inner: Users, ledger: Ledger) -> None:
        self._inner, self._ledger = inner, ledger
        self._known = _Known(inner.get, "user")
        self.get = self._known.get
        self.page = inner.page
        self.credentials = inner.credentials
        self.password = inner.password
        self.renew_password = inner.renew_password

    def add(self, user: User, password: PasswordHash | None, action: str = CREATED) -> User:
        """Keep a new user, and return it with its version."""
        self._ledger.judge_user(user)
        kept = replace(user, version=self._ledger.version(Kind.USER, user.user_id))
        self._inner.add(kept, password)
        self._ledger.note(action, Kind.USER, user.user_id, None, snapshot(user))
        return self._known.put(user.user_id, kept)

    def update(self, user: User) -> User:
        """Give a user new values, and return it with its version."""
        before = self._change(user.user_id)
        if user.role_id != before.role_id:
            self._ledger.judge_user(user)
        kept = replace(user, version=self._ledger.version(Kind.USER, user.user_id))
        self._inner.update(kept)
        self._ledger.note(AMENDED, Kind.USER, user.user_id, snapshot(before), snapshot(user))
        return self._known.put(user.user_id, kept)

    def remove(self, user_id: int) -> bool:
        """Remove a user."""
        if self.get(user_id) is None:
            return False
        before = self._change(user_id)
        self._inner.remove(user_id)
        self._ledger.note(REMOVED, Kind.USER, user_id, snapshot(before), None)
        return True

    def set_password(self, user_id: int, password: PasswordHash) -> User:
        """Give a user another password, of which the history says no more than that; return the user."""
        before = self._change(user_id)
        kept = replace(before, version=self._ledger.version(Kind.USER, user_id))
        self._inner.set_password(user_id, password)
        self._inner.update(kept)
        self._ledger.note(PASSWORD_SET, Kind.USER, user_id, snapshot(before), snapshot(before))
        return self._known.put(user_id, kept)

    def _change(self, user_id: int) -> User:
        before = self._known.change(user_id)
        if Scope.ALL in self._ledger.judge_user(before):
            self._ledger.stake_all()
        return before


class RecordedRoles:
    """The roles, whose changes are recorded."""

    def __init__(self, inner: Roles, ledger: Ledger) -> None:
        self._inner, self._ledger = inner, ledger
        self._known = _Known(inner.get, "role")
        self.get = self._known.get
        self.next_id = inner.next_id
        self.page = inner.page
        self.in_use = inner.in_use

    def add(self, role: Role, action: str = CREATED) -> Role:
        """Keep a new role, and return it with its version."""
        self._ledger.judge(role.scope)
        kept = replace(role, version=self._ledger.version(Kind.ROLE, role.role_id))
        self._inner.add(kept)
        self._ledger.note(action, Kind.ROLE, role.role_id, None, snapshot(role))
        return self._known.put(role.role_id, kept)

    def update(self, role: Role) -> Role:
        """Give a role new values, and return it with its version."""
        before = self._known.change(role.role_id)
        self._ledger.judge(before.scope)
        self._ledger.judge(role.scope)
        if Scope.ALL in before.scope and Scope.ALL not in role.scope and self._inner.in_use(role.role_id):
            self._ledger.stake_all()
        kept = replace(role, version=self._ledger.version(Kind.ROLE, role.role_id))
        self._inner.update(kept)
        self._ledger.note(AMENDED, Kind.ROLE, role.role_id, snapshot(before), snapshot(role))
        return self._known.put(role.role_id, kept)

    def remove(self, role_id: int) -> bool:
        """Remove a role."""
        if self.get(role_id) is None:
            return False
        before = self._known.change(role_id)
        self._ledger.judge(before.scope)
        self._inner.remove(role_id)
        self._ledger.note(REMOVED, Kind.ROLE, role_id, snapshot(before), None)
        return True


class RecordedAuthors:
    """The authors, whose changes are recorded."""

    def __init__(self, uow: UnitOfWork, ledger: Ledger) -> None:
        self._inner, self._ledger = uow.authors, ledger
        self._pieces: dict[Kind, Pieces[Logo] | Pieces[Theme]] = {Kind.LOGO: uow.logos, Kind.THEME: uow.themes}
        self._known = _Known(self._inner.get, "author")
        self.get = self._known.get
        self.next_id = self._inner.next_id
        self.page = self._inner.page

    def add(self, author: Author, action: str = CREATED, links: Mapping[Kind, Sequence[Link]] | None = None) -> Author:
        """Keep a new author, or one who comes back with links to pieces that are there; return it with its version."""
        version = self._ledger.version(Kind.AUTHOR, author.author_id)
        kept = replace(author, version=version)
        self._inner.add(kept)
        for kind, theirs in (links or {}).items():
            self._pieces[kind].add_links(theirs)
            self._pieces[kind].touch([link.piece_id for link in theirs], version)
        self._ledger.note(action, Kind.AUTHOR, author.author_id, None, snapshot(author))
        return self._known.put(author.author_id, kept)

    def update(self, author: Author) -> Author:
        """Give an author new values, and return it with its version."""
        before = self._known.change(author.author_id)
        kept = replace(author, version=self._ledger.version(Kind.AUTHOR, author.author_id))
        self._inner.update(kept)
        self._ledger.note(AMENDED, Kind.AUTHOR, author.author_id, snapshot(before), snapshot(author))
        return self._known.put(author.author_id, kept)

    def remove(self, author_id: int) -> bool:
        """Remove an author and the links to what they made, which changes that, too."""
        if self.get(author_id) is None:
            return False
        before = {**snapshot(self._known.change(author_id))}
        version = self._ledger.version(Kind.AUTHOR, author_id)
        for kind, pieces in self._pieces.items():
            links = pieces.links_of(author_id)
            before[f"{kind}s"] = links_said(kind, links, f"{kind}_id")
            pieces.touch([link.piece_id for link in links], version)
        self._inner.remove(author_id)
        self._ledger.note(REMOVED, Kind.AUTHOR, author_id, before, None)
        return True


class RecordedPieces(Generic[Piece]):
    """The logos, or the themes, whose changes are recorded."""

    def __init__(self, inner: Pieces[Piece], kind: Kind, ledger: Ledger) -> None:
        self._inner: Pieces[Piece] = inner
        self._kind, self._ledger = kind, ledger
        self._known: _Known[Piece] = _Known(inner.get, kind)
        self.next_id = inner.next_id
        self.link_of = inner.link_of
        self.links = inner.links
        self.links_of = inner.links_of

    def get(self, piece_id: int) -> Piece | None:
        """Return a piece with its authors, as they are now."""
        self._known.forget(piece_id)
        return self._known.get(piece_id)

    def page(self, after: int, limit: int, where: Filter = EVERYTHING) -> tuple[Piece, ...]:
        """Return some pieces with their authors, by id."""
        return self._inner.page(after, limit, where)

    def add(self, piece: Piece, author_ids: Collection[int] = ()) -> Piece:
        """Keep a new piece by these authors, distinct and all there, in this order; return it with its version."""
        piece_id = self._id_of(piece)
        kept = replace(piece, version=self._version(piece_id))
        self._inner.add(kept)
        links = [Link(self._inner.link(piece_id, author_id), piece_id, author_id) for author_id in author_ids]
        self._note(CREATED, piece_id, None, self._snapshot(piece, links))
        return kept

    def restore(self, piece: Piece, links: Sequence[Link]) -> None:
        """Keep a piece that comes back, with links that it had to authors who are there."""
        piece_id = self._id_of(piece)
        self._inner.add(replace(piece, version=self._version(piece_id)))
        self._inner.add_links(links)
        self._note(RESTORED, piece_id, None, self._snapshot(piece, links))

    def update(self, piece: Piece) -> Piece:
        """Give a piece new values, and return it with its version."""
        piece_id = self._id_of(piece)
        before, links = self._known.change(piece_id), self._inner.links(piece_id)
        kept = replace(piece, version=self._version(piece_id))
        self._inner.update(kept)
        self._note(AMENDED, piece_id, self._snapshot(before, links), self._snapshot(piece, links))
        return kept

    def remove(self, piece_id: int) -> bool:
        """Remove a piece and its links."""
        if self._known.get(piece_id) is None:
            return False
        before = self._snapshot(self._known.change(piece_id), self._inner.links(piece_id))
        self._inner.remove(piece_id)
        self._note(REMOVED, piece_id, before, None)
        return True

    def link(self, piece_id: int, author_id: int) -> int:
        """Link an author as the last one."""

        def change(links: tuple[Link, ...]) -> tuple[Link, ...]:
            return (*links, Link(self._inner.link(piece_id, author_id), piece_id, author_id))

        return self._relink(LINKED, piece_id, change)[-1].link_id

    def unlink(self, piece_id: int, author_id: int) -> bool:
        """Undo a link."""
        if self._inner.link_of(piece_id, author_id) is None:
            return False

        def change(links: tuple[Link, ...]) -> tuple[Link, ...]:
            self._inner.unlink(piece_id, author_id)
            return tuple(link for link in links if link.author_id != author_id)

        self._relink(UNLINKED, piece_id, change)
        return True

    def set_authors(self, piece_id: int, author_ids: Collection[int]) -> None:
        """Make these, distinct and all there, the authors of a piece in this order, with new links."""

        def change(_: tuple[Link, ...]) -> tuple[Link, ...]:
            self._inner.unlink_all(piece_id)
            return tuple(Link(self._inner.link(piece_id, author_id), piece_id, author_id) for author_id in author_ids)

        self._relink(AMENDED, piece_id, change)

    def set_links(self, piece_id: int, links: Sequence[Link]) -> None:
        """Make links that were there, between what is there, the links of a piece."""

        def change(_: tuple[Link, ...]) -> tuple[Link, ...]:
            self._inner.unlink_all(piece_id)
            self._inner.add_links(links)
            return tuple(links)

        self._relink(AMENDED, piece_id, change)

    def _relink(
        self, action: str, piece_id: int, change: Callable[[tuple[Link, ...]], tuple[Link, ...]]
    ) -> tuple[Link, ...]:
        piece, links = self._known.change(piece_id), self._inner.links(piece_id)
        changed = change(links)
        self._inner.touch([piece_id], self._version(piece_id))
        self._note(action, piece_id, self._snapshot(piece, links), self._snapshot(piece, changed))
        return changed

    def _note(self, action: str, piece_id: int, before: Snapshot | None, after: Snapshot | None) -> None:
        self._ledger.note(action, self._kind, piece_id, before, after)
        self._known.forget(piece_id)

    def _snapshot(self, piece: Piece, links: Iterable[Link]) -> Snapshot:
        return piece_snapshot(piece, self._kind, links)

    def _version(self, piece_id: int) -> int:
        return self._ledger.version(self._kind, piece_id)

    def _id_of(self, piece: Piece) -> int:
        id_: int = getattr(piece, f"{self._kind}_id")
        return id_


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
        return RecordedUsers(self._uow.users, self.ledger)

    @cached_property
    def roles(self) -> RecordedRoles:
        """The roles."""
        return RecordedRoles(self._uow.roles, self.ledger)

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
