"""The secrets of one-time passwords, encrypted at rest (contract O1).

Their keys are not those of tokens, so that a rotation of these locks nobody out. The first key encrypts, and all of
them decrypt.
"""

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Final

from logoadmin.domain.kernel.errors import TablesMissing
from logoadmin.domain.kernel.unit_of_work import AnyUnitOfWork, secrets_in
from logoadmin.ports.kernel.encryption import Encryption

# The key in the database, made at the first start. Where the settings have keys, it only decrypts.
FACTOR_KEY: Final = "factor_key"


@dataclass(frozen=True, slots=True)
class FactorSecrets:
    """Encrypts and decrypts the secrets of one-time passwords.

    Attributes:
        encryption: how.
        given: the keys in the settings.
    """

    encryption: Encryption
    given: Sequence[str] = field(repr=False)

    def encrypted(self, uow: AnyUnitOfWork, user_id: int, secret: str) -> str:
        """Return the secret of a user, encrypted for this user alone.

        Raises:
            TablesMissing: the service was never started, so that there is no key.
        """
        for key in self._keys(uow):
            return self.encryption.encrypt(secret, _key(key, user_id))
        raise TablesMissing

    def decrypted(self, uow: AnyUnitOfWork, user_id: int, encrypted: str) -> tuple[str, bool] | None:
        """Return the secret of a user, and whether the current key encrypted it; None if no key decrypts it."""
        keys = self._keys(uow)
        for key in keys:
            try:
                return self.encryption.decrypt(encrypted, _key(key, user_id)), key == keys[0]
            except ValueError:
                continue
        return None

    def _keys(self, uow: AnyUnitOfWork) -> tuple[str, ...]:
        stored = secrets_in(uow).get(FACTOR_KEY)
        return (*self.given, *(() if stored is None else (stored,)))


def _key(key: str, user_id: int) -> str:
    return f"second factor of {user_id} {key}"
