"""What can go wrong, and its exact texts (spec §Errors, contract A7 to A9, A19, A20, C1).

::

    LogoAdminError
    ├── InvalidInput              a command that breaks a limit, with every problem it has
    ├── NotAuthenticated          no token where one is needed
    ├── InvalidToken              a token that proves nothing
    ├── NotPermitted              a token, but not the right
    ├── SignInRefused             wrong username or wrong password, never said which
    ├── TooManySignIns            too many of those
    ├── NotFound                  no such record, or no such link
    ├── DuplicateEntry            a unique value is taken, on creation
    │   └── DuplicateUpdate       the same, on a change
    ├── Conflict                  the record is in a state that forbids it
    ├── Outdated                  the record is not the version that was asked for
    ├── NotModified               it is a version that the caller has already
    ├── InvalidLines              a file to import with bad lines
    ├── StorageUnavailable        the database is out of reach; of a write, the outcome is unknown
    ├── SettingsError             a setting that cannot be used
    └── StartError                something that the service needs to start is not there
        └── SchemaMismatch        the database is of another version
            └── TablesMissing     there are no tables in it yet

``str(error)`` is the text for people; the attributes carry the same as data. None of them speaks HTTP.
"""

from collections.abc import Sequence
from dataclasses import dataclass

from logoadmin.domain.model.causes import Cause


@dataclass(frozen=True, slots=True)
class Problem:
    """One thing wrong with an input (contract A5): where, in words, and pydantic's name for it."""

    loc: tuple[str | int, ...]
    msg: str
    type: str


class LogoAdminError(Exception):
    """The base of every error that logoadmin raises on purpose."""

    @property
    def explained(self) -> str:
        """What it is and what to do, for whoever runs the service."""
        return str(self)


class InvalidInput(LogoAdminError):
    """A command breaks its limits. ``problems`` has all of them and never repeats the input (contract A5)."""

    def __init__(self, problems: Sequence[Problem]) -> None:
        self.problems = tuple(problems)
        super().__init__("; ".join(f"{'.'.join(map(str, p.loc))}: {p.msg}" for p in self.problems))


class NotAuthenticated(LogoAdminError):
    """No token where one is needed (spec §Authentication 3)."""

    def __init__(self) -> None:
        super().__init__("Not authenticated")


class InvalidToken(LogoAdminError):
    """A token that is malformed, expired, forged, revoked, or of a user who is gone (spec §Authentication 2)."""

    def __init__(self) -> None:
        super().__init__("Couldn't validate credentials")


class NotPermitted(LogoAdminError):
    """The token is good, the right is missing (contract A19)."""

    def __init__(self) -> None:
        super().__init__("Not enough permissions")


class SignInRefused(LogoAdminError):
    """The username or the password is wrong; which one is not said (contract C1)."""

    def __init__(self) -> None:
        super().__init__("Incorrect username or password")


class TooManySignIns(LogoAdminError):
    """Too many failed sign-ins; ``retry_after`` is how many seconds to wait (contract C1)."""

    def __init__(self, retry_after: int) -> None:
        self.retry_after = retry_after
        super().__init__("Too many failed sign-ins")


class NotFound(LogoAdminError):
    """No such record (contract A9), or no such link (contract A17)."""

    def __init__(self, what: str, id_: int | str, of: str = "") -> None:
        self.what = what
        self.id = id_
        super().__init__(f"{what} {id_} not found{of}")


class DuplicateEntry(LogoAdminError):
    """``value`` is taken for the unique field ``key`` (contract A6, A8)."""

    def __init__(self, value: str | int, key: str) -> None:
        self.value = value
        self.key = key
        super().__init__(f"Duplicate entry '{value}' for key '{key}'")


class DuplicateUpdate(DuplicateEntry):
    """The same on a change of a record (spec §Errors 400, contract A7)."""


class Conflict(LogoAdminError):
    """The records are in a state that forbids the change, such as a role that users have (contract D)."""


class Outdated(LogoAdminError):
    """A record is not the version that the caller saw (contract F1)."""

    def __init__(self, what: str, id_: int | str) -> None:
        self.what = what
        self.id = id_
        super().__init__(f"{what} {id_} was changed since")


class NotModified(LogoAdminError):
    """What was asked for is ``version``, which the caller has already (contract F1)."""

    def __init__(self, version: int) -> None:
        self.version = version
        super().__init__(f"It is still version {version}")


@dataclass(frozen=True, slots=True)
class BadLine:
    """A line of a file that cannot be imported: its number, from 1, and all its problems."""

    number: int
    problems: tuple[Problem, ...]


class InvalidLines(LogoAdminError):
    """A file has lines that cannot be imported; nothing of it was written (contract I2).

    Attributes:
        lines: the first of them, with 10,000 problems in all; where there are more, the last one says so.
        count: how many there are.
        unread: whether there may be more: a file with so many problems is not read to its end.
    """

    def __init__(self, lines: Sequence[BadLine], count: int | None = None, *, unread: bool = False) -> None:
        self.lines = tuple(lines)
        self.count = len(self.lines) if count is None else count
        self.unread = unread
        super().__init__(f"{self.count}{' or more' if unread else ''} of the lines cannot be imported")


class StorageUnavailable(LogoAdminError):
    """The database is out of reach (contract A20). ``server`` is host:port or a file's name, never a secret.

    Attributes:
        cause: why, which is for the log and for whoever runs the service; the text does not say it (contract K3).
    """

    def __init__(self, server: str, cause: Cause = Cause.OUT_OF_REACH) -> None:
        self.server = server
        self.cause = cause
        super().__init__(f"Cannot connect to the database server at {server}")

    @property
    def explained(self) -> str:
        """Why, and what to do."""
        return f"{self}: {self.cause.text}; {self.cause.cure}"


class _Curable(Exception):
    """What whoever runs the service can put right: ``text`` is what is wrong, ``cure`` what to do, or empty."""

    def __init__(self, text: str, cure: str = "") -> None:
        self.text = text
        self.cure = cure
        super().__init__(f"{text}; {cure}" if cure else text)


class SettingsError(_Curable, LogoAdminError):
    """A setting cannot be used; the text says which, and what to do about it, never a value that may be secret."""


class StartError(_Curable, LogoAdminError):
    """The settings are right, but what they name is not to be had; the text says what to do about it."""


class SchemaMismatch(StartError):
    """The tables of the database are older or newer than this program, or not there: ``cause`` says which."""

    def __init__(self, text: str, cause: Cause) -> None:
        self.cause = cause
        super().__init__(text)


class TablesMissing(SchemaMismatch):
    """There are no tables in the database, or not all of them; ``file`` is the name of one that is not there at all."""

    def __init__(self, file: str | None = None) -> None:
        self.file = file
        super().__init__(
            "The database has no tables of logoadmin yet; run logoadmin init for the same database"
            if file is None
            else f"There is no file {file}; if that is its name, run logoadmin init for the same database",
            Cause.NO_TABLES,
        )
