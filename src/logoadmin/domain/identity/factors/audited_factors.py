"""The removal of second factors in a write (contract B4, O4).

Without one of them, the last user who holds everything may be unable to sign in.
"""

from logoadmin.domain.kernel.kinds import USERS
from logoadmin.domain.kernel.unit_of_work import AuditedUnitOfWork, identity_in


def remove_factor(uow: AuditedUnitOfWork, factor_id: int, user_id: int) -> bool:
    """Remove a factor of a user; return whether it existed."""
    _note_possible_lockout(uow, user_id)
    return identity_in(uow).factors.remove(factor_id, user_id)


def remove_factors(uow: AuditedUnitOfWork, user_id: int) -> int:
    """Remove the factors of a user; return how many there were."""
    _note_possible_lockout(uow, user_id)
    return identity_in(uow).factors.remove_all(user_id)


def _note_possible_lockout(uow: AuditedUnitOfWork, user_id: int) -> None:
    users = uow.records(USERS)
    user = users.get(user_id)
    if user is not None:
        users.note_possible_lockout(user)
