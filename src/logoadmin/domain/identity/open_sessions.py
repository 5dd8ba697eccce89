"""Sessions: how they begin, their tokens, their list and their expiry (contract C1, C3, C6, O2, O7, O9).

Each way to sign in counts an attempt before it verifies anything, and begins the session in the transaction that uses
up the proof; if that raises, the attempt stays counted::

    with self._open_sessions.attempt(gate, caller) as attempt:
        account = attempt.count(look_up)
        ...
        return gate.write(command, attempt.client, begin)

The attempt applies the limits, counts the outcome in the metrics, and records refusals as events. The session begins
with its first tokens, unless the user is suspended or the issuer refused them.
"""

from collections.abc import Callable, Collection, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, replace
from functools import partial
from typing import Final

from logoadmin.domain.identity.accounts import end_sign_ins
from logoadmin.domain.identity.issuer_users import IssuerUsers
from logoadmin.domain.identity.records import EndedSession, ListedSession, SignInEvent, Tokens
from logoadmin.domain.identity.sign_in_attempts import Attempt
from logoadmin.domain.identity.sign_in_events import add_event, record_event, shown_client
from logoadmin.domain.identity.sign_in_limits import network_of_user, remember_network
from logoadmin.domain.identity.sign_in_rules import (
    ACCESS_TOKEN_SECONDS,
    NOT_RECENT_SECONDS,
    SESSION_SECONDS,
    SignInRules,
)
from logoadmin.domain.kernel.access import (
    CLOCK_SKEW,
    Anonymous,
    Caller,
    SignedIn,
    SignInFactor,
    networks_of,
    stored_hash,
)
from logoadmin.domain.kernel.errors import (
    InvalidToken,
    SignInForbidden,
    SignInRefused,
    TooManyRefreshes,
    TooManySignIns,
)
from logoadmin.domain.kernel.gate import Gate, Transactions
from logoadmin.domain.kernel.unit_of_work import AnyUnitOfWork, AuditedUnitOfWork, count_use, history_in, identity_in
from logoadmin.domain.kernel.use_cases import Service
from logoadmin.ports.environment import Randomness
from logoadmin.ports.identity_storage import Account, Session, Sessions
from logoadmin.ports.metrics import Metrics
from logoadmin.ports.storage import UnitOfWork
from logoadmin.ports.tokens import AccessTokens, Grant

# The maximum number of sessions of a user, which bounds their list (contract C6).
MOST_SESSIONS: Final = 1_000
_MOST_REFRESHES: Final = 1_000  # in an hour
# How long a used refresh token returns another pair: the response may have been lost, or another tab refreshed.
_REUSE_SECONDS: Final = 10

SUSPENDED: Final = "This user is suspended"
NO_ROLE: Final = "No role for your groups at the issuer"


