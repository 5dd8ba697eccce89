"""The sweep: removes what has expired, a few rows at a time (contract C1, C3, O2, O9)."""

from typing import Final

from logoadmin.domain.identity.sessions.callers import Lifetimes
from logoadmin.ports.storage import UnitOfWork

_DAY: Final = 86_400


def sweep_sign_ins(uow: UnitOfWork, now: int, lifetimes: Lifetimes, event_days: int, most: int) -> bool:
    """Remove up to ``most`` rows of each kind that has expired.

    These are counts of attempts, networks of users, challenges, sessions with their refresh tokens, and events.

    Args:
        uow: of a write.
        now: the time, in Unix seconds.
        lifetimes: those of sessions, which a clock that was ahead prolongs no further.
        event_days: how long events are kept.
        most: the maximum number of rows of each kind.

    Returns:
        Whether more may be left, apart from events.
    """
    identity = uow.identity
    swept = (
        identity.sign_in_attempts.forget_ended(now, most),
        identity.challenges.forget_expired(now, most),
        identity.sessions.forget_expired(now, most),
        identity.sessions.expire_by(now + lifetimes.session, most),
    )
    # No more than these in one sweep, so that few are lost if a clock is ahead for a while.
    identity.events.forget_before(now - event_days * _DAY, most)
    return max(swept) >= most
