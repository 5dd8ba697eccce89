"""Scopes, access policies, callers and their rights (contract A19, B).

A use case names the right that it requires (:class:`Permission`). :func:`require_token` rejects callers without a
required token before anything is read, :func:`authorize` checks the rights that are stored at that moment.
"""

import hashlib
import ipaddress
import re
from collections.abc import Iterable
from dataclasses import dataclass, field
from enum import StrEnum
from typing import Final, Literal

from logoadmin.domain.kernel.errors import NotAuthenticated, NotPermitted
from logoadmin.jwk import base64url

# How a session began; of two steps, the second.
SignInFactor = Literal["password", "totp", "passkey", "recovery_code", "sign_in_code", "link", "issuer"]

# The age up to which a sign-in is recent (contract O3).
RECENT_SECONDS: Final = 600
# Seconds by which the clocks of two machines may differ, before one finds tokens of the other not yet valid.
CLOCK_SKEW: Final = 10
MAX_PORT: Final = 65_535


class Source(StrEnum):
    """The source of a request."""

    FIRST_START = "first start"
    COMMAND_LINE = "command line"
    CONSOLE = "console"
    INTERFACE = "interface"
    PROGRAM = "program"


class Scope(StrEnum):
    """The scopes of this service (contract B3)."""

    ALL = "*"
    USERS_READ = "users:read"
    USERS_WRITE = "users:write"
    ROLES_READ = "roles:read"
    ROLES_WRITE = "roles:write"
    AUTHORS_WRITE = "authors:write"
    THEMES_WRITE = "themes:write"
    LOGOS_WRITE = "logos:write"
    CHANGES_READ = "changes:read"
    PROPOSALS_WRITE = "proposals:write"


class Policy(StrEnum):
    """The access policies (contract B1)."""

    OPEN = "open"
    GUARDED = "guarded"


def is_loopback(host: str) -> bool:
    """Return whether a host, by name or address, is loopback (contract B2)."""
    if host == "localhost":
        return True
    try:
        return address_of(host).is_loopback
    except ValueError:
        return False


def address_of(text: str) -> ipaddress.IPv4Address | ipaddress.IPv6Address:
    """Return an address; an IPv4-mapped IPv6 address (RFC 4291 §2.5.5.2) becomes IPv4. ValueError for other texts."""
    address = ipaddress.ip_address(text)
    return address.ipv4_mapped or address if isinstance(address, ipaddress.IPv6Address) else address


# Providers give subscribers an IPv6 network of one of these lengths.
_LENGTHS: Final = (64, 56, 48)


def networks_of(origin: str) -> tuple[str, ...]:
    """Return the network of a client's address and, for IPv6, the wider ones that one subscriber may have."""
    try:
        address = address_of(origin)
    except ValueError:
        return (origin,)
    if address.version == 4:
        return (str(address),)
    return tuple(str(ipaddress.ip_network((address.packed, length), strict=False)) for length in _LENGTHS)


def network_of(origin: str) -> str:
    """Return the narrowest network of a client's address."""
    return networks_of(origin)[0]


@dataclass(frozen=True, slots=True)
class Permission:
    """The right that a use case requires (contract B6).

    Attributes:
        scope: the scope that the caller must hold; None for public use cases.
        open_by_default: whether the specification needs no token, so that the policy ``open`` requires none.
        self_field: the field of the command with the id of a user who needs no scope for their own account.
        signed_in: whether a token is required although no scope is.
        or_else: scopes of which each is sufficient as well.
        recent: whether it requires a sign-in at most 10 minutes old (contract O3).
        enrols: whether it is allowed to users who must enrol a second factor first (contract O4).
        first_password: whether it is allowed to users who must change the generated first password first, on their own
            account (contract O5).
        nobody: whether nobody but the embedding program may.
    """

    scope: Scope | None = None
    open_by_default: bool = False
    self_field: str | None = None
    signed_in: bool = False
    or_else: tuple[Scope, ...] = ()
    recent: bool = False
    enrols: bool = False
    first_password: bool = False
    nobody: bool = False

    def needs_token(self, policy: Policy) -> bool:
        """Return whether a caller needs a token under this policy (spec §Authentication 4, contract B1)."""
        return (
            self.signed_in
            or self.nobody
            or (self.scope is not None and not (self.open_by_default and policy is Policy.OPEN))
        )


