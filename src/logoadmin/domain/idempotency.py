"""Commands that are sent again because their answer was lost (contract F3).

The first answer is stored in the transaction of the change itself, encrypted with a key that only its sender has:
there may be a token in it.
"""

import hashlib
import json
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, Final, TypeVar

from pydantic import TypeAdapter

from logoadmin.domain.model import records
from logoadmin.domain.model.access import Anonymous, Caller, KeyHolder, Owner, SignedIn
from logoadmin.domain.model.command import CIRCUMSTANCES, UNSET, Command
from logoadmin.domain.model.errors import InvalidInput, Problem
from logoadmin.domain.model.records import StoredRecord
from logoadmin.domain.model.versions import version_of
from logoadmin.ports.encryption import Encryption
from logoadmin.ports.storage import StoredResponse, UnitOfWork

Answer = TypeVar("Answer")

_DAY: Final = 86_400
MAX_KEY: Final = 255
# So many old answers are forgotten for each new one: however many there are, nobody waits for it.
_MOST_RESPONSES_FORGOTTEN: Final = 20
# A password must not be guessed from what is stored, however short the key: 16 MiB and some hundredths of a second.
_SLOW: Final[dict[str, int]] = {"n": 2**14, "r": 8, "p": 1}


@dataclass(frozen=True, slots=True)
class Request:
    """A command that may come again: its key, and what tells it from others."""

    key: str
    digest: str


def _name(caller: Caller) -> tuple[str, str | int]:
    """Return whose keys are apart from those of others; a user's service keys are not the user."""
    match caller:
        case SignedIn(user_id=user_id):
            return "user", user_id
        case KeyHolder(key_hash=key_hash):
            return "key", key_hash
        case Anonymous(origin=origin):
            return "anonymous", origin
        case Owner():
            return "owner", ""


class Idempotency:
    """Gives a command that comes again under the same key the answer that it had."""

    def __init__(self, encryption: Encryption) -> None:
        self._encryption = encryption

    def request(self, command: Command) -> Request | None:
        """Return how a command is known again; None where it has no key."""
        key = command.idempotency_key
        if key is None:
            return None
        values = {name: value for name, value in command if value is not UNSET and name not in CIRCUMSTANCES}
        serialized = json.dumps([type(command).__name__, values]).encode()
        if command.hashes:
            return Request(key, hashlib.scrypt(serialized, salt=key.encode(), **_SLOW).hex())
        return Request(key, hashlib.sha256(serialized).hexdigest())

    def once(self, uow: UnitOfWork, request: Request, caller: Caller, now: int, work: Callable[[], Answer]) -> Answer:
        """Return the answer of work, or the one that it gave the same caller before.

        Raises:
            InvalidInput: the caller had the key for another request.
        """
        key_hash = hashlib.sha256(json.dumps([*_name(caller), request.key]).encode()).hexdigest()
        stored = uow.stored_responses.get(key_hash)
        if stored is not None and stored.expires_at > now:
            answer: Answer = self._opened(stored, request)
            return answer
        uow.stored_responses.forget_expired(now, _MOST_RESPONSES_FORGOTTEN)
        # Stored by a clock that ran ahead and was put right.
        uow.stored_responses.expire_by(now + _DAY, _MOST_RESPONSES_FORGOTTEN)
        answer = work()
        values = TypeAdapter(type(answer)).dump_python(answer, mode="json")
        version = version_of(answer) if isinstance(answer, StoredRecord) else 0
        serialized = json.dumps([request.digest, type(answer).__name__, values, version])
        uow.stored_responses.add(
            StoredResponse(key_hash, self._encryption.encrypt(serialized, request.key), now + _DAY)
        )
        return answer

    def _opened(self, stored: StoredResponse, request: Request) -> Any:
        digest, name, values, version = json.loads(self._encryption.decrypt(stored.encrypted, request.key))
        if digest != request.digest:
            problem = Problem(("header", "Idempotency-Key"), "This key was used for another request", "value_error")
            raise InvalidInput([problem])
        return TypeAdapter(getattr(records, name)).validate_python(
            {**values, **({"version": version} if version else {})}
        )
