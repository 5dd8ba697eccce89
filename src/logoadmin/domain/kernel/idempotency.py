"""Commands that are sent again because their response was lost, and stored responses (contract F3).

The response is stored in the transaction of the command. Commands whose responses contain a secret, and those that
anyone or any member may repeat without limit, ignore the key.
"""

import hmac
import json
from collections.abc import Sequence
from dataclasses import dataclass, field
from functools import lru_cache
from types import ModuleType
from typing import Any, Final

from pydantic import BaseModel, TypeAdapter

from logoadmin.domain.kernel.access import Anonymous, Caller, Held, KeyHolder, Owner, Rights, SignedIn, stored_hash
from logoadmin.domain.kernel.command import UNSET, Command
from logoadmin.domain.kernel.errors import InvalidInput, NotPermitted
from logoadmin.domain.kernel.records import version_of
from logoadmin.ports.history_storage import StoredResponse, creation_of
from logoadmin.ports.storage import UnitOfWork

_DAY: Final = 86_400


@dataclass(frozen=True, slots=True)
class IdempotentRequest:
    """A command of a caller under an idempotency key.

    Its digest is keyed with the idempotency key, which is not stored, so that it does not give away a password in the
    command.
    """

    caller: Caller
    key: str = field(repr=False)
    digest: str = field(repr=False)

    def key_hash(self, uow: UnitOfWork) -> str:
        """Return what identifies the caller and the key in storage."""
        return stored_hash("idempotency key", json.dumps([*_owner_of_keys(uow, self.caller), self.key]))


class Idempotency:
    """Stores the responses to commands under idempotency keys, and returns them if the commands come again."""

    def __init__(self, answers: Sequence[ModuleType]) -> None:
        self._answers = tuple(answers)

    def request(self, command: Command, caller: Caller) -> IdempotentRequest | None:
        """Return the identity of a command that may be sent again; None if it has no key or stores no answer."""
        key = command.idempotency_key
        if key is None or not command.keeps_answer:
            return None
        values = {name: value for name, value in command.own_values().items() if value is not UNSET}
        serialized = json.dumps([type(command).__name__, values], default=_given)
        return IdempotentRequest(caller, key, hmac.digest(key.encode(), serialized.encode(), "sha256").hex())

    def replay(self, uow: UnitOfWork, request: IdempotentRequest, held: Held, now: int) -> Any:
        """Return the stored answer, or None; an expired one is deleted.

        Raises:
            InvalidInput: the caller used the key for another command.
            NotPermitted: the caller no longer holds the scopes that the command required (contract B5).
        """
        key_hash = request.key_hash(uow)
        stored = uow.stored_responses.get(key_hash)
        if stored is None:
            return None
        if stored.expires_at <= now:
            uow.stored_responses.forget(key_hash)
            return None
        digest, name, values, version, *required = json.loads(stored.response)
        if digest != request.digest:
            raise InvalidInput.of("This key was used for another request", "idempotency_key")
        if not all(map(held.cover, required)):
            raise NotPermitted
        return _adapter(name, self._answers).validate_python({**values, **({"version": version} if version else {})})

    def store(self, uow: UnitOfWork, request: IdempotentRequest, answer: Any, held: Held, now: int) -> None:
        """Store the answer to a command for a day, with the scopes that it required."""
        values = _adapter(type(answer).__name__, self._answers).dump_python(answer, mode="json")
        # Fields that bodies leave out.
        version = version_of(answer) if hasattr(answer, "version") else 0
        values |= {"existed": answer.existed} if hasattr(answer, "existed") else {}
        required = [sorted(held.required)] if isinstance(held, Rights) and held.required else []
        response = json.dumps([request.digest, type(answer).__name__, values, version, *required])
        uow.stored_responses.add(StoredResponse(request.key_hash(uow), response, now + _DAY))


def _given(value: BaseModel) -> dict[str, Any]:
    """Return the members that a command gives, also those that empty others."""
    return {name: getattr(value, name) for name in type(value).model_fields if name in value.model_fields_set}


@lru_cache
def _adapter(name: str, modules: tuple[ModuleType, ...]) -> TypeAdapter[Any]:
    """Return the adapter for answers of a type, by its name; creating one takes milliseconds."""
    answer: Any = dict[str, Any] if name == "dict" else None
    for module in modules:
        answer = answer or getattr(module, name, None)
    if answer is None:  # of a program's own use case
        raise TypeError(f"{name} cannot be stored under an idempotency key: return a record or a dict, or omit the key")
    return TypeAdapter(answer)


def _owner_of_keys(uow: UnitOfWork, caller: Caller) -> tuple[str, *tuple[str | int, ...]]:
    """Return the namespace of a caller's keys; that of a user's service key is not the user's."""
    match caller:
        case SignedIn(user_id=user_id):
            return "user", user_id, creation_of(uow.changes, user_id)
        case KeyHolder(key_hash=key_hash):
            return "key", key_hash
        case Anonymous(origin=origin):
            return "anonymous", origin
        case Owner():
            return "owner", ""


def sweep_responses(uow: UnitOfWork, now: int, most: int) -> bool:
    """Delete up to ``most`` expired responses; return whether more may be left."""
    late = uow.stored_responses.expire_by(now + _DAY, most)  # from a clock that was ahead
    return max(late, uow.stored_responses.forget_expired(now, most)) >= most
