"""Passwords in a write; the history records only when a user's was set (contract G)."""

from typing import Final

from logoadmin.domain.kernel.act_log import PASSWORD_SET
from logoadmin.domain.kernel.audited_records import snapshot
from logoadmin.domain.kernel.errors import NotPermitted
from logoadmin.domain.kernel.kinds import USERS
from logoadmin.domain.kernel.records import FIRST_ADMIN_ID, PasswordHash, User
from logoadmin.domain.kernel.unit_of_work import AnyUnitOfWork, AuditedUnitOfWork, identity_in, secrets_in

# The secret that names the user whose password the first start generated, until they get another one.
_GENERATED_PASSWORD: Final = "generated_password"


def set_password(
    uow: AuditedUnitOfWork,
    user_id: int,
    password: PasswordHash,
    *,
    verified: bool = False,
    generated: bool = False,
) -> User:
    """Set a user's password; return the user with their version.

    Args:
        uow: the write.
        user_id: the user.
        password: its hash.
        verified: whether the caller gave their current password, without which nobody changes their own.
        generated: whether the first start generated it, so that it must be changed (contract O5).

    Raises:
        NotPermitted: it is the caller's own and not verified, or
            see :meth:`~logoadmin.domain.kernel.audited_records.AuditedRecords.authorize`.
    """
    if not verified and uow.held.user_id == user_id:
        raise NotPermitted
    users = uow.records(USERS)
    user = users.get_existing(user_id)
    users.authorize(user, password=password)
    identity_in(uow).passwords.set(user_id, password)
    if generated or must_change_password(uow, user_id):
        secrets_in(uow).replace(_GENERATED_PASSWORD, str(user_id) if generated else "")
    values = snapshot(USERS, user)
    return users.touch(PASSWORD_SET, user_id, values, values)


def must_change_password(uow: AnyUnitOfWork, user_id: int) -> bool:
    """Return whether a user still has the password that the first start generated (contract O5)."""
    # Only one user can have it, so that others cost no query.
    return user_id == FIRST_ADMIN_ID and secrets_in(uow).get(_GENERATED_PASSWORD) == str(user_id)
