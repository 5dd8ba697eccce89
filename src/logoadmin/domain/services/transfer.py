"""Moving records in and out as JSON Lines (contract I).

A line is a record as the API answers it with its kind in front, save that a theme or a logo names its authors as
``author_ids``, in link order. Each line is a creation or an amendment of its own; one that must wait for another,
because that makes its author or gives up its name, may stand before it.
"""

import json
from abc import abstractmethod
from collections import Counter
from collections.abc import Callable, Iterable, Iterator
from contextlib import suppress
from dataclasses import dataclass
from typing import Any, Final, Literal, Protocol, TypeVar

from logoadmin.domain.access import OWNER, Caller, Need, Scope
from logoadmin.domain.command import UNCHANGED, Command, strict_json
from logoadmin.domain.errors import BadLine, DuplicateEntry, InvalidInput, InvalidLines, NotFound, Problem
from logoadmin.domain.ledger import snapshot
from logoadmin.domain.limits import (
    AuthorIds,
    Avatar,
    CustomCss,
    Flag,
    HashText,
    Id,
    PieceName,
    PreviewUrl,
    RoleName,
    Scopes,
    Target,
    UnixTime,
    Username,
)
from logoadmin.domain.lists import PIECES, SMALL_RECORDS, Listing, Pages
from logoadmin.domain.records import Author, Kind, Logo, PasswordHash, Piece, Role, Theme, User
from logoadmin.domain.services.authors import found_author
from logoadmin.domain.services.logos import LOGO
from logoadmin.domain.services.pieces import PieceKind
from logoadmin.domain.services.roles import found_role
from logoadmin.domain.services.themes import THEME
from logoadmin.domain.transactions import Transactions
from logoadmin.domain.writes import RecordedUnitOfWork
from logoadmin.ports.clock import Clock
from logoadmin.ports.storage import Pieces, UnitOfWork

Record = TypeVar("Record")
Kept = TypeVar("Kept", contravariant=True)


class ImportLines(Command):
    """That everything in a file be so, or nothing of it; a dry run finds out and undoes it."""

    need = Need(Scope.ALL)

    dry_run: Flag = False


class ExportLines(Command):
    """Everything, as lines; password hashes only where they are asked for."""

    need = Need(Scope.ALL)

    with_password_hashes: Flag = False


class Line(Command):
    """A line of a file. What it leaves out is only when it was created: that stays, or is now."""

    created_at: UnixTime = UNCHANGED

    @property
    def record(self) -> tuple[Kind, int]:
        """Which record it is about."""
        kind: Kind = getattr(self, "kind")  # noqa: B009 (every subclass has one, as a literal of its own)
        return kind, kind.id_of(self)

    @abstractmethod
    def store(self, uow: RecordedUnitOfWork, now: int) -> None:
        """Create the record with this id, or amend it."""


class RoleLine(Line):
    """A role."""

    kind: Literal[Kind.ROLE]
    role_id: Id
    name: RoleName
    scope: Scopes

    def store(self, uow: RecordedUnitOfWork, now: int) -> None:
        """Create or amend the role."""
        known = uow.roles.get(self.role_id)
        role = Role(self.role_id, self.name, self.scope, _created_at(self, known, now))
        _keep(uow.roles, known, role)


class UserLine(Line):
    """A user; without a password hash a new one cannot sign in, and a known one keeps theirs."""

    kind: Literal[Kind.USER]
    user_id: Id
    username: Username
    avatar: Avatar | None
    role_id: Id
    password_hash: HashText = UNCHANGED

    def store(self, uow: RecordedUnitOfWork, now: int) -> None:
        """Create or amend the user."""
        found_role(uow, self.role_id)
        known = uow.users.get(self.user_id)
        user = User(self.user_id, self.username, self.avatar, self.role_id, _created_at(self, known, now))
        password = None if self.password_hash is UNCHANGED else PasswordHash(self.password_hash)
        if known is None:
            uow.users.add(user, password)
            return
        if user != known:
            uow.users.update(user)
        if password is not None and password != uow.users.password(self.user_id):
            uow.users.set_password(self.user_id, password)
            uow.sessions.end_all(self.user_id)


class AuthorLine(Line):
    """An author."""

    kind: Literal[Kind.AUTHOR]
    author_id: Id
    user_id: Id
    username: Username

    def store(self, uow: RecordedUnitOfWork, now: int) -> None:
        """Create or amend the author."""
        known = uow.authors.get(self.author_id)
        author = Author(self.author_id, self.user_id, self.username, _created_at(self, known, now))
        _keep(uow.authors, known, author)


