"""The context of identity: its services, and its additions to every write (contract B, C, O)."""

from functools import partial
from typing import Final

from logoadmin.domain.identity import records
from logoadmin.domain.identity.accounts import AuditedUsers
from logoadmin.domain.identity.callers import Callers, require_recent_sign_in
from logoadmin.domain.identity.challenges import SignedChallenges
from logoadmin.domain.identity.escalation import RoleGuard, UserGuard, check_somebody_holds_all
from logoadmin.domain.identity.factors import FactorService
from logoadmin.domain.identity.issuer_sign_in import IssuerSignIn
from logoadmin.domain.identity.issuer_users import IssuerUsers
from logoadmin.domain.identity.new_passwords import NewPasswords
from logoadmin.domain.identity.one_time_sign_in import CodeSignIn, LinkSignIn
from logoadmin.domain.identity.open_sessions import OpenSessions
from logoadmin.domain.identity.passkeys import PasskeyFactors, PasskeyService
from logoadmin.domain.identity.roles import RoleService
from logoadmin.domain.identity.second_step import SecondStep
from logoadmin.domain.identity.service_keys import KeyService
from logoadmin.domain.identity.sessions import SessionService
from logoadmin.domain.identity.sign_in_events import EventService
from logoadmin.domain.identity.sign_in_rules import DAY, SESSION_SECONDS, SignInRules, Ways
from logoadmin.domain.identity.totp import TotpFactors
from logoadmin.domain.identity.users import PreferenceService, UserService
from logoadmin.domain.kernel.gate import Transactions
from logoadmin.domain.kernel.idempotency import sweep_responses
from logoadmin.domain.kernel.records import Kind
from logoadmin.domain.kernel.unit_of_work import Auditing
from logoadmin.domain.public_url import PublicUrl
from logoadmin.ports.all_ports import Ports
from logoadmin.ports.storage import Storage, UnitOfWork

# The modules with the results of its use cases, which are stored for repeated commands.
ANSWERS: Final = (records,)


class IdentityContext:
    """The services of users, roles and signing in."""

    users: UserService
    roles: RoleService
    sessions: SessionService
    factors: FactorService
    passkeys: PasskeyService
    sign_in_codes: CodeSignIn
    links: LinkSignIn
    single_sign_on: IssuerSignIn
    keys: KeyService
    events: EventService
    preferences: PreferenceService

    def connect_identity(
        self,
        transactions: Transactions,
        callers: Callers,
        new_passwords: NewPasswords,
        ports: Ports,
        rules: SignInRules,
        public_url: PublicUrl,
    ) -> None:
        """Create the services."""
        ways = rules.ways
        self.users = UserService(transactions, new_passwords)
        self.roles = RoleService(transactions)
        self.preferences = PreferenceService(transactions)
        self.keys = KeyService(transactions, ports.randomness)
        self.events = EventService(transactions)
        issuer_users = IssuerUsers(ways.issuer, rules.single_sign_on)
        opened = OpenSessions(transactions, ports.metrics, ports.tokens, ports.randomness, rules, issuer_users)
        totp = TotpFactors(ports.encryption, ports.factor_keys)
        passkeys, challenges = PasskeyFactors(ports.passkeys), SignedChallenges(ports.challenge_keys, ports.randomness)
        second_step = SecondStep(totp, passkeys, challenges)
        self.sessions = SessionService(opened, ports.hasher, second_step, callers)
        self.factors = FactorService(opened, second_step, public_url.host)
        self.passkeys = PasskeyService(opened, passkeys, challenges)
        self.sign_in_codes = CodeSignIn(opened)
        self.links = LinkSignIn(opened)
        self.single_sign_on = IssuerSignIn(opened, ports.issuer, issuer_users, ways, public_url)


def auditing(ways: Ways) -> Auditing:
    """Return the additions to every write: callers cannot exceed their rights, and an administrator stays."""
    return Auditing(
        records={Kind.USER: AuditedUsers},
        guards={Kind.ROLE: partial(RoleGuard, ways=ways), Kind.USER: partial(UserGuard, ways=ways)},
        check_end=partial(check_somebody_holds_all, ways),
        require_recent=require_recent_sign_in,
    )


def sweep(storage: Storage, now: int, most: int, event_days: int) -> bool | None:
    """Remove up to ``most`` rows of each kind that has expired (contract C1, C3, F3, O2, O9).

    These are stored responses, counts of attempts, networks of users, challenges, sessions with their refresh tokens,
    and events older than ``event_days``. Session expiries from a clock that was ahead are shortened. Return whether
    more may be left, apart from events; None if another write is under way.
    """
    swept = False

    def work(uow: UnitOfWork) -> None:
        nonlocal swept
        of_responses, identity = sweep_responses(uow, now, most), uow.identity
        removed = (
            identity.counts.forget_ended(now, most),
            identity.challenges.forget_expired(now, most),
            identity.sessions.forget_expired(now, most),
            identity.sessions.expire_by(now + SESSION_SECONDS, most),
        )
        # Only one batch per sweep, so that few are lost if a clock is ahead for a while.
        identity.events.forget_before(now - event_days * DAY, most)
        swept = of_responses or max(removed) >= most

    return swept if storage.try_write(work) else None
