"""The sweep of a gallery: removes what has expired in every context, a few rows at a time (contract C1, C3, P4, R1)."""

from typing import Final, Literal

from logoadmin.domain.changes.proposals import forget_unapplied
from logoadmin.domain.gallery.picture_names import has_unnamed_pictures, sweep_pictures
from logoadmin.domain.identity.sessions.callers import Lifetimes
from logoadmin.domain.identity.sweep import sweep_sign_ins
from logoadmin.domain.kernel.idempotency import sweep_responses
from logoadmin.ports.storage import Storage, UnitOfWork

# Rows of each kind in one write, which takes milliseconds.
_AT_ONCE: Final = 50
_DAY: Final = 86_400


def sweep(
    storage: Storage, now: int, lifetimes: Lifetimes, event_days: int, proposal_days: int
) -> Literal["done", "more", "busy"]:
    """Remove a few rows, see :meth:`~logoadmin.domain.logo_admin.LogoAdmin.sweep`."""
    swept, decided_until = False, now - proposal_days * _DAY

    def sweep_sessions(uow: UnitOfWork) -> None:
        nonlocal swept
        of_responses = sweep_responses(uow, now, _AT_ONCE)
        swept = sweep_sign_ins(uow, now, lifetimes, event_days, _AT_ONCE) or of_responses

    def sweep_unnamed(uow: UnitOfWork) -> None:
        nonlocal swept
        swept = sweep_pictures(uow, now, _AT_ONCE) or swept

    def sweep_proposals(uow: UnitOfWork) -> None:
        nonlocal swept
        swept = forget_unapplied(uow, decided_until, _AT_ONCE) or swept

    if not storage.try_write(sweep_sessions):
        return "busy"
    # Records that begin to name a picture hold the same lock.
    if storage.read(lambda uow: has_unnamed_pictures(uow, now)):
        storage.try_write(sweep_unnamed)
    if storage.read(lambda uow: bool(uow.proposals.unapplied(decided_until, 1))):
        storage.try_write(sweep_proposals)
    return "more" if swept else "done"
