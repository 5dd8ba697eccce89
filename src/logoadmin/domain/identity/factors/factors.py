"""Second factors and recovery codes, and signing in with them (contract O1, O2)."""

from functools import partial

from logoadmin.domain.identity.events.recording import Refusals
from logoadmin.domain.identity.factors.audited_factors import remove_factor, remove_factors
from logoadmin.domain.identity.factors.challenges import open_challenge
from logoadmin.domain.identity.factors.enrolment import (
    are_codes_unused,
    confirmed_factors,
    enrolled,
    listed,
    replace_recovery_codes,
    unenrolled,
)
from logoadmin.domain.identity.factors.factor_commands import (
    ConfirmTotp,
    CountRecoveryCodes,
    EnrolTotp,
    ListFactors,
    ListUserFactors,
    MakeRecoveryCodes,
    RemoveFactor,
    RemoveUserFactors,
    SignInWithFactor,
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
from logoadmin.domain.identity.factors.second_step import SecondStep
from logoadmin.domain.identity.factors.totp import new_secret, provisioning_uri
from logoadmin.domain.identity.sessions.open_sessions import SessionTokens, end_sign_ins
from logoadmin.domain.identity.sessions.session_records import Tokens
from logoadmin.domain.identity.sign_in_limits import Limit, attempt, counting_sign_in, limits_of, succeeded
from logoadmin.domain.identity.user_networks import is_known_network
from logoadmin.domain.kernel.access import (
    ANONYMOUS,
    OWNER,
    Anonymous,
    Caller,
    Rights,
    SignedIn,
    user_of,
)
from logoadmin.domain.kernel.audited_unit_of_work import AuditedUnitOfWork, get_existing
from logoadmin.domain.kernel.errors import (
    Conflict,
    InvalidInput,
    NotFound,
    Outdated,
    Problem,
    TooManySignIns,
    sign_in_ended,
)
from logoadmin.domain.kernel.kinds import USERS
from logoadmin.domain.kernel.use_cases import Service, Transactions, reads, reads_with_rights, writes
from logoadmin.ports.kernel.environment import Clock
from logoadmin.ports.kernel.metrics import Metrics
from logoadmin.ports.storage import UnitOfWork


class FactorService(Service):
    """The use cases of second factors."""

    def __init__(
        self,
        transactions: Transactions,
        second_step: SecondStep,
        tokens: SessionTokens,
        issuer: str,
        clock: Clock,
        metrics: Metrics,
    ) -> None:
        """Use ``issuer`` as the name of this service in authenticator apps."""
        super().__init__(transactions)
        self._second_step = second_step
        self._session_tokens = tokens
        self._issuer = issuer
        self._clock = clock
        self._metrics = metrics

    @reads_with_rights
    def list(self, uow: UnitOfWork, _command: ListFactors, held: Rights | None) -> tuple[ListedFactor, ...]:
        """Return the caller's second factors, by factor_id (contract O1).

        Raises:
            NotAuthenticated: the caller is not a user.
            NotPermitted: the caller is a service key.
        """
        return tuple(map(listed, confirmed_factors(uow, user_of(held))))

    @reads
    def list_of_user(self, uow: UnitOfWork, command: ListUserFactors) -> tuple[ListedFactor, ...]:
        """Return the second factors of a user, by factor_id (contract O1).

        Raises:
            NotFound: the user does not exist.
        """
        get_existing(uow, USERS, command.user_id)
        return tuple(map(listed, confirmed_factors(uow, command.user_id)))

    def enrol_totp(self, command: EnrolTotp, caller: Caller = OWNER) -> NewTotp:
        """Make a secret for an authenticator app, which becomes a factor once it is confirmed (contract O1).

        It replaces one that was not confirmed, and expires after 10 minutes. The same command under the same
        idempotency key returns it again until it is confirmed, for a minute at most.

        Raises:
            NotAuthenticated: the caller is not a user.
            NotPermitted: the caller is a service key.
            RecentSignInRequired: the caller signed in more than 10 minutes ago.
            Conflict: the user has 20 factors.
        """
        secret = new_secret(self._second_step.randomness)

        def username(uow: UnitOfWork, _: EnrolTotp, held: Rights | None) -> str:
            return get_existing(uow, USERS, user_of(held)).username

        # Drawn before the write, because that takes a while.
        uri = provisioning_uri(secret, self.transactions.snapshot_with_rights(command, caller, username), self._issuer)
        picture = qr_svg(uri)

        def enrol(uow: AuditedUnitOfWork, command: EnrolTotp) -> NewTotp:
            factor = self._second_step.totp.begin(uow, user_of(uow.held), command.name, secret, uow.now)
            return NewTotp(factor.factor_id, secret, uri, picture)

        return self.transactions.write(command, caller, enrol, unused=partial(_is_unconfirmed, caller))

    def confirm_totp(self, command: ConfirmTotp, caller: Caller = OWNER) -> NewFactor:
        """Make a factor of a secret, once a code shows that the user's app has it (contract O1).

        The step of the code is used up. From the first factor on, signing in takes two steps.

        Returns:
            The factor; the user's first one with recovery codes. The same command under the same idempotency key
            returns them again while they are unused, for a minute at most.

        Raises:
            NotAuthenticated: the caller is not a user.
            NotPermitted: the caller is a service key.
            RecentSignInRequired: the caller signed in more than 10 minutes ago.
            NotFound: the caller has no such secret, or it has expired.
            Conflict: it is confirmed already, or the user has 20 factors.
            InvalidInput: the code is wrong.
        """

        def confirm(uow: AuditedUnitOfWork, command: ConfirmTotp) -> NewFactor:
            user_id = user_of(uow.held)
            if not self._second_step.totp.confirm(uow, user_id, command.factor_id, command.code, uow.now):
                raise InvalidInput([Problem(("code",), "Incorrect code", "value_error")])
            return enrolled(uow, user_id, command.factor_id, self._second_step.randomness)

        return self.transactions.write(command, caller, confirm, unused=partial(are_codes_unused, caller))

    @writes
    def remove(self, uow: AuditedUnitOfWork, command: RemoveFactor) -> RemovedFactor:
        """Remove one of the caller's factors; with the last one, the recovery codes go (contract O1).

        Raises:
            NotAuthenticated: the caller is not a user.
            NotPermitted: the caller is a service key.
            RecentSignInRequired: the caller signed in more than 10 minutes ago.
            NotFound: the caller has no such factor.
            Outdated: ``if_match`` is given, and factors have no versions.
            Conflict: nobody who holds everything could sign in any more.
        """
        user_id = user_of(uow.held)
        removed = [factor for factor in uow.identity.factors.of_user(user_id) if factor.factor_id == command.factor_id]
        if not remove_factor(uow, command.factor_id, user_id):
            raise NotFound("Factor", command.factor_id)
        if command.if_match is not None:
            raise Outdated("Factor", command.factor_id)
        unenrolled(uow, user_id, removed)
        return RemovedFactor(command.factor_id)

    def remove_all(self, command: RemoveUserFactors, caller: Caller = OWNER) -> RemovedUserFactors:
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

        return self.transactions.write(command, caller, remove_all)

    @reads_with_rights
    def recovery_codes(self, uow: UnitOfWork, _command: CountRecoveryCodes, held: Rights | None) -> RecoveryCodesLeft:
        """Return how many of the caller's recovery codes are left (contract O1).

        Raises:
            NotAuthenticated: the caller is not a user.
            NotPermitted: the caller is a service key.
        """
        return RecoveryCodesLeft(uow.identity.recovery_codes.left(user_of(held)))

    def make_recovery_codes(self, command: MakeRecoveryCodes, caller: Caller = OWNER) -> NewRecoveryCodes:
        """Make ten recovery codes, which are shown only this once and replace all others (contract O1).

        The same command under the same idempotency key returns them again while they are unused, for a minute at most.

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
            return NewRecoveryCodes(replace_recovery_codes(uow, user_id, self._second_step.randomness))

        return self.transactions.write(command, caller, make, unused=partial(are_codes_unused, caller))

    def sign_in(self, command: SignInWithFactor, caller: Caller = ANONYMOUS) -> Tokens:
        """Begin a session after the second step (contract O2).

        Raises:
            SignInForbidden: passwords were switched off since the first step.
            SignInRefused: the challenge was used or has expired, or the answer is wrong or was used before.
            TooManySignIns: there were too many failed attempts.
        """
        self._session_tokens.require_password_sign_in()
        client = caller if isinstance(caller, Anonymous) else ANONYMOUS
        kind, answer = command.answer
        refusals = Refusals(self.transactions.storage, self._clock, client, partial(self._user_of, command))
        with counting_sign_in(self._metrics, refusals):
            limits = self._count(command, client.origin)
            self._second_step.passkeys.load()

            def begin(uow: AuditedUnitOfWork, command: SignInWithFactor) -> Tokens:
                challenge = open_challenge(uow, command.challenge, "second_factor", uow.now)
                if (
                    challenge is None
                    or challenge.user_id is None
                    or not uow.identity.challenges.take(challenge.challenge_hash)
                ):
                    raise sign_in_ended()
                self._second_step.verify(uow, challenge.user_id, command.challenge, kind, answer, uow.now)
                succeeded(uow, limits)
                return self._session_tokens.begin(uow, challenge.user_id, client, uow.now, kind)

            return self.transactions.write(command, caller, begin, unused=self._session_tokens.are_unused)

    def _user_of(self, command: SignInWithFactor, uow: UnitOfWork) -> int | None:
        """Return the user of a challenge that can be met now."""
        challenge = open_challenge(uow, command.challenge, "second_factor", self._clock.now())
        return None if challenge is None else challenge.user_id

    def _count(self, command: SignInWithFactor, origin: str) -> tuple[Limit, ...]:
        """Count an attempt, also for the user of the challenge, and return its limits.

        Raises:
            TooManySignIns: there were too many.
        """
        now, is_totp = self._clock.now(), command.answer[0] == "totp"

        def count(uow: UnitOfWork) -> tuple[tuple[Limit, ...], int | None]:
            user_id = self._user_of(command, uow)
            user = None if user_id is None else uow.records(USERS).get(user_id)
            name, is_known = None if user is None else user.username, is_known_network(uow, user_id, origin, now)
            limits = limits_of(origin, name, user_id if is_totp else None, is_known=is_known)
            return limits, attempt(uow, limits, now)

        limits, wait = self.transactions.storage.write(count, "sessions")
        if wait is not None:
            raise TooManySignIns(wait)
        return limits


def _is_unconfirmed(caller: Caller, uow: UnitOfWork, made: NewTotp, _now: int) -> bool:
    """Return whether the caller's new secret can be shown again: it was not confirmed or replaced."""
    factors = uow.identity.factors.of_user(caller.user_id) if isinstance(caller, SignedIn) else ()
    return any(factor.factor_id == made.factor_id and not factor.confirmed for factor in factors)
