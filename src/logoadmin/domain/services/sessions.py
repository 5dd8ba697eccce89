"""Signing in, and knowing who asks (spec §Authentication, contract A19, B5, C1 to C4, C6).

A sign-in begins a session. Its access tokens say who somebody is for some minutes without a look at storage; its
refresh token, good once, prolongs it. Whoever uses a refresh token a second time has a stolen one, or was stolen
from, so that ends the session.
"""

from collections.abc import Mapping, Sequence
from functools import partial
from typing import Annotated, Any, Final, Literal

from logoadmin.domain import sign_in_limits
from logoadmin.domain.audit.records import snapshot
from logoadmin.domain.audit.unit_of_work import AuditedUnitOfWork, get_existing
from logoadmin.domain.model.access import (
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
from logoadmin.domain.model.command import UNSET, Command
from logoadmin.domain.model.errors import (
    InvalidToken,
    NotAuthenticated,
    NotFound,
    NotPermitted,
    Outdated,
    SignInRefused,
    TooManySignIns,
)
from logoadmin.domain.model.kinds import USERS
from logoadmin.domain.model.limits import ExistingUsername, OpaqueToken, Password, SessionId, UserId, described
from logoadmin.domain.model.metrics import SIGN_INS, Counters
from logoadmin.domain.model.records import PasswordHash
from logoadmin.domain.model.sessions import EndedSession, ListedSession, Me, RemovedSession, RemovedUserSessions, Tokens
from logoadmin.domain.open_sessions import SessionTokens, session_of_token, sessions_of
from logoadmin.domain.services.keys import hashed_key
from logoadmin.domain.transactions import Transactions
from logoadmin.ports.clock import Clock
from logoadmin.ports.passwords import PasswordHasher
from logoadmin.ports.storage import Credentials, UnitOfWork
from logoadmin.ports.tokens import TokenVerifier

_GRANT_TYPE: Final[Any] = described("How to sign in: by `password` or by `refresh_token`.", "password")


class SignIn(Command):
    """Proof of being a user, by password."""

    permission = PUBLIC
    hashes = True

    grant_type: Annotated[Literal["password"], _GRANT_TYPE] = "password"
    username: ExistingUsername
    password: Password


class Revoke(Command):
    """The end of a session: of the one with this refresh token or, without one, of the caller's own."""

    permission = OPTIONAL

    refresh_token: OpaqueToken = UNSET


class WhoAmI(Command):
    """Who the caller is, and what they may do now."""

    permission = SIGNED_IN


class ListSessions(Command):
    """The caller's own sessions, of which this one is marked."""

    permission = SIGNED_IN


class RemoveSession(Command):
    """The end of one of the caller's own sessions."""

    permission = SIGNED_IN

    session_id: SessionId


class RemoveUserSessions(Command):
    """The end of all sessions of a user."""

    permission = Permission(Scope.USERS_WRITE)

    user_id: UserId


class Refresh(Command):
    """Proof of a session that goes on, by its refresh token."""

    permission = PUBLIC

    grant_type: Annotated[Literal["refresh_token"], _GRANT_TYPE]
    refresh_token: OpaqueToken


class SessionService:
    """What can be done with sessions. Every method may also raise what :class:`Transactions` raises."""

    def __init__(
        self,
        transactions: Transactions,
        hasher: PasswordHasher,
        tokens: SessionTokens,
        verifier: TokenVerifier,
        clock: Clock,
        counters: Counters,
    ) -> None:
        self._transactions = transactions
        self._hasher = hasher
        self._session_tokens = tokens
        self._verifier = verifier
        self._clock = clock
        self._sign_ins = counters.of(SIGN_INS)

    def caller(self, token: str, request_id: str | SentRequestId | None = None) -> SignedIn | KeyHolder:
        """Return who shows a Bearer token, as far as it can be told without asking storage (contract A19, C5).

        Args:
            token: an access token or a service key.
            request_id: what the history is to call the request that the token came with (contract G).

        Raises:
            InvalidToken: it is not good now.
        """
        key_hash = hashed_key(token)
        if key_hash is not None:
            return KeyHolder(key_hash, request_id)
        granted = self._verifier.verify(token, self._clock.now())
        return SignedIn(granted.user_id, granted.session_id, request_id)

    def public_keys(self) -> Sequence[Mapping[str, str]]:
        """Return the public keys with which others can verify access tokens, as JWKs (contract C2)."""
        return self._verifier.public_keys()

    def grant(self, command: SignIn | Refresh, caller: Caller = ANONYMOUS) -> Tokens:
        """Sign in or refresh, whichever is asked for (contract C1, C3)."""
        return self.sign_in(command, caller) if isinstance(command, SignIn) else self.refresh(command, caller)

    def sign_in(self, command: SignIn, caller: Caller = ANONYMOUS) -> Tokens:
        """Begin a session (contract C1).

        Raises:
            SignInRefused: the name or the password is wrong, which takes the same time.
            TooManySignIns: that happened too often.
        """
        try:
            tokens = self._sign_in(command, caller)
        except (SignInRefused, TooManySignIns) as error:
            self._sign_ins.add("failed" if isinstance(error, SignInRefused) else "refused")
            raise
        self._sign_ins.add("ok")
        return tokens

    def refresh(self, command: Refresh, caller: Caller = ANONYMOUS) -> Tokens:
        """Prolong a session by its refresh token, which is used up by that (contract C3).

        Raises:
            InvalidToken: it is no such token, or its session is over; one that was used ends its session now.
        """
        answer = self._transactions.write(command, caller, self._refresh, unused=self._session_tokens.are_unused)
        if isinstance(answer, EndedSession):  # raised out here, because the end of the session must stand
            raise InvalidToken
        return answer

    def revoke(self, command: Revoke, caller: Caller = ANONYMOUS) -> EndedSession:
        """End a session: its refresh token and its access tokens are good for nothing from now on (contract C3).

        Raises:
            NotAuthenticated: neither the command nor the caller names a session.
        """
        own = _session_of(caller)
        if command.refresh_token is UNSET and own is None:
            raise NotAuthenticated
        return self._transactions.write(command, caller, partial(self._revoke, own))

    def list(self, command: ListSessions, caller: Caller) -> tuple[ListedSession, ...]:
        """Return the caller's sessions, by created_at, then by session_id (contract C6).

        Raises:
            NotAuthenticated: the caller is nobody in particular.
            NotPermitted: they are a service key.
        """
        return self._transactions.snapshot_with_rights(command, caller, partial(self._list, _session_of(caller)))

    def remove(self, command: RemoveSession, caller: Caller) -> RemovedSession:
        """End one of the caller's sessions at once, with all that it gave out (contract C6).

        Raises:
            NotAuthenticated: the caller is nobody in particular.
            NotPermitted: they are a service key.
            NotFound: they have no such session.
            Outdated: ``if_match`` names versions of it, and a session has none.
        """
        return self._transactions.write(command, caller, self._remove)

    def remove_all(self, command: RemoveUserSessions, caller: Caller = OWNER) -> RemovedUserSessions:
        """End all sessions of a user at once (contract C6).

        Raises:
            NotPermitted: the caller is a service key, or does not hold all that the user does (contract B4).
            NotFound: there is no such user.
            Outdated: the user has none of the versions in ``if_match``.
        """
        return self._transactions.write(command, caller, self._remove_all)

    def me(self, command: WhoAmI, caller: Caller) -> Me:
        """Return who the caller is and what they may do right now (contract C3).

        Raises:
            NotAuthenticated: they are nobody in particular.
        """
        return self._transactions.snapshot_with_rights(command, caller, self._me)

    def _sign_in(self, command: SignIn, caller: Caller) -> Tokens:
        client = caller if isinstance(caller, Anonymous) else ANONYMOUS
        origin, now = client.origin, self._clock.now()
        known, renewed = self._proven(command, origin, now)
        if command.idempotency_key is not None:
            # Where the stored response is given, the work below is not done again.
            self._transactions.side_transaction(partial(sign_in_limits.succeeded, command.username, origin))
        begin = partial(self._begin, known, renewed, client)
        return self._transactions.write(command, caller, begin, unused=self._session_tokens.are_unused)

    def _begin(
        self,
        known: Credentials,
        renewed: PasswordHash | None,
        client: Anonymous,
        uow: AuditedUnitOfWork,
        command: SignIn,
    ) -> Tokens:
        # Hashing takes a while and is no part of the transaction: the password may be another one by now.
        if uow.passwords.credentials(command.username) != known:
            raise SignInRefused
        if renewed is not None:
            uow.passwords.renew(known.user_id, renewed)
        if command.idempotency_key is None:
            sign_in_limits.succeeded(command.username, client.origin, uow)
        return self._session_tokens.begin(uow, known.user_id, client, uow.now)

    def _refresh(self, uow: AuditedUnitOfWork, command: Refresh) -> Tokens | EndedSession:
        return self._session_tokens.refresh(uow, command.refresh_token, uow.now)

    def _revoke(self, own: str | None, uow: AuditedUnitOfWork, command: Revoke) -> EndedSession:
        session_id = own
        if command.refresh_token is not UNSET:
            known = session_of_token(uow, command.refresh_token)
            session_id = known[0].session_id if known else None
        return EndedSession(session_id is not None and uow.sessions.end(session_id))

    def _list(
        self, current: str | None, uow: UnitOfWork, _command: ListSessions, held: Rights | None
    ) -> tuple[ListedSession, ...]:
        return sessions_of(user_of(held), uow, self._clock.now(), self._session_tokens.lifetimes, current)

    def _remove(self, uow: AuditedUnitOfWork, command: RemoveSession) -> RemovedSession:
        own = sessions_of(user_of(uow.held), uow, uow.now, self._session_tokens.lifetimes)
        if command.session_id not in {session.session_id for session in own}:
            raise NotFound("Session", command.session_id)
        if command.if_match is not None:  # a session has no version
            raise Outdated("Session", command.session_id)
        uow.sessions.end(command.session_id)
        return RemovedSession(command.session_id)

    def _remove_all(self, uow: AuditedUnitOfWork, command: RemoveUserSessions) -> RemovedUserSessions:
        if uow.held is not None and not uow.held.of_user:
            raise NotPermitted
        uow.records(USERS).get_for_change(command.user_id, command.if_match)
        ended = len(sessions_of(command.user_id, uow, uow.now, self._session_tokens.lifetimes))
        uow.sessions.end_all(command.user_id)
        return RemovedUserSessions(command.user_id, ended)

    def _me(self, uow: UnitOfWork, _command: WhoAmI, held: Rights | None) -> Me:
        if held is None:
            raise NotAuthenticated
        user = snapshot(USERS, get_existing(uow, USERS, held.user_id))
        return Me(**user, scope=tuple(sorted(held.scope)))

    def _proven(self, command: SignIn, origin: str, now: int) -> tuple[Credentials, PasswordHash | None]:
        """Return whose name and password these are, and the password hashed anew where that has become outdated."""
        wait, known = self._transactions.side_transaction(partial(_attempt, command.username, origin, now))
        sign_in_limits.refuse(wait)
        right = self._hasher.verify(known.password if known else None, command.password)
        if known is None or known.password is None or not right:
            raise SignInRefused
        return known, self._hasher.hash(command.password) if self._hasher.needs_rehash(known.password) else None


def _attempt(username: str, origin: str, now: int, uow: UnitOfWork) -> tuple[int | None, Credentials | None]:
    return sign_in_limits.attempt(uow, username, origin, now), uow.passwords.credentials(username)


def _session_of(caller: Caller) -> str | None:
    return caller.session_id if isinstance(caller, SignedIn) else None
