"""Second factors and recovery codes: enrolling, listing and removing them (contract O1)."""

from logoadmin.domain.identity.factors.audited_factors import remove_factor, remove_factors
from logoadmin.domain.identity.factors.enrolment import (
    confirmed_factors,
    enrolled,
    listed,
    replace_recovery_codes,
    require_first_step,
    unenrolled,
)
from logoadmin.domain.identity.factors.factor_records import (
    ListedFactor,
    NewFactor,
    NewRecoveryCodes,
    NewTotp,
    RecoveryCodesLeft,
    RemovedFactor,
    RemovedUserFactors,
)
from logoadmin.domain.identity.factors.qr import qr_svg
from logoadmin.domain.identity.factors.totp import new_secret, provisioning_uri
from logoadmin.domain.identity.factors.totp_factors import TotpFactors
from logoadmin.domain.identity.link_users import require_not_by_link
from logoadmin.domain.identity.signing_out import end_sign_ins
from logoadmin.domain.kernel.access import (
    OWNER,
    Caller,
    Held,
    Permission,
    Scope,
    SignedIn,
    user_of,
)
from logoadmin.domain.kernel.command import Command
from logoadmin.domain.kernel.errors import (
    Conflict,
    InvalidInput,
    NotFound,
    Outdated,
    Problem,
)
from logoadmin.domain.kernel.gate import Gate, Transactions
from logoadmin.domain.kernel.kinds import USERS
from logoadmin.domain.kernel.limits import FactorId, FactorName, TotpCode, UserId
from logoadmin.domain.kernel.unit_of_work import AuditedUnitOfWork, Reading, ReadUnitOfWork, get_existing, identity_in
from logoadmin.domain.kernel.use_cases import Service, reads, reads_with_rights, use_case, writes
from logoadmin.ports.kernel.environment import Randomness


class ListFactors(Command):
    """The caller's own second factors."""


class EnrolTotp(Command):
    """A new secret for an authenticator app."""

    answers_secrets = True

    name: FactorName


class ConfirmTotp(Command):
    """The proof that an authenticator app has the secret, which makes it a factor."""

    answers_secrets = True

    factor_id: FactorId
    code: TotpCode


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

    answers_secrets = True


