"""Signing in with a passkey and nothing else (contract O2)."""

from functools import partial

from logoadmin.domain.identity.factors.challenges import Purpose, SignedChallenges, use
from logoadmin.domain.identity.factors.passkeys import PasskeyFactors, PasskeyService
from logoadmin.domain.identity.factors.records import PasskeyOptions, PasskeyUse
from logoadmin.domain.identity.open_sessions import Proof
from logoadmin.domain.identity.records import Tokens
from logoadmin.domain.identity.sign_in.session_opening import SessionOpening
from logoadmin.domain.identity.sign_in_limits import limits_of
from logoadmin.domain.kernel.access import ANONYMOUS, PUBLIC, Caller
from logoadmin.domain.kernel.command import Command
from logoadmin.domain.kernel.errors import passkey_refused, sign_in_ended
from logoadmin.domain.kernel.gate import Gate
from logoadmin.domain.kernel.limits import Challenge
from logoadmin.domain.kernel.unit_of_work import AuditedUnitOfWork, Reading, history_in, identity_in
from logoadmin.domain.kernel.use_cases import use_case


class AskPasskey(Command):
    """Options for signing in with a passkey alone."""

    answers_secrets = True


class SignInWithPasskey(Command):
    """A sign-in with a passkey alone, whose authenticator verified its user."""

    answers_secrets = True

    challenge: Challenge
    passkey: PasskeyUse


class PasskeySignIn(PasskeyService):
    """The use cases of passkeys, with the passkey that begins a session."""

    def __init__(self, opening: SessionOpening, passkeys: PasskeyFactors, challenges: SignedChallenges) -> None:
        super().__init__(opening.transactions, passkeys, challenges, opening.clock)
        self._opening = opening

    @use_case(PUBLIC)
    def options(self, gate: Gate, command: AskPasskey, caller: Caller = ANONYMOUS) -> PasskeyOptions:
        """Return options for any passkey that the caller's device finds (contract O2). Nothing is stored.

        Raises:
            Conflict: passkeys cannot be used here.
        """
        passkeys, challenge = self._passkeys.opened(), self._challenges.new(Purpose.SIGN_IN, self._clock.now())
        options = PasskeyOptions(challenge, passkeys.request_options(challenge, verified=True))

        def respond(uow: Reading, _: AskPasskey) -> PasskeyOptions:
            # Without its database a service says so now, and not after people have touched their devices. Only a
            # statement finds that out: a pooled connection outlives its server unnoticed.
            history_in(uow).last_id()
            return options

        return gate.read(command, caller, respond)

    @use_case(PUBLIC)
    def sign_in(self, gate: Gate, command: SignInWithPasskey, caller: Caller = ANONYMOUS) -> Tokens:
        """Begin a session with a passkey alone (contract O2).

        Raises:
            SignInRefused: the challenge was used or has expired, or no passkey of a user here signed it, after it
                verified that user.
            TooManySignIns: there were too many failed attempts.
            Conflict: passkeys cannot be used here.
        """
        self._passkeys.opened()
        with self._opening.attempt(gate, command, caller, partial(_user_of, command)) as attempt:
            limits = limits_of(attempt.client.origin)
            attempt.count(lambda _uow, _now: (limits, None))

            def prove(uow: AuditedUnitOfWork) -> Proof:
                found = self._challenges.opened(command.challenge, Purpose.SIGN_IN, uow.now)
                if found is None or not use(uow, command.challenge, uow.now):
                    raise sign_in_ended()
                user_id = self._passkeys.use(uow, command.challenge, command.passkey, uow.now)
                if user_id is None:  # which leaves the challenge unused
                    raise passkey_refused()
                return Proof(user_id, "passkey")

            return attempt.open(prove)


def _user_of(command: SignInWithPasskey, uow: Reading) -> int | None:
    """Return the user of the passkey that a command names, for events: it may be refused because it was copied."""
    factor = identity_in(uow).factors.find_credential(command.passkey.id)
    return None if factor is None else factor.user_id
