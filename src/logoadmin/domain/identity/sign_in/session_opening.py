"""Opening sessions: what is the same however somebody proves who they are (contract C1, O2, O7, O9).

Each way to sign in counts an attempt before it verifies anything, and then gives the proof::

    with self._opening.attempt(gate, command, caller, user_named(command.username)) as attempt:
        attempt.count(lambda uow, now: (limits, None))
        return attempt.open(prove)

Around that are the limits on attempts, the outcome in the metrics, refusals as events, the issuer's refusal of a user,
and the session with its first tokens.
"""

from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from typing import Final, TypeVar

from logoadmin.domain.identity import sign_in_limits
from logoadmin.domain.identity.open_sessions import Proof, SessionTokens
from logoadmin.domain.identity.records import Tokens
from logoadmin.domain.identity.sign_in_events import Refusals
from logoadmin.domain.identity.sign_in_limits import Limit, succeeded
from logoadmin.domain.kernel.access import ANONYMOUS, Anonymous, Caller
from logoadmin.domain.kernel.command import Command
from logoadmin.domain.kernel.errors import SignInForbidden, SignInRefused, TooManySignIns
from logoadmin.domain.kernel.gate import Gate, Transactions
from logoadmin.domain.kernel.unit_of_work import AnyUnitOfWork, AuditedUnitOfWork, identity_in
from logoadmin.ports.environment import Clock
from logoadmin.ports.metrics import Metrics
from logoadmin.ports.storage import UnitOfWork

Found = TypeVar("Found")

SUSPENDED: Final = "This user is suspended"
NO_ROLE: Final = "No role for your groups at the issuer"


class SessionOpening:
    """Opens sessions for all ways to sign in.

    Attributes:
        transactions: runs what the ways ask of storage.
        tokens: issues the tokens of sessions.
        clock: the clock.
    """

    def __init__(self, transactions: Transactions, tokens: SessionTokens, clock: Clock, metrics: Metrics) -> None:
        self.transactions, self.tokens, self.clock = transactions, tokens, clock
        self._metrics = metrics

    def require_passwords(self) -> None:
        """Refuse passwords where they are switched off (contract O7).

        Raises:
            SignInForbidden: they are.
        """
        if not self.tokens.takes_passwords:
            raise SignInForbidden("Signing in with a password is switched off")

    @contextmanager
    def attempt(
        self,
        gate: Gate,
        command: Command,
        caller: Caller,
        user_of: Callable[[UnitOfWork], int | None] = lambda _uow: None,
    ) -> Iterator["Attempt"]:
        """Begin an attempt to sign in, whose outcome is counted when the block ends, and a refusal as an event.

        A right password that needs a second step has no outcome yet.

        Args:
            gate: that of the use case.
            command: the sign-in.
            caller: the caller that attempts it.
            user_of: returns the user whose account it is about, if any; for the event of a refusal.
        """
        client = caller if isinstance(caller, Anonymous) else ANONYMOUS
        refusals = Refusals(self.transactions.storage, self.clock, client, user_of)
        try:
            yield Attempt(self, gate, command, caller, client)
        except (SignInForbidden, SignInRefused, TooManySignIns) as error:
            self._metrics.sign_in("failed" if isinstance(error, SignInRefused) else "refused")
            refusals.count("sign_in_limited" if isinstance(error, TooManySignIns) else "sign_in_refused")
            raise
        self._metrics.sign_in("ok")


class Attempt:
    """One attempt to sign in.

    Attributes:
        client: the client that attempts it.
    """

    def __init__(
        self, opening: SessionOpening, gate: Gate, command: Command, caller: Caller, client: Anonymous
    ) -> None:
        self.client = client
        self._opening, self._gate, self._command, self._caller = opening, gate, command, caller
        self._limits: Sequence[Limit] = ()

    def count(self, look_up: Callable[[UnitOfWork, int], tuple[Sequence[Limit], Found]]) -> Found:
        """Count the attempt before anything is verified, in a write of its own.

        Args:
            look_up: returns the limits on the attempt at a time, in Unix seconds, and what verifying it needs.

        Raises:
            TooManySignIns: there were too many failed attempts.
        """
        now = self._opening.clock.now()

        def count(uow: UnitOfWork) -> tuple[Sequence[Limit], Found, int | None]:
            limits, found = look_up(uow, now)
            return limits, found, sign_in_limits.attempt(uow, limits, now)

        self._limits, found, wait = self._opening.transactions.storage.write(count)
        if wait is not None:
            raise TooManySignIns(wait)
        return found

    def take_back(self, uow: AnyUnitOfWork) -> None:
        """Take back the attempt, which was right as far as it went; attempts for the name stay counted."""
        sign_in_limits.take_back(uow, [limit for limit in self._limits if not limit.named])

    def open(self, prove: Callable[[AuditedUnitOfWork], Proof]) -> Tokens:
        """Begin a session in the transaction of its proof, and return its tokens.

        Args:
            prove: returns who signs in, and uses up what proves it. If it raises, the attempt stays counted.

        Raises:
            SignInForbidden: the user is suspended (contract D), or the issuer refused them, in whatever way they sign
                in now (contract O7).
        """

        def begin(uow: AuditedUnitOfWork, _command: Command) -> Tokens:
            proof = prove(uow)
            succeeded(uow, self._limits)
            admission = identity_in(uow).sessions.admission(proof.user_id)
            if admission is None:  # removed since they proved who they are
                raise SignInRefused
            if not admission.active:
                raise SignInForbidden(SUSPENDED)
            if admission.refused:
                raise SignInForbidden(NO_ROLE)
            return self._opening.tokens.begin(uow, self.client, proof, admission)

        return self._gate.write(self._command, self._caller, begin)
