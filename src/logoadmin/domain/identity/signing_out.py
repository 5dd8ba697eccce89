"""The end of sessions and of sign-ins that have only begun (contract C3, O2)."""

from logoadmin.domain.kernel.audited_unit_of_work import AuditedUnitOfWork


def end_sign_ins(uow: AuditedUnitOfWork, user_id: int, keep: str | None = None) -> None:
    """End the sessions of a user, except one, and every sign-in that has only begun (contract C3, O2)."""
    uow.identity.sessions.end_all(user_id, keep)
    uow.identity.challenges.drop(user_id)
