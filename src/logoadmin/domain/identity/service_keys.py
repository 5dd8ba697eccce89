"""Service keys, for scripts (contract C5)."""

from dataclasses import asdict
from typing import Annotated, Final

from logoadmin.domain.identity.accounts import count_made
from logoadmin.domain.identity.records import KEY_PREFIX, NewServiceKey, RemovedServiceKey, ServiceKey, hashed_key
from logoadmin.domain.identity.sign_in_events import record_event
from logoadmin.domain.kernel.access import SIGNED_IN, AllRights, Held, KeyHolder, Permission, user_of
from logoadmin.domain.kernel.command import Command
from logoadmin.domain.kernel.errors import Conflict, NotAuthenticated, NotFound, Outdated
from logoadmin.domain.kernel.gate import Transactions
from logoadmin.domain.kernel.limits import KeyId, KeySeconds, RoleName, Scopes, described
from logoadmin.domain.kernel.unit_of_work import AuditedUnitOfWork, ReadUnitOfWork, identity_in
from logoadmin.domain.kernel.use_cases import Service, reads_with_rights, writes
from logoadmin.ports.environment import Randomness

# Anyone who can sign in may make keys.
MOST_KEYS: Final = 100


class ListKeys(Command):
    """The caller's own keys, without their secrets."""


class CreateKey(Command):
    """A new key for a script; it expires after ``expires_in`` seconds, or with null never."""

    keeps_answer = False

    name: RoleName
    scope: Scopes
    expires_in: (
        Annotated[KeySeconds, described("Seconds until the key expires; `null` or absent for never.", 900)] | None
    ) = None


class RemoveKey(Command):
    """The removal of one of the caller's own keys."""

    key_id: KeyId


class KeyService(Service):
    """The use cases of service keys; they raise NotAuthenticated unless the caller is a user."""

    def __init__(self, transactions: Transactions, randomness: Randomness) -> None:
        super().__init__(transactions)
        self._randomness = randomness

    @reads_with_rights(SIGNED_IN)
    def list(self, uow: ReadUnitOfWork, _command: ListKeys, held: Held) -> tuple[ServiceKey, ...]:
        """Return the caller's keys, by key_id; a service key gets only itself (contract C5)."""
        if isinstance(held, AllRights):
            raise NotAuthenticated
        if isinstance(uow.caller, KeyHolder):
            found = identity_in(uow).keys.find(uow.caller.key_hash)
            return () if found is None else found[:1]
        return identity_in(uow).keys.of_user(held.user_id)

    @writes(Permission(signed_in=True, recent=True))
    def create(self, uow: AuditedUnitOfWork, command: CreateKey) -> NewServiceKey:
        """Create a key, which is shown only once; only its hash is stored (contract C5).

        Raises:
            NotPermitted: the caller does not hold all of the scope (contract B4), or is a service key, which must not
                create one that outlives it.
            EnrolmentRequired: the caller must enrol a second factor, even if only since the last refresh (contract O4).
            Conflict: the user has 100 keys that have not expired.
            TooManyKeys: the user created 1,000 keys, factors and sets of recovery codes in an hour.
        """
        user_id, key = user_of(uow.held), KEY_PREFIX + self._randomness.text()
        uow.held.require(command.scope)
        _make_room(uow, user_id)
        expires_at = None if command.expires_in is None else uow.now + command.expires_in
        stored = ServiceKey(identity_in(uow).keys.next_id(), command.name, command.scope, uow.now, expires_at, None)
        identity_in(uow).keys.add(stored, user_id, hashed_key(key))
        record_event(uow, "key_made", user_id, uow.caller, uow.now)
        return NewServiceKey(**asdict(stored), key=key)

    @writes(SIGNED_IN)
    def remove(self, uow: AuditedUnitOfWork, command: RemoveKey) -> RemovedServiceKey:
        """Remove a key; it becomes invalid at once (contract C5).

        Raises:
            NotFound: the user has no such key.
            Outdated: ``if_match`` is given, and keys have no versions.
        """
        user_id = user_of(uow.held)
        if not identity_in(uow).keys.remove(command.key_id, user_id):
            raise NotFound("Key", command.key_id)
        if command.if_match is not None:
            raise Outdated("Key", command.key_id)
        record_event(uow, "key_removed", user_id, uow.caller, uow.now)
        return RemovedServiceKey(command.key_id)


def _make_room(uow: AuditedUnitOfWork, user_id: int) -> None:
    """Require that a user can have another key; at the bound, their expired ones are removed."""
    count_made(uow, user_id)
    known = identity_in(uow).keys.of_user(user_id)
    if len(known) < MOST_KEYS:
        return
    expired = [key for key in known if not key.is_valid(uow.now)]
    if len(known) - len(expired) >= MOST_KEYS:
        raise Conflict(f"A user can have {MOST_KEYS} service keys; remove one that is no longer used")
    for key in expired:
        identity_in(uow).keys.remove(key.key_id, user_id)
