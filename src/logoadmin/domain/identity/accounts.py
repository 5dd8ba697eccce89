"""User accounts: their ids, passwords and second factors, and revoking all sign-ins (contract C3, O, R5)."""

from dataclasses import replace
from typing import Final

from logoadmin.domain.identity.challenges import replace_recovery_codes
from logoadmin.domain.identity.records import EventName, NewFactor
from logoadmin.domain.identity.sign_in_events import record_event
from logoadmin.domain.identity.sign_in_rules import Ways
from logoadmin.domain.kernel.access import Caller, Held, Rights, Scope, SignedIn
from logoadmin.domain.kernel.act_log import PASSWORD_SET
from logoadmin.domain.kernel.audited_records import AuditedRecords, log_of, snapshot, uow_of
from logoadmin.domain.kernel.errors import Conflict, NotPermitted, SignsInByLink, TooManyKeys
from logoadmin.domain.kernel.kinds import AUTHORS, USERS
from logoadmin.domain.kernel.limits import MAX_ID
from logoadmin.domain.kernel.records import FIRST_ADMIN_ID, Kind, PasswordHash, User
from logoadmin.domain.kernel.unit_of_work import (
    AnyUnitOfWork,
    AuditedUnitOfWork,
    count_use,
    history_in,
    identity_in,
    secrets_in,
)
from logoadmin.ports.environment import Randomness
from logoadmin.ports.identity_storage import GENERATED_PASSWORD
from logoadmin.ports.sign_in_storage import Factor


def end_sign_ins(uow: AnyUnitOfWork, user_id: int, keep: str | None = None) -> None:
    """End a user's sessions, except ``keep``, and drop their sign-in codes and links (contract C3, O6, R5)."""
    identity_in(uow).sessions.end_all(user_id, keep)
    identity_in(uow).challenges.drop(user_id)


def end_sessions(uow: AuditedUnitOfWork, user_id: int, keep: str | None = None) -> None:
    """End a user's sessions, except ``keep``, and record how many had not expired."""
    sessions = identity_in(uow).sessions
    ended = sum(each.session_id != keep and each.expires_at > uow.now for each in sessions.of_user(user_id))
    sessions.end_all(user_id, keep)
    if ended:
        record_event(uow, "session_ended", user_id, uow.caller, uow.now, count=ended)


def session_id_of(caller: Caller) -> str | None:
    """Return the id of a caller's session; None without one."""
    return caller.session_id if isinstance(caller, SignedIn) else None


class AuditedUsers(AuditedRecords[User]):
    """The users. A suspension ends a user's sessions and keys; lifting it lets them sign in again."""

    def update(self, record: User) -> User:
        """Update a user; return the user with the new version."""
        before = self.get_existing(record.user_id)
        if record.active and not before.active:
            self.authorize(before, active=True)
        updated, uow, log = super().update(record), uow_of(self), log_of(self)
        if before.active and not record.active:
            end_sign_ins(uow, record.user_id)
            for key in uow.identity.keys.of_user(record.user_id):
                uow.identity.keys.remove(key.key_id, record.user_id)
        if before.active != record.active:
            event: EventName = "suspension_ended" if record.active else "suspended"
            record_event(uow, event, record.user_id, log.caller, log.now)
        return updated


def set_password(
    uow: AuditedUnitOfWork, user: User, password: PasswordHash, *, verified: bool = False, generated: bool = False
) -> User:
    """Set a user's password, which the caller is authorized to do; return the user with the new version.

    Changing one's own requires that the current one was ``verified``, or NotPermitted is raised. One that the first
    start ``generated`` must be changed (contract O5).
    """
    if not verified and uow.held.user_id == user.user_id:
        raise NotPermitted
    identity_in(uow).passwords.set(user.user_id, password)
    if generated or must_change_password(uow, user.user_id):
        secrets_in(uow).put(GENERATED_PASSWORD, str(user.user_id) if generated else "")
    values = snapshot(USERS, user)
    return uow.records(USERS).touch(PASSWORD_SET, user.user_id, values, values)


def must_change_password(uow: AnyUnitOfWork, user_id: int) -> bool:
    """Return whether a user still has the password that the first start generated (contract O5)."""
    # Only one user can have it, so others need no query.
    return user_id == FIRST_ADMIN_ID and secrets_in(uow).get(GENERATED_PASSWORD) == str(user_id)


def other_way_in(uow: AnyUnitOfWork, user_id: int) -> str | None:
    """Return a way to sign in, other than links, that a link would bypass; None if the user has none."""
    identity = identity_in(uow)
    if identity.passwords.get(user_id) is not None:
        return "a password"
    if identity.factors.of_user(user_id):
        return "a second factor"
    return "an identity of the issuer" if identity.identities.of_user(user_id) else None


def is_by_link(uow: AnyUnitOfWork, held: Rights) -> bool:
    """Return whether a session began with a link, and links are the user's only way to sign in (contract R5)."""
    return held.factor == "link" and other_way_in(uow, held.user_id) is None


