"""Passkeys: enrolling them, and signing in with nothing else (contract O1, O2)."""

from functools import partial
from typing import Annotated, Literal

from logoadmin.domain.identity.events.recording import Refusals
from logoadmin.domain.identity.factors.challenges import new_challenge, open_challenge
from logoadmin.domain.identity.factors.enrolment import are_codes_unused, enrolled
from logoadmin.domain.identity.factors.factor_records import NewFactor, PasskeyOptions
from logoadmin.domain.identity.factors.passkey_factors import PasskeyFactors
from logoadmin.domain.identity.factors.passkey_records import NewPasskey, PasskeyUse
from logoadmin.domain.identity.factors.signed_challenges import SignedChallenges
from logoadmin.domain.identity.sessions.open_sessions import SessionTokens
from logoadmin.domain.identity.sessions.session_records import Tokens
from logoadmin.domain.identity.sign_in_limits import attempt, counting_sign_in, limits_of, succeeded
from logoadmin.domain.kernel.access import ANONYMOUS, OWNER, PUBLIC, SIGNED_IN, Anonymous, Caller, user_of
from logoadmin.domain.kernel.audited_unit_of_work import AnyUnitOfWork, AuditedUnitOfWork, get_existing
from logoadmin.domain.kernel.command import Command
from logoadmin.domain.kernel.errors import InvalidInput, Problem, TooManySignIns, passkey_refused, sign_in_ended
from logoadmin.domain.kernel.kinds import USERS
from logoadmin.domain.kernel.limits import Challenge, FactorName, described
from logoadmin.domain.kernel.use_cases import Service, Transactions
from logoadmin.ports.kernel.environment import Clock
from logoadmin.ports.kernel.metrics import Metrics
from logoadmin.ports.storage import UnitOfWork


class BeginPasskey(Command):
    """Options for a new passkey of the caller."""

    permission = SIGNED_IN
    changes_records = False
    recent = True
    enrols = True


class EnrolPasskey(Command):
    """A new passkey of the caller, which is a second factor from then on, and signs in alone."""

    permission = SIGNED_IN
    changes_records = False
    recent = True
    enrols = True

    challenge: Challenge
    name: FactorName
    credential: NewPasskey


class AskPasskey(Command):
    """Options for signing in with a passkey alone."""

    permission = PUBLIC
    changes_records = False


class SignInWithPasskey(Command):
    """A sign-in with a passkey alone, whose authenticator verified its user."""

    permission = PUBLIC
    changes_records = False

    grant_type: Annotated[Literal["passkey"], described("`passkey`, for a passkey alone.", "passkey")]
    challenge: Challenge
    passkey: PasskeyUse


