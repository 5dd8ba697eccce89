"""The end of sessions, of sign-ins that have only begun, and of service keys (contract C3, D, O2)."""

from logoadmin.domain.kernel.unit_of_work import AnyUnitOfWork, identity_in


def end_sign_ins(uow: AnyUnitOfWork, user_id: int, keep: str | None = None) -> None:
    """End the sessions of a user, except one, and every sign-in that has only begun (contract C3, O2)."""
    identity_in(uow).sessions.end_all(user_id, keep)
    identity_in(uow).challenges.drop(user_id)


def end_access(uow: AnyUnitOfWork, user_id: int) -> None:
    """End the sessions, the sign-ins that have only begun and the service keys of a user (contract D)."""
    end_sign_ins(uow, user_id)
    for key in identity_in(uow).keys.of_user(user_id):
        identity_in(uow).keys.remove(key.key_id, user_id)
