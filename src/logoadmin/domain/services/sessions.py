"""Signing in, and knowing who asks (spec §Authentication, contract A19, B5, C1 to C4).

A sign-in begins a session. Its access tokens say who somebody is for some minutes without a look at storage; its
refresh token, good once, prolongs it. Whoever uses a refresh token a second time has a stolen one, or was stolen
from, so that ends the session.
"""

import hashlib
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from typing import Final, Literal

from logoadmin.domain import sign_in_limits
from logoadmin.domain.audit.change_log import snapshot
from logoadmin.domain.audit.unit_of_work import AnyUnitOfWork, AuditedUnitOfWork, found
from logoadmin.domain.model.access import (
    ANONYMOUS,
    OPTIONAL,
    PUBLIC,
    SIGNED_IN,
    Anonymous,
    Caller,
    KeyHolder,
    Rights,
    SignedIn,
)
from logoadmin.domain.model.command import UNSET, Command
from logoadmin.domain.model.errors import InvalidToken, NotAuthenticated, SignInRefused
from logoadmin.domain.model.kinds import USERS
from logoadmin.domain.model.limits import OpaqueToken, Password, Username
from logoadmin.domain.model.records import EndedSession, Me, PasswordHash, Tokens
from logoadmin.domain.services.keys import hashed_key
from logoadmin.domain.transactions import Transactions
from logoadmin.ports.clock import Clock
from logoadmin.ports.passwords import PasswordHasher
from logoadmin.ports.randomness import Randomness
from logoadmin.ports.storage import Credentials, Session, UnitOfWork
from logoadmin.ports.tokens import Grant, TokenSigner, TokenVerifier

_DAY: Final = 86_400
# So many refresh tokens of expired sessions are forgotten with each new one: however many there are, nobody waits.
_MOST_TOKENS_FORGOTTEN: Final = 20


class SignIn(Command):
    """Proof of being a user, by password."""

    permission = PUBLIC
    hashes = True

    grant_type: Literal["password"] = "password"
    username: Username
    password: Password


class Revoke(Command):
    """The end of a session: of the one with this refresh token or, without one, of the caller's own."""

    permission = OPTIONAL

    refresh_token: OpaqueToken = UNSET


class WhoAmI(Command):
    """Who the caller is."""

    permission = SIGNED_IN


class Refresh(Command):
    """Proof of a session that goes on, by its refresh token."""

    permission = PUBLIC

    grant_type: Literal["refresh_token"]
    refresh_token: OpaqueToken


@dataclass(frozen=True, slots=True)
class Lifetimes:
    """How long tokens are good, in seconds: access tokens, and a session that is not refreshed."""

    access_token: int = 900
    session: int = 30 * _DAY


