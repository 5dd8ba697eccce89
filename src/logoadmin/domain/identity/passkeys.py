"""Passkeys: enrolling them, and signing in with them, alone or as the second step (contract O1, O2)."""

import json
import logging
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, replace
from functools import partial
from typing import Any

from logoadmin.domain.identity.accounts import confirmed_factors, enrolled, require_not_by_link, require_room
from logoadmin.domain.identity.challenges import Purpose, SignedChallenges
from logoadmin.domain.identity.open_sessions import OpenSessions, SignInService
from logoadmin.domain.identity.records import NewFactor, PasskeyOptions, Tokens
from logoadmin.domain.kernel.access import ANONYMOUS, OWNER, PUBLIC, Caller, Held, Permission, user_of
from logoadmin.domain.kernel.command import Command
from logoadmin.domain.kernel.errors import Conflict, InvalidInput, passkey_refused, sign_in_ended
from logoadmin.domain.kernel.gate import Gate
from logoadmin.domain.kernel.kinds import USERS
from logoadmin.domain.kernel.limits import Challenge, FactorName
from logoadmin.domain.kernel.unit_of_work import (
    AnyUnitOfWork,
    AuditedUnitOfWork,
    Reading,
    ReadUnitOfWork,
    get_existing,
    history_in,
    identity_in,
)
from logoadmin.domain.kernel.use_cases import behind, reads_with_rights, use_case
from logoadmin.ports.identity_storage import Account
from logoadmin.ports.passkeys import (
    NewPasskey,
    OpenPasskeys,
    Passkey,
    PasskeyRefused,
    Passkeys,
    PasskeyUse,
    UsedCredential,
)
from logoadmin.ports.sign_in_storage import Factor, Factors
from logoadmin.ports.storage import UnitOfWork

log = logging.getLogger("logoadmin.sign_in")


