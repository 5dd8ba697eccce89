"""The use cases of sessions, and the password that begins one (spec §Authentication, contract C1 to C4, C6, O2).

Access tokens identify the user for some minutes without a query; a refresh token, usable once, extends the session. A
second use of a refresh token, unless right after the first, means that it was stolen, so it ends the session.
"""

from collections.abc import Mapping, Sequence
from contextlib import suppress
from typing import Final

from logoadmin.domain.bound_storage import OpenTransaction
from logoadmin.domain.identity.accounts import can_step_up, is_by_link, must_change_password, session_id_of
from logoadmin.domain.identity.callers import Callers
from logoadmin.domain.identity.open_sessions import OpenSessions, SignInService, client_of, session_of_token
from logoadmin.domain.identity.records import (
    EndedSession,
    ListedSession,
    Me,
    RemovedSession,
    RemovedUserSessions,
    Tokens,
)
from logoadmin.domain.identity.second_step import SecondStep
from logoadmin.domain.identity.sign_in_attempts import IN_A_BLOCK
from logoadmin.domain.identity.sign_in_events import record_event
from logoadmin.domain.identity.sign_in_limits import limits_of
from logoadmin.domain.kernel.access import (
    ANONYMOUS,
    PUBLIC,
    SIGNED_IN,
    AllRights,
    Caller,
    Held,
    Permission,
    Scope,
    SignedIn,
    user_of,
)
from logoadmin.domain.kernel.audited_records import snapshot
from logoadmin.domain.kernel.command import UNSET, Command
from logoadmin.domain.kernel.errors import (
    Conflict,
    InvalidToken,
    NotAuthenticated,
    NotFound,
    NotPermitted,
    Outdated,
    SignInRefused,
    StorageUnavailable,
)
from logoadmin.domain.kernel.gate import Gate
from logoadmin.domain.kernel.kinds import USERS
from logoadmin.domain.kernel.limits import ExistingUsername, OpaqueToken, Password, SessionId, UserId
from logoadmin.domain.kernel.records import PasswordHash
from logoadmin.domain.kernel.unit_of_work import (
    AuditedUnitOfWork,
    ReadUnitOfWork,
    get_existing,
    history_in,
    identity_in,
)
from logoadmin.domain.kernel.use_cases import for_program, reads_with_rights, storage_of, use_case, writes
from logoadmin.ports.history_storage import creation_of
from logoadmin.ports.identity_storage import Account, Session
from logoadmin.ports.passwords import PasswordHasher

# Reading the parameters of all hashes takes as long as two or three hashes in a gallery of 100,000 users.
_CLASSES_SECONDS: Final = 60


class SignIn(Command):
    """A sign-in with username and password."""

    keeps_answer = False
    hashes = True

    username: ExistingUsername
    password: Password


class Revoke(Command):
    """The end of the session with this refresh token or, without one, of the caller's session."""

    keeps_answer = False

    refresh_token: OpaqueToken = UNSET


class WhoAmI(Command):
    """The caller's user and current scopes."""


class ListSessions(Command):
    """The caller's own sessions; the current one is marked."""


class RemoveSession(Command):
    """The end of one of the caller's own sessions."""

    session_id: SessionId


class ListUserSessions(Command):
    """The sessions of a user."""

    user_id: UserId


class RemoveUserSession(Command):
    """The end of one session of a user."""

    user_id: UserId
    session_id: SessionId


class RemoveUserSessions(Command):
    """The end of all sessions of a user."""

    user_id: UserId


class Refresh(Command):
    """A refresh of a session with its refresh token."""

    keeps_answer = False

    refresh_token: OpaqueToken


