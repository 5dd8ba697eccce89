"""The second step of a sign-in: the challenge after the right password, and its answer by a factor (contract O2)."""

from collections.abc import Iterable
from dataclasses import dataclass
from typing import Any, Final

from logoadmin.domain.identity.accounts import confirmed_factors
from logoadmin.domain.identity.challenges import Purpose, SignedChallenges, hashed_code
from logoadmin.domain.identity.passkeys import PasskeyFactors
from logoadmin.domain.identity.sign_in_attempts import Attempt
from logoadmin.domain.identity.totp import TotpFactors
from logoadmin.domain.kernel.command import UNSET, Command
from logoadmin.domain.kernel.errors import (
    InvalidInput,
    Problem,
    SecondFactorKind,
    SecondFactorRequired,
    SignInRefused,
    passkey_refused,
    sign_in_ended,
)
from logoadmin.domain.kernel.limits import CHALLENGE_EXAMPLE, Challenge, TotpCode, TypedCode, examples
from logoadmin.domain.kernel.records import PasswordHash
from logoadmin.domain.kernel.unit_of_work import AuditedUnitOfWork, identity_in
from logoadmin.ports.identity_storage import Account
from logoadmin.ports.passkeys import PasskeyUse
from logoadmin.ports.sign_in_storage import Factor
from logoadmin.ports.storage import UnitOfWork

# The usual ones first. The fields of the second step, exactly one of which is set, have the same names.
_KINDS: Final[tuple[SecondFactorKind, ...]] = ("totp", "passkey", "recovery_code")


class SignInWithFactor(Command):
    """The second step of a sign-in, with one of the factors that the first step named."""

    model_config = examples({"challenge": CHALLENGE_EXAMPLE, "totp": "287082"})

    keeps_answer = False

    challenge: Challenge
    totp: TotpCode = UNSET
    passkey: PasskeyUse = UNSET
    recovery_code: TypedCode = UNSET

    def model_post_init(self, _: Any, /) -> None:
        """Require exactly one answer."""
        given = [kind for kind in _KINDS if getattr(self, kind) is not UNSET]
        if len(given) != 1:
            text = f"Input should have one of {', '.join(_KINDS)}"
            problem = Problem((given[1],), text, "value_error") if given else Problem((_KINDS[0],), text, "missing")
            raise InvalidInput([problem])

    @property
    def kind(self) -> SecondFactorKind:
        """The kind of factor that answers the challenge."""
        return next(kind for kind in _KINDS if getattr(self, kind) is not UNSET)


@dataclass(frozen=True, slots=True)
class SecondStep:
    """Asks for second factors, and verifies them."""

    totp: TotpFactors
    passkeys: PasskeyFactors
    challenges: SignedChallenges

    def require(self, attempt: Attempt, account: Account, rehashed: PasswordHash | None) -> None:
        """Ask a user with the right password for the second step, unless their factors have just been removed.

        Raises:
            SecondFactorRequired: the user has a factor; the error has the challenge.
            SignInRefused: the password was changed while it was verified.
        """
        user_id = account.user_id
        self.passkeys.load()

        def required(uow: UnitOfWork) -> SecondFactorRequired | None:
            if uow.identity.passwords.get(user_id) != account.password:
                raise SignInRefused
            factors = confirmed_factors(uow, user_id)
            has: set[str] = {factor.kind for factor in factors}
            if not has:
                return None
            attempt.take_back(uow)
            if rehashed is not None:
                uow.identity.passwords.set(user_id, rehashed)
            if not self.passkeys.are_usable:
                has.discard("passkey")
            if uow.identity.recovery_codes.left(user_id):
                has.add("recovery_code")
            state = _state_of(account.password if rehashed is None else rehashed, factors)
            challenge = self.challenges.new(Purpose.SECOND_FACTOR, attempt.now, user_id, state)
            passkey = self.passkeys.request_options(factors, challenge) if "passkey" in has else None
            return SecondFactorRequired(challenge, tuple(kind for kind in _KINDS if kind in has), passkey)

        if (error := attempt.storage.write(required)) is not None:
            raise error

    def account_of(self, uow: UnitOfWork, challenge: str, now: int) -> Account | None:
        """Return the account of a challenge; None if the challenge is not valid now, or the user was removed."""
        opened = self.challenges.opened(challenge, Purpose.SECOND_FACTOR, now)
        return None if opened is None else uow.identity.passwords.account(opened.user_id)

    def finish(self, uow: AuditedUnitOfWork, command: SignInWithFactor) -> Account:
        """Use up the challenge and its answer; return the account.

        Raises:
            SignInRefused: the challenge was used or has expired, or the answer is wrong or was used before.
        """
        challenge = self.challenges.use(uow, command.challenge, Purpose.SECOND_FACTOR)
        account = None if challenge is None else identity_in(uow).passwords.account(challenge.user_id)
        if challenge is None or account is None:
            raise sign_in_ended()
        user_id = account.user_id
        if not challenge.is_bound_to(_state_of(account.password, confirmed_factors(uow, user_id))):
            raise sign_in_ended()
        match command.kind:
            case "totp":
                is_right = self.totp.use(uow, user_id, command.totp, uow.now)
            case "recovery_code":
                hashed = hashed_code("recovery code", user_id, command.recovery_code)
                is_right = identity_in(uow).recovery_codes.use(user_id, hashed)
            case "passkey":
                used_by = self.passkeys.use(uow, command.challenge, command.passkey, uow.now, of_user=user_id)
                is_right = used_by is not None
        if not is_right:
            raise passkey_refused() if command.kind == "passkey" else SignInRefused("Incorrect code")
        return account


def _state_of(password: PasswordHash | None, factors: Iterable[Factor]) -> str:
    """Return the state of a sign-in: a new password or other factors invalidate it before its second step."""
    return f"{'' if password is None else password.hash} {[factor.factor_id for factor in factors]}"
