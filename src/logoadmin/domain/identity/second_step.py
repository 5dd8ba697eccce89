"""The second step of a sign-in, after the right password (contract O2)."""

from dataclasses import dataclass
from functools import partial
from typing import Any, Final

from logoadmin.domain.identity.accounts import confirmed_factors
from logoadmin.domain.identity.challenges import Purpose, SignedChallenges, hashed_code, use
from logoadmin.domain.identity.factors import FactorService
from logoadmin.domain.identity.open_sessions import Attempt, OpenSessions, Proof
from logoadmin.domain.identity.passkeys import PasskeyFactors
from logoadmin.domain.identity.records import Tokens
from logoadmin.domain.identity.sign_in_limits import Limit, is_known_network, limits_of
from logoadmin.domain.identity.totp import TotpFactors
from logoadmin.domain.kernel.access import ANONYMOUS, PUBLIC, Caller
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
from logoadmin.domain.kernel.gate import Gate
from logoadmin.domain.kernel.kinds import USERS
from logoadmin.domain.kernel.limits import CHALLENGE_EXAMPLE, Challenge, TotpCode, TypedCode, examples
from logoadmin.domain.kernel.records import PasswordHash
from logoadmin.domain.kernel.unit_of_work import AnyUnitOfWork, AuditedUnitOfWork, identity_in
from logoadmin.domain.kernel.use_cases import use_case
from logoadmin.ports.identity_storage import Credentials
from logoadmin.ports.passkeys import PasskeyUse
from logoadmin.ports.storage import UnitOfWork

# The usual ones first. The fields of the second step, exactly one of which is set, have the same names.
_KINDS: Final[tuple[SecondFactorKind, ...]] = ("totp", "passkey", "recovery_code")


class SignInWithFactor(Command):
    """The second step of a sign-in, with one of the factors that the first step named."""

    model_config = examples({"challenge": CHALLENGE_EXAMPLE, "totp": "287082"})

    answers_secrets = True

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
    def answer(self) -> tuple[SecondFactorKind, Any]:
        """The kind of factor, and its answer to the challenge."""
        return next((kind, getattr(self, kind)) for kind in _KINDS if getattr(self, kind) is not UNSET)


@dataclass(frozen=True, slots=True)
class SecondStep:
    """Asks for second factors and verifies them."""

    totp: TotpFactors
    passkeys: PasskeyFactors
    challenges: SignedChallenges

    def require(self, attempt: Attempt, username: str, credentials: Credentials, rehashed: PasswordHash | None) -> None:
        """Ask a user with the right password for the second step, unless their factors have just been removed.

        Raises:
            SecondFactorRequired: the user has a factor; the error has the challenge.
            SignInRefused: the password was changed while it was verified.
        """
        sessions, user_id = attempt.sessions, credentials.user_id
        now = sessions.clock.now()
        self.passkeys.load()

        def required(uow: UnitOfWork) -> SecondFactorRequired | None:
            known = uow.identity.passwords.credentials(username)
            if known is None or known.password != credentials.password:
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
            challenge = self.challenges.new(Purpose.SECOND_FACTOR, now, user_id, _state_of(uow, user_id))
            passkey = self.passkeys.request_options(factors, challenge) if "passkey" in has else None
            return SecondFactorRequired(challenge, tuple(kind for kind in _KINDS if kind in has), passkey)

        if (error := sessions.transactions.storage.write(required)) is not None:
            raise error

    def verify(
        self, uow: AnyUnitOfWork, user_id: int, challenge: str, kind: SecondFactorKind, answer: Any, now: int
    ) -> None:
        """Verify and use up a user's answer to a challenge; raise SignInRefused if it is wrong, or was used before."""
        match kind:
            case "totp":
                is_right = self.totp.use(uow, user_id, answer, now)
            case "recovery_code":
                is_right = identity_in(uow).recovery_codes.use(user_id, hashed_code("recovery code", user_id, answer))
            case "passkey":
                is_right = self.passkeys.use(uow, challenge, answer, now, of_user=user_id) is not None
        if not is_right:
            raise passkey_refused() if kind == "passkey" else SignInRefused("Incorrect code")


class SecondStepSignIn(FactorService):
    """The use cases of second factors, with the second step that begins a session."""

    def __init__(self, sessions: OpenSessions, second_step: SecondStep, issuer: str) -> None:
        """``issuer`` is the name of this service in authenticator apps."""
        super().__init__(sessions.transactions, second_step.totp, second_step.challenges.randomness, issuer)
        self._open_sessions, self._second_step = sessions, second_step

    @use_case(PUBLIC)
    def sign_in(self, gate: Gate, command: SignInWithFactor, caller: Caller = ANONYMOUS) -> Tokens:
        """Begin a session after the second step (contract O2).

        Raises:
            SignInForbidden: passwords were switched off since the first step.
            SignInRefused: the challenge was used or has expired, or the answer is wrong or was used before.
            TooManySignIns: there were too many failed attempts.
        """
        self._open_sessions.require_passwords()
        kind, answer = command.answer
        with self._open_sessions.attempt(gate, command, caller, partial(self._user_of, command)) as attempt:
            attempt.count(partial(self._limits, command, attempt.client.origin))
            self._second_step.passkeys.load()

            def prove(uow: AuditedUnitOfWork) -> Proof:
                challenge = self._second_step.challenges.opened(command.challenge, Purpose.SECOND_FACTOR, uow.now)
                user_id = None if challenge is None else challenge.user_id
                if (
                    challenge is None
                    or user_id is None
                    or not challenge.is_bound_to(_state_of(uow, user_id))
                    or not use(uow, command.challenge, uow.now)
                ):
                    raise sign_in_ended()
                self._second_step.verify(uow, user_id, command.challenge, kind, answer, uow.now)
                return Proof(user_id, kind)

            return attempt.open(prove)

    def _limits(
        self, command: SignInWithFactor, origin: str, uow: UnitOfWork, now: int
    ) -> tuple[tuple[Limit, ...], None]:
        """Return the limits on an attempt, including those on the user of the challenge."""
        user_id, is_totp = self._user_of(command, uow), command.answer[0] == "totp"
        user = None if user_id is None else uow.records(USERS).get(user_id)
        name, is_known = None if user is None else user.username, is_known_network(uow, user_id, origin, now)
        return limits_of(origin, name, user_id if is_totp else None, is_known=is_known), None

    def _user_of(self, command: SignInWithFactor, _uow: UnitOfWork) -> int | None:
        """Return the user of a challenge, if it is valid now."""
        now = self._open_sessions.clock.now()
        challenge = self._second_step.challenges.opened(command.challenge, Purpose.SECOND_FACTOR, now)
        return None if challenge is None else challenge.user_id


def _state_of(uow: AnyUnitOfWork, user_id: int) -> str:
    """Return the state of a sign-in: a new password or other factors invalidate it before its second step."""
    password = identity_in(uow).passwords.get(user_id)
    factors = [factor.factor_id for factor in confirmed_factors(uow, user_id)]
    return f"{'' if password is None else password.hash} {factors}"
