"""Commands that are sent again because their answer was lost (contract F3).

The response is stored in the transaction of the change itself. It is encrypted with a key made of the idempotency key
and of the request, neither of which is stored: there may be a token in it.
"""

import hashlib
import json
from collections.abc import Callable
from dataclasses import dataclass
from functools import lru_cache
from typing import Any, Final, TypeVar

from pydantic import TypeAdapter

from logoadmin.domain.model import records, sessions
from logoadmin.domain.model.access import Anonymous, Caller, KeyHolder, Owner, Rights, SignedIn
from logoadmin.domain.model.command import REQUEST_OPTIONS, UNSET, Command
from logoadmin.domain.model.errors import InvalidInput, NotPermitted, Problem
from logoadmin.domain.model.records import StoredRecord
from logoadmin.domain.model.versions import version_of
from logoadmin.domain.stored_hashes import stored_hash
from logoadmin.ports.encryption import Encryption
from logoadmin.ports.storage import StoredResponse, UnitOfWork

Answer = TypeVar("Answer")

Unused = Callable[[UnitOfWork, Answer, int], bool]

_DAY: Final = 86_400
# How long a response with tokens is stored.
_MINUTE: Final = 60
# Each write that adds a response deletes up to this many expired ones, so their number falls and no write takes long.
_MOST_RESPONSES_FORGOTTEN: Final = 20
# A password must not be guessed from what is stored, however short the key: 16 MiB and some hundredths of a second.
_SLOW: Final[dict[str, int]] = {"n": 2**14, "r": 8, "p": 1}


@dataclass(frozen=True, slots=True)
class IdempotentRequest:
    """A command that may come again: its key, and a digest that identifies it.

    The digest of a refresh is as secret as its refresh token, that of a sign-in as its password.
    """

    key: str
    digest: str

    @property
    def secret(self) -> str:
        """The key that encrypts the response."""
        return f"{self.digest} {self.key}"


@lru_cache
def _adapter(name: str) -> TypeAdapter[Any]:
    """Return what knows the JSON of the answers of a type, by its name; to make it takes milliseconds."""
    return TypeAdapter(getattr(records, name, None) or getattr(sessions, name))


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
    """Returns the stored response of a command that comes again under the same key."""

    def __init__(self, encryption: Encryption) -> None:
        self._encryption = encryption

    def request(self, command: Command) -> IdempotentRequest | None:
        """Return how a command is known again; None where it has no key."""
        key = command.idempotency_key
        if key is None:
            return None
        values = {name: value for name, value in command if value is not UNSET and name not in REQUEST_OPTIONS}
        serialized = json.dumps([type(command).__name__, values]).encode()
        if command.hashes:
            return IdempotentRequest(key, hashlib.scrypt(serialized, salt=key.encode(), **_SLOW).hex())
        return IdempotentRequest(key, hashlib.sha256(serialized).hexdigest())

    def once(
        self,
        uow: UnitOfWork,
        request: IdempotentRequest | None,
        caller: Caller,
        held: Rights | None,
        now: int,
        work: Callable[[], Answer],
        unused: Unused[Answer] | None,
    ) -> tuple[Answer, bool]:
        """Return the answer of work or the stored one, and whether it is the stored one.

        Args:
            uow: the unit of work.
            request: identifies the command; None where it has no key.
            caller: whose keys these are.
            held: their rights, None for every right; work requires of them what it takes.
            now: the current Unix time.
            work: does what the command asks for.
            unused: if the answer has tokens, tells whether they can be returned again.

        Raises:
            InvalidInput: the caller had the key for another request.
            NotPermitted: it was done before, and takes what the caller does not hold any more (contract B5).
        """
        if request is None:
            answer = work()
            if unused is not None:
                _forget_expired(uow, now)
            return answer, False
        key_hash = stored_hash("idempotency key", json.dumps([*_name(caller), request.key]))
        if (replayed := self._replayed(key_hash, request, held, uow, now, unused)) is not None:
            return replayed, True
        answer = work()
        expires_at = now + (_DAY if unused is None else _MINUTE)
        uow.stored_responses.add(StoredResponse(key_hash, self._encrypted(answer, request, held), expires_at))
        _forget_expired(uow, now)
        return answer, False

    def _replayed(
        self,
        key_hash: str,
        request: IdempotentRequest,
        held: Rights | None,
        uow: UnitOfWork,
        now: int,
        unused: Unused[Any] | None,
    ) -> Any:
        """Return the stored answer; None, after deleting it, if there is none that can be returned again."""
        stored = uow.stored_responses.get(key_hash)
        if stored is None:
            return None
        if stored.expires_at > now:
            answer = self._decrypted(stored, request, held)
            # Tokens must not outlast a clock that ran ahead; the clocks of two machines may differ a little.
            if unused is None or (stored.expires_at <= now + 2 * _MINUTE and unused(uow, answer, now)):
                return answer
        uow.stored_responses.forget(key_hash)
        return None

    def _encrypted(self, answer: Any, request: IdempotentRequest, held: Rights | None) -> str:
        values = _adapter(type(answer).__name__).dump_python(answer, mode="json")
        version = version_of(answer) if isinstance(answer, StoredRecord) else 0
        required = [sorted(held.required)] if held is not None and held.required else []
        serialized = json.dumps([type(answer).__name__, values, version, *required])
        return self._encryption.encrypt(serialized, request.secret)

    def _decrypted(self, stored: StoredResponse, request: IdempotentRequest, held: Rights | None) -> Any:
        try:
            serialized = self._encryption.decrypt(stored.encrypted, request.secret)
        except ValueError:
            problem = Problem(("idempotency_key",), "This key was used for another request", "value_error")
            raise InvalidInput([problem]) from None
        name, values, version, *required = json.loads(serialized)
        if held is not None and not all(map(held.cover, required)):
            raise NotPermitted
        return _adapter(name).validate_python({**values, **({"version": version} if version else {})})


def _forget_expired(uow: UnitOfWork, now: int) -> None:
    """Delete some expired responses, at the end of a write: a long one would lock their rows for others."""
    uow.stored_responses.forget_expired(now, _MOST_RESPONSES_FORGOTTEN)
    # Stored by a clock that ran ahead and was put right.
    uow.stored_responses.expire_by(now + _DAY, _MOST_RESPONSES_FORGOTTEN)
