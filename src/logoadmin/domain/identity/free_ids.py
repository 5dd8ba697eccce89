"""Ids for new users who have no number at the community site (contract H3, O7, R5)."""

from typing import Final

from logoadmin.domain.kernel.errors import Conflict
from logoadmin.domain.kernel.kinds import AUTHORS, USERS
from logoadmin.domain.kernel.limits import MAX_ID
from logoadmin.domain.kernel.lists import Filter
from logoadmin.domain.kernel.records import FIRST_ADMIN_ID, Kind
from logoadmin.domain.kernel.unit_of_work import AuditedUnitOfWork, history_in

# The community assigns ids from below.
FIRST_USER_ID: Final = FIRST_ADMIN_ID + 1


def free_user_id(uow: AuditedUnitOfWork) -> int:
    """Return an id that no user ever had and no author has, so that nothing of a removed user is somebody else's.

    After one that is taken, it looks ever further on: many of them in a row hold up no other write.

    Raises:
        Conflict: there is none.
    """
    newest = uow.records(USERS).page(MAX_ID + 1, 1, order="desc")
    id_, step = max(FIRST_USER_ID, newest[0].user_id + 1 if newest else 0), 1
    while id_ <= MAX_ID:
        if not (history_in(uow).last_of(Kind.USER, id_) or uow.records(AUTHORS).page(-1, 1, Filter(user_id=id_))):
            return id_
        id_, step = id_ + step, 2 * step
    raise Conflict("There are no more ids for new users")