PUBLIC: Final = Permission()
SIGNED_IN: Final = Permission(signed_in=True)
# A token is checked if there is one.
OPTIONAL: Final = Permission(open_by_default=True)
# That of a use case that names none.
NOBODY: Final = Permission(nobody=True)


# The ids of requests that clients may choose; ours are among them.
PLAIN_REQUEST_ID: Final = re.compile("[A-Za-z0-9._-]{1,64}", re.ASCII)


@dataclass(slots=True)
class SentRequestId:
    """The id that a client sent with its request; it is replaced if the history already has it (contract G4).

    Attributes:
        text: the current id.
        replacement: an id of our own, which nobody had before; also the text if the client sent none.
        is_used: whether a write has begun under it.
    """

    text: str
    replacement: str
    is_used: bool = False

    def __str__(self) -> str:
        return self.text


@dataclass(frozen=True, slots=True)
class Occasion:
    """The context of a request that the history keeps beside its id: its source, and why it was made (contract G5)."""

    source: Source = Source.PROGRAM
    note: str | None = None


BY_INTERFACE: Final = Occasion(Source.INTERFACE)


# Every caller may have the id of the request, which goes into the history (contract G).
@dataclass(frozen=True, slots=True)
class Anonymous:
    """A caller without a token; ``origin`` and ``user_agent`` are the client's address and name (contract C6)."""

    origin: str = ""
    request_id: str | SentRequestId | None = field(default=None, compare=False)
    user_agent: str = field(default="", compare=False)
    occasion: Occasion = field(default=BY_INTERFACE, compare=False)


@dataclass(frozen=True, slots=True)
class Owner:
    """The program that embeds the service, or its command line: they have the database itself."""

    request_id: str | SentRequestId | None = field(default=None, compare=False)
    occasion: Occasion = field(default=Occasion(), compare=False)


@dataclass(frozen=True, slots=True)
class SignedIn:
    """A caller with a genuine access token; their rights are in storage (contract B5).

    ``origin`` and ``user_agent`` are those of the request, see :class:`Anonymous`.
    """

    user_id: int
    session_id: str
    request_id: str | SentRequestId | None = field(default=None, compare=False)
    origin: str = field(default="", compare=False)
    user_agent: str = field(default="", compare=False)
    occasion: Occasion = field(default=BY_INTERFACE, compare=False)


@dataclass(frozen=True, slots=True)
class ActingAs(SignedIn):
    """A user for whom the embedding program acts, without a session; their rights are in storage (contract B5, H6).

    Attributes:
        signed_in_at: when the program last made sure who the user is, as Unix time; 0 for unknown.
    """

    session_id: str = field(default="", init=False)
    signed_in_at: int = 0


@dataclass(frozen=True, slots=True)
class KeyHolder:
    """A caller with a service key (contract C5); whether the key exists is checked in storage."""

    key_hash: str = field(repr=False)
    request_id: str | SentRequestId | None = field(default=None, compare=False)
    occasion: Occasion = field(default=BY_INTERFACE, compare=False)


Caller = Anonymous | Owner | SignedIn | KeyHolder

ANONYMOUS: Final = Anonymous()
OWNER: Final = Owner()


