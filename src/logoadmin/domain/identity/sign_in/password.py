"""Signing in with a password, the first step of two for users with a second factor (contract C1, C4, O2)."""

from contextlib import suppress
from functools import partial
from typing import Final

from logoadmin.domain.identity.callers import Callers
from logoadmin.domain.identity.factors.factors import confirmed_factors
from logoadmin.domain.identity.open_sessions import Proof
from logoadmin.domain.identity.records import Tokens
from logoadmin.domain.identity.sessions import SessionService
from logoadmin.domain.identity.sign_in.second_step import SecondStep
from logoadmin.domain.identity.sign_in.session_opening import Attempt, SessionOpening
from logoadmin.domain.identity.sign_in_events import user_named
from logoadmin.domain.identity.sign_in_limits import Limit, is_known_network, limits_of
from logoadmin.domain.kernel.access import ANONYMOUS, PUBLIC, Caller
from logoadmin.domain.kernel.command import Command
from logoadmin.domain.kernel.errors import SecondFactorRequired, SignInRefused, StorageUnavailable
from logoadmin.domain.kernel.gate import Gate
from logoadmin.domain.kernel.limits import ExistingUsername, Password
from logoadmin.domain.kernel.records import PasswordHash
from logoadmin.domain.kernel.unit_of_work import AuditedUnitOfWork, identity_in
from logoadmin.domain.kernel.use_cases import storage_of, use_case
from logoadmin.ports.identity_storage import Credentials
from logoadmin.ports.passwords import PasswordHasher
from logoadmin.ports.storage import UnitOfWork
from logoadmin.ports.tokens import TokenVerifier

# Reading the parameters of all hashes takes as long as two or three hashes in a gallery of 100,000 users.
_CLASSES_SECONDS: Final = 60


class SignIn(Command):
    """A sign-in with username and password."""

    answers_secrets = True
    hashes = True

    username: ExistingUsername
    password: Password


class PasswordSignIn(SessionService):
    """The use cases of sessions, with the password that begins one."""

    def __init__(
        self,
        opening: SessionOpening,
        hasher: PasswordHasher,
        second_step: SecondStep,
        verifier: TokenVerifier,
        callers: Callers,
    ) -> None:
        super().__init__(opening.transactions, opening.tokens, verifier, opening.clock, callers)
        self._opening = opening
        self._hasher = hasher
        self._second_step = second_step
        self._classes: tuple[int, frozenset[str]] = (-_CLASSES_SECONDS, frozenset())

    @use_case(PUBLIC)
    def sign_in(self, gate: Gate, command: SignIn, caller: Caller = ANONYMOUS) -> Tokens:
        """Begin a session (contract C1).

        Raises:
            SignInForbidden: passwords are switched off.
            SignInRefused: the name or the password is wrong; both take the same time.
            TooManySignIns: there were too many failed attempts.
            SecondFactorRequired: the password is right, and the user has a second factor (contract O2). Nothing is
                opened, and failures for the name stay counted.
        """
        self._opening.require_passwords()
        with self._opening.attempt(gate, command, caller, user_named(command.username)) as attempt:
            known = attempt.count(partial(self._look_up, command, attempt.client.origin))
            credentials, rehashed = self._verified(command, known)
            if credentials.has_factor:
                self._require_second_step(attempt, command, credentials, rehashed)

            def prove(uow: AuditedUnitOfWork) -> Proof:
                user_id = credentials.user_id
                # Changed while it was verified, or a factor was enrolled.
                if identity_in(uow).passwords.credentials(command.username) != credentials:
                    raise SignInRefused
                if rehashed is not None:
                    identity_in(uow).passwords.set(user_id, rehashed)
                return Proof(user_id, "password")

            return attempt.open(prove)

    def _look_up(
        self, command: SignIn, origin: str, uow: UnitOfWork, now: int
    ) -> tuple[tuple[Limit, ...], Credentials | None]:
        """Return the limits on an attempt, and the user's credentials.

        An unknown name takes as many statements as any.
        """
        found = uow.identity.passwords.credentials(command.username)
        user_id = None if found is None else found.user_id
        limits = limits_of(origin, command.username, is_known=is_known_network(uow, user_id, origin, now))
        return limits, found

    def _verified(self, command: SignIn, known: Credentials | None) -> tuple[Credentials, PasswordHash | None]:
        """Return the user's credentials, and a new hash if theirs is outdated. Hashing takes no transaction.

        Raises:
            SignInRefused: the name or the password is wrong.
        """
        stored = known.password if known else None
        is_right = self._hasher.verify(stored, command.password)
        if known is None or stored is None or not is_right:
            self._keep_classes()
            self._hasher.verify_others(stored, self._classes[1], command.password)
            raise SignInRefused
        return known, self._hasher.hash(command.password) if self._hasher.needs_rehash(stored) else None

    def _keep_classes(self) -> None:
        """Read the parameters of the stored hashes, unless that was tried within the last minute.

        It reads all users, so no write waits for it; if it takes too long, those stay that were read before.
        """
        now = self._opening.clock.now()
        if 0 <= now - self._classes[0] < _CLASSES_SECONDS:
            return
        self._classes = now, self._classes[1]  # others need not read them at the same time
        with suppress(StorageUnavailable):
            self._classes = now, storage_of(self).read(lambda uow: uow.identity.passwords.classes())

    def _require_second_step(
        self, attempt: Attempt, command: SignIn, credentials: Credentials, rehashed: PasswordHash | None
    ) -> None:
        """Ask a user with the right password for the second step, unless their factors were removed meanwhile.

        Raises:
            SecondFactorRequired: it has the challenge.
            SignInRefused: the password was changed while it was verified.
        """
        now = self._opening.clock.now()
        self._second_step.passkeys.load()

        def challenge(uow: UnitOfWork) -> SecondFactorRequired | None:
            known = uow.identity.passwords.credentials(command.username)
            if known is None or known.password != credentials.password:
                raise SignInRefused
            if confirmed_factors(uow, credentials.user_id):
                attempt.take_back(uow)
                if rehashed is not None:
                    uow.identity.passwords.set(credentials.user_id, rehashed)
            return self._second_step.required(uow, credentials.user_id, now)

        required = storage_of(self).write(challenge)
        if required is not None:
            raise required
