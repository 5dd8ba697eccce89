"""Signing in, and knowing who asks (spec §Authentication, contract A19, B5, C1 to C4).

A sign-in begins a session. Its access tokens say who somebody is for some minutes without a look at storage; its
refresh token, good once, prolongs it. Whoever uses a refresh token a second time has a stolen one, or was stolen
from, so that ends the session.
"""

import hashlib
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Final, Literal

from logoadmin.domain.access import ANONYMOUS, PUBLIC, Anonymous, Caller, SignedIn
from logoadmin.domain.command import Command
from logoadmin.domain.errors import InvalidToken, SignInRefused, StorageUnavailable
from logoadmin.domain.limits import OpaqueToken, Password, Username
from logoadmin.domain.records import Tokens
from logoadmin.domain.transactions import Transactions
from logoadmin.ports.clock import Clock
from logoadmin.ports.passwords import PasswordHasher
from logoadmin.ports.randomness import Randomness
from logoadmin.ports.sign_in_limits import SignInLimits
from logoadmin.ports.storage import Session, UnitOfWork
from logoadmin.ports.tokens import Grant, TokenSigner, TokenVerifier

_DAY: Final = 86_400


class SignIn(Command):
    """Proof of being a user, by password."""

    need = PUBLIC
    hashes = True

    grant_type: Literal["password"] = "password"
    username: Username
    password: Password


class Refresh(Command):
    """Proof of a session that goes on, by its refresh token."""

    need = PUBLIC

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
        limits: SignInLimits,
        signer: TokenSigner,
        verifier: TokenVerifier,
        randomness: Randomness,
        clock: Clock,
        lifetimes: Lifetimes,
    ) -> None:
        self._transactions = transactions
        self._hasher = hasher
        self._limits = limits
        self._signer = signer
        self._verifier = verifier
        self._randomness = randomness
        self._clock = clock
        self._lifetimes = lifetimes

    def caller(self, access_token: str) -> SignedIn:
        """Return whom an access token was made for, without asking storage (contract A19).

        Raises:
            InvalidToken: it is not good now.
        """
        return self._verifier.verify(access_token, self._clock.now())

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
        self._limits.attempt(command.username, origin)
        try:
            known = self._transactions.read(command, caller, lambda uow: uow.users.credentials(command.username))
        except StorageUnavailable:
            self._limits.withdrawn(command.username, origin)
            raise
        right = self._hasher.verify(known.password if known else None, command.password)
        if known is None or known.password is None or not right:
            raise SignInRefused
        self._limits.succeeded(command.username, origin)
        renewed = self._hasher.hash(command.password) if self._hasher.outdated(known.password) else None
        now = self._clock.now()

        def work(uow: UnitOfWork) -> Tokens:
            # Hashing takes a while and is no part of the transaction: the password may be another one by now.
            if uow.users.credentials(command.username) != known:
                raise SignInRefused
            if renewed is not None:
                uow.users.set_password(known.user_id, renewed)
            uow.sessions.end_expired(known.user_id, now)
            session = Session(self._randomness.text(), known.user_id, now, now + self._lifetimes.session)
            uow.sessions.add(session)
            return self._tokens(uow, session, now)

        return self._transactions.write(command, caller, work)

    def refresh(self, command: Refresh, caller: Caller = ANONYMOUS) -> Tokens:
        """Prolong a session by its refresh token, which is used up by that (contract C3).

        Raises:
            InvalidToken: it is no such token, or its session is over; one that was used ends its session now.
        """
        now = self._clock.now()
        token_hash = _hashed(command.refresh_token)

        def work(uow: UnitOfWork) -> Tokens | None:
            found = uow.sessions.refresh_token(token_hash)
            if found is None:
                return None
            session, used = found
            if used or session.expires_at <= now:
                uow.sessions.end(session.session_id)
                return None
            uow.sessions.use_refresh_token(token_hash)
            uow.sessions.prolong(session.session_id, now + self._lifetimes.session)
            return self._tokens(uow, session, now)

        tokens = self._transactions.write(command, caller, work)
        if tokens is None:  # raised out here, because the end of the session must stand
            raise InvalidToken
        return tokens

    def _tokens(self, uow: UnitOfWork, session: Session, now: int) -> Tokens:
        refresh_token = self._randomness.text()
        uow.sessions.add_refresh_token(_hashed(refresh_token), session.session_id)
        held = uow.sessions.rights(session.session_id, session.user_id)
        if held is None:
            raise InvalidToken
        scope = tuple(sorted(held.scope))
        seconds = min(self._lifetimes.access_token, self._lifetimes.session)
        grant = Grant(session.user_id, session.session_id, now, now + seconds, scope)
        return Tokens(self._signer.sign(grant), "bearer", seconds, refresh_token, " ".join(scope))


def _hashed(opaque_token: str) -> str:
    # Random enough that a plain digest cannot be guessed back. What is no text at all matches nothing.
    return hashlib.sha256(opaque_token.encode()).hexdigest()
