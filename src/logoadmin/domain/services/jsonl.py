"""The lines of a file to import (contract I): what each kind may say, and how its record comes to be so."""

import codecs
from abc import abstractmethod
from collections.abc import Callable, Iterable
from enum import StrEnum
from typing import Any, Final, Literal, Protocol, TypeVar

from logoadmin.domain.audit.unit_of_work import AuditedUnitOfWork
from logoadmin.domain.model.command import UNSET, Command, strict_json
from logoadmin.domain.model.errors import BadLine, DuplicateEntry, InvalidInput, NotFound, Problem
from logoadmin.domain.model.limits import (
    ArtworkName,
    AuthorIds,
    Avatar,
    CustomCss,
    Flag,
    HashText,
    Id,
    PreviewUrl,
    RoleName,
    Scopes,
    Target,
    UnixTime,
    Username,
)
from logoadmin.domain.model.records import Artwork, Author, Kind, Logo, PasswordHash, Role, Theme, User
from logoadmin.domain.services.artworks import ArtworkKind
from logoadmin.domain.services.authors import found_author
from logoadmin.domain.services.logos import LOGO
from logoadmin.domain.services.roles import found_role
from logoadmin.domain.services.themes import THEME

StoredRecord = TypeVar("StoredRecord", contravariant=True)

# What some programs put at the start of a file, to say how it is encoded.
_UTF_8_MARK: Final = "\ufeff"
_UTF_16_MARKS: Final = (codecs.BOM_UTF16_LE, codecs.BOM_UTF16_BE)


class Outcome(StrEnum):
    """What became of a line's record."""

    CREATED = "created"
    AMENDED = "amended"
    UNSET = "unchanged"


class Line(Command):
    """A line of a file. What it leaves out is only when it was created: that stays, or is now."""

    created_at: UnixTime = UNSET

    @property
    def record(self) -> tuple[Kind, int]:
        """Which record it is about."""
        kind: Kind = getattr(self, "kind")  # noqa: B009 (every subclass has one, as a literal of its own)
        return kind, kind.id_of(self)

    @abstractmethod
    def store(self, uow: AuditedUnitOfWork, now: int) -> Outcome:
        """Create the record with this id, or amend it where it is not so already."""


class RoleLine(Line):
    """A role."""

    kind: Literal[Kind.ROLE]
    role_id: Id
    name: RoleName
    scope: Scopes

    def store(self, uow: AuditedUnitOfWork, now: int) -> Outcome:
        """Create or amend the role."""
        known = uow.roles.get(self.role_id)
        role = Role(self.role_id, self.name, self.scope, _created_at(self, known, now))
        return _keep(uow.roles, known, role)


class UserLine(Line):
    """A user; without a password hash a new one cannot sign in, and a known one keeps theirs."""

    kind: Literal[Kind.USER]
    user_id: Id
    username: Username
    avatar: Avatar | None
    role_id: Id
    password_hash: HashText = UNSET

    def store(self, uow: AuditedUnitOfWork, now: int) -> Outcome:
        """Create or amend the user."""
        found_role(uow, self.role_id)
        known = uow.users.get(self.user_id)
        user = User(self.user_id, self.username, self.avatar, self.role_id, _created_at(self, known, now))
        password = None if self.password_hash is UNSET else PasswordHash(self.password_hash)
        if known is None:
            uow.users.add(user, password)
            return Outcome.CREATED
        outcome = _amend(uow.users, known, user)
        if password is not None and password != uow.users.password(self.user_id):
            uow.users.set_password(self.user_id, password)
            uow.sessions.end_all(self.user_id)
            return Outcome.AMENDED
        return outcome


class AuthorLine(Line):
    """An author."""

    kind: Literal[Kind.AUTHOR]
    author_id: Id
    user_id: Id
    username: Username

    def store(self, uow: AuditedUnitOfWork, now: int) -> Outcome:
        """Create or amend the author."""
        known = uow.authors.get(self.author_id)
        author = Author(self.author_id, self.user_id, self.username, _created_at(self, known, now))
        return _keep(uow.authors, known, author)


class _ArtworkLine(Line):
    name: ArtworkName
    preview_url: PreviewUrl
    target: Target
    custom_css: CustomCss
    active: Flag
    author_ids: AuthorIds

    def _store(self, kind: ArtworkKind[Artwork, Any, Any, Any], uow: AuditedUnitOfWork, now: int) -> Outcome:
        artworks = kind.recorded(uow)
        artwork_id = kind.kind.id_of(self)
        known = artworks.get(artwork_id)
        values = self.model_dump(exclude={"kind", "author_ids", "created_at"})
        authors = known.authors if known else ()
        artwork = kind.record(**values, authors=authors, created_at=_created_at(self, known, now))
        for author_id in self.author_ids:
            found_author(uow, author_id)
        if known is None:
            artworks.add(artwork, self.author_ids)
            return Outcome.CREATED
        outcome = _amend(artworks, known, artwork)
        if self.author_ids != tuple(author.author_id for author in authors):
            artworks.set_authors(artwork_id, self.author_ids)
            return Outcome.AMENDED
        return outcome