class PasskeyService(Service):
    """The use cases of passkeys."""

    def __init__(
        self,
        transactions: Transactions,
        passkeys: PasskeyFactors,
        challenges: SignedChallenges,
        tokens: SessionTokens,
        clock: Clock,
        metrics: Metrics,
    ) -> None:
        super().__init__(transactions)
        self._passkeys = passkeys
        self._challenges = challenges
        self._session_tokens = tokens
        self._clock = clock
        self._metrics = metrics

    def begin(self, command: BeginPasskey, caller: Caller = OWNER) -> PasskeyOptions:
        """Return options for a new passkey of the caller, which replace those before (contract O1).

        The same command under the same idempotency key returns them again while they are unused, for a minute at most.

        Raises:
            NotAuthenticated: the caller is not a user.
            NotPermitted: the caller is a service key.
            RecentSignInRequired: the caller signed in more than 10 minutes ago.
            Conflict: the user has 20 factors, or passkeys cannot be used here.
        """

        def begin(uow: AuditedUnitOfWork, _: BeginPasskey) -> PasskeyOptions:
            user_id = user_of(uow.held)
            uow.identity.challenges.drop(user_id, "passkey_enrolment")
            challenge = new_challenge(uow, self._challenges.randomness, "passkey_enrolment", user_id, uow.now)
            username = get_existing(uow, USERS, user_id).username
            return PasskeyOptions(challenge, self._passkeys.creation_options(uow, user_id, username, challenge))

        self._passkeys.load()
        return self.transactions.write(command, caller, begin, unused=_is_open)

    def enrol(self, command: EnrolPasskey, caller: Caller = OWNER) -> NewFactor:
        """Store a passkey that the caller created for a challenge (contract O1).

        Returns:
            The factor; the user's first one with recovery codes. The same command under the same idempotency key
            returns them again while they are unused, for a minute at most.

        Raises:
            NotAuthenticated: the caller is not a user.
            NotPermitted: the caller is a service key.
            RecentSignInRequired: the caller signed in more than 10 minutes ago.
            InvalidInput: the challenge was used, has expired or is not the caller's, or the credential was not created
                for it, here, by a present user, and with an algorithm that was offered.
            Conflict: it is enrolled already, the user has 20 factors, or passkeys cannot be used here.
        """

        def enrol(uow: AuditedUnitOfWork, command: EnrolPasskey) -> NewFactor:
            user_id, now = user_of(uow.held), uow.now
            found = open_challenge(uow, command.challenge, "passkey_enrolment", now)
            if found is None or found.user_id != user_id or not uow.identity.challenges.take(found.challenge_hash):
                text = "Challenge was used or has expired"
                raise InvalidInput([Problem(("challenge",), text, "value_error")])
            factor_id = self._passkeys.add(uow, user_id, command.name, command.challenge, command.credential, now)
            return enrolled(uow, user_id, factor_id, self._challenges.randomness)

        self._passkeys.load()
        return self.transactions.write(command, caller, enrol, unused=partial(are_codes_unused, caller))

    def options(self, command: AskPasskey, caller: Caller = ANONYMOUS) -> PasskeyOptions:
        """Return options for any passkey that the caller's device finds (contract O2). Nothing is stored.

        Raises:
            Conflict: passkeys cannot be used here.
        """
        passkeys, challenge = self._passkeys.opened(), self._challenges.new(self._clock.now())
        options = PasskeyOptions(challenge, passkeys.request_options(challenge, verified=True))

        def respond(uow: UnitOfWork, _: AskPasskey) -> PasskeyOptions:
            # Without its database a service says so now, and not after people have touched their devices. Only a
            # statement finds that out: a pooled connection outlives its server unnoticed.
            uow.changes.last_id()
            return options

        return self.transactions.read(command, caller, respond)

    def sign_in(self, command: SignInWithPasskey, caller: Caller = ANONYMOUS) -> Tokens:
        """Begin a session with a passkey alone (contract O2).

        Raises:
            SignInRefused: the challenge was used or has expired, or no passkey of a user here signed it, after it
                verified that user.
            TooManySignIns: there were too many failed attempts.
            Conflict: passkeys cannot be used here.
        """
        client = caller if isinstance(caller, Anonymous) else ANONYMOUS
        limits = limits_of(client.origin)
        self._passkeys.opened()
        refusals = Refusals(self.transactions.storage, self._clock, client, partial(_user_of, command))
        with counting_sign_in(self._metrics, refusals):
            wait = self.transactions.storage.write(partial(attempt, limits=limits, now=self._clock.now()), "sessions")
            if wait is not None:
                raise TooManySignIns(wait)

            def begin(uow: AuditedUnitOfWork, command: SignInWithPasskey) -> Tokens:
                if not self._challenges.use(uow, command.challenge, uow.now):
                    raise sign_in_ended()
                user_id = self._passkeys.use(uow, command.challenge, command.passkey, uow.now)
                if user_id is None:  # which leaves the challenge unused
                    raise passkey_refused()
                succeeded(uow, limits)
                return self._session_tokens.begin(uow, user_id, client, uow.now, "passkey")

            return self.transactions.write(command, caller, begin, unused=self._session_tokens.are_unused)


def _user_of(command: SignInWithPasskey, uow: UnitOfWork) -> int | None:
    """Return the user of the passkey that a command names, for events: it may be refused because it was copied."""
    factor = uow.identity.factors.find_credential(command.passkey.id)
    return None if factor is None else factor.user_id


def _is_open(uow: AnyUnitOfWork, made: PasskeyOptions, now: int) -> bool:
    """Return whether options can be returned again: nothing was created for their challenge yet."""
    return open_challenge(uow, made.challenge, "passkey_enrolment", now) is not None
