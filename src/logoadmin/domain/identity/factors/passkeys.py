"""Passkeys: enrolling them (contract O1)."""

from logoadmin.domain.identity.factors.challenges import new_challenge, open_challenge
from logoadmin.domain.identity.factors.enrolment import enrolled
from logoadmin.domain.identity.factors.factor_records import NewFactor, PasskeyOptions
from logoadmin.domain.identity.factors.passkey_factors import PasskeyFactors
from logoadmin.domain.identity.factors.passkey_records import NewPasskey
from logoadmin.domain.identity.link_users import require_not_by_link
from logoadmin.domain.kernel.access import OWNER, Caller, Permission, user_of
from logoadmin.domain.kernel.command import Command
from logoadmin.domain.kernel.errors import InvalidInput, Problem
from logoadmin.domain.kernel.gate import Gate, Transactions
from logoadmin.domain.kernel.kinds import USERS
from logoadmin.domain.kernel.limits import Challenge, FactorName
from logoadmin.domain.kernel.unit_of_work import AuditedUnitOfWork, get_existing, identity_in
from logoadmin.domain.kernel.use_cases import Service, use_case
from logoadmin.ports.kernel.environment import Randomness


class BeginPasskey(Command):
    """Options for a new passkey of the caller."""

    answers_secrets = True


class EnrolPasskey(Command):
    """A new passkey of the caller, which is a second factor from then on, and signs in alone."""

    answers_secrets = True

    challenge: Challenge
    name: FactorName
    credential: NewPasskey


class PasskeyService(Service):
    """The use cases of passkeys."""

    def __init__(self, transactions: Transactions, passkeys: PasskeyFactors, randomness: Randomness) -> None:
        super().__init__(transactions)
        self._passkeys, self._randomness = passkeys, randomness

    @use_case(Permission(signed_in=True, recent=True, enrols=True))
    def begin(self, gate: Gate, command: BeginPasskey, caller: Caller = OWNER) -> PasskeyOptions:
        """Return options for a new passkey of the caller, which replace those before (contract O1).

        Raises:
            NotAuthenticated: the caller is not a user.
            NotPermitted: the caller is a service key, or signs in by links of the host site, which would end.
            RecentSignInRequired: the caller signed in more than 10 minutes ago.
            Conflict: the user has 20 factors, or passkeys cannot be used here.
        """

        def begin(uow: AuditedUnitOfWork, _: BeginPasskey) -> PasskeyOptions:
            user_id = user_of(uow.held)
            require_not_by_link(uow, uow.held)
            identity_in(uow).challenges.drop(user_id, "passkey_enrolment")
            challenge = new_challenge(uow, self._randomness, "passkey_enrolment", user_id, uow.now)
            username = get_existing(uow, USERS, user_id).username
            return PasskeyOptions(challenge, self._passkeys.creation_options(uow, user_id, username, challenge))

        self._passkeys.load()
        return gate.write(command, caller, begin)

    @use_case(Permission(signed_in=True, recent=True, enrols=True))
    def enrol(self, gate: Gate, command: EnrolPasskey, caller: Caller = OWNER) -> NewFactor:
        """Store a passkey that the caller created for a challenge (contract O1).

        Returns:
            The factor; the user's first one with recovery codes.

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
            if found is None or found.user_id != user_id or not identity_in(uow).challenges.take(found.challenge_hash):
                text = "Challenge was used or has expired"
                raise InvalidInput([Problem(("challenge",), text, "value_error")])
            factor_id = self._passkeys.add(uow, user_id, command.name, command.challenge, command.credential, now)
            return enrolled(uow, user_id, factor_id, self._randomness)

        self._passkeys.load()
        return gate.write(command, caller, enrol)