class _PieceLine(Line):
    name: PieceName
    preview_url: PreviewUrl
    target: Target
    custom_css: CustomCss
    active: Flag
    author_ids: AuthorIds

    def _store(self, kind: PieceKind[Piece, Any, Any, Any], uow: RecordedUnitOfWork, now: int) -> None:
        pieces = kind.recorded(uow)
        piece_id = kind.kind.id_of(self)
        known = pieces.get(piece_id)
        values = self.model_dump(exclude={"kind", "author_ids", "created_at"})
        authors = known.authors if known else ()
        piece = kind.record(**values, authors=authors, created_at=_created_at(self, known, now))
        for author_id in self.author_ids:
            found_author(uow, author_id)
        if known is None:
            pieces.add(piece, self.author_ids)
            return
        if piece != known:
            pieces.update(piece)
        if self.author_ids != tuple(author.author_id for author in authors):
            pieces.set_authors(piece_id, self.author_ids)


class ThemeLine(_PieceLine):
    """A theme."""

    kind: Literal[Kind.THEME]
    theme_id: Id

    def store(self, uow: RecordedUnitOfWork, now: int) -> None:
        """Create or amend the theme, and make its links so."""
        self._store(THEME, uow, now)


class LogoLine(_PieceLine):
    """A logo."""

    kind: Literal[Kind.LOGO]
    logo_id: Id

    def store(self, uow: RecordedUnitOfWork, now: int) -> None:
        """Create or amend the logo, and make its links so."""
        self._store(LOGO, uow, now)


_LINES: Final[dict[object, type[Line]]] = {
    Kind.ROLE.value: RoleLine,
    Kind.USER.value: UserLine,
    Kind.AUTHOR.value: AuthorLine,
    Kind.THEME.value: ThemeLine,
    Kind.LOGO.value: LogoLine,
}


@dataclass(frozen=True, slots=True)
class Imported:
    """The answer to an import: how many lines there were of each kind, and whether they were undone again."""

    counts: dict[Kind, int]
    dry_run: bool


class _DryRun(Exception):
    """No error, only the way out of a transaction that is not to be kept."""


class TransferService:
    """Import and export. Every method may also raise what :class:`Transactions` raises."""

    def __init__(self, transactions: Transactions, clock: Clock) -> None:
        self._transactions = transactions
        self._clock = clock

    def load(
        self,
        command: ImportLines,
        lines: Iterable[str | bytes],
        caller: Caller = OWNER,
        progress: Callable[[], object] = lambda: None,
    ) -> Imported:
        """Import lines, all or none (contract I2).

        Args:
            command: how.
            lines: the lines, numbered from 1; empty ones are passed over.
            caller: who asks.
            progress: is called for each line that is done; again, if the database has the transaction start again.

        Raises:
            InvalidLines: some cannot be imported; every one of them is reported.
            Conflict: nobody would hold everything any more (contract B4).
        """
        self._transactions.admit(command, caller)
        parsed, bad = _parsed(lines)
        now = self._clock.now()

        def work(uow: RecordedUnitOfWork) -> None:
            refused = [*bad, *_stored(uow, parsed, now, progress)]
            if refused:
                raise InvalidLines(sorted(refused, key=lambda line: line.number))
            if command.dry_run:
                uow.ledger.close()
                raise _DryRun

        # Never under a key: that would take other lines for the same, and the same lines make the same records anyway.
        keyless = ImportLines(dry_run=command.dry_run)
        with suppress(_DryRun):
            self._transactions.write(keyless, caller, work)
        counts = Counter(line.record[0] for _, line in parsed)
        return Imported({kind: counts[kind] for kind in Kind}, command.dry_run)

    def dump(self, command: ExportLines, write: Callable[[str], object], caller: Caller = OWNER) -> int:
        """Export everything as it is at one moment (contract I1), so that no line names what only later ones make.

        Args:
            command: how.
            write: is given each line, with its line end.
            caller: who asks.

        Returns:
            how many lines there were.
        """

        def work(uow: UnitOfWork) -> int:
            count = 0
            for record in _everything(uow, command.with_password_hashes):
                write(json.dumps(record, ensure_ascii=False) + "\n")
                count += 1
            return count

        return self._transactions.pour(command, caller, work)


