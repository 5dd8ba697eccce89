"""Ways to sign in besides passwords, and the events of signing in (contract O).

Except for events, they are removed with their user. None of them is in the history or in exports.
"""

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Literal, Protocol

from logoadmin.domain.identity.records import CountedEvent, FactorKind, SignInEvent
from logoadmin.domain.kernel.lists import Order

ChallengePurpose = Literal["used", "sign_in_code", "link"]


@dataclass(frozen=True, slots=True)
class Factor:
    """A second factor of a user (contract O1). Its id is never reused, its times are Unix time.

    Attributes:
        secret: for TOTP, the encrypted secret; for a passkey, JSON with the public key, which is not secret.
        credential: for a passkey, its credential id in base64url, at most 1,364 characters, and unique; None for TOTP.
        counter: for TOTP, the last time step that was used; for a passkey, its signature counter.
        confirmed: whether it can be used.
        last_used_at: when it was last used; None for never.
    """

    factor_id: int
    user_id: int
    kind: FactorKind
    name: str
    created_at: int
    secret: str = field(repr=False)
    credential: str | None
    counter: int
    confirmed: bool
    last_used_at: int | None


class Factors(Protocol):
    """The second factors of users."""

    def next_id(self) -> int:
        """Return the id for a new factor, see :meth:`~logoadmin.ports.record_storage.Records.next_id`."""

    def add(self, factor: Factor) -> None:
        """Store a new factor of an existing user."""

    def of_user(self, user_id: int) -> tuple[Factor, ...]:
        """Return the factors of a user, by id, including unconfirmed ones."""

    def find_credential(self, credential: str) -> Factor | None:
        """Return the passkey with a credential id, or None."""

    def update(self, factor: Factor) -> None:
        """Store the secret, the confirmation, the counter and the last use of an existing factor."""

    def remove(self, factor_id: int, user_id: int) -> bool:
        """Remove a factor of a user; return whether it existed."""


class RecoveryCodes(Protocol):
    """The recovery codes of users, hashed (contract O1)."""

    def replace(self, user_id: int, hashes: Sequence[str]) -> None:
        """Store different codes of an existing user, replacing those that are left."""

    def left(self, user_id: int) -> int:
        """Return the number of a user's codes that are left."""

    def use(self, user_id: int, code_hash: str) -> bool:
        """Remove a code of a user; return whether it existed, which is true for only one of concurrent calls."""


@dataclass(frozen=True, slots=True)
class Challenge:
    """A code or a link that signs a user in once, or a challenge that was used (contract O2, O6, R5).

    Attributes:
        purpose: its only purpose, or ``used``.
        user_id: the only user for whom it can be used; None for a used challenge.
        data: data for signing in with it, at most 65,535 bytes.
        expires_at: when it expires, as Unix time.
    """

    challenge_hash: str
    purpose: ChallengePurpose
    user_id: int | None
    data: str = field(repr=False)
    expires_at: int


class Challenges(Protocol):
    """The challenges, stored and looked up hashed."""

    def add(self, challenge: Challenge) -> None:
        """Store a new challenge, of an existing user if any."""

    def add_once(self, challenge: Challenge) -> bool:
        """Store a challenge of no user; return whether it was new, which is true for only one of concurrent calls."""

    def get(self, challenge_hash: str) -> Challenge | None:
        """Return a challenge, even if it has expired, or None."""

    def take(self, challenge_hash: str) -> bool:
        """Remove a challenge; return whether it existed, which is true for only one of concurrent calls."""

    def drop(self, user_id: int, purpose: ChallengePurpose | None = None) -> None:
        """Remove the challenges of a user for one purpose, or all."""

    def forget_expired(self, now: int, most: int) -> int:
        """Remove up to ``most`` challenges that expired at ``now`` or earlier; return how many."""


@dataclass(frozen=True, slots=True)
class Identity:
    """A user as an issuer knows them (contract O7).

    Attributes:
        issuer: the issuer, at most 2,048 characters.
        subject: the user's id there, at most 255 characters.
        groups: the groups at the last sign-in, as a list in JSON; ``null`` if the issuer has no groups.
        refused: whether the issuer named no group with a role then, so that the user has no rights.
    """

    issuer: str
    subject: str
    user_id: int
    groups: str
    refused: bool = False


class Identities(Protocol):
    """The identities of users at issuers. Issuers and subjects are compared exactly."""

    def find(self, issuer: str, subject: str) -> Identity | None:
        """Return an identity, or None."""

    def of_user(self, user_id: int) -> tuple[Identity, ...]:
        """Return the identities of a user, by issuer, then by subject."""

    def put(self, identity: Identity) -> None:
        """Store an identity of an existing user, replacing the current one of that issuer and subject."""


class Events(Protocol):
    """The events."""

    def next_id(self) -> int:
        """Return the id for a new event, see :meth:`~logoadmin.ports.record_storage.Records.next_id`."""

    def add(self, event: SignInEvent, user_since: int = 0) -> None:
        """Store a new event of the user whom the change ``user_since`` created."""

    def count(
        self,
        event: CountedEvent,
        user_id: int | None,
        address: str | None,
        at: int,
        every: int = 0,
        user_since: int = 0,
    ) -> bool:
        """Add 1 to the count of the event with these values in the hour of ``at``; return whether it exists.

        Its time becomes ``at``. It is unchanged if ``at`` is less than ``every`` seconds after its time. Hours are
        those of Unix time. If there are several events, the first one counts.
        """

    def number(self, event: CountedEvent, at: int, most: int) -> int:
        """Return the number of rows of an event in the hour of ``at``, at most ``most``."""

    def page(
        self, after: int, limit: int, user_id: int | None = None, order: Order = "desc", user_since: int | None = None
    ) -> tuple[SignInEvent, ...]:
        """Return up to ``limit`` events that follow an id in this order: of all users, or of one.

        Of a user, they are those of the user whom the change ``user_since`` created; if None, of all users with the id.
        """

    def forget_before(self, at: int, most: int) -> int:
        """Remove up to ``most`` events that happened before ``at``; return how many."""
