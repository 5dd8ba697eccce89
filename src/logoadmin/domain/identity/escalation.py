"""The rules against escalation: callers grant no scope that they lack, nor after an old sign-in (contract B4, C5, O3).

All changes of rights are checked here: single changes, bulk changes, imports and undo.
"""

from collections.abc import Mapping
from typing import Any

from logoadmin.domain.identity.sign_in_rules import Ways
from logoadmin.domain.kernel.access import AllRights, Scope
from logoadmin.domain.kernel.audited_records import Escalation, Guard
from logoadmin.domain.kernel.errors import Conflict, NotPermitted
from logoadmin.domain.kernel.kinds import ROLES, USERS
from logoadmin.domain.kernel.lists import Filter
from logoadmin.domain.kernel.records import DEFAULT_ROLE_ID, Role, User
from logoadmin.domain.kernel.unit_of_work import all_records
from logoadmin.ports.storage import UnitOfWork


def somebody_holds_all(uow: UnitOfWork, ways: Ways) -> bool:
    """Return whether a user who can sign in holds everything."""
    roles, can_sign_in = all_records(ROLES, uow.records(ROLES).page), uow.identity.passwords.can_sign_in
    return any(Scope.ALL in role.scope and can_sign_in(role.role_id, ways) for role in roles)


class RoleGuard(Guard):
    """The guard of roles (contract B4)."""

    def __init__(self, uow: UnitOfWork, escalation: Escalation, ways: Ways) -> None:
        self._uow, self._escalation, self._ways = uow, escalation, ways

    def authorize(self, record: Role | None, values: Mapping[str, Any]) -> None:
        """Reject callers without the old and new scopes of the role, and keys that add scopes or rename it."""
        had = record.scope if record else ()
        has = values.get("scope", had)
        self._escalation.check(had, has)
        if record is not None:
            self._escalation.check_key(had, has)
            if values.get("name", record.name) != record.name:
                self._escalation.require_no_key()

    def check_unused(self, record: Role) -> None:
        """Reject the removal of a role that users have or that new users get, and every removal by a key."""
        self._escalation.require_no_key()
        if record.role_id == DEFAULT_ROLE_ID:
            raise Conflict(f"Role {record.role_id} is the role of new users")
        if self._uow.records(USERS).page(-1, 1, Filter(role_id=record.role_id)):
            raise Conflict(f"Role {record.role_id} is the role of a user")

    def note_possible_lockout(self, before: Role, after: Role | None) -> None:
        """Schedule the check at the end if a role of users who can sign in loses the scope for everything."""
        stays = after is not None and Scope.ALL in after.scope
        held = not stays and Scope.ALL in before.scope
        if held and self._uow.identity.passwords.can_sign_in(before.role_id, self._ways):
            self._escalation.may_lose_all = True


class UserGuard(Guard):
    """The guard of users (contract B4). Any user can be removed, because no record refers to users."""

    def __init__(self, uow: UnitOfWork, escalation: Escalation, ways: Ways) -> None:
        self._uow, self._escalation, self._ways = uow, escalation, ways
        # The users who are new in this unit of work, and get their first password in it.
        self._new: set[int] = set()

    def authorize(self, record: User | None, values: Mapping[str, Any]) -> None:
        """Reject callers without the old and new scopes of the user, and keys whose access would outlast them.

        Setting another user's password and lifting a suspension need a recent sign-in, as a new scope does; creating a
        user with the default role needs none (spec §Endpoints 2).
        """
        held = self._escalation.held
        if isinstance(held, AllRights):
            return
        before = record.role_id if record else None
        after = values.get("role_id", before)
        scopes = {role_id: _scope(self._uow, role_id) for role_id in {before, after, DEFAULT_ROLE_ID}}
        had, has, usual = scopes[before], scopes[after], scopes[DEFAULT_ROLE_ID]
        self._escalation.check(had, has, () if record else usual)
        if self._escalation.key_of is not None and Scope.ALL in {*has} - {*had}:
            raise NotPermitted
        is_let_in = values.get("password") is not None or (
            record is not None and not record.active and values.get("active", False)
        )
        if record is None:
            self._new.update({values["user_id"]} if "user_id" in values else ())
        elif is_let_in and record.user_id not in (held.user_id, *self._new):
            self._escalation.require_recent_sign_in()
        if is_let_in and record is not None and record.user_id == self._escalation.key_of:
            raise NotPermitted
        if is_let_in or record is not None:
            # The scopes that every new user gets are not granted by the key. Any user may have an open session.
            self._escalation.check_key((*usual, *(() if is_let_in else had)), has)

    def note_possible_lockout(self, before: User, after: User | None) -> None:
        """Schedule the check at the end if a user who can sign in loses the scope for everything."""
        if after is None or not after.active or Scope.ALL not in _scope(self._uow, after.role_id):
            holds_all = Scope.ALL in _scope(self._uow, before.role_id)
            if holds_all and self._uow.identity.passwords.can_user_sign_in(before.user_id, self._ways):
                self._escalation.may_lose_all = True


def _scope(uow: UnitOfWork, role_id: int | None) -> tuple[str, ...]:
    """Return the scopes of a role except that of proposals, which cannot change anything.

    Every new user has it, and ``users:write`` is enough to manage them (contract B3, R2).
    """
    role = None if role_id is None else uow.records(ROLES).get(role_id)
    return tuple(scope for scope in role.scope if scope != Scope.PROPOSALS_WRITE) if role else ()


def check_somebody_holds_all(ways: Ways, uow: UnitOfWork, escalation: Escalation) -> None:
    """Raise Conflict at the end of a write that left no user who can sign in and holds everything."""
    if escalation.may_lose_all and not somebody_holds_all(uow, ways):
        raise Conflict(f"This would leave no user who holds {Scope.ALL} and can sign in")
