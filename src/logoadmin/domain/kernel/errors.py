"""The errors and their exact texts (spec §Errors, contract A7 to A9, A19, A20, C1).

``str(error)`` is the text for people; the attributes have the same as data. None of them mentions HTTP.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, ClassVar, Literal

from logoadmin.domain.kernel.causes import Cause

# How a sign-in with the right password can go on.
SecondFactorKind = Literal["totp", "passkey", "recovery_code"]


@dataclass(frozen=True, slots=True)
class Problem:
    """One problem of an input (contract A5): its place, its text, and pydantic's name for it."""

    loc: tuple[str | int, ...]
    msg: str
    type: str


class LogoAdminError(Exception):
    """The base class of all errors that logoadmin raises on purpose."""

    text: ClassVar[str] = ""

    def __init__(self, text: str | None = None) -> None:
        super().__init__(self.text if text is None else text)

    def __reduce__(self) -> tuple[Any, ...]:
        """Pickle an error with its attributes: a pool of processes would break at one that it cannot read."""
        return type(self).__new__, (type(self), *self.args), self.__dict__

    @property
    def explained(self) -> str:
        """The problem and its solution, for the operator of the service."""
        return str(self)


class InvalidInput(LogoAdminError):
    """A command breaks limits (spec §Errors 422, contract A5).

    ``problems`` lists all of them and never repeats the input.
    """

    def __init__(self, problems: Sequence[Problem]) -> None:
        self.problems = tuple(problems)
        super().__init__("; ".join(f"{'.'.join(map(str, p.loc))}: {p.msg}" for p in self.problems))

    @classmethod
    def of(cls, text: str, *place: str | int, type_: str = "value_error") -> "InvalidInput":
        """Return the error for one problem of an input, at a place in it."""
        return cls([Problem(place, text, type_)])

    def at(self, *place: str | int) -> tuple[Problem, ...]:
        """Return the problems of an input that is part of another one, at this place."""
        return tuple(Problem((*place, *each.loc), each.msg, each.type) for each in self.problems)


class TooManyChanges(LogoAdminError):
    """A request has more changes than it may have, or a dry run of them a longer response (contract J7)."""


class NotAuthenticated(LogoAdminError):
    """No token, although one is required (spec §Authentication 3, §Errors 403)."""

    text = "Not authenticated"


class InvalidToken(LogoAdminError):
    """A token that is malformed, expired, forged or revoked (spec §Authentication 2, §Errors 401)."""

    text = "Couldn't validate credentials"


class NotPermitted(LogoAdminError):
    """The token is valid, but the right is missing (contract A19)."""

    text = "Not enough permissions"


class LinkRefused(NotPermitted):
    """No link can be made for the user, for a reason that the caller learns (contract R5)."""


class SignsInByLink(NotPermitted):
    """The user signs in by links of the host site, which end with a password or a second factor (contract R5)."""

    text = "You sign in through your site, without a password or a second factor"


class EnrolmentRequired(NotPermitted):
    """The user must enrol a second factor before anything else (contract O4)."""

    text = "A second factor must be enrolled"


class PasswordChangeRequired(NotPermitted):
    """The user must change the generated first password before anything else (contract O5)."""

    text = "The first password must be changed"


class RecentSignInRequired(LogoAdminError):
    """The session began more than 10 minutes ago (contract O3)."""

    text = "A recent sign-in is required"


class SecondFactorRequired(LogoAdminError):
    """The password is right, and a second factor must follow (contract O2).

    Attributes:
        challenge: names this sign-in in its second step; it opens nothing.
        factors: the second factors that the user has.
        passkey: the options for a passkey, as ``parseRequestOptionsFromJSON`` takes them; None without one.
    """

    def __init__(
        self, challenge: str, factors: Sequence[SecondFactorKind], passkey: Mapping[str, Any] | None = None
    ) -> None:
        self.challenge, self.factors, self.passkey = challenge, tuple(factors), passkey
        super().__init__("A second factor is required")


class SignInRefused(LogoAdminError):
    """The username or the password is wrong (contract C1), or what replaces or follows them (contract O2)."""

    text = "Incorrect username or password"


