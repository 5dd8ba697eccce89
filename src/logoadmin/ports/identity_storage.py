"""The repositories of identity: sessions, passwords, preferences, service keys and counts."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Final, NamedTuple, Protocol

from logoadmin.domain.identity.records import ServiceKey
from logoadmin.domain.identity.sign_in_rules import Ways
from logoadmin.domain.kernel.access import Rights, SignInFactor
from logoadmin.domain.kernel.records import PasswordHash
from logoadmin.ports.sign_in_storage import Challenges, Events, Factors, Identities, RecoveryCodes

# The secret with the id of the user whose password the first start generated, until that password is changed.
GENERATED_PASSWORD: Final = "generated_password"


@dataclass(frozen=True, slots=True)
class Session:
    """A session, which began with a sign-in and expires at ``expires_at``; its times are Unix time.

    Attributes:
        session_id: a random id, which its access tokens contain; it is not a refresh token.
        created_at: the time of the sign-in.
        refreshed_at: when it was last refreshed, None for never.
        address: the address of the sign-in, at most 64 characters; None if unknown.
        user_agent: the ``User-Agent`` of the sign-in, at most 256 characters; None if unknown.
        factor: the last step of the sign-in.
    """

    session_id: str
    user_id: int
    created_at: int
    expires_at: int
    refreshed_at: int | None = None
    address: str | None = None
    user_agent: str | None = None
    factor: SignInFactor = "password"


class Sessions(Protocol):
    """The sessions, and the refresh tokens that extend them. Tokens are stored and looked up hashed."""

    def rights(self, session_id: str, user_id: int) -> Rights | None:
        """Return the current rights of a user; None if the user or the session does not exist (contract B5).

        They include the times and the factor of the session, which may have expired, and ``must_change_password``
        according to :data:`GENERATED_PASSWORD`.
        """

    def add(self, session: Session) -> None:
        """Add a session of an existing user."""

    def of_user(self, user_id: int) -> tuple[Session, ...]:
        """Return the sessions of a user, by ``created_at``, then by id, including expired ones."""

    def update(self, session: Session) -> None:
        """Change the times and the factor of an existing session."""

    def end(self, session_id: str) -> bool:
        """End a session with all its refresh tokens; return whether it existed."""

    def end_all(self, user_id: int, keep: str | None = None) -> None:
        """End the sessions of a user, except ``keep``."""

    def forget_expired(self, now: int, most: int) -> int:
        """Delete up to ``most`` refresh tokens of sessions that expired at ``now`` or earlier; return how many.

        In order of expiry, then id, the tokens of each session are deleted in any order, then the session. A session
        that loses its last token when ``most`` is reached stays until the next call. At most ``most`` sessions are
        deleted.
        """

    def expire_by(self, latest: int, most: int) -> int:
        """Make up to ``most`` sessions that expire after ``latest`` expire then; return how many."""

    def add_refresh_token(self, token_hash: str, session_id: str) -> None:
        """Store a new refresh token of an existing session."""

    def refresh_token(self, token_hash: str) -> tuple[Session, int | None] | None:
        """Return the session of a refresh token and when the token was first used, or None."""

    def use_refresh_token(self, token_hash: str, now: int) -> None:
        """Mark a refresh token as used now; it stays, so that a later use is detected."""


class Preferences(Protocol):
    """The preferences of users, as texts of at most 4 KiB (contract J8)."""

    def get(self, user_id: int) -> str | None:
        """Return the preferences of a user, or None."""

    def set(self, user_id: int, text: str) -> None:
        """Store the preferences of an existing user, replacing the current ones; they are removed with the user."""


class ServiceKeys(Protocol):
    """The keys of scripts (contract C5), stored and looked up hashed."""

    def next_id(self) -> int:
        """Return the id for a new key, see :meth:`~logoadmin.ports.record_storage.Records.next_id`."""

    def add(self, key: ServiceKey, user_id: int, key_hash: str) -> None:
        """Store a new key of an existing user; it is removed with the user."""

    def of_user(self, user_id: int) -> tuple[ServiceKey, ...]:
        """Return the keys of a user, by id."""

    def find(self, key_hash: str) -> tuple[ServiceKey, Rights] | None:
        """Return a key and the current rights of its user; None if it is unknown, or an issuer refused the user."""

    def update(self, key: ServiceKey) -> None:
        """Change when a key was created, when it expires, and when it was used."""

    def remove(self, key_id: int, user_id: int) -> bool:
        """Remove a key of a user; return whether it existed."""


class Count(NamedTuple):
    """A number of actions in a window that ends at ``ends_at``, as Unix time."""

    number: int
    ends_at: int

    def at(self, now: int, window: int) -> "Count":
        """Return it if its window is open, otherwise 0 in a window of ``window`` seconds that begins now.

        A window that ends later than that is not open: a clock was ahead.
        """
        is_open = self.number > 0 and now < self.ends_at <= now + window
        return self if is_open else Count(0, now + window)


class Counts(Protocol):
    """Counts of actions with a limit, such as sign-ins, and the networks of users (contract C1, C3, C5, P1).

    Their names have at most 64 characters.
    """

    def get(self, name: str) -> Count:
        """Return a count; 0 and 0 if none is stored."""

    def several(self, names: Sequence[str]) -> tuple[Count, ...]:
        """Return several counts, in the order of their names."""

    def put(self, counts: Mapping[str, Count]) -> None:
        """Store counts, replacing others with their names."""

    def take_back(self, names: Sequence[str], forgiven: str = "") -> None:
        """Subtract 1 from each count above 0, and everything from the one with the name ``forgiven``; windows stay."""

    def forget_ended(self, now: int, most: int) -> int:
        """Delete up to ``most`` counts whose window ended at ``now`` or earlier; return how many."""


@dataclass(frozen=True, slots=True)
class Account:
    """A user who signs in.

    Attributes:
        scope: the scopes of the user's role.
        password: the hash; None for a user without a password.
        has_factor: whether a second factor is confirmed.
        active: whether the user is not suspended.
        refused: whether an issuer refused the user, see :class:`~logoadmin.ports.sign_in_storage.Identity`.
    """

    user_id: int
    username: str
    scope: frozenset[str]
    password: PasswordHash | None
    has_factor: bool = False
    active: bool = True
    refused: bool = False


class Passwords(Protocol):
    """The password hashes of users, and who can sign in."""

    def get(self, user_id: int) -> PasswordHash | None:
        """Return the hash of a user, or None."""

    def set(self, user_id: int, password: PasswordHash) -> None:
        """Set the hash of an existing user."""

    def account(self, of: int | str) -> Account | None:
        """Return the account of the user with an id or a name, or None."""

    def classes(self) -> frozenset[str]:
        """Return the parameters of all stored hashes of Argon2: each up to its lanes, without salt and digest.

        This reads all users, so callers cache the result.
        """

    def can_sign_in(self, role_id: int, ways: Ways) -> bool:
        """Return whether a user with the role can sign in: with a password, a confirmed passkey or at the issuer.

        Users that an issuer refused cannot. If passkeys cannot be used, a password is not enough for users whose only
        second factors are passkeys.
        """

    def can_user_sign_in(self, user_id: int, ways: Ways) -> bool:
        """Return whether this user can sign in, in the same ways."""


class IdentityStorage(Protocol):
    """The repositories of identity."""

    @property
    def passwords(self) -> Passwords: ...
    @property
    def sessions(self) -> Sessions: ...
    @property
    def preferences(self) -> Preferences: ...
    @property
    def keys(self) -> ServiceKeys: ...
    @property
    def counts(self) -> Counts: ...
    @property
    def factors(self) -> Factors: ...
    @property
    def recovery_codes(self) -> RecoveryCodes: ...
    @property
    def challenges(self) -> Challenges: ...
    @property
    def identities(self) -> Identities: ...
    @property
    def events(self) -> Events: ...