def can_step_up(uow: AnyUnitOfWork, held: Rights, ways: Ways) -> bool:
    """Return whether a user has a way to sign in that counts as recent (contract O3).

    An issuer may keep people signed in, so anyone at their open screen could pass. Unless it reports when it last
    authenticated them, they need another way.
    """
    if held.factor != "issuer" or ways.issuer_reports_time:
        return True
    return identity_in(uow).passwords.can_user_sign_in(held.user_id, replace(ways, issuer=None))


def require_not_by_link(uow: AnyUnitOfWork, held: Held) -> None:
    """Raise SignsInByLink if users would lose their sign-in links, unless they must enrol a factor."""
    if isinstance(held, Rights) and not held.must_enrol and is_by_link(uow, held):
        raise SignsInByLink


MOST_FACTORS: Final = 20
_MOST_MADE: Final = 1_000  # in an hour
# Users with any of these are administrators. Proposals change nothing until others accept them.
_WRITE_SCOPES: Final = frozenset(scope for scope in Scope if scope == Scope.ALL or scope.endswith(":write")) - {
    Scope.PROPOSALS_WRITE
}


def confirmed_factors(uow: AnyUnitOfWork, user_id: int) -> tuple[Factor, ...]:
    """Return the confirmed factors of a user, by factor_id."""
    return tuple(factor for factor in identity_in(uow).factors.of_user(user_id) if factor.confirmed)


def require_room(uow: AnyUnitOfWork, user_id: int) -> None:
    """Raise Conflict if the user has the maximum number of factors."""
    if len(confirmed_factors(uow, user_id)) >= MOST_FACTORS:
        raise Conflict(f"A user can have {MOST_FACTORS} second factors; remove one that is no longer used")


def count_made(uow: AuditedUnitOfWork, user_id: int) -> None:
    """Count a new key, factor or set of recovery codes, which all add events; raise TooManyKeys after 1,000 an hour."""
    if wait := count_use(uow, "keys", user_id, uow.now, _MOST_MADE):
        raise TooManyKeys(wait)


def require_first_step(uow: AnyUnitOfWork, user_id: int) -> None:
    """Raise Conflict if a user with an app, or about to enrol one, cannot take the first step of a sign-in.

    Sign-in links, which members without a password use, end with the first factor (contract R5).
    """
    identity = identity_in(uow)
    has_one = (
        identity.passwords.get(user_id) is not None
        or identity.identities.of_user(user_id)
        or any(factor.kind == "passkey" for factor in confirmed_factors(uow, user_id))
    )
    if not has_one:
        raise Conflict(
            "An authenticator app is only the second step of a sign-in; set a password or add a passkey first"
        )


def enrolled(uow: AuditedUnitOfWork, user_id: int, factor_id: int, randomness: Randomness) -> NewFactor:
    """Return a factor that was just confirmed, with recovery codes if it is the user's first.

    The first factor ends the user's other sessions (contract O3), and counts as used by the current one. The events are
    recorded. Raises Conflict if the user has too many factors, or only an app; TooManyKeys, see :func:`count_made`.
    """
    require_first_step(uow, user_id)
    count_made(uow, user_id)
    factors = confirmed_factors(uow, user_id)
    if len(factors) > MOST_FACTORS:
        require_room(uow, user_id)
    (factor,) = (factor for factor in factors if factor.factor_id == factor_id)
    is_first = len(factors) == 1
    if is_first:
        end_sessions(uow, user_id, keep=session_id_of(uow.caller))
        for session in identity_in(uow).sessions.of_user(user_id):
            identity_in(uow).sessions.update(replace(session, factor=factor.kind))
    record_event(uow, "factor_added", user_id, uow.caller, uow.now, factor=factor.kind)
    codes = replace_recovery_codes(uow, user_id, randomness) if is_first else None
    return NewFactor(factor_id, factor.kind, factor.name, factor.created_at, factor.last_used_at, codes)


def note_possible_lockout(uow: AuditedUnitOfWork, user_id: int) -> None:
    """Schedule the check that the last user who holds everything can still sign in (contract B4)."""
    users = uow.records(USERS)
    user = users.get(user_id)
    if user is not None:
        users.note_possible_lockout(user)


def must_enrol(uow: AnyUnitOfWork, held: Rights) -> bool:
    """Return whether a session is limited to enrolment, if a second factor is required (contract O4).

    Users of the issuer have their second factors there.
    """
    return (
        held.factor != "issuer"
        and not _WRITE_SCOPES.isdisjoint(held.scope)
        and not confirmed_factors(uow, held.user_id)
    )


# The community assigns lower ids.
FIRST_USER_ID: Final = FIRST_ADMIN_ID + 1


def free_user_id(uow: AuditedUnitOfWork) -> int:
    """Return an id that no user ever had and no author has, so that nobody inherits from a removed user.

    The step doubles after each taken id, so that a long run of taken ids does not hold up other writes. Raises Conflict
    if no id is left.
    """
    newest = uow.records(USERS).page(MAX_ID + 1, 1, order="desc")
    id_, step = max(FIRST_USER_ID, newest[0].user_id + 1 if newest else 0), 1
    while id_ <= MAX_ID:
        if not (history_in(uow).last_of(Kind.USER, id_) or uow.records(AUTHORS).find("user_id", id_)):
            return id_
        id_, step = id_ + step, 2 * step
    raise Conflict("There are no more ids for new users")