def passkey_refused() -> SignInRefused:
    """Return the error for a passkey that is unknown here, or whose proof is not accepted."""
    return SignInRefused("The passkey was not accepted")


def sign_in_ended() -> SignInRefused:
    """Return the error for the second step of a sign-in that has expired, or was finished or voided."""
    return SignInRefused("This sign-in has ended; start again")


class IssuerRefused(SignInRefused):
    """The issuer did not accept the code, or its ID token is wrong; the log has the reason (contract O7)."""

    text = "The sign-in at the issuer could not be verified"


class SignInForbidden(LogoAdminError):
    """The settings forbid this sign-in: passwords are switched off, or the user's groups have no role (contract O7)."""


class IncorrectPassword(LogoAdminError):
    """The current password of a user who changes their own is wrong (contract O5)."""

    text = "Incorrect password"


class TooManyRequests(LogoAdminError):
    """A limit is reached; ``retry_after`` is the number of seconds to wait."""

    def __init__(self, retry_after: int, text: str | None = None) -> None:
        self.retry_after = retry_after
        super().__init__(text)


class TooManySignIns(TooManyRequests):
    """There were too many failed sign-ins (contract C1)."""

    text = "Too many failed sign-ins"


class TooManyRefreshes(TooManyRequests):
    """The sessions of a user were refreshed too often (contract C3)."""

    text = "Too many refreshes in an hour"


class TooManyKeys(TooManyRequests):
    """A user created too many service keys, second factors or recovery codes (contract C5, O1)."""

    text = "Too many service keys, second factors or recovery codes in an hour"


class TooManyPictures(TooManyRequests):
    """A user sent too many pictures (contract P1)."""

    text = "Too many pictures in an hour"


class PictureGone(LogoAdminError):
    """The picture was removed for good, or only blocked artworks name it (contract P5)."""

    text = "This picture was removed"


class NotFound(LogoAdminError):
    """The record (contract A9) or the link (contract A17) does not exist."""

    def __init__(self, what: str, id_: int | str, of: str = "") -> None:
        self.what, self.id = what, id_
        super().__init__(f"{what} {id_} not found{of}")


class DuplicateEntry(LogoAdminError):
    """``value`` is taken for the unique field ``key`` (contract A6, A8)."""

    def __init__(self, value: str | int, key: str) -> None:
        self.value, self.key = value, key
        super().__init__(f"Duplicate entry '{value}' for key '{key}'")


class DuplicateUpdate(DuplicateEntry):
    """The same on an update of a record (spec §Errors 400, contract A7)."""


class Conflict(LogoAdminError):
    """The state of the records forbids the change, for example the removal of a role that users have (contract D)."""


class ArtworkBlocked(Conflict):
    """The theme or logo is blocked, and the request does not say that the block is to be lifted (contract L3)."""

    def __init__(self, what: str, id_: int, reason: str) -> None:
        self.what, self.id, self.reason = what, id_, reason
        super().__init__(f"{what} {id_} is blocked: {reason}. Lift the block with unblock to activate it")


class Outdated(LogoAdminError):
    """The record has another version than the caller asks for (contract F1)."""

    def __init__(self, what: str, id_: int | str) -> None:
        self.what, self.id = what, id_
        super().__init__(f"{what} {id_} was changed since")


class NotModified(LogoAdminError):
    """The record or list still has ``version``, which the caller already has (contract F1)."""

    def __init__(self, version: int) -> None:
        self.version = version
        super().__init__(f"Version {version} is current")


@dataclass(frozen=True, slots=True)
class BadLine:
    """An invalid line of a file: its number, from 1, and all its problems."""

    number: int
    problems: tuple[Problem, ...]


