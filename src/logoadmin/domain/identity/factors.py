"""Second factors: their list, authenticator apps, recovery codes, and signing in with them (contract O1 to O4)."""

from collections.abc import Iterable

from logoadmin.domain.identity.accounts import (
    confirmed_factors,
    count_made,
    end_sign_ins,
    enrolled,
    note_possible_lockout,
    require_first_step,
    require_not_by_link,
    session_id_of,
)
from logoadmin.domain.identity.challenges import replace_recovery_codes
from logoadmin.domain.identity.open_sessions import OpenSessions, SignInService
from logoadmin.domain.identity.records import (
    ListedFactor,
    NewFactor,
    NewRecoveryCodes,
    NewTotp,
    RecoveryCodesLeft,
    RemovedFactor,
    RemovedUserFactors,
    Tokens,
)
from logoadmin.domain.identity.second_step import SecondStep, SignInWithFactor
from logoadmin.domain.identity.sign_in_events import record_event
from logoadmin.domain.identity.sign_in_limits import Limit, limits_of
from logoadmin.domain.identity.totp import new_secret, provisioning_uri
from logoadmin.domain.kernel.access import ANONYMOUS, PUBLIC, Caller, Held, Permission, Scope, user_of
from logoadmin.domain.kernel.command import Command
from logoadmin.domain.kernel.errors import Conflict, InvalidInput, NotFound, Outdated
from logoadmin.domain.kernel.gate import Gate
from logoadmin.domain.kernel.kinds import USERS
from logoadmin.domain.kernel.limits import FactorId, FactorName, TotpCode, UserId
from logoadmin.domain.kernel.unit_of_work import AuditedUnitOfWork, ReadUnitOfWork, get_existing, identity_in
from logoadmin.domain.kernel.use_cases import reads, reads_with_rights, use_case, writes
from logoadmin.ports.identity_storage import Account
from logoadmin.ports.sign_in_storage import Factor
from logoadmin.ports.storage import UnitOfWork


def listed(factor: Factor) -> ListedFactor:
    """Return a factor without its secret."""
    return ListedFactor(factor.factor_id, factor.kind, factor.name, factor.created_at, factor.last_used_at)


def _record_removal(uow: AuditedUnitOfWork, user_id: int, removed: Iterable[Factor]) -> None:
    """Record the removal of factors; after the last one, remove the recovery codes."""
    for factor in removed:
        if factor.confirmed:
            record_event(uow, "factor_removed", user_id, uow.caller, uow.now, factor=factor.kind)
    if not confirmed_factors(uow, user_id):
        identity_in(uow).recovery_codes.replace(user_id, ())


class ListFactors(Command):
    """The caller's own second factors."""


class RemoveFactor(Command):
    """The removal of one of the caller's own second factors."""

    factor_id: FactorId


class ListUserFactors(Command):
    """The second factors of a user."""

    user_id: UserId


class RemoveUserFactors(Command):
    """The removal of all second factors of a user, who has lost them."""

    user_id: UserId


class CountRecoveryCodes(Command):
    """The number of the caller's recovery codes that are left."""


class MakeRecoveryCodes(Command):
    """Ten new recovery codes, in place of those that are left."""

    keeps_answer = False


class EnrolTotp(Command):
    """A new secret for an authenticator app."""

    keeps_answer = False

    name: FactorName


class ConfirmTotp(Command):
    """The proof that an authenticator app has the secret, which makes it a factor."""

    keeps_answer = False

    factor_id: FactorId
    code: TotpCode


