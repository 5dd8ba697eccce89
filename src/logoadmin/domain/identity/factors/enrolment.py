"""The factors of users: enrolled, listed, removed, and required (contract O1, O4)."""

from collections.abc import Collection, Iterable
from dataclasses import replace
from typing import Final

from logoadmin.domain.identity.events.recording import record_event
from logoadmin.domain.identity.factors.codes import hashed_code, new_code
from logoadmin.domain.identity.factors.factor_records import ListedFactor, NewFactor
from logoadmin.domain.identity.sign_in_rules import SecondFactorPolicy, SignInRules
from logoadmin.domain.kernel.access import Scope, SignedIn, SignInFactor
from logoadmin.domain.kernel.errors import Conflict
from logoadmin.domain.kernel.unit_of_work import AnyUnitOfWork, AuditedUnitOfWork, identity_in
from logoadmin.ports.identity.sign_in_storage import Factor
from logoadmin.ports.kernel.environment import Randomness

MOST_FACTORS: Final = 20
RECOVERY_CODES: Final = 10
_DAY: Final = 86_400
# Holders of one of these are administrators; others decide about proposals.
_WRITE_SCOPES: Final = frozenset(scope for scope in Scope if scope == Scope.ALL or scope.endswith(":write")) - {
    Scope.PROPOSALS_WRITE
}


def confirmed_factors(uow: AnyUnitOfWork, user_id: int) -> tuple[Factor, ...]:
    """Return the factors with which a user can sign in, by factor_id."""
    return tuple(factor for factor in identity_in(uow).factors.of_user(user_id) if factor.confirmed)


def listed(factor: Factor) -> ListedFactor:
    """Return a factor without its secret."""
    return ListedFactor(factor.factor_id, factor.kind, factor.name, factor.created_at, factor.last_used_at)


def require_room(uow: AnyUnitOfWork, user_id: int) -> None:
    """Require that a user can have another factor.

    Raises:
        Conflict: they cannot.
    """
    if len(confirmed_factors(uow, user_id)) >= MOST_FACTORS:
        raise Conflict(f"A user can have {MOST_FACTORS} second factors; remove one that is no longer used")


def require_first_step(uow: AnyUnitOfWork, user_id: int) -> None:
    """Require that a user who has an authenticator app, or is about to, can take the first step of a sign-in.

    Links, with which members without a password come in, end with the first factor (contract R5).

    Raises:
        Conflict: they cannot.
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
    """Return a factor that was just confirmed; the user's first one with recovery codes.

    From now on, no session of the user is restricted for want of a factor, and no sign-in that began before can go on.
    With the first factor, the user's other sessions end (contract O3), and the current one has just used it. The events
    are recorded.

    Raises:
        Conflict: the user has too many factors, or only an app.
    """
    require_first_step(uow, user_id)
    factors = confirmed_factors(uow, user_id)
    if len(factors) > MOST_FACTORS:
        require_room(uow, user_id)
    (factor,) = (factor for factor in factors if factor.factor_id == factor_id)
    is_first = len(factors) == 1
    if is_first:
        _end_other_sessions(uow, user_id)
    for session in identity_in(uow).sessions.of_user(user_id):
        used = factor.kind if is_first else session.factor
        if (session.enrol_by, session.factor) != (None, used):
            identity_in(uow).sessions.update(replace(session, enrol_by=None, factor=used))
    identity_in(uow).challenges.drop(user_id, "second_factor")
    record_event(uow, "factor_added", user_id, uow.caller, uow.now, factor=factor.kind)
    codes = replace_recovery_codes(uow, user_id, randomness) if is_first else None
    return NewFactor(factor_id, factor.kind, factor.name, factor.created_at, factor.last_used_at, codes)


def _end_other_sessions(uow: AuditedUnitOfWork, user_id: int) -> None:
    own = uow.caller.session_id if isinstance(uow.caller, SignedIn) else None
    others = [
        each
        for each in identity_in(uow).sessions.of_user(user_id)
        if each.session_id != own and each.expires_at > uow.now
    ]
    identity_in(uow).sessions.end_all(user_id, own)
    if others:
        record_event(uow, "session_ended", user_id, uow.caller, uow.now, count=len(others))


def unenrolled(uow: AuditedUnitOfWork, user_id: int, removed: Iterable[Factor]) -> None:
    """Invalidate pending sign-ins after factors are removed; removing the last one also removes the recovery codes.

    The events are recorded.
    """
    for factor in removed:
        if factor.confirmed:
            record_event(uow, "factor_removed", user_id, uow.caller, uow.now, factor=factor.kind)
    identity_in(uow).challenges.drop(user_id, "second_factor")
    if not confirmed_factors(uow, user_id):
        identity_in(uow).recovery_codes.replace(user_id, ())


def replace_recovery_codes(uow: AuditedUnitOfWork, user_id: int, randomness: Randomness) -> tuple[str, ...]:
    """Return ten new recovery codes of a user, whose hashes replace all others; the event is recorded."""
    codes = tuple(new_code(randomness) for _ in range(RECOVERY_CODES))
    identity_in(uow).recovery_codes.replace(user_id, [hashed_code("recovery code", user_id, code) for code in codes])
    record_event(uow, "recovery_codes_made", user_id, uow.caller, uow.now)
    return codes


def enrol_by(
    uow: AnyUnitOfWork, user_id: int, scope: Collection[str], factor: SignInFactor, rules: SignInRules, now: int
) -> int | None:
    """Return from when a session may do nothing but enrol a factor, as Unix time; None for never (contract O4).

    The grace of a user begins when this is first asked while a factor is required of them.

    Args:
        uow: of a write.
        user_id: the user.
        scope: the scope that they hold.
        factor: what the session began with; users of the issuer have their second factors there.
        rules: the choices of the operator.
        now: the time, in Unix seconds.
    """
    if not is_required(rules.second_factor, scope) or factor == "issuer" or confirmed_factors(uow, user_id):
        return None
    since = identity_in(uow).second_factor_since.get(user_id)
    if since is None or since > now:  # by a clock that was ahead
        since = now
        identity_in(uow).second_factor_since.set(user_id, since)
    return since + rules.grace_days * _DAY


def is_required(policy: SecondFactorPolicy, scope: Collection[str]) -> bool:
    """Return whether holders of a scope must have a second factor."""
    return policy == "required" or (policy == "required_for_admins" and not _WRITE_SCOPES.isdisjoint(scope))
