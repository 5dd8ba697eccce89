"""The second step of signing in: what it may be, and its verification (contract O2)."""

from dataclasses import dataclass
from typing import Any, Final

from logoadmin.domain.identity.factors.challenges import new_challenge
from logoadmin.domain.identity.factors.codes import hashed_code
from logoadmin.domain.identity.factors.enrolment import confirmed_factors
from logoadmin.domain.identity.factors.passkey_factors import PasskeyFactors
from logoadmin.domain.identity.factors.totp_factors import TotpFactors
from logoadmin.domain.kernel.audited_unit_of_work import AnyUnitOfWork
from logoadmin.domain.kernel.errors import SecondFactorKind, SecondFactorRequired, code_refused, passkey_refused
from logoadmin.ports.kernel.environment import Randomness

# The usual ways first.
_KINDS: Final[tuple[SecondFactorKind, ...]] = ("totp", "passkey", "recovery_code")


@dataclass(frozen=True, slots=True)
class SecondStep:
    """Asks for second factors and verifies them.

    Attributes:
        totp: the authenticator apps.
        passkeys: the passkeys.
        randomness: for challenges and codes.
    """

    totp: TotpFactors
    passkeys: PasskeyFactors
    randomness: Randomness

    def required(self, uow: AnyUnitOfWork, user_id: int, now: int) -> SecondFactorRequired | None:
        """Store a challenge for a user with the right password, and return it; None if they have no factor."""
        factors = confirmed_factors(uow, user_id)
        has: set[str] = {factor.kind for factor in factors}
        if not has:
            return None
        if not self.passkeys.are_usable:
            has.discard("passkey")
        if uow.identity.recovery_codes.left(user_id):
            has.add("recovery_code")
        challenge = new_challenge(uow, self.randomness, "second_factor", user_id, now)
        passkey = self.passkeys.request_options(factors, challenge) if "passkey" in has else None
        return SecondFactorRequired(challenge, tuple(kind for kind in _KINDS if kind in has), passkey)

    def verify(
        self, uow: AnyUnitOfWork, user_id: int, challenge: str, kind: SecondFactorKind, answer: Any, now: int
    ) -> None:
        """Use up an answer of a user to a challenge.

        Raises:
            SignInRefused: it is wrong, or was used before.
            Conflict: it is a passkey, and these cannot be used here.
        """
        match kind:
            case "totp":
                is_right = self.totp.use(uow, user_id, answer, now)
            case "recovery_code":
                is_right = uow.identity.recovery_codes.use(user_id, hashed_code("recovery code", user_id, answer))
            case "passkey":
                is_right = self.passkeys.use(uow, challenge, answer, now, of_user=user_id) is not None
        if not is_right:
            raise passkey_refused() if kind == "passkey" else code_refused()
