"""Nobody gives others, or themselves, more than they hold (contract B4, C5): the rules of roles and users."""

from collections.abc import Mapping
from typing import Any, Final, Protocol

from logoadmin.domain.audit.change_log import ChangeLog
from logoadmin.domain.model.access import Scope
from logoadmin.domain.model.errors import Conflict, NotPermitted
from logoadmin.domain.model.kinds import ROLES, USERS
from logoadmin.domain.model.lists import Filter
from logoadmin.domain.model.records import DEFAULT_ROLE_ID, Kind, Role, User
from logoadmin.ports.storage import UnitOfWork


class Guard(Protocol):
    """The rules of a kind of record."""

    def __init__(self, uow: UnitOfWork, change_log: ChangeLog, /) -> None: ...

    def authorize(self, record: Any, values: Mapping[str, Any], /) -> None:
        """Refuse a caller who goes beyond themselves with a record that gets these values, or with its end.

        Raises:
            NotPermitted: they do.
        """

    def check_unused(self, record: Any, /) -> None:
        """Make sure that a record may go.

        Raises:
            Conflict: it is needed.
        """

    def watch(self, before: Any, after: Any, /) -> None:
        """Have the end of the work look whether somebody still holds everything, where this may be the last one."""


class RoleGuard:
    """The rules of roles."""

    def __init__(self, uow: UnitOfWork, change_log: ChangeLog) -> None:
        self._uow, self._change_log = uow, change_log

    def authorize(self, record: Role | None, values: Mapping[str, Any]) -> None:
        """Refuse who does not hold what the role holds, or is to hold; and a key that gives the role more."""
        had = record.scope if record else ()
        has = values.get("scope", had)
        self._change_log.check_escalation(had, has)
        if record is not None:
            self._change_log.check_key(had, has)

    def check_unused(self, record: Role) -> None:
        """Refuse the end of a role that somebody has or will get."""
        if record.role_id == DEFAULT_ROLE_ID:
            raise Conflict(f"Role {record.role_id} is the role of new users")
        if self._uow.records(USERS).page(-1, 1, Filter(role_id=record.role_id)):
            raise Conflict(f"Role {record.role_id} is the role of a user")

    def watch(self, before: Role, after: Role | None) -> None:
        """Look at the end where a role loses everything and somebody who has it can sign in."""
        stays = after is not None and Scope.ALL in after.scope
        if not stays and Scope.ALL in before.scope and self._uow.passwords.can_sign_in(before.role_id):
            self._change_log.may_lose_all = True


class UserGuard:
    """The rules of users."""

    def __init__(self, uow: UnitOfWork, change_log: ChangeLog) -> None:
        self._uow, self._change_log = uow, change_log

    def authorize(self, record: User | None, values: Mapping[str, Any]) -> None:
        """Refuse who does not hold what the user holds, or is to hold; and a key that would live on in the user."""
        if self._change_log.held is None:
            return
        had = self._scope(record.role_id) if record else ()
        has = self._scope(values["role_id"]) if "role_id" in values else had
        self._change_log.check_escalation(had, has)
        gets_password = values.get("password") is not None
        if gets_password and record is not None and record.user_id == self._change_log.key_of:
            raise NotPermitted
        if gets_password or (record is not None and self._uow.passwords.get(record.user_id) is not None):
            # What every new user gets is nothing that a key hands out.
            self._change_log.check_key((*self._scope(DEFAULT_ROLE_ID), *(() if gets_password else had)), has)

    def check_unused(self, record: User) -> None:
        """Let every user go: nothing refers to one."""

    def watch(self, before: User, after: User | None) -> None:
        """Look at the end where a user who can sign in loses everything."""
        stays = after is not None and Scope.ALL in self._scope(after.role_id)
        held = not stays and Scope.ALL in self._scope(before.role_id)
        if held and self._uow.passwords.get(before.user_id) is not None:
            self._change_log.may_lose_all = True

    def _scope(self, role_id: int) -> tuple[str, ...]:
        role = self._uow.records(ROLES).get(role_id)
        return role.scope if role else ()


GUARDS: Final[Mapping[Kind, type[Guard]]] = {Kind.ROLE: RoleGuard, Kind.USER: UserGuard}