class FactorService(SignInService):
    """The use cases of second factors.

    Those for one's own account raise NotAuthenticated unless the caller is a user, and NotPermitted for service keys;
    others raise NotFound if the user does not exist.
    """

    def __init__(self, sessions: OpenSessions, second_step: SecondStep, issuer: str) -> None:
        """``issuer`` is the name of this service in authenticator apps."""
        super().__init__(sessions)
        self._second_step, self._issuer = second_step, issuer

    @reads_with_rights(Permission(signed_in=True, enrols=True))
    def list(self, uow: ReadUnitOfWork, _command: ListFactors, held: Held) -> tuple[ListedFactor, ...]:
        """Return the caller's second factors, by factor_id (contract O1)."""
        return tuple(map(listed, confirmed_factors(uow, user_of(held))))

    @reads(Permission(Scope.USERS_READ))
    def list_of_user(self, uow: ReadUnitOfWork, command: ListUserFactors) -> tuple[ListedFactor, ...]:
        """Return the second factors of a user, by factor_id (contract O1)."""
        get_existing(uow, USERS, command.user_id)
        return tuple(map(listed, confirmed_factors(uow, command.user_id)))

    @writes(Permission(signed_in=True, recent=True))
    def remove(self, uow: AuditedUnitOfWork, command: RemoveFactor) -> RemovedFactor:
        """Remove one of the caller's factors; the last one takes the recovery codes with it (contract O1).

        Raises:
            NotFound: the caller has no such factor.
            Outdated: ``if_match`` is given, and factors have no versions.
            Conflict: nobody who holds everything could sign in any more, or only an authenticator app would be left.
        """
        user_id, factors = user_of(uow.held), identity_in(uow).factors
        removed = [factor for factor in factors.of_user(user_id) if factor.factor_id == command.factor_id]
        note_possible_lockout(uow, user_id)
        if not factors.remove(command.factor_id, user_id):
            raise NotFound("Factor", command.factor_id)
        if command.if_match is not None:
            raise Outdated("Factor", command.factor_id)
        if confirmed_factors(uow, user_id):
            require_first_step(uow, user_id)
        _record_removal(uow, user_id, removed)
        return RemovedFactor(command.factor_id)

    @writes(Permission(Scope.USERS_WRITE, recent=True))
    def remove_all(self, uow: AuditedUnitOfWork, command: RemoveUserFactors) -> RemovedUserFactors:
        """Remove all factors and recovery codes of a user; their other sessions end (contract O1).

        Raises:
            NotPermitted: the caller is a service key, or does not hold all scopes of the user (contract B4).
            Outdated: the user has none of the versions in ``if_match``.
            Conflict: nobody who holds everything could sign in any more.
        """
        user_id = command.user_id
        uow.records(USERS).get_for_change(user_id, command.if_match)
        removed = confirmed_factors(uow, user_id)
        note_possible_lockout(uow, user_id)
        for factor in identity_in(uow).factors.of_user(user_id):
            identity_in(uow).factors.remove(factor.factor_id, user_id)
        _record_removal(uow, user_id, removed)
        end_sign_ins(uow, user_id, keep=session_id_of(uow.caller))
        return RemovedUserFactors(user_id, len(removed))

    @reads_with_rights(Permission(signed_in=True, enrols=True))
    def recovery_codes(self, uow: ReadUnitOfWork, _command: CountRecoveryCodes, held: Held) -> RecoveryCodesLeft:
        """Return how many of the caller's recovery codes are left (contract O1)."""
        return RecoveryCodesLeft(identity_in(uow).recovery_codes.left(user_of(held)))

    @writes(Permission(signed_in=True, recent=True, enrols=True))
    def make_recovery_codes(self, uow: AuditedUnitOfWork, _command: MakeRecoveryCodes) -> NewRecoveryCodes:
        """Create ten recovery codes, which are shown only this once and replace all others (contract O1).

        Raises:
            Conflict: the caller has no second factor.
            TooManyKeys: see :meth:`~logoadmin.domain.identity.service_keys.KeyService.create`.
        """
        user_id = user_of(uow.held)
        count_made(uow, user_id)
        if not confirmed_factors(uow, user_id):
            raise Conflict("Recovery codes need a second factor to replace; enrol one first")
        return NewRecoveryCodes(replace_recovery_codes(uow, user_id, self._open_sessions.randomness))

    @writes(Permission(signed_in=True, recent=True, enrols=True))
    def enrol_totp(self, uow: AuditedUnitOfWork, command: EnrolTotp) -> NewTotp:
        """Create a secret for an authenticator app, which becomes a factor once it is confirmed (contract O1).

        It replaces one that was not confirmed, and expires after 10 minutes.

        Raises:
            Conflict: the user has 20 factors, or nothing but links to sign in with.
        """
        user_id, secret = user_of(uow.held), new_secret(self._open_sessions.randomness)
        require_not_by_link(uow, uow.held)
        require_first_step(uow, user_id)
        factor = self._second_step.totp.add(uow, user_id, command.name, secret, uow.now)
        uri = provisioning_uri(secret, get_existing(uow, USERS, user_id).username, self._issuer)
        return NewTotp(factor.factor_id, secret, uri)

    @writes(Permission(signed_in=True, recent=True, enrols=True))
    def confirm_totp(self, uow: AuditedUnitOfWork, command: ConfirmTotp) -> NewFactor:
        """Turn a secret into a factor, once a code shows that the user's app has it (contract O1).

        The step of the code is used up. From the first factor on, which comes with recovery codes, signing in takes two
        steps.

        Raises:
            NotFound: the caller has no such secret, or it has expired.
            Conflict: it is confirmed already, or the user has 20 factors, or nothing but links to sign in with.
            InvalidInput: the code is wrong.
        """
        user_id = user_of(uow.held)
        if not self._second_step.totp.confirm(uow, user_id, command.factor_id, command.code, uow.now):
            raise InvalidInput.of("Incorrect code", "code")
        return enrolled(uow, user_id, command.factor_id, self._open_sessions.randomness)

    @use_case(PUBLIC)
    def sign_in(self, gate: Gate, command: SignInWithFactor, caller: Caller = ANONYMOUS) -> Tokens:
        """Begin a session after the second step (contract O2).

        Raises:
            SignInForbidden: passwords were switched off since the first step.
            SignInRefused: the challenge was used or has expired, or the answer is wrong or was used before.
            TooManySignIns: there were too many failed attempts.
        """
        self._open_sessions.require_passwords()
        with self._open_sessions.attempt(gate, caller) as attempt:

            def look_up(uow: UnitOfWork) -> tuple[Account | None, tuple[Limit, ...]]:
                account = self._second_step.account_of(uow, command.challenge, attempt.now)
                if account is None:
                    return None, limits_of(attempt.networks)
                totp_of = account.user_id if command.kind == "totp" else None
                return account, limits_of(attempt.networks, account.username, totp_of)

            attempt.count(look_up)
            self._second_step.passkeys.load()

            def begin(uow: AuditedUnitOfWork, command: SignInWithFactor) -> Tokens:
                account = self._second_step.finish(uow, command)
                return self._open_sessions.begin(uow, attempt, account, command.kind)

            return gate.write(command, attempt.client, begin)