@dataclass(frozen=True, slots=True)
class Rights:
    """The current rights of a caller with a token (contract B5).

    Attributes:
        scope: the scope of the user's role, or the part of it that a service key has.
        of_user: whether the caller is the user, and not a service key.
        signed_in_at: when the session began, as Unix time; None without one.
        ends_at: when the session ends, as Unix time; None without one.
        factor: what the session began with; None without one.
        must_enrol: whether the session may do nothing but enrol a second factor, which is required.
        must_change_password: whether the session belongs to the user whose password the first start generated, and who
            must change it (contract O5).
        required: the scopes that the work required, beside that of its command.
    """

    user_id: int
    scope: frozenset[str]
    of_user: bool = True
    signed_in_at: int | None = None
    ends_at: int | None = None
    factor: SignInFactor | None = None
    must_enrol: bool = False
    must_change_password: bool = False
    username: str | None = None
    required: set[str] = field(default_factory=set, compare=False, repr=False)

    def hold(self, scope: Scope) -> bool:
        """Return whether they include a scope."""
        return Scope.ALL in self.scope or scope in self.scope

    def cover(self, scope: Iterable[str]) -> bool:
        """Return whether they include all of these scopes."""
        return Scope.ALL in self.scope or self.scope.issuperset(scope)

    def require(self, scope: Iterable[str]) -> None:
        """Require scopes, and record them as required; raise NotPermitted if one is missing."""
        needed = frozenset(scope)
        if not self.cover(needed):
            raise NotPermitted
        self.required.update(needed)

    def limited_to(self, scope: Iterable[str]) -> "Rights":
        """Return the part of them that a service key with this scope has."""
        wanted = frozenset(scope)
        shared = self.scope if Scope.ALL in wanted else wanted if Scope.ALL in self.scope else self.scope & wanted
        return Rights(self.user_id, shared, of_user=False, username=self.username)


@dataclass(frozen=True, slots=True)
class AllRights:
    """Every right: that of the program itself, and of callers whom the policy asks for no token."""

    user_id: None = None
    username: None = None
    of_user: bool = True

    def hold(self, scope: Scope) -> bool:  # noqa: ARG002 (each)
        """Return that they include a scope."""
        return True

    def cover(self, scope: Iterable[str]) -> bool:  # noqa: ARG002 (each)
        """Return that they include all of these scopes."""
        return True

    def require(self, scope: Iterable[str]) -> None:
        """Require scopes, of which none is missing."""


ALL_RIGHTS: Final = AllRights()
Held = Rights | AllRights


def user_of(held: Held) -> int:
    """Return the id of the user for a command about their own sessions or keys.

    Raises:
        NotAuthenticated: the caller is not a user.
        NotPermitted: the caller is a service key, which manages no sessions and no keys (contract C5, C6).
    """
    if isinstance(held, AllRights):
        raise NotAuthenticated
    if not held.of_user:
        raise NotPermitted
    return held.user_id


def require_token(policy: Policy, permission: Permission, caller: Caller) -> None:
    """Reject a caller without a token if the use case requires one, before anything else is checked.

    Raises:
        NotAuthenticated: (spec §Authentication 3, contract A19).
        NotPermitted: nobody but the embedding program may (contract B6).
        TypeError: the caller is something else.
    """
    if not isinstance(caller, Caller):
        raise TypeError(f"the caller is of type {type(caller).__name__}; for a user, see LogoAdmin.acting_as")
    if isinstance(caller, Anonymous) and permission.needs_token(policy):
        raise NotAuthenticated
    if permission.nobody and not isinstance(caller, Owner):
        raise NotPermitted


def authorize(policy: Policy, permission: Permission, held: Rights, user_id: int | None) -> None:
    """Raise NotPermitted if a caller's rights, read in the transaction of the work, are not sufficient.

    ``user_id`` is the user in ``permission.self_field``, if any.
    """
    if permission.scope is None or held.hold(permission.scope):
        return
    own = held.of_user and user_id == held.user_id
    if not own and permission.needs_token(policy) and not any(held.hold(scope) for scope in permission.or_else):
        raise NotPermitted


SecretLabel = Literal[
    "refresh token",
    "service key",
    "idempotency key",
    "challenge",
    "recovery code",
    "sign-in code",
    "sign-in link",
    "receiver",
]


def stored_hash(label: SecretLabel, secret: str) -> str:
    """Return the hash to store of a secret, which is random enough that a fast hash cannot be reversed.

    The label keeps the hashes of different kinds of secrets apart. The plain SHA-256 of a secret cannot be derived from
    the stored hash either, because clients use that, for example as the key of a command that they send again.
    """
    plain = hashlib.sha256(secret.encode()).hexdigest()
    digest = hashlib.sha256(f"logoadmin {label} {plain}".encode()).digest()
    return base64url(digest)
