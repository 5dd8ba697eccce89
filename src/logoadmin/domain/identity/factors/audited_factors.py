"""The second factors in a write (contract B4, O4)."""

from logoadmin.domain.identity.escalation import Escalation
from logoadmin.domain.kernel.kinds import USERS
from logoadmin.ports.storage import UnitOfWork


class AuditedFactors:
    """The second factors. Without one of them, the last user who holds everything may be unable to sign in.

    A write that removes one needs the lock of records, so that none at the same time removes another user's.
    """

    def __init__(self, uow: UnitOfWork, escalation: Escalation) -> None:
        self._uow, self._escalation = uow, escalation
        stored = uow.factors
        self.next_id, self.add, self.of_user = stored.next_id, stored.add, stored.of_user
        self.find_credential, self.use, self.confirm = stored.find_credential, stored.use, stored.confirm
        self.replace_secret = stored.replace_secret

    def remove(self, factor_id: int, user_id: int) -> bool:
        """Remove a factor of a user; return whether it existed."""
        self._note_possible_lockout(user_id)
        return self._uow.factors.remove(factor_id, user_id)

    def remove_all(self, user_id: int) -> int:
        """Remove the factors of a user; return how many there were."""
        self._note_possible_lockout(user_id)
        return self._uow.factors.remove_all(user_id)

    def _note_possible_lockout(self, user_id: int) -> None:
        user = self._uow.records(USERS).get(user_id)
        if user is not None:
            self._escalation.note_possible_lockout(self._uow, user)
