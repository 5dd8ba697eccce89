"""Who may do what (contract A19, B).

A command names the right it takes (:class:`Need`). A caller says who asks (:class:`Caller`). :func:`admit` judges
the two before anything is read; :func:`permit` judges them with the rights that storage has at that moment.
"""

from collections.abc import Iterable
from dataclasses import dataclass
from enum import StrEnum
from typing import Final

from logoadmin.domain.errors import InvalidToken, NotAuthenticated, NotPermitted


class Scope(StrEnum):
    """The scopes that this service gives a meaning to (contract B3)."""

    ALL = "*"
    USERS_READ = "users:read"
    USERS_WRITE = "users:write"
    ROLES_READ = "roles:read"
    ROLES_WRITE = "roles:write"
    AUTHORS_WRITE = "authors:write"
    THEMES_WRITE = "themes:write"
    LOGOS_WRITE = "logos:write"


class Policy(StrEnum):
    """The access policies (contract B1)."""

    OPEN = "open"
    GUARDED = "guarded"


@dataclass(frozen=True, slots=True)
class Need:
    """The right that a command takes.

    Attributes:
        scope: the scope the caller must hold; none for what is public.
        specified: whether the specification has it used without a token, so that ``open`` asks for none.
        own: the command's field that names a user who may do it to themselves without the scope.
    """

    scope: Scope | None = None
    specified: bool = False
    own: str | None = None

    def needs_token(self, policy: Policy) -> bool:
        """Tell whether a caller must show a token under this policy (contract B1)."""
        return self.scope is not None and not (self.specified and policy is Policy.OPEN)


PUBLIC: Final = Need()


@dataclass(frozen=True, slots=True)
class Anonymous:
    """A caller who showed no token; ``origin`` tells apart where such callers come from, such as an address."""

    origin: str = ""


@dataclass(frozen=True, slots=True)
class Owner:
    """The program that embeds the service, or whoever runs its command line: they hold the database itself."""


@dataclass(frozen=True, slots=True)
class SignedIn:
    """A caller whose token was found genuine; what they may do, only storage knows (contract B5)."""

    user_id: int
    session_id: str


Caller = Anonymous | Owner | SignedIn

ANONYMOUS: Final = Anonymous()
OWNER: Final = Owner()


@dataclass(frozen=True, slots=True)
class Rights:
    """What a user may do right now: the scope of their role."""

    scope: frozenset[str]

    def hold(self, scope: Scope) -> bool:
        """Tell whether they include a scope."""
        return Scope.ALL in self.scope or scope in self.scope


def rights(scope: Iterable[str]) -> Rights:
    """Return the rights that a role's scope gives."""
    return Rights(frozenset(scope))


def admit(policy: Policy, need: Need, caller: Caller) -> None:
    """Refuse a caller without a token where one is needed, before anything else is looked at.

    Raises:
        NotAuthenticated: (spec §Authentication 3, contract A19).
    """
    if isinstance(caller, Anonymous) and need.needs_token(policy):
        raise NotAuthenticated


def permit(policy: Policy, need: Need, caller: SignedIn, held: Rights | None, user_id: int | None) -> None:
    """Refuse a caller whose rights, read in the transaction that does the work, are not enough.

    Args:
        policy: the access policy in force.
        need: the right that the command takes.
        caller: who asks.
        held: their rights; None when the user or the session is gone.
        user_id: the user whom the command is about, where ``need.own`` names one.

    Raises:
        InvalidToken: the user or the session is gone.
        NotPermitted: they are there and may not.
    """
    if held is None:
        raise InvalidToken
    if need.scope is None or not need.needs_token(policy):
        return
    if not held.hold(need.scope) and user_id != caller.user_id:
        raise NotPermitted