class SessionService(SignInService):
    """The use cases of sessions.

    Those for one's own account raise NotAuthenticated unless the caller is a user, and NotPermitted for service keys;
    others raise NotFound if the user does not exist, and NotPermitted for service keys and, if they end sessions, for
    callers that do not hold all scopes of the user (contract B4).

    Attributes:
        caller: returns the caller of a Bearer token, see
            :meth:`~logoadmin.domain.identity.callers.Callers.caller`.
    """

    def __init__(
        self, sessions: OpenSessions, hasher: PasswordHasher, second_step: SecondStep, callers: Callers
    ) -> None:
        super().__init__(sessions)
        self.caller = callers.caller
        self._second_step, self._hasher, self._clock = second_step, hasher, sessions.transactions.clock
        self._classes: tuple[int, frozenset[str]] = (-_CLASSES_SECONDS, frozenset())

    @for_program
    def public_keys(self) -> Sequence[Mapping[str, str]]:
        """Return the public keys with which others can verify access tokens, as JWKs (contract C2)."""
        return self._open_sessions.tokens.public_keys()

    @use_case(PUBLIC)
    def sign_in(self, gate: Gate, command: SignIn, caller: Caller = ANONYMOUS) -> Tokens:
        """Begin a session (contract C1).

        Raises:
            SignInForbidden: passwords are switched off.
            SignInRefused: the name or the password is wrong; both take the same time.
            TooManySignIns: there were too many failed attempts.
            SecondFactorRequired: the password is right, and the user has a second factor (contract O2). No session
                begins, and failures for the name stay counted.
        """
        self._open_sessions.require_passwords()
        with self._open_sessions.attempt(gate, caller) as attempt:
            limits = limits_of(attempt.networks, command.username)
            known = attempt.count(lambda uow: (uow.identity.passwords.account(command.username), limits))
            account, rehashed = self._verified(command, known)
            if account.has_factor:
                self._second_step.require(attempt, account, rehashed)

            def begin(uow: AuditedUnitOfWork, _command: SignIn) -> Tokens:
                passwords = identity_in(uow).passwords
                current = passwords.account(account.user_id)
                # The password changed, or a factor was enrolled, during verification.
                if current is None or current.password != account.password or current.has_factor != account.has_factor:
                    raise SignInRefused
                if rehashed is not None:
                    passwords.set(account.user_id, rehashed)
                return self._open_sessions.begin(uow, attempt, current, "password")

            return gate.write(command, attempt.client, begin)

    @use_case(PUBLIC)
    def refresh(self, gate: Gate, command: Refresh, caller: Caller = ANONYMOUS) -> Tokens:
        """Extend a session with its refresh token, which is usable once (contract C3).

        Within 10 seconds of its first use, the token returns another pair, because the response may have been lost, or
        another tab may have refreshed at the same time. Both pairs are valid.

        Raises:
            InvalidToken: the token is unknown, or its session has ended; a later use of a token ends its session.
            TooManyRefreshes: the user's sessions were refreshed 1,000 times in an hour.
        """
        if isinstance(storage_of(self), OpenTransaction):
            raise RuntimeError(IN_A_BLOCK)
        client = client_of(gate, caller)

        def refresh(uow: AuditedUnitOfWork, command: Refresh) -> Tokens | EndedSession:
            return self._open_sessions.refresh(uow, command.refresh_token, client)

        try:
            answer = gate.write(command, client, refresh)
        except Conflict:  # the issuer gave another role to the last user who holds everything
            raise InvalidToken from None
        if isinstance(answer, EndedSession):  # raised outside the transaction, so that the session stays ended
            raise InvalidToken
        return answer

    @writes(Permission(open_by_default=True, enrols=True, first_password=True))
    def revoke(self, uow: AuditedUnitOfWork, command: Revoke) -> EndedSession:
        """End a session: its refresh token and its access tokens become invalid (contract C3).

        Raises:
            NotAuthenticated: neither the command nor the caller has a session.
        """
        session: SignedIn | Session | None = uow.caller if isinstance(uow.caller, SignedIn) else None
        if command.refresh_token is not UNSET:
            session, _ = session_of_token(uow, command.refresh_token) or (None, None)
        elif session is None:
            raise NotAuthenticated
        if session is None or not identity_in(uow).sessions.end(session.session_id):
            return EndedSession(ended=False)
        record_event(uow, "session_ended", session.user_id, uow.caller, uow.now)
        return EndedSession(ended=True)

    @reads_with_rights(SIGNED_IN)
    def list(self, uow: ReadUnitOfWork, _command: ListSessions, held: Held) -> tuple[ListedSession, ...]:
        """Return the caller's sessions, by created_at, then by session_id (contract C6)."""
        return self._open_sessions.of_user(uow, user_of(held), self._clock.now(), session_id_of(uow.caller))

    @writes(SIGNED_IN)
    def remove(self, uow: AuditedUnitOfWork, command: RemoveSession) -> RemovedSession:
        """End one of the caller's sessions at once, with all its tokens (contract C6).

        Raises:
            NotFound: the caller has no such session.
            Outdated: ``if_match`` is given, and sessions have no versions.
        """
        return self._end(uow, user_of(uow.held), command)

    @reads_with_rights(Permission(Scope.USERS_READ))
    def list_of_user(self, uow: ReadUnitOfWork, command: ListUserSessions, held: Held) -> tuple[ListedSession, ...]:
        """Return the sessions of a user, by created_at, then by session_id (contract C6)."""
        _refuse_keys(held)
        get_existing(uow, USERS, command.user_id)
        return self._open_sessions.of_user(uow, command.user_id, self._clock.now(), session_id_of(uow.caller))

    @writes(Permission(Scope.USERS_WRITE))
    def remove_of_user(self, uow: AuditedUnitOfWork, command: RemoveUserSession) -> RemovedSession:
        """End one session of a user at once, with all its tokens (contract C6).

        Raises:
            NotFound: also if the user has no such session.
            Outdated: ``if_match`` is given, and sessions have no versions.
        """
        _refuse_keys(uow.held)
        uow.records(USERS).get_for_change(command.user_id, None)
        return self._end(uow, command.user_id, command)

    def _end(self, uow: AuditedUnitOfWork, user_id: int, command: RemoveSession | RemoveUserSession) -> RemovedSession:
        theirs = self._open_sessions.of_user(uow, user_id, uow.now)
        if command.session_id not in {session.session_id for session in theirs}:
            raise NotFound("Session", command.session_id)
        if command.if_match is not None:
            raise Outdated("Session", command.session_id)
        identity_in(uow).sessions.end(command.session_id)
        record_event(uow, "session_ended", user_id, uow.caller, uow.now)
        return RemovedSession(command.session_id)

    @writes(Permission(Scope.USERS_WRITE))
    def remove_all(self, uow: AuditedUnitOfWork, command: RemoveUserSessions) -> RemovedUserSessions:
        """End all sessions of a user at once (contract C6).

        Raises:
            Outdated: the user has none of the versions in ``if_match``.
        """
        _refuse_keys(uow.held)
        uow.records(USERS).get_for_change(command.user_id, command.if_match)
        ended = self._open_sessions.end_all(uow, command.user_id)
        return RemovedUserSessions(command.user_id, ended)

    @reads_with_rights(Permission(signed_in=True, enrols=True, first_password=True))
    def me(self, uow: ReadUnitOfWork, _command: WhoAmI, held: Held) -> Me:
        """Return the caller's user, or that of their service key, with their current scopes (contract C3)."""
        if isinstance(held, AllRights):
            raise NotAuthenticated
        user = snapshot(USERS, get_existing(uow, USERS, held.user_id))
        ways = self._open_sessions.rules.ways
        return Me(
            **user,
            user_since=creation_of(history_in(uow), held.user_id),
            scope=tuple(sorted(held.scope)),
            must_enrol=held.must_enrol,
            # A password that signs nobody in need not be changed.
            must_change_password=ways.password and must_change_password(uow, held.user_id),
            by_link=is_by_link(uow, held),
            can_step_up=can_step_up(uow, held, ways),
        )

    def _verified(self, command: SignIn, known: Account | None) -> tuple[Account, PasswordHash | None]:
        """Return the user's account, and a new hash if theirs is outdated. Hashing holds no transaction."""
        stored = known.password if known else None
        is_right = self._hasher.verify(stored, command.password)
        if known is None or stored is None or not is_right:
            self._refresh_classes()
            self._hasher.verify_others(stored, self._classes[1], command.password)
            raise SignInRefused
        return known, self._hasher.hash(command.password) if self._hasher.needs_rehash(stored) else None

    def _refresh_classes(self) -> None:
        """Read the parameters of the stored hashes, at most once a minute.

        This reads all users, so no write waits for it; if it takes too long, the previous parameters stay.
        """
        now = self._clock.now()
        if 0 <= now - self._classes[0] < _CLASSES_SECONDS:
            return
        self._classes = now, self._classes[1]  # so that no other thread reads them at the same time
        with suppress(StorageUnavailable):
            self._classes = now, storage_of(self).read(lambda uow: uow.identity.passwords.classes())


def _refuse_keys(held: Held) -> None:
    """Reject service keys, which can neither see nor end sessions."""
    if not held.of_user:
        raise NotPermitted
