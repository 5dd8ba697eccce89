"""What is answered of sessions, their tokens, and service keys (contract C)."""

from dataclasses import dataclass, field

from logoadmin.domain.model.limits import Avatar, RoleName, SessionId, Username


@dataclass(frozen=True, slots=True)
class Tokens:
    """The answer to signing in and to refreshing (contract C1). ``expires_in`` in seconds, ``scope`` by spaces."""

    access_token: str = field(repr=False)
    token_type: str
    expires_in: int
    refresh_token: str = field(repr=False)
    scope: str


@dataclass(frozen=True, slots=True)
class EndedSession:
    """The answer to ending a session: whether there was one to end (contract C3)."""

    ended: bool


@dataclass(frozen=True, slots=True)
class Me:
    """The answer to who one is (contract C3): one's user, with what one may do right now."""

    user_id: int
    username: Username
    avatar: Avatar | None
    role_id: int
    created_at: int
    scope: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class ListedSession:
    """One of one's sessions, each of which began with a sign-in (contract C6).

    Attributes:
        session_id: what it is ended by.
        created_at: when one signed in, as Unix time.
        refreshed_at: when it was refreshed last; None for not yet.
        expires_at: when it ends if it is not refreshed again: by the idle or the absolute end, whichever is earlier.
        address: where the sign-in came from; None if that is not known.
        user_agent: the program that it came from, by what it calls itself; None if that is not known.
        current: whether it is the one whose access token asks.
    """

    session_id: SessionId
    created_at: int
    refreshed_at: int | None
    expires_at: int
    address: str | None
    user_agent: str | None
    current: bool


@dataclass(frozen=True, slots=True)
class RemovedSession:
    """The answer to ending one of one's sessions (contract C6)."""

    session_id: SessionId


@dataclass(frozen=True, slots=True)
class RemovedUserSessions:
    """The answer to ending all sessions of a user: how many there were (contract C6)."""

    user_id: int
    ended: int


@dataclass(frozen=True, slots=True)
class ServiceKey:
    """A key for scripts (contract C5), without the key.

    The times are Unix time; None for never.
    """

    key_id: int
    name: RoleName
    scope: tuple[str, ...]
    created_at: int
    expires_at: int | None
    last_used_at: int | None


@dataclass(frozen=True, slots=True)
class NewServiceKey(ServiceKey):
    """A service key as it is made, with the key, which is shown this once."""

    key: str = field(repr=False)


@dataclass(frozen=True, slots=True)
class RemovedServiceKey:
    """The answer to ending a service key."""

    key_id: int
