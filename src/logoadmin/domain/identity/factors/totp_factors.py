"""The authenticator apps of users (contract O1)."""

import logging
from dataclasses import dataclass
from typing import Final

from logoadmin.domain.identity.factors.enrolment import confirmed_factors, require_room
from logoadmin.domain.identity.factors.factor_secrets import FactorSecrets
from logoadmin.domain.identity.factors.totp import matching_step
from logoadmin.domain.kernel.access import CLOCK_SKEW
from logoadmin.domain.kernel.errors import Conflict, NotFound
from logoadmin.domain.kernel.unit_of_work import AnyUnitOfWork, identity_in
from logoadmin.ports.identity.sign_in_storage import Factor

# How long a secret waits for its confirmation.
_ENROLMENT_SECONDS: Final = 600
_NEVER: Final = -1

log = logging.getLogger("logoadmin.sign_in")


@dataclass(frozen=True, slots=True)
class TotpFactors:
    """Enrols authenticator apps and verifies their codes."""

    secrets: FactorSecrets

    def begin(self, uow: AnyUnitOfWork, user_id: int, name: str, secret: str, now: int) -> Factor:
        """Store a secret that waits for its confirmation, in place of any other that does.

        Raises:
            Conflict: the user has 20 factors.
        """
        for factor in identity_in(uow).factors.of_user(user_id):
            if not factor.confirmed:
                identity_in(uow).factors.remove(factor.factor_id, user_id)  # it signed nobody in
        require_room(uow, user_id)
        encrypted = self.secrets.encrypted(uow, user_id, secret)
        factor = Factor(
            identity_in(uow).factors.next_id(), user_id, "totp", name, now, encrypted, None, _NEVER, False, None
        )
        identity_in(uow).factors.add(factor)
        return factor

    def confirm(self, uow: AnyUnitOfWork, user_id: int, factor_id: int, code: str, now: int) -> bool:
        """Confirm a secret with a code, whose step is used up; return whether the code is right.

        Raises:
            NotFound: the user has no such secret, or it has expired.
            Conflict: it is confirmed already.
        """
        factor = next((each for each in identity_in(uow).factors.of_user(user_id) if each.factor_id == factor_id), None)
        if factor is not None and factor.confirmed:
            raise Conflict(f"Factor {factor_id} is confirmed already")
        if factor is None or not -CLOCK_SKEW <= now - factor.created_at <= _ENROLMENT_SECONDS:
            raise NotFound("Factor", factor_id)
        step = self._matching_step(uow, factor, code, now)
        if step is None:
            return False
        identity_in(uow).factors.confirm(factor_id, step, now)
        return True

    def use(self, uow: AnyUnitOfWork, user_id: int, code: str, now: int) -> bool:
        """Use up the step of a code with the user's app that shows it; return whether there is one."""
        for factor in confirmed_factors(uow, user_id):
            step = self._matching_step(uow, factor, code, now) if factor.kind == "totp" else None
            if step is not None:
                identity_in(uow).factors.use(factor.factor_id, step, now)
                return True
        return False

    def _matching_step(self, uow: AnyUnitOfWork, factor: Factor, code: str, now: int) -> int | None:
        """Return the step of a code; its secret is encrypted with the current key from then on."""
        secret, is_current = self.secrets.decrypted(uow, factor.user_id, factor.secret) or (None, False)
        if secret is None:
            log.error("Factor %d cannot be used: no key in factor_key decrypts its secret", factor.factor_id)
            return None
        step = matching_step(secret, code, now, factor.counter)
        if step is not None and not is_current:
            identity_in(uow).factors.replace_secret(
                factor.factor_id, self.secrets.encrypted(uow, factor.user_id, secret)
            )
        return step
