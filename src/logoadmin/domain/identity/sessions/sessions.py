"""Sign-in, sessions and the identity of callers (spec §Authentication, contract A19, B5, C1 to C4, C6).

A sign-in begins a session. Its access tokens identify the user for some minutes without asking storage; its refresh
token, usable once, prolongs it. A second use of a refresh token means that it was stolen, so it ends the session.
"""

from collections.abc import Mapping, Sequence
from contextlib import suppress
from functools import partial
from typing import Annotated, Any, Final, Literal

from logoadmin.domain.identity.audited_passwords import must_change_password
from logoadmin.domain.identity.events.recording import Refusals, record_event, user_named
from logoadmin.domain.identity.factors.enrolment import confirmed_factors
from logoadmin.domain.identity.factors.second_step import SecondStep
from logoadmin.domain.identity.service_keys import KEY_PREFIX, hashed_key
from logoadmin.domain.identity.sessions.open_sessions import SessionTokens, end_sign_ins, session_of_token, sessions_of
from logoadmin.domain.identity.sessions.session_records import (
    EndedSession,
    ListedSession,
    Me,
    RemovedSession,
    RemovedUserSessions,
    Tokens,
)
from logoadmin.domain.identity.sign_in.issuer_users import following_issuer
from logoadmin.domain.identity.sign_in_limits import Limit, attempt, counting_sign_in, limits_of, succeeded, take_back
from logoadmin.domain.identity.user_networks import is_known_network
from logoadmin.domain.kernel.access import (
    ANONYMOUS,
    OPTIONAL,
    OWNER,
    PUBLIC,
    SIGNED_IN,
    Anonymous,
    Caller,
    KeyHolder,
    Permission,
    Rights,
    Scope,
    SentRequestId,
    SignedIn,
    user_of,
)
from logoadmin.domain.kernel.audited_records import snapshot
from logoadmin.domain.kernel.audited_unit_of_work import AuditedUnitOfWork, get_existing
from logoadmin.domain.kernel.command import UNSET, Command
from logoadmin.domain.kernel.errors import (
    NotAuthenticated,
    NotFound,
    NotPermitted,
    Outdated,
    SecondFactorRequired,
    SignInRefused,
    StorageUnavailable,
    TooManySignIns,
)
from logoadmin.domain.kernel.kinds import USERS
from logoadmin.domain.kernel.limits import ExistingUsername, OpaqueToken, Password, SessionId, UserId, described
from logoadmin.domain.kernel.records import PasswordHash
from logoadmin.domain.kernel.use_cases import Service, Transactions, reads_with_rights, writes
from logoadmin.ports.identity.password_storage import Credentials
from logoadmin.ports.identity.passwords import PasswordHasher
from logoadmin.ports.identity.session_storage import Session
from logoadmin.ports.identity.tokens import TokenVerifier
from logoadmin.ports.kernel.environment import Clock
from logoadmin.ports.kernel.metrics import Metrics
from logoadmin.ports.storage import UnitOfWork

# Reading the parameters of all hashes takes as long as two or three hashes in a gallery of 100,000 users.
_CLASSES_SECONDS: Final = 60
_GRANT_TYPE: Final[Any] = described("How to sign in: by `password` or by `refresh_token`.", "password")


class SignIn(Command):
    """A sign-in with username and password."""

    permission = PUBLIC
    changes_records = False
    hashes = True

    grant_type: Annotated[Literal["password"], _GRANT_TYPE] = "password"
    username: ExistingUsername
    password: Password


class Revoke(Command):
    """The end of the session with this refresh token or, without one, of the caller's session."""

    permission = OPTIONAL
    changes_records = False
    enrols = True
    first_password = True

    refresh_token: OpaqueToken = UNSET


class WhoAmI(Command):
    """The caller's user and current scopes."""

    permission = SIGNED_IN
    enrols = True
    first_password = True


class ListSessions(Command):
    """The caller's own sessions; the current one is marked."""

    permission = SIGNED_IN


class RemoveSession(Command):
    """The end of one of the caller's own sessions."""

    permission = SIGNED_IN
    changes_records = False

    session_id: SessionId


class RemoveUserSessions(Command):
    """The end of all sessions of a user."""

    permission = Permission(Scope.USERS_WRITE)
    changes_records = False

    user_id: UserId


class Refresh(Command):
    """A refresh of a session with its refresh token."""

    permission = PUBLIC
    changes_records = False

    grant_type: Annotated[Literal["refresh_token"], _GRANT_TYPE]
    refresh_token: OpaqueToken