def _stored(
    uow: RecordedUnitOfWork, lines: list[tuple[int, Line]], now: int, progress: Callable[[], object]
) -> list[BadLine]:
    """Store lines, those that are refused again after the others, for as long as that helps; return what remains."""
    while True:
        refused: list[BadLine] = []
        waiting: list[tuple[int, Line]] = []
        held: set[tuple[Kind, int]] = set()
        for number, line in lines:
            # Of two lines for a record the later one is to stand, so it does not overtake the other.
            if line.record not in held:
                try:
                    line.store(uow, now)
                except (DuplicateEntry, NotFound) as error:
                    refused.append(BadLine(number, (_problem(error),)))
                else:
                    progress()
                    continue
            held.add(line.record)
            waiting.append((number, line))
        if not waiting or len(waiting) == len(lines):
            return refused
        lines = waiting


def _parsed(lines: Iterable[str | bytes]) -> tuple[list[tuple[int, Line]], list[BadLine]]:
    parsed: list[tuple[int, Line]] = []
    bad: list[BadLine] = []
    for number, text in enumerate(lines, start=1):
        if not text.strip():
            continue
        try:
            parsed.append((number, _line(text)))
        except InvalidInput as error:
            bad.append(BadLine(number, error.problems))
    return parsed, bad


def _line(text: str | bytes) -> Line:
    try:
        values = strict_json(text)
    except ValueError as error:
        values = Problem((), f"Invalid JSON: {error}", "json_invalid")
    if isinstance(values, Problem):  # raised out here, so that no other error drags the line along
        raise InvalidInput([values])
    if not isinstance(values, dict):
        raise InvalidInput([Problem((), "Line should be a JSON object", "dict_type")])
    kind = values.get("kind")
    line = _LINES.get(kind) if isinstance(kind, str) else None
    if line is None:
        allowed = ", ".join(Kind)
        raise InvalidInput([Problem(("kind",), f"Kind should be one of {allowed}", "literal_error")])
    return line(**values)


def _problem(error: DuplicateEntry | NotFound) -> Problem:
    if isinstance(error, DuplicateEntry):
        return Problem((error.key,), str(error), "value_error")
    field = "author_ids" if error.what == "Author" else f"{error.what.lower()}_id"
    return Problem((field,), str(error), "value_error")


class _Repository(Protocol[Kept]):
    def add(self, record: Kept, /) -> object: ...
    def update(self, record: Kept, /) -> object: ...


def _keep(repository: _Repository[Kept], known: Kept | None, record: Kept) -> None:
    if known is None:
        repository.add(record)
    elif record != known:
        repository.update(record)


def _created_at(line: Line, known: Role | User | Author | Theme | Logo | None, now: int) -> int:
    if line.created_at is not UNCHANGED:
        return line.created_at
    return known.created_at if known else now


def _everything(uow: UnitOfWork, with_password_hashes: bool) -> Iterator[dict[str, object]]:
    """Yield every record as its line says it, those that others refer to first."""
    for role in _all(uow.roles.page, lambda role: role.role_id):
        yield {"kind": Kind.ROLE, **snapshot(role)}
    for user in _all(uow.users.page, lambda user: user.user_id):
        password = uow.users.password(user.user_id) if with_password_hashes else None
        yield {"kind": Kind.USER, **snapshot(user)} | ({"password_hash": password.sealed} if password else {})
    for author in _all(uow.authors.page, lambda author: author.author_id):
        yield {"kind": Kind.AUTHOR, **snapshot(author)}
    yield from _pieces(Kind.THEME, uow.themes, THEME.id_of)
    yield from _pieces(Kind.LOGO, uow.logos, LOGO.id_of)


def _pieces(kind: Kind, pieces: Pieces[Piece], id_of: Callable[[Piece], int]) -> Iterator[dict[str, object]]:
    for piece in _all(pieces.page, id_of, PIECES):
        values = {"kind": kind, **snapshot(piece)}
        created_at = values.pop("created_at")
        yield values | {"author_ids": [author.author_id for author in piece.authors], "created_at": created_at}


def _all(
    page: Callable[[int, int], tuple[Record, ...]], id_of: Callable[[Record], int], pages: Pages = SMALL_RECORDS
) -> Listing[Record]:
    return Listing(page(-1, pages.first), lambda last, limit: page(id_of(last), limit), pages)