class ThemeLine(_ArtworkLine):
    """A theme."""

    kind: Literal[Kind.THEME]
    theme_id: Id

    def store(self, uow: AuditedUnitOfWork, now: int) -> Outcome:
        """Create or amend the theme, and make its links so."""
        return self._store(THEME, uow, now)


class LogoLine(_ArtworkLine):
    """A logo."""

    kind: Literal[Kind.LOGO]
    logo_id: Id

    def store(self, uow: AuditedUnitOfWork, now: int) -> Outcome:
        """Create or amend the logo, and make its links so."""
        return self._store(LOGO, uow, now)


class _Amendable(Protocol[StoredRecord]):
    def update(self, record: StoredRecord, /) -> object: ...


class _Repository(_Amendable[StoredRecord], Protocol[StoredRecord]):
    def add(self, record: StoredRecord, /) -> object: ...


def _keep(repository: _Repository[StoredRecord], known: StoredRecord | None, record: StoredRecord) -> Outcome:
    if known is None:
        repository.add(record)
        return Outcome.CREATED
    return _amend(repository, known, record)


def _amend(repository: _Amendable[StoredRecord], known: StoredRecord, record: StoredRecord) -> Outcome:
    if record == known:
        return Outcome.UNSET
    repository.update(record)
    return Outcome.AMENDED


def _created_at(line: Line, known: Role | User | Author | Theme | Logo | None, now: int) -> int:
    if line.created_at is not UNSET:
        return line.created_at
    return known.created_at if known else now


_LINES: Final[dict[object, type[Line]]] = {
    Kind.ROLE.value: RoleLine,
    Kind.USER.value: UserLine,
    Kind.AUTHOR.value: AuthorLine,
    Kind.THEME.value: ThemeLine,
    Kind.LOGO.value: LogoLine,
}


def read_lines(
    lines: Iterable[str | bytes], refusal: Callable[[PasswordHash], str | None]
) -> tuple[list[tuple[int, Line]], list[BadLine]]:
    """Return the lines that keep their limits, with their numbers from 1, and those that do not.

    Args:
        lines: the lines.
        refusal: why a password hash is not taken, see :class:`~logoadmin.ports.passwords.PasswordHasher`.
    """
    parsed: list[tuple[int, Line]] = []
    bad: list[BadLine] = []
    for number, given in enumerate(lines, start=1):
        if number == 1 and isinstance(given, bytes) and given.startswith(_UTF_16_MARKS):
            # Said once: no other line of it can be read either.
            return [], [BadLine(number, (Problem((), "File is not UTF-8 but UTF-16", "json_invalid"),))]
        try:
            text = _text(given)
            text = text.removeprefix(_UTF_8_MARK) if number == 1 else text
            if text.strip():
                line = _line(text)
                _check_hash(line, refusal)
                parsed.append((number, line))
        except InvalidInput as error:
            bad.append(BadLine(number, error.problems))
    return parsed, bad


def _text(given: str | bytes) -> str:
    try:
        return given if isinstance(given, str) else given.decode()
    except UnicodeDecodeError:
        pass
    raise InvalidInput([Problem((), "Line is not UTF-8", "json_invalid")])


def _line(text: str) -> Line:
    try:
        values = strict_json(text.rstrip("\r\n"))
    except ValueError as error:
        # The parser counts the lines of what it is given, which is one: the number that counts is the file's.
        reason = str(error).replace(" at line 1 column ", " at column ")
        values = Problem((), f"Invalid JSON: {reason}", "json_invalid")
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


def _check_hash(line: Line, refusal: Callable[[PasswordHash], str | None]) -> None:
    if isinstance(line, UserLine) and line.password_hash is not UNSET:
        reason = refusal(PasswordHash(line.password_hash))
        if reason is not None:
            raise InvalidInput([Problem(("password_hash",), reason, "value_error")])


def problem_of(error: DuplicateEntry | NotFound) -> Problem:
    """Return what kept a line from being stored, at the field that is to blame."""
    if isinstance(error, DuplicateEntry):
        return Problem((error.key,), str(error), "value_error")
    field = "author_ids" if error.what == "Author" else f"{error.what.lower()}_id"
    return Problem((field,), str(error), "value_error")