class SessionService(Service):
    """The use cases of sessions."""

    def __init__(
        self,
        transactions: Transactions,
        hasher: PasswordHasher,
        tokens: SessionTokens,
        second_step: SecondStep,
        verifier: TokenVerifier,
        clock: Clock,
        metrics: Metrics,
    ) -> None:
        super().__init__(transactions)
        self._hasher = hasher
        self._session_tokens = tokens
        self._second_step = second_step
        self._verifier = verifier
        self._clock = clock
        self._metrics = metrics
        self._classes: tuple[int, frozenset[str]] = (-_CLASSES_SECONDS, frozenset())

    def caller(
        self, token: str, request_id: str | SentRequestId | None = None, origin: str = "", user_agent: str = ""
    ) -> SignedIn | KeyHolder:
        """Return the caller with a Bearer token, as far as it can be verified without storage (contract A19, C5).

        Args:
            token: an access token or a service key.
            request_id: the id of the request, for the history (contract G).
            origin: where the caller comes from, such as an address.
            user_agent: the client's ``User-Agent``.

        Raises:
            InvalidToken: the token is not valid now.
        """
        if token.startswith(KEY_PREFIX):
            return KeyHolder(hashed_key(token), request_id)
        granted = self._verifier.verify(token, self._clock.now())
        return SignedIn(granted.user_id, granted.session_id, request_id, origin, user_agent)

    def public_keys(self) -> Sequence[Mapping[str, str]]:
        """Return the public keys with which others can verify access tokens, as JWKs (contract C2)."""
        return self._verifier.public_keys()

    def sign_in(self, command: SignIn, caller: Caller = ANONYMOUS) -> Tokens:
        """Begin a session (contract C1).

        Raises:
            SignInForbidden: passwords are switched off.
            SignInRefused: the name or the password is wrong; both take the same time.
            TooManySignIns: there were too many failed attempts.
            SecondFactorRequired: the password is right, and the user has a second factor (contract O2). Nothing is
                opened, and failures for the name stay counted.
        """
        self._session_tokens.require_password_sign_in()
        client = caller if isinstance(caller, Anonymous) else ANONYMOUS
        refusals = Refusals(self.transactions.storage, self._clock, client, user_named(command.username))
        with counting_sign_in(self._metrics, refusals):
            credentials, rehashed, has_factor, limits = self._authenticate(command, client.origin)
            if has_factor:
                self._require_second_factor(command, limits, credentials, rehashed)
            if command.idempotency_key is not None:  # a replay does not run begin
                self.transactions.storage.write(partial(succeeded, limits=limits), "sessions")

            def begin(uow: AuditedUnitOfWork, command: SignIn) -> Tokens:
                user_id = credentials.user_id
                # Changed while it was verified.
                if uow.identity.passwords.credentials(command.username) != credentials or confirmed_factors(
                    uow, user_id
                ):
                    raise SignInRefused
                if rehashed is not None:
                    uow.identity.passwords.set(user_id, rehashed)
                if command.idempotency_key is None:
                    succeeded(uow, limits)
                return self._session_tokens.begin(uow, user_id, client, uow.now)

            return self.transactions.write(command, caller, begin, unused=self._session_tokens.are_unused)

    def refresh(self, command: Refresh, caller: Caller = ANONYMOUS) -> Tokens:
        """Prolong a session by its refresh token, which can be used only once (contract C3).

        Raises:
            InvalidToken: the token is unknown, or its session has ended; a second use of a token ends its session.
        """

        def refresh(uow: AuditedUnitOfWork, command: Refresh) -> Tokens | EndedSession:
            return self._session_tokens.refresh(uow, command.refresh_token, caller, uow.now)

        prolong = partial(self.transactions.write, command, caller, refresh, self._session_tokens.are_unused)
        return following_issuer(self.transactions, caller, prolong)

    def revoke(self, command: Revoke, caller: Caller = ANONYMOUS) -> EndedSession:
        """End a session: its refresh token and its access tokens become invalid (contract C3).

        Raises:
            NotAuthenticated: neither the command nor the caller names a session.
        """
        own = caller if isinstance(caller, SignedIn) else None
        if command.refresh_token is UNSET and own is None:
            raise NotAuthenticated

        def revoke(uow: AuditedUnitOfWork, command: Revoke) -> EndedSession:
            session: SignedIn | Session | None = own
            if command.refresh_token is not UNSET:
                session, _ = session_of_token(uow, command.refresh_token) or (None, False)
            if session is None or not uow.identity.sessions.end(session.session_id):
                return EndedSession(ended=False)
            record_event(uow, "session_ended", session.user_id, caller, uow.now)
            return EndedSession(ended=True)

        return self.transactions.write(command, caller, revoke)

    def list(self, command: ListSessions, caller: Caller = OWNER) -> tuple[ListedSession, ...]:
        """Return the caller's sessions, by created_at, then by session_id (contract C6).

        Raises:
            NotAuthenticated: the caller is not a user.
            NotPermitted: the caller is a service key.
        """

        def list_own(uow: UnitOfWork, _: ListSessions, held: Rights | None) -> tuple[ListedSession, ...]:
            user_id, now = user_of(held), self._clock.now()
            return sessions_of(user_id, uow, now, self._session_tokens.lifetimes, _session_of(caller))

        return self.transactions.snapshot_with_rights(command, caller, list_own)

    @writes
    def remove(self, uow: AuditedUnitOfWork, command: RemoveSession) -> RemovedSession:
        """End one of the caller's sessions at once, with all its tokens (contract C6).

        Raises:
            NotAuthenticated: the caller is not a user.
            NotPermitted: the caller is a service key.
            NotFound: the caller has no such session.
            Outdated: ``if_match`` is given, and sessions have no versions.
        """
        user_id = user_of(uow.held)
        own = sessions_of(user_id, uow, uow.now, self._session_tokens.lifetimes)
        if command.session_id not in {session.session_id for session in own}:
            raise NotFound("Session", command.session_id)
        if command.if_match is not None:
            raise Outdated("Session", command.session_id)
        uow.identity.sessions.end(command.session_id)
        record_event(uow, "session_ended", user_id, uow.caller, uow.now)
        return RemovedSession(command.session_id)

    @writes
    def remove_all(self, uow: AuditedUnitOfWork, command: RemoveUserSessions) -> RemovedUserSessions:
        """End all sessions of a user at once (contract C6).

        Raises:
            NotPermitted: the caller is a service key, or does not hold all scopes of the user (contract B4).
            NotFound: the user does not exist.
            Outdated: the user has none of the versions in ``if_match``.
        """
        if uow.held is not None and not uow.held.of_user:
            raise NotPermitted
        uow.records(USERS).get_for_change(command.user_id, command.if_match)
        ended = len(sessions_of(command.user_id, uow, uow.now, self._session_tokens.lifetimes))
        end_sign_ins(uow, command.user_id)
        if ended:
            record_event(uow, "session_ended", command.user_id, uow.caller, uow.now, count=ended)
        return RemovedUserSessions(command.user_id, ended)

    @reads_with_rights
    def me(self, uow: UnitOfWork, _command: WhoAmI, held: Rights | None) -> Me:
        """Return the caller's user with their current scopes (contract C3).

        Raises:
            NotAuthenticated: the caller is not a user, nor a service key of one.
        """
        if held is None:
            raise NotAuthenticated
        user = snapshot(USERS, get_existing(uow, USERS, held.user_id))
        # A password that signs nobody in need not be changed.
        must_change = self._session_tokens.takes_passwords and must_change_password(uow, held.user_id)
        return Me(**user, scope=tuple(sorted(held.scope)), enrol_by=held.enrol_by, must_change_password=must_change)

    def _authenticate(
        self, command: SignIn, origin: str
    ) -> tuple[Credentials, PasswordHash | None, bool, tuple[Limit, ...]]:
        """Return the user's credentials, a new hash if theirs is outdated, whether they have a second factor, and the
        limits on this attempt.

        Hashing takes no transaction, and an unknown name as many statements as any.
        """
        now = self._clock.now()

        def count(uow: UnitOfWork) -> tuple[int | None, Credentials | None, bool, tuple[Limit, ...]]:
            found = uow.identity.passwords.credentials(command.username)
            user_id = None if found is None else found.user_id
            limits = limits_of(origin, command.username, is_known=is_known_network(uow, user_id, origin, now))
            wait = attempt(uow, limits, now)
            return wait, found, bool(confirmed_factors(uow, -1 if user_id is None else user_id)), limits

        wait, credentials, has_factor, limits = self.transactions.storage.write(count, "sessions")
        if wait is not None:
            raise TooManySignIns(wait)
        stored = credentials.password if credentials else None
        is_right = self._hasher.verify(stored, command.password)
        if credentials is None or stored is None or not is_right:
            self._keep_classes(now)
            self._hasher.verify_others(stored, self._classes[1], command.password)
            raise SignInRefused
        needs_rehash = self._hasher.needs_rehash(stored)
        rehashed = self._hasher.hash(command.password) if needs_rehash else None
        return credentials, rehashed, has_factor, limits

    def _keep_classes(self, now: int) -> None:
        """Read the parameters of the stored hashes, unless that was tried within the last minute.

        It reads all users, so no write waits for it; if it takes too long, those stay that were read before.
        """
        if 0 <= now - self._classes[0] < _CLASSES_SECONDS:
            return
        self._classes = now, self._classes[1]  # others need not read them at the same time
        with suppress(StorageUnavailable):
            self._classes = now, self.transactions.storage.read(lambda uow: uow.identity.passwords.classes())

    def _require_second_factor(
        self, command: SignIn, limits: Sequence[Limit], credentials: Credentials, rehashed: PasswordHash | None
    ) -> None:
        """Store a challenge for a user with the right password, unless their factors were removed meanwhile.

        Raises:
            SecondFactorRequired: it has the challenge.
            SignInRefused: the password was changed while it was verified.
        """
        now = self._clock.now()
        self._second_step.passkeys.load()

        def challenge(uow: UnitOfWork) -> SecondFactorRequired | None:
            if uow.identity.passwords.credentials(command.username) != credentials:
                raise SignInRefused
            required = self._second_step.required(uow, credentials.user_id, now)
            if required is not None:
                take_back(uow, [limit for limit in limits if not limit.named])
                if rehashed is not None:
                    uow.identity.passwords.set(credentials.user_id, rehashed)
            return required

        required = self.transactions.storage.write(challenge, "sessions")
        if required is not None:
            raise required


def _session_of(caller: Caller) -> str | None:
    return caller.session_id if isinstance(caller, SignedIn) else None