@dataclass(frozen=True, slots=True)
class OpenSessions:
    """The sessions of users, with their tokens: pairs of an access token and a refresh token."""

    transactions: Transactions
    metrics: Metrics
    tokens: AccessTokens
    randomness: Randomness
    rules: SignInRules
    issuer_users: IssuerUsers

    def require_passwords(self) -> None:
        """Raise SignInForbidden if passwords are switched off (contract O7)."""
        if not self.rules.ways.password:
            raise SignInForbidden("Signing in with a password is switched off")

    @contextmanager
    def attempt(
        self, gate: Gate, caller: Caller, find: Callable[[UnitOfWork], Account | None] | None = None
    ) -> Iterator[Attempt]:
        """Begin an attempt to sign in; when the block ends, count its outcome, and record a refusal as an event.

        A right password that needs a second step has no outcome yet. ``find`` is that of :class:`Attempt`.
        """
        shared, client = self.transactions, client_of(gate, caller)
        attempt = Attempt(shared.storage, client, networks_of(client.origin), shared.clock.now(), find)
        try:
            yield attempt
        except (SignInForbidden, SignInRefused, TooManySignIns) as error:
            self.metrics.sign_in("failed" if isinstance(error, SignInRefused) else "refused")
            attempt.refuse(error, shared.clock.now())
            raise
        self.metrics.sign_in("ok")

    def begin(
        self,
        uow: AuditedUnitOfWork,
        attempt: Attempt,
        account: Account | None,
        factor: SignInFactor,
        signed_in_at: int | None = None,
    ) -> Tokens:
        """Begin a session of a user who has signed in; return its first tokens. ``factor`` is that of the last step.

        At the limit, the least recently used session ends. If the user signed in 10 minutes ago or more, at
        ``signed_in_at``, the session is not recent from the start (contract O3).

        Raises:
            SignInRefused: the user was removed since they proved who they are.
            SignInForbidden: the user is suspended (contract D), or the issuer refused them, however they sign in now
                (contract O7).
        """
        account = _admitted(account)
        now, identity, user_id = uow.now, identity_in(uow), account.user_id
        user_since = attempt.succeed(uow, identity.counts, user_id, self.rules.event_days)
        _make_room(identity.sessions, user_id)
        address, user_agent = shown_client(attempt.client)
        session = Session(
            self.randomness.text(),
            user_id,
            created_at=now if signed_in_at is None else min(max(signed_in_at, now - NOT_RECENT_SECONDS), now),
            expires_at=self.rules.session_end(now, now + SESSION_SECONDS, now),
            address=address,
            user_agent=user_agent,
            factor=factor,
        )
        identity.sessions.add(session)
        event = SignInEvent(0, now, "signed_in", user_id, account.username, address, user_agent, factor)
        add_event(identity.events, event, user_since)
        return self._new_tokens(identity.sessions, session, now, account.scope)

    def refresh(self, uow: AuditedUnitOfWork, refresh_token: str, client: Anonymous) -> Tokens | EndedSession:
        """Return the next tokens of a session, or its end if the refresh token was used earlier or has expired.

        Raises InvalidToken if the refresh token is unknown, TooManyRefreshes after 1,000 in an hour.
        """
        now, identity, known = uow.now, identity_in(uow), session_of_token(uow, refresh_token)
        if known is None:
            raise InvalidToken
        session, used_at = known
        is_open = self.rules.session_end(session.created_at, session.expires_at, now) > now
        is_reused = used_at is not None and not -CLOCK_SKEW <= now - used_at <= _REUSE_SECONDS
        sessions, counts = identity.sessions, identity.counts
        account = None if is_reused or not is_open else self.issuer_users.admitted(uow, session)
        if account is None:
            sessions.end(session.session_id)
            if is_open and is_reused:
                record_event(uow, "token_reused", session.user_id, client, now)
            return EndedSession(ended=True)
        if wait := count_use(uow, "refreshes", session.user_id, now, _MOST_REFRESHES):  # used tokens stay stored
            raise TooManyRefreshes(wait)
        if used_at is None:
            sessions.use_refresh_token(_hashed(refresh_token), now)
        session = self._refreshed(session, now)
        sessions.update(session)
        network = network_of_user(history_in(uow), session.user_id, networks_of(client.origin)[0])
        remember_network(counts, network, counts.get(network.counted).ends_at, now, self.rules.event_days)
        return self._new_tokens(sessions, session, now, account.scope)

    def of_user(
        self, uow: AnyUnitOfWork, user_id: int, now: int, current: str | None = None
    ) -> tuple[ListedSession, ...]:
        """Return the sessions of a user that have not expired, by created_at, then by session_id."""
        sessions = identity_in(uow).sessions.of_user(user_id)
        ends = [(each, self.rules.session_end(each.created_at, each.expires_at, now)) for each in sessions]
        names = ("session_id", "created_at", "refreshed_at", "address", "user_agent", "factor")
        return tuple(
            ListedSession(
                **{name: getattr(session, name) for name in names},
                expires_at=end,
                current=session.session_id == current,
            )
            for session, end in ends
            if end > now
        )

    def end_all(self, uow: AuditedUnitOfWork, user_id: int) -> int:
        """End the sessions of a user, and drop their sign-in codes and links; return the number of sessions."""
        ended = len(self.of_user(uow, user_id, uow.now))
        end_sign_ins(uow, user_id)
        if ended:
            record_event(uow, "session_ended", user_id, uow.caller, uow.now, count=ended)
        return ended

    def _refreshed(self, session: Session, now: int) -> Session:
        """Return a session after a refresh now.

        If the session is from a clock that was ahead, its start is unknown: it counts as just no longer recent.
        """
        was_ahead = session.created_at > now + CLOCK_SKEW
        created_at = now - NOT_RECENT_SECONDS if was_ahead else min(session.created_at, now)
        expires_at = self.rules.session_end(created_at, now + SESSION_SECONDS, now)
        return replace(session, created_at=created_at, expires_at=expires_at, refreshed_at=now)

    def _new_tokens(self, sessions: Sessions, session: Session, now: int, scopes: Collection[str]) -> Tokens:
        refresh_token = self.randomness.text()
        sessions.add_refresh_token(_hashed(refresh_token), session.session_id)
        scope = tuple(sorted(scopes))
        seconds = min(ACCESS_TOKEN_SECONDS, session.expires_at - now)
        grant = Grant(session.user_id, session.session_id, now, now + seconds, scope)
        return Tokens(self.tokens.sign(grant), "bearer", seconds, refresh_token, " ".join(scope))


class SignInService(Service):
    """The base of the services that begin sessions."""

    def __init__(self, sessions: OpenSessions) -> None:
        super().__init__(sessions.transactions)
        self._open_sessions = sessions


def _admitted(account: Account | None) -> Account:
    """Return the account of a user who may sign in; raise SignInRefused or SignInForbidden for others."""
    if account is None:  # removed since they proved who they are
        raise SignInRefused
    if not account.active:
        raise SignInForbidden(SUSPENDED)
    if account.refused:
        raise SignInForbidden(NO_ROLE)
    return account


def _make_room(sessions: Sessions, user_id: int) -> None:
    """End the least recently used sessions of a user at the limit."""
    known = sessions.of_user(user_id)
    if len(known) >= MOST_SESSIONS:
        last_used = sorted(known, key=lambda each: each.refreshed_at or each.created_at)
        for oldest in last_used[: len(known) - MOST_SESSIONS + 1]:
            sessions.end(oldest.session_id)


def session_of_token(uow: AnyUnitOfWork, refresh_token: str) -> tuple[Session, int | None] | None:
    """Return the session of a refresh token, and when the token was first used, if it was; None if it is unknown."""
    return identity_in(uow).sessions.refresh_token(_hashed(refresh_token))


_hashed: Final = partial(stored_hash, "refresh token")


def client_of(gate: Gate, caller: Caller) -> Anonymous:
    """Return a caller as the client of a sign-in: of the same request, but without the caller's rights."""
    if isinstance(caller, Anonymous):
        return caller
    gate.require_token(caller)
    origin, user_agent = (caller.origin, caller.user_agent) if isinstance(caller, SignedIn) else ("", "")
    return Anonymous(origin, caller.request_id, user_agent, caller.occasion)
