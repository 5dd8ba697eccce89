"""Who may do what (contract A19, B).

A command names the right it takes (:class:`Permission`), a caller is who asks (:class:`Caller`). :func:`require_token`
compares the two before anything is read, :func:`authorize` with the rights that are stored at that moment.
"""

import ipaddress
from collections.abc import Iterable
from dataclasses import dataclass, field
from enum import StrEnum
from typing import Final

from logoadmin.domain.model.errors import NotAuthenticated, NotPermitted


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
    CHANGES_READ = "changes:read"


class Policy(StrEnum):
    """The access policies (contract B1)."""

    OPEN = "open"
    GUARDED = "guarded"


def is_loopback(host: str) -> bool:
    """Tell whether a host, by name or address, is this machine and nothing that others reach (contract B2)."""
    if host == "localhost":
        return True
    try:
        return address_of(host).is_loopback
    except ValueError:
        return False


def address_of(text: str) -> ipaddress.IPv4Address | ipaddress.IPv6Address:
    """Return an address; one of IPv4 that is written as one of IPv6 (RFC 4291 §2.5.5.2) is the former.

    Raises:
        ValueError: it is none.
    """
    address = ipaddress.ip_address(text)
    return address.ipv4_mapped or address if isinstance(address, ipaddress.IPv6Address) else address


@dataclass(frozen=True, slots=True)
class Permission:
    """The right that a command takes.

    Attributes:
        scope: the scope the caller must hold; none for what is public.
        open_by_default: whether the specification has it used without a token, so that ``open`` asks for none.
        self_field: the command's field that names a user who may do it to themselves without the scope.
        signed_in: whether a token is needed although no scope is.
    """

    scope: Scope | None = None
    open_by_default: bool = False
    self_field: str | None = None
    signed_in: bool = False

    def needs_token(self, policy: Policy) -> bool:
        """Tell whether a caller must show a token under this policy (contract B1)."""
        return self.signed_in or (self.scope is not None and not (self.open_by_default and policy is Policy.OPEN))


PUBLIC: Final = Permission()
SIGNED_IN: Final = Permission(signed_in=True)
# A token is looked at where there is one.
OPTIONAL: Final = Permission(open_by_default=True)


@dataclass(slots=True)
class SentRequestId:
    """The id that a client gave its request; it is not taken over if the history has it already (contract G4).

    Attributes:
        text: what the request is known by: what was sent, until that is found in the history.
        replacement: an id of our own, which it is known by from then on.
    """

    text: str
    replacement: str

    def use_replacement(self) -> None:
        """Be known by an id of our own from now on."""
        self.text = self.replacement


# Every caller may come with the id of their request, which goes into the history (contract G).
@dataclass(frozen=True, slots=True)
class Anonymous:
    """A caller who showed no token.

    Attributes:
        origin: tells apart where such callers come from, such as an address.
        request_id: as of every caller.
        user_agent: what the program that they use calls itself, for the list of sessions (contract C6).
    """

    origin: str = ""
    request_id: str | SentRequestId | None = field(default=None, compare=False)
    user_agent: str = field(default="", compare=False)


@dataclass(frozen=True, slots=True)
class Owner:
    """The program that embeds the service, or whoever runs its command line: they hold the database itself."""

    request_id: str | SentRequestId | None = field(default=None, compare=False)


@dataclass(frozen=True, slots=True)
class SignedIn:
    """A caller whose token was found genuine; what they may do, only storage knows (contract B5)."""

    user_id: int
    session_id: str
    request_id: str | SentRequestId | None = field(default=None, compare=False)


@dataclass(frozen=True, slots=True)
class KeyHolder:
    """A caller with a service key (contract C5); whether there is such a key, only storage knows."""

    key_hash: str = field(repr=False)
    request_id: str | SentRequestId | None = field(default=None, compare=False)


Caller = Anonymous | Owner | SignedIn | KeyHolder

ANONYMOUS: Final = Anonymous()
OWNER: Final = Owner()


@dataclass(frozen=True, slots=True)
class Rights:
    """What a caller with a token may do right now (contract B5).

    Attributes:
        user_id: whose rights they are.
        scope: the scope of the user's role, or as much of it as a service key has.
        of_user: whether it is the user who asks, not a key of theirs.
        required: what the work turned out to take, beside what its command says.
    """

    user_id: int
    scope: frozenset[str]
    of_user: bool = True
    required: set[str] = field(default_factory=set, compare=False, repr=False)

    def hold(self, scope: Scope) -> bool:
        """Tell whether they include a scope."""
        return Scope.ALL in self.scope or scope in self.scope

    def cover(self, scope: Iterable[str]) -> bool:
        """Tell whether they include every scope of these."""
        return Scope.ALL in self.scope or self.scope.issuperset(scope)

    def require(self, scope: Iterable[str]) -> None:
        """Refuse what takes scopes that they do not include; what is not refused has required them.

        Raises:
            NotPermitted: one of them is missing.
        """
        needed = frozenset(scope)
        if not self.cover(needed):
            raise NotPermitted
        self.required.update(needed)

    def limited_to(self, scope: Iterable[str]) -> "Rights":
        """Return as much of them as a key with this scope has."""
        wanted = frozenset(scope)
        if Scope.ALL in wanted:
            return Rights(self.user_id, self.scope, of_user=False)
        shared = wanted if Scope.ALL in self.scope else self.scope & wanted
        return Rights(self.user_id, shared, of_user=False)


def user_of(held: Rights | None) -> int:
    """Return the user who asks about what is theirs alone, such as their sessions.

    Raises:
        NotAuthenticated: nobody in particular.
        NotPermitted: a service key, which has no sessions, ends none, and manages no keys (contract C5, C6).
    """
    if held is None:
        raise NotAuthenticated
    if not held.of_user:
        raise NotPermitted
    return held.user_id


def require_token(policy: Policy, permission: Permission, caller: Caller) -> None:
    """Refuse a caller without a token where one is needed, before anything else is looked at.

    Raises:
        NotAuthenticated: (spec §Authentication 3, contract A19).
    """
    if isinstance(caller, Anonymous) and permission.needs_token(policy):
        raise NotAuthenticated


def authorize(policy: Policy, permission: Permission, held: Rights, user_id: int | None) -> None:
    """Refuse a caller whose rights, read in the transaction that does the work, are not enough.

    Args:
        policy: the access policy in force.
        permission: the right that the command takes.
        held: their rights.
        user_id: the user whom the command is about, where ``permission.self_field`` names one.

    Raises:
        NotPermitted: they may not.
    """
    if permission.scope is None or not permission.needs_token(policy):
        return
    own = held.of_user and user_id == held.user_id
    if not own and not held.hold(permission.scope):
        raise NotPermitted