class FactorService(Service):
    """The use cases of second factors."""

    def __init__(self, transactions: Transactions, totp: TotpFactors, randomness: Randomness, issuer: str) -> None:
        """Use ``issuer`` as the name of this service in authenticator apps."""
        super().__init__(transactions)
        self._totp, self._randomness = totp, randomness
        self._issuer = issuer

    @reads_with_rights(Permission(signed_in=True, enrols=True))
    def list(self, uow: ReadUnitOfWork, _command: ListFactors, held: Held) -> tuple[ListedFactor, ...]:
        """Return the caller's second factors, by factor_id (contract O1).

        Raises:
            NotAuthenticated: the caller is not a user.
            NotPermitted: the caller is a service key.
        """
        return tuple(map(listed, confirmed_factors(uow, user_of(held))))

    @reads(Permission(Scope.USERS_READ))
    def list_of_user(self, uow: ReadUnitOfWork, command: ListUserFactors) -> tuple[ListedFactor, ...]:
        """Return the second factors of a user, by factor_id (contract O1).

        Raises:
            NotFound: the user does not exist.
        """
        get_existing(uow, USERS, command.user_id)
        return tuple(map(listed, confirmed_factors(uow, command.user_id)))

    @use_case(Permission(signed_in=True, recent=True, enrols=True))
    def enrol_totp(self, gate: Gate, command: EnrolTotp, caller: Caller = OWNER) -> NewTotp:
        """Make a secret for an authenticator app, which becomes a factor once it is confirmed (contract O1).

        It replaces one that was not confirmed, and expires after 10 minutes.

        Raises:
            NotAuthenticated: the caller is not a user.
            NotPermitted: the caller is a service key.
            RecentSignInRequired: the caller signed in more than 10 minutes ago.
            Conflict: the user has 20 factors, or nothing but links to sign in with.
        """
        secret = new_secret(self._randomness)

        def username(uow: Reading, _: EnrolTotp, held: Held) -> str:
            return get_existing(uow, USERS, user_of(held)).username

        # Drawn before the write, because that takes a while.
        uri = provisioning_uri(secret, gate.snapshot_with_rights(command, caller, username), self._issuer)
        picture = qr_svg(uri)

        def enrol(uow: AuditedUnitOfWork, command: EnrolTotp) -> NewTotp:
            require_not_by_link(uow, uow.held)
            require_first_step(uow, user_of(uow.held))
            factor = self._totp.begin(uow, user_of(uow.held), command.name, secret, uow.now)
            return NewTotp(factor.factor_id, secret, uri, picture)

        return gate.write(command, caller, enrol)

    @use_case(Permission(signed_in=True, recent=True, enrols=True))
    def confirm_totp(self, gate: Gate, command: ConfirmTotp, caller: Caller = OWNER) -> NewFactor:
        """Make a factor of a secret, once a code shows that the user's app has it (contract O1).

        The step of the code is used up. From the first factor on, signing in takes two steps.

        Returns:
            The factor; the user's first one with recovery codes.

        Raises:
            NotAuthenticated: the caller is not a user.
            NotPermitted: the caller is a service key.
            RecentSignInRequired: the caller signed in more than 10 minutes ago.
            NotFound: the caller has no such secret, or it has expired.
            Conflict: it is confirmed already, or the user has 20 factors, or nothing but links to sign in with.
            InvalidInput: the code is wrong.
        """

        def confirm(uow: AuditedUnitOfWork, command: ConfirmTotp) -> NewFactor:
            user_id = user_of(uow.held)
            if not self._totp.confirm(uow, user_id, command.factor_id, command.code, uow.now):
                raise InvalidInput([Problem(("code",), "Incorrect code", "value_error")])
            return enrolled(uow, user_id, command.factor_id, self._randomness)

        return gate.write(command, caller, confirm)

    @writes(Permission(signed_in=True, recent=True))
    def remove(self, uow: AuditedUnitOfWork, command: RemoveFactor) -> RemovedFactor:
        """Remove one of the caller's factors; with the last one, the recovery codes go (contract O1).

        Raises:
            NotAuthenticated: the caller is not a user.
            NotPermitted: the caller is a service key.
            RecentSignInRequired: the caller signed in more than 10 minutes ago.
            NotFound: the caller has no such factor.
            Outdated: ``if_match`` is given, and factors have no versions.
            Conflict: nobody who holds everything could sign in any more, or only an authenticator app would be left.
        """
        user_id = user_of(uow.held)
        removed = [
            factor for factor in identity_in(uow).factors.of_user(user_id) if factor.factor_id == command.factor_id
        ]
        if not remove_factor(uow, command.factor_id, user_id):
            raise NotFound("Factor", command.factor_id)
        if command.if_match is not None:
            raise Outdated("Factor", command.factor_id)
        if confirmed_factors(uow, user_id):
            require_first_step(uow, user_id)
        unenrolled(uow, user_id, removed)
        return RemovedFactor(command.factor_id)

    @use_case(Permission(Scope.USERS_WRITE, recent=True))
    def remove_all(self, gate: Gate, command: RemoveUserFactors, caller: Caller = OWNER) -> RemovedUserFactors:
        """Remove all factors and recovery codes of a user; their other sessions end (contract O1).

        Raises:
            NotPermitted: the caller is a service key, or does not hold all scopes of the user (contract B4).
            RecentSignInRequired: the caller signed in more than 10 minutes ago.
            NotFound: the user does not exist.
            Outdated: the user has none of the versions in ``if_match``.
            Conflict: nobody who holds everything could sign in any more.
        """
        keep = caller.session_id if isinstance(caller, SignedIn) else None

        def remove_all(uow: AuditedUnitOfWork, command: RemoveUserFactors) -> RemovedUserFactors:
            uow.records(USERS).get_for_change(command.user_id, command.if_match)
            removed = confirmed_factors(uow, command.user_id)
            remove_factors(uow, command.user_id)
            unenrolled(uow, command.user_id, removed)
            end_sign_ins(uow, command.user_id, keep)
            return RemovedUserFactors(command.user_id, len(removed))

        return gate.write(command, caller, remove_all)

    @reads_with_rights(Permission(signed_in=True, enrols=True))
    def recovery_codes(self, uow: ReadUnitOfWork, _command: CountRecoveryCodes, held: Held) -> RecoveryCodesLeft:
        """Return how many of the caller's recovery codes are left (contract O1).

        Raises:
            NotAuthenticated: the caller is not a user.
            NotPermitted: the caller is a service key.
        """
        return RecoveryCodesLeft(identity_in(uow).recovery_codes.left(user_of(held)))

    @use_case(Permission(signed_in=True, recent=True, enrols=True))
    def make_recovery_codes(self, gate: Gate, command: MakeRecoveryCodes, caller: Caller = OWNER) -> NewRecoveryCodes:
        """Make ten recovery codes, which are shown only this once and replace all others (contract O1).

        Raises:
            NotAuthenticated: the caller is not a user.
            NotPermitted: the caller is a service key.
            RecentSignInRequired: the caller signed in more than 10 minutes ago.
            Conflict: the caller has no second factor.
        """

        def make(uow: AuditedUnitOfWork, _: MakeRecoveryCodes) -> NewRecoveryCodes:
            user_id = user_of(uow.held)
            if not confirmed_factors(uow, user_id):
                raise Conflict("Recovery codes need a second factor to replace; enrol one first")
            return NewRecoveryCodes(replace_recovery_codes(uow, user_id, self._randomness))

        return gate.write(command, caller, make)