class SessionService:
    """What can be done with sessions. Every method may also raise what :class:`Transactions` raises."""

    def __init__(
        self,
        transactions: Transactions,
        hasher: PasswordHasher,
        signer: TokenSigner,
        verifier: TokenVerifier,
        randomness: Randomness,
        clock: Clock,
        lifetimes: Lifetimes,
    ) -> None:
        self._transactions = transactions
        self._hasher = hasher
        self._signer = signer
        self._verifier = verifier
        self._randomness = randomness
        self._clock = clock
        self._lifetimes = lifetimes

    def caller(self, token: str, request_id: str | None = None) -> SignedIn | KeyHolder:
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
        found = self._verifier.verify(token, self._clock.now())
        return SignedIn(found.user_id, found.session_id, request_id)

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
        origin = caller.origin if isinstance(caller, Anonymous) else ""
        now = self._clock.now()
        known, renewed = self._proven(command, origin, now)
        if command.idempotency_key is not None:
            # Where the first answer is given again, the work below is not done again.
            self._transactions.side_transaction(partial(sign_in_limits.succeeded, command.username, origin))
        return self._transactions.write(command, caller, partial(self._begin, known, renewed, origin))

    def refresh(self, command: Refresh, caller: Caller = ANONYMOUS) -> Tokens:
        """Prolong a session by its refresh token, which is used up by that (contract C3).

        Raises:
            InvalidToken: it is no such token, or its session is over; one that was used ends its session now.
        """
        answer = self._transactions.write(command, caller, self._refresh)
        if isinstance(answer, EndedSession):  # raised out here, because the end of the session must stand
            raise InvalidToken
        return answer

    def revoke(self, command: Revoke, caller: Caller = ANONYMOUS) -> EndedSession:
        """End a session: its refresh token and its access tokens are good for nothing from now on (contract C3).

        Raises:
            NotAuthenticated: neither the command nor the caller names a session.
        """
        own = caller.session_id if isinstance(caller, SignedIn) else None
        if command.refresh_token is UNSET and own is None:
            raise NotAuthenticated
        return self._transactions.write(command, caller, partial(self._revoke, own))

    def me(self, command: WhoAmI, caller: Caller) -> Me:
        """Return who the caller is and what they may do right now (contract C3).

        Raises:
            NotAuthenticated: they are nobody in particular.
        """
        return self._transactions.snapshot_as(command, caller, self._me)

    def _begin(
        self,
        known: Credentials,
        renewed: PasswordHash | None,
        origin: str,
        uow: AuditedUnitOfWork,
        command: SignIn,
    ) -> Tokens:
        # Hashing takes a while and is no part of the transaction: the password may be another one by now.
        if uow.passwords.credentials(command.username) != known:
            raise SignInRefused
        if renewed is not None:
            uow.passwords.renew(known.user_id, renewed)
        if command.idempotency_key is None:
            sign_in_limits.succeeded(command.username, origin, uow)
        now = self._clock.now()
        session = Session(self._randomness.text(), known.user_id, now, now + self._lifetimes.session)
        uow.sessions.add(session)
        return self._tokens(uow, session, now)

    def _refresh(self, uow: AuditedUnitOfWork, command: Refresh) -> Tokens | EndedSession:
        now, token_hash = self._clock.now(), _hashed(command.refresh_token)
        found = uow.sessions.refresh_token(token_hash)
        if found is None:
            raise InvalidToken
        session, used = found
        if used or session.expires_at <= now:
            uow.sessions.end(session.session_id)
            return EndedSession(ended=True)
        uow.sessions.use_refresh_token(token_hash)
        uow.sessions.prolong(session.session_id, now + self._lifetimes.session)
        return self._tokens(uow, session, now)

    def _revoke(self, own: str | None, uow: AuditedUnitOfWork, command: Revoke) -> EndedSession:
        session_id = own
        if command.refresh_token is not UNSET:
            found = uow.sessions.refresh_token(_hashed(command.refresh_token))
            session_id = found[0].session_id if found else None
        return EndedSession(session_id is not None and uow.sessions.end(session_id))

    def _me(self, uow: UnitOfWork, _command: WhoAmI, held: Rights | None) -> Me:
        if held is None:
            raise NotAuthenticated
        user = snapshot(USERS, found(uow, USERS, held.user_id))
        return Me(**user, scope=tuple(sorted(held.scope)))

    def _proven(self, command: SignIn, origin: str, now: int) -> tuple[Credentials, PasswordHash | None]:
        """Return whose name and password these are, and the password hashed anew where that has become outdated."""
        wait, known = self._transactions.side_transaction(partial(_attempt, command.username, origin, now))
        sign_in_limits.refuse(wait)
        right = self._hasher.verify(known.password if known else None, command.password)
        if known is None or known.password is None or not right:
            raise SignInRefused
        return known, self._hasher.hash(command.password) if self._hasher.outdated(known.password) else None

    def _tokens(self, uow: AnyUnitOfWork, session: Session, now: int) -> Tokens:
        uow.sessions.forget_expired(now, _MOST_TOKENS_FORGOTTEN)
        # Begun by a clock that ran ahead and was put right, or when sessions were longer.
        uow.sessions.expire_by(now + self._lifetimes.session, _MOST_TOKENS_FORGOTTEN)
        refresh_token = self._randomness.text()
        uow.sessions.add_refresh_token(_hashed(refresh_token), session.session_id)
        held = uow.sessions.rights(session.session_id, session.user_id)
        if held is None:
            raise InvalidToken
        scope = tuple(sorted(held.scope))
        seconds = min(self._lifetimes.access_token, self._lifetimes.session)
        grant = Grant(session.user_id, session.session_id, now, now + seconds, scope)
        return Tokens(self._signer.sign(grant), "bearer", seconds, refresh_token, " ".join(scope))


def _attempt(username: str, origin: str, now: int, uow: UnitOfWork) -> tuple[int | None, Credentials | None]:
    return sign_in_limits.attempt(uow, username, origin, now), uow.passwords.credentials(username)


def _hashed(opaque_token: str) -> str:
    # Random enough that a plain digest cannot be guessed back. What is no text at all matches nothing.
    return hashlib.sha256(opaque_token.encode()).hexdigest()
