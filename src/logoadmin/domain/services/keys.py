"""Service keys, for scripts (contract C5)."""

import re
from functools import partial
from typing import Annotated, Final

from logoadmin.domain.audit.unit_of_work import AuditedUnitOfWork
from logoadmin.domain.key_use import is_good
from logoadmin.domain.model.access import SIGNED_IN, Caller, Rights, user_of
from logoadmin.domain.model.command import Command
from logoadmin.domain.model.errors import Conflict, NotAuthenticated, NotFound, Outdated
from logoadmin.domain.model.limits import KeyId, KeySeconds, RoleName, Scopes, described
from logoadmin.domain.model.sessions import NewServiceKey, RemovedServiceKey, ServiceKey
from logoadmin.domain.stored_hashes import stored_hash
from logoadmin.domain.transactions import Transactions
from logoadmin.ports.randomness import Randomness
from logoadmin.ports.storage import UnitOfWork

# What scanners for lost secrets find a key by.
_PREFIX: Final = "lga_"
# Anyone who can sign in may make keys.
MOST_KEYS: Final = 100
_KEY: Final = re.compile(_PREFIX + r"[A-Za-z0-9_-]{43}")


class ListKeys(Command):
    """The caller's own keys, without the texts that prove them."""

    permission = SIGNED_IN


class CreateKey(Command):
    """A new key for a script, good for so many seconds or, with null, until it is ended."""

    permission = SIGNED_IN
    changes_records = False

    name: RoleName
    scope: Scopes
    expires_in: (
        Annotated[KeySeconds, described("Seconds until the key expires; `null` or absent for never.", 900)] | None
    ) = None


class RemoveKey(Command):
    """The end of one of the caller's own keys."""

    permission = SIGNED_IN
    changes_records = False

    key_id: KeyId


class KeyService:
    """What can be done with service keys. Every method may also raise what :class:`Transactions` raises."""

    def __init__(self, transactions: Transactions, randomness: Randomness) -> None:
        self._transactions = transactions
        self._randomness = randomness

    def list(self, command: ListKeys, caller: Caller) -> tuple[ServiceKey, ...]:
        """Return the caller's keys, by key_id (contract C5).

        Raises:
            NotAuthenticated: the caller is nobody in particular.
        """
        return self._transactions.snapshot_with_rights(command, caller, self._list)

    def create(self, command: CreateKey, caller: Caller) -> NewServiceKey:
        """Make a key, which is shown this once; only its hash is stored (contract C5).

        The same command under the same idempotency key returns it again for a minute, while it exists and was not used
        (contract F3). After that it makes another key.

        Raises:
            NotAuthenticated: the caller is nobody in particular.
            NotPermitted: they do not hold all of its scope (contract B4), or are a key themselves: one that ends
                must not be able to make one that does not.
            Conflict: they have 100 keys that have not expired.
        """
        create = partial(self._create, _PREFIX + self._randomness.text())
        return self._transactions.write(command, caller, create, unused=_is_unused)

    def remove(self, command: RemoveKey, caller: Caller) -> RemovedServiceKey:
        """End a key at once (contract C5).

        Raises:
            NotAuthenticated: the caller is nobody in particular.
            NotPermitted: they are a key themselves.
            NotFound: they have no such key.
            Outdated: ``if_match`` names versions of it, and a key has none.
        """
        return self._transactions.write(command, caller, self._remove)

    def _list(self, uow: UnitOfWork, _command: ListKeys, held: Rights | None) -> tuple[ServiceKey, ...]:
        if held is None:
            raise NotAuthenticated
        return uow.keys.of_user(held.user_id)

    def _create(self, key: str, uow: AuditedUnitOfWork, command: CreateKey) -> NewServiceKey:
        held = uow.held
        user_id = user_of(held)
        if held is not None:
            held.require(command.scope)
        self._make_room(uow, user_id)
        expires_at = None if command.expires_in is None else uow.now + command.expires_in
        stored = ServiceKey(uow.keys.next_id(), command.name, command.scope, uow.now, expires_at, None)
        uow.keys.add(stored, user_id, _hashed(key))
        return NewServiceKey(stored.key_id, stored.name, stored.scope, uow.now, expires_at, None, key)

    def _make_room(self, uow: AuditedUnitOfWork, user_id: int) -> None:
        """Make sure that a user can have another key; when the bound is reached, their expired ones are removed."""
        known = uow.keys.of_user(user_id)
        if len(known) < MOST_KEYS:
            return
        expired = [key for key in known if not is_good(key, uow.now)]
        if len(known) - len(expired) >= MOST_KEYS:
            raise Conflict(f"A user can have {MOST_KEYS} service keys; remove one that is no longer used")
        for key in expired:
            uow.keys.remove(key.key_id, user_id)

    def _remove(self, uow: AuditedUnitOfWork, command: RemoveKey) -> RemovedServiceKey:
        if not uow.keys.remove(command.key_id, user_of(uow.held)):
            raise NotFound("Key", command.key_id)
        if command.if_match is not None:  # a key has no version
            raise Outdated("Key", command.key_id)
        return RemovedServiceKey(command.key_id)


def hashed_key(token: str) -> str | None:
    """Return the hash of a service key, by which storage finds it; None for any other token."""
    return _hashed(token) if _KEY.fullmatch(token) else None


def _hashed(key: str) -> str:
    return stored_hash("service key", key)


def _is_unused(uow: UnitOfWork, made: NewServiceKey, _now: int) -> bool:
    """Tell whether a new key can be shown again: it still exists and was never used."""
    found = uow.keys.find(_hashed(made.key))
    return found is not None and found[0].last_used_at is None