class InvalidLines(LogoAdminError):
    """A file has invalid lines; nothing was imported (contract I2).

    Attributes:
        lines: the first invalid lines, with up to 10,000 problems; if there are more, the last one says so.
        count: the number of invalid lines.
        unread: whether there may be more, because a file with this many problems is not read to its end.
    """

    def __init__(self, lines: Sequence[BadLine], count: int | None = None, *, unread: bool = False) -> None:
        self.lines = tuple(lines)
        self.count = len(self.lines) if count is None else count
        self.unread = unread
        super().__init__(
            f"{self.count}{' or more' if unread else ''} line{'' if self.count == 1 else 's'} cannot be imported"
        )


class TooLargeToStore(LogoAdminError):
    """The database server does not accept a row of this size; nothing was written (contract K3)."""

    cause = Cause.TOO_LARGE

    text = "This is larger than the database server accepts"

    @property
    def explained(self) -> str:
        """The reason and its solution."""
        return f"{self}: {self.cause.text}; {self.cause.cure}"


class StorageUnavailable(LogoAdminError):
    """The database is out of reach (spec §Errors 503, contract A20).

    ``server`` is host:port or a file's name, never a secret.

    Attributes:
        cause: the reason, for the log and the operator; it is not in the text (contract K3).
        detail: what the reason is about, such as a variable of the server; may be empty.
    """

    def __init__(self, server: str, cause: Cause = Cause.OUT_OF_REACH, detail: str = "") -> None:
        self.server, self.cause, self.detail = server, cause, detail
        super().__init__(f"Cannot connect to the database server at {server}")

    @property
    def explained(self) -> str:
        """The reason and its solution."""
        detail = f" ({self.detail})" if self.detail else ""
        return f"The database at {self.server} cannot be used: {self.cause.text}{detail}; {self.cause.cure}"


class OutgoingError(LogoAdminError):
    """A request to another host was refused or failed (contract L8).

    Attributes:
        host: the host, in lower case and without a port; empty if the URL names none.
        reason: the reason. Neither has a path, a query, credentials, or a part of the response.
    """

    def __init__(self, host: str, reason: str) -> None:
        self.host, self.reason = host, reason
        super().__init__(f"{host}: {reason}" if host else reason)


class IssuerUnavailable(LogoAdminError):
    """The issuer is out of reach, or its metadata or keys cannot be used (contract O7).

    Attributes:
        host: the host of the issuer, or its name.
        reason: the reason, for the operator.
        cure: what to do.
    """

    def __init__(self, host: str, reason: str, cure: str = "compare oidc_issuer with the issuer's metadata") -> None:
        self.host, self.reason, self.cure = host, reason, cure
        super().__init__(f"Cannot reach the issuer {host}")

    @property
    def explained(self) -> str:
        """The reason."""
        return f"{self}: {self.reason}"


class _Curable(Exception):
    """An error that the operator can solve: ``text`` is the problem, ``cure`` the solution, or empty."""

    def __init__(self, text: str, cure: str = "") -> None:
        self.text, self.cure = text, cure
        super().__init__(f"{text}; {cure}" if cure else text)


class SettingsError(_Curable, LogoAdminError):
    """A setting cannot be used; the text names it and the solution, and never a value that may be secret."""


class StartError(_Curable, LogoAdminError):
    """The settings are valid, but something that they name is missing; the text has the solution."""


class SchemaMismatch(StartError):
    """The tables of the database are older or newer than this program, or missing, see ``cause``."""

    def __init__(self, text: str, cause: Cause) -> None:
        self.cause = cause
        super().__init__(text)


class TablesMissing(SchemaMismatch):
    """The database has no tables, or not all of them.

    Attributes:
        file: the name of a database file that does not exist.
        existed: whether the gallery existed before, so that a new one would hide its loss (contract K9).
    """

    def __init__(self, file: str | None = None, *, existed: bool = False) -> None:
        self.file, self.existed = file, existed
        if existed:
            what = "The database has no logoadmin tables" if file is None else f"File {file} does not exist"
            super().__init__(f"{what}, but should; {Cause.GALLERY_GONE.cure}", Cause.GALLERY_GONE)
            return
        super().__init__(
            "The database has no logoadmin tables yet; run logoadmin init for the same database"
            if file is None
            else f"File {file} does not exist; if the name is right, run logoadmin init for the same database",
            Cause.NO_TABLES,
        )
