"""The end of sessions, of codes and links that sign users in, and of service keys (contract C3, D, O6, R5)."""

from logoadmin.domain.kernel.unit_of_work import AnyUnitOfWork, identity_in


def end_sign_ins(uow: AnyUnitOfWork, user_id: int, keep: str | None = None) -> None:
    """End the sessions of a user, except one, and the codes and links that sign them in (contract C3, O6, R5)."""
    identity_in(uow).sessions.end_all(user_id, keep)
    identity_in(uow).challenges.drop(user_id)


def end_access(uow: AnyUnitOfWork, user_id: int) -> None:
    """End the sessions, the codes and links and the service keys of a user (contract D)."""
    end_sign_ins(uow, user_id)
    for key in identity_in(uow).keys.of_user(user_id):
        identity_in(uow).keys.remove(key.key_id, user_id)
