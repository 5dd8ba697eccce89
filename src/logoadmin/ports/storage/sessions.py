"""Who is asking: sessions, service keys, attempts to sign in, and the secrets of the service."""

from dataclasses import dataclass
from typing import Protocol

from logoadmin.domain.model.access import Rights
from logoadmin.domain.model.sessions import ServiceKey


@dataclass(frozen=True, slots=True)
class Session:
    """What began with a sign-in and ends by itself at ``expires_at`` (Unix time).

    Attributes:
        session_id: random, and in its access tokens; it refreshes nothing.
        user_id: who signed in.
        created_at: when.
        expires_at: when it ends by itself.
        refreshed_at: when it was refreshed last, None for never.
        address: where the sign-in came from, at most 64 characters; None if that is not known.
        user_agent: the program that it came from, at most 256 characters; None if that is not known.
    """

    session_id: str
    user_id: int
    created_at: int
    expires_at: int
    refreshed_at: int | None = None
    address: str | None = None
    user_agent: str | None = None


class Sessions(Protocol):
    """The sessions, and the refresh tokens that prolong them. Tokens are stored and looked up hashed."""

    def rights(self, session_id: str, user_id: int) -> Rights | None:
        """Return what a user may do now; None where the user is gone or has no such session (contract B5)."""

    def add(self, session: Session) -> None:
        """Begin a session of a user who is there."""

    def of_user(self, user_id: int) -> tuple[Session, ...]:
        """Return the sessions of a user, by ``created_at``, then by id; also those that expired."""

    def update_times(self, session: Session) -> None:
        """Change when a session that is there was begun, was refreshed and ends."""

    def end(self, session_id: str) -> bool:
        """End a session with all its refresh tokens; tell whether there was one."""

    def end_all(self, user_id: int, keep: str | None = None) -> None:
        """End the sessions of a user, save one."""

    def forget_expired(self, now: int, most: int) -> None:
        """Forget up to so many refresh tokens of sessions that expired at ``now`` or earlier.

        Those that expired first come first, then by id; of each, the tokens go in any order, and then it goes itself.
        One that has just lost its last token when ``most`` is reached stays until the next time. No more than
        ``most`` sessions go.
        """

    def expire_by(self, latest: int, most: int) -> None:
        """Let up to so many sessions that expire after ``latest`` expire then."""

    def add_refresh_token(self, token_hash: str, session_id: str) -> None:
        """Store a new refresh token of a session that is there."""

    def refresh_token(self, token_hash: str) -> tuple[Session, bool] | None:
        """Return the session of a refresh token and whether the token was used, or None."""

    def use_refresh_token(self, token_hash: str) -> None:
        """Mark a refresh token as used; it stays, so that a second use is noticed."""


class Secrets(Protocol):
    """What the service itself must remember and tell nobody."""

    def get(self, name: str) -> str | None:
        """Return a secret, or None. In :meth:`Storage.write`, others must not change it before the end."""

    def put(self, name: str, value: str) -> None:
        """Store a secret that is not there yet."""

    def replace(self, name: str, value: str) -> None:
        """Store a secret in place of the one of that name, if there is one."""


class ServiceKeys(Protocol):
    """The keys of scripts (contract C5), stored and looked up hashed."""

    def next_id(self) -> int:
        """Return the id for a new key, see :meth:`~logoadmin.ports.storage.records.Records.next_id`."""

    def add(self, key: ServiceKey, user_id: int, key_hash: str) -> None:
        """Store a new key of a user who is there; it goes with the user."""

    def of_user(self, user_id: int) -> tuple[ServiceKey, ...]:
        """Return the keys of a user, by id."""

    def find(self, key_hash: str) -> tuple[ServiceKey, Rights] | None:
        """Return a key and what its user may do now, or None."""

    def use(self, key_id: int, now: int) -> None:
        """Record when a key was used."""

    def update_times(self, key_id: int, created_at: int, expires_at: int | None) -> None:
        """Change when a key was made and when it ends."""

    def remove(self, key_id: int, user_id: int) -> bool:
        """End a key of a user; tell whether there was one."""


class SignInAttempts(Protocol):
    """How often sign-ins were tried lately (contract C1). Whatever is counted has a name of at most 64 characters."""

    def count(self, counted: str) -> tuple[int, int]:
        """Return how many attempts there are and when their window ends; 0 and 0 where there is none."""

    def set(self, counted: str, attempts: int, ends_at: int) -> None:
        """Say how many there are and when their window ends."""

    def forget(self, counted: str) -> None:
        """Forget the attempts, if there are any."""

    def forget_ended(self, now: int, most: int) -> None:
        """Forget some whose window ended at ``now`` or earlier, up to so many of them."""
