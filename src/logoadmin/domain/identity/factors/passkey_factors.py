"""The passkeys of users (contract O1, O2)."""

import json
import logging
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Any

from logoadmin.domain.identity.factors.enrolment import confirmed_factors, require_room
from logoadmin.domain.identity.factors.passkey_records import CreatedCredential, UsedCredential
from logoadmin.domain.kernel.errors import Conflict, InvalidInput, Problem
from logoadmin.domain.kernel.unit_of_work import AnyUnitOfWork, identity_in
from logoadmin.ports.identity.passkeys import OpenPasskeys, Passkey, PasskeyRefused, Passkeys
from logoadmin.ports.identity.sign_in_storage import Factor

log = logging.getLogger("logoadmin.sign_in")


@dataclass(frozen=True, slots=True)
class PasskeyFactors:
    """Enrols passkeys and verifies their use.

    Attributes:
        passkeys: how to get the adapter; or why passkeys cannot be used here, for clients.
    """

    passkeys: OpenPasskeys | str

    @property
    def are_usable(self) -> bool:
        """Whether passkeys can be used here."""
        return not isinstance(self.passkeys, str)

    def opened(self) -> Passkeys:
        """Return the adapter.

        Raises:
            Conflict: passkeys cannot be used here; the text says why.
        """
        if isinstance(self.passkeys, str):
            raise Conflict(self.passkeys)
        return self.passkeys()

    def load(self) -> None:
        """Load the adapter, if there is one, before a write holds a lock: that takes a while the first time."""
        if not isinstance(self.passkeys, str):
            self.passkeys()

    def creation_options(self, uow: AnyUnitOfWork, user_id: int, username: str, challenge: str) -> Mapping[str, Any]:
        """Return options for a new passkey of a user.

        Raises:
            Conflict: the user has 20 factors, or passkeys cannot be used here.
        """
        require_room(uow, user_id)
        return self.opened().creation_options(challenge, str(user_id), username, passkeys_of(uow, user_id))

    def add(
        self, uow: AnyUnitOfWork, user_id: int, name: str, challenge: str, credential: CreatedCredential, now: int
    ) -> int:
        """Store a new passkey of a user and return its factor_id.

        Raises:
            InvalidInput: the credential was not created for this challenge, here, or as it was asked to.
            Conflict: it is enrolled already, by anybody, or passkeys cannot be used here.
        """
        try:
            created = self.opened().created(challenge, credential)
        except PasskeyRefused as refused:
            log.info("A new passkey of user %d was refused: %.200r", user_id, str(refused))
            raise InvalidInput([Problem(("credential",), "Passkey could not be verified", "value_error")]) from None
        if identity_in(uow).factors.find_credential(created.credential) is not None:
            raise Conflict("This passkey is enrolled already")
        secret = {"public_key": created.public_key, "synced": created.synced, "transports": created.transports}
        factor = Factor(
            identity_in(uow).factors.next_id(),
            user_id,
            "passkey",
            name,
            now,
            json.dumps(secret, separators=(",", ":")),
            created.credential,
            created.counter,
            confirmed=True,
            last_used_at=None,
        )
        identity_in(uow).factors.add(factor)
        return factor.factor_id

    def request_options(self, factors: Iterable[Factor], challenge: str) -> Mapping[str, Any]:
        """Return options for one of some passkeys as the second factor."""
        passkeys = [_passkey(factor) for factor in factors if factor.kind == "passkey"]
        return self.opened().request_options(challenge, passkeys, verified=False)

    def use(
        self, uow: AnyUnitOfWork, challenge: str, credential: UsedCredential, now: int, *, of_user: int | None = None
    ) -> int | None:
        """Return the user whose passkey signed a challenge, None if none did; its counter is stored.

        Args:
            uow: of a write.
            challenge: the challenge, which the caller uses up.
            credential: the signature.
            now: the time, in Unix seconds.
            of_user: the user whose second factor it is; None if the passkey is all that signs in, so that it must
                verify its user.

        Raises:
            Conflict: passkeys cannot be used here.
        """
        passkeys, factor = self.opened(), identity_in(uow).factors.find_credential(credential.id)
        if factor is None or not factor.confirmed or of_user not in (None, factor.user_id):
            return None
        passkey = _passkey(factor)
        try:
            counter = passkeys.used(challenge, passkey, str(factor.user_id), credential, verified=of_user is None)
        except PasskeyRefused as refused:
            log.info("Passkey %d was refused: %.200r", factor.factor_id, str(refused))
            return None
        # Copies of a synced passkey do not know of each other. Without a counter it is always 0.
        if not passkey.synced and counter <= passkey.counter and (counter or passkey.counter):
            log.warning("Passkey %d was refused: its counter went back, so it may have been copied", factor.factor_id)
            return None
        identity_in(uow).factors.use(factor.factor_id, counter, now)
        return factor.user_id


def passkeys_of(uow: AnyUnitOfWork, user_id: int) -> tuple[Passkey, ...]:
    """Return the passkeys of a user, by factor_id."""
    return tuple(_passkey(factor) for factor in confirmed_factors(uow, user_id) if factor.kind == "passkey")


def _passkey(factor: Factor) -> Passkey:
    stored = json.loads(factor.secret)
    return Passkey(
        factor.credential or "", stored["public_key"], factor.counter, stored["synced"], tuple(stored["transports"])
    )