@dataclass(frozen=True, slots=True)
class PasskeyFactors:
    """Verifies the use of passkeys; each method but ``load`` raises Conflict if passkeys cannot be used.

    Then ``passkeys`` is the reason, for clients; otherwise it returns the adapter.
    """

    passkeys: OpenPasskeys | str

    @property
    def are_usable(self) -> bool:
        """Whether passkeys can be used here."""
        return not isinstance(self.passkeys, str)

    def opened(self) -> Passkeys:
        """Return the adapter."""
        if isinstance(self.passkeys, str):
            raise Conflict(self.passkeys)
        return self.passkeys()

    def load(self) -> None:
        """Load the adapter, if any, before a write holds a lock: the first time is slow."""
        if not isinstance(self.passkeys, str):
            self.passkeys()

    def request_options(self, factors: Iterable[Factor], challenge: str) -> Mapping[str, Any]:
        """Return options for any of the passkeys as the second factor."""
        return self.opened().request_options(challenge, _passkeys_among(factors), verified=False)

    def use(
        self, uow: AnyUnitOfWork, challenge: str, credential: UsedCredential, now: int, *, of_user: int | None = None
    ) -> int | None:
        """Return the user whose passkey signed a challenge, and store its counter; None if it is refused.

        The caller must use up the challenge. The passkey is the second factor of ``of_user``; without ``of_user`` it
        signs in alone, so it must verify its user.
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
        # Copies of a synced passkey count separately. A passkey without a counter always sends 0.
        if not passkey.synced and counter <= passkey.counter and (counter or passkey.counter):
            log.warning("Passkey %d was refused: its counter went back, so it may have been copied", factor.factor_id)
            return None
        identity_in(uow).factors.update(replace(factor, counter=counter, last_used_at=now))
        return factor.user_id


def _passkeys_among(factors: Iterable[Factor]) -> tuple[Passkey, ...]:
    return tuple(_passkey(factor) for factor in factors if factor.kind == "passkey")


def _passkey(factor: Factor) -> Passkey:
    stored = json.loads(factor.secret)
    return Passkey(
        factor.credential or "", stored["public_key"], factor.counter, stored["synced"], tuple(stored["transports"])
    )


class BeginPasskey(Command):
    """Options for a new passkey of the caller."""

    keeps_answer = False


class EnrolPasskey(Command):
    """A new passkey of the caller, which is a second factor from then on, and signs in alone."""

    keeps_answer = False

    challenge: Challenge
    name: FactorName
    credential: NewPasskey


class AskPasskey(Command):
    """Options for signing in with a passkey alone."""

    keeps_answer = False


class SignInWithPasskey(Command):
    """A sign-in with a passkey alone, whose authenticator verified its user."""

    keeps_answer = False

    challenge: Challenge
    passkey: PasskeyUse


class PasskeyService(SignInService):
    """The use cases of passkeys; each raises Conflict if passkeys cannot be used here.

    Those for one's own account raise NotAuthenticated unless the caller is a user, and NotPermitted for service keys.
    """

    def __init__(self, sessions: OpenSessions, passkeys: PasskeyFactors, challenges: SignedChallenges) -> None:
        super().__init__(sessions)
        self._passkeys, self._challenges = passkeys, challenges

    @reads_with_rights(Permission(signed_in=True, recent=True, enrols=True))
    def begin(self, uow: ReadUnitOfWork, _command: BeginPasskey, held: Held) -> PasskeyOptions:
        """Return options for a new passkey of the caller (contract O1). Nothing is stored.

        Raises:
            NotPermitted: also if the caller signs in by links of the host site, which would end.
            Conflict: also if the user has 20 factors.
        """
        user_id = user_of(held)
        require_not_by_link(uow, held)
        username = get_existing(uow, USERS, user_id).username
        challenge = self._challenges.new(Purpose.ENROLMENT, behind(self).clock.now(), user_id)
        require_room(uow, user_id)
        existing = _passkeys_among(confirmed_factors(uow, user_id))
        options = self._passkeys.opened().creation_options(challenge, str(user_id), username, existing)
        return PasskeyOptions(challenge, options)

    @use_case(Permission(signed_in=True, recent=True, enrols=True))
    def enrol(self, gate: Gate, command: EnrolPasskey, caller: Caller = OWNER) -> NewFactor:
        """Store a passkey that the caller created for a challenge (contract O1).

        The first factor comes with recovery codes.

        Raises:
            InvalidInput: the challenge was used, has expired or is not the caller's, or the credential was not created
                for it and this service, by a present user, with an offered algorithm.
            Conflict: also if it is enrolled already, or the user has 20 factors.
        """

        def enrol(uow: AuditedUnitOfWork, command: EnrolPasskey) -> NewFactor:
            user_id = user_of(uow.held)
            found = self._challenges.use(uow, command.challenge, Purpose.ENROLMENT)
            if found is None or found.user_id != user_id:
                raise InvalidInput.of("Challenge was used or has expired", "challenge")
            factor = self._created(identity_in(uow).factors, user_id, command, uow.now)
            identity_in(uow).factors.add(factor)
            return enrolled(uow, user_id, factor.factor_id, self._challenges.randomness)

        self._passkeys.load()
        return gate.write(command, caller, enrol)

    def _created(self, factors: Factors, user_id: int, command: EnrolPasskey, now: int) -> Factor:
        """Return a new passkey of a user, which is not enrolled yet by any user."""
        try:
            created = self._passkeys.opened().created(command.challenge, command.credential)
        except PasskeyRefused as refused:
            log.info("A new passkey of user %d was refused: %.200r", user_id, str(refused))
            raise InvalidInput.of("Passkey could not be verified", "credential") from None
        if factors.find_credential(created.credential) is not None:
            raise Conflict("This passkey is enrolled already")
        stored = {"public_key": created.public_key, "synced": created.synced, "transports": created.transports}
        secret, name, counter = json.dumps(stored, separators=(",", ":")), command.name, created.counter
        return Factor(factors.next_id(), user_id, "passkey", name, now, secret, created.credential, counter, True, None)

    @use_case(PUBLIC)
    def options(self, gate: Gate, command: AskPasskey, caller: Caller = ANONYMOUS) -> PasskeyOptions:
        """Return options for any passkey that the caller's device finds (contract O2). Nothing is stored."""
        passkeys, now = self._passkeys.opened(), behind(self).clock.now()
        challenge = self._challenges.new(Purpose.SIGN_IN, now)
        options = PasskeyOptions(challenge, passkeys.request_options(challenge, verified=True))

        def respond(uow: Reading, _: AskPasskey) -> PasskeyOptions:
            # Report an unavailable database before people touch their devices. Only a statement detects it: a pooled
            # connection may have lost its server unnoticed.
            history_in(uow).last_id()
            return options

        return gate.read(command, caller, respond)

    @use_case(PUBLIC)
    def sign_in(self, gate: Gate, command: SignInWithPasskey, caller: Caller = ANONYMOUS) -> Tokens:
        """Begin a session with a passkey alone (contract O2).

        Raises:
            SignInRefused: the challenge was used or has expired, or was not signed by a user's passkey that verified
                its user.
            TooManySignIns: there were too many failed attempts.
        """
        self._passkeys.opened()
        with self._open_sessions.attempt(gate, caller, partial(_account_of, command.passkey.id)) as attempt:
            attempt.count()

            def begin(uow: AuditedUnitOfWork, command: SignInWithPasskey) -> Tokens:
                if self._challenges.use(uow, command.challenge, Purpose.SIGN_IN) is None:
                    raise sign_in_ended()
                user_id = self._passkeys.use(uow, command.challenge, command.passkey, uow.now)
                if user_id is None:  # raising leaves the challenge unused
                    raise passkey_refused()
                account = identity_in(uow).passwords.account(user_id)
                return self._open_sessions.begin(uow, attempt, account, "passkey")

            return gate.write(command, attempt.client, begin)


def _account_of(credential: str, uow: UnitOfWork) -> Account | None:
    """Return the account with a passkey, also if that is a copy, which is refused."""
    factor = uow.identity.factors.find_credential(credential)
    return None if factor is None else uow.identity.passwords.account(factor.user_id)
