"""Roles (spec §Endpoints 5, contract A11, D)."""

from dataclasses import replace
from typing import Final

from logoadmin.domain.access import OWNER, Caller, Need, Scope
from logoadmin.domain.command import UNCHANGED, Command
from logoadmin.domain.errors import Conflict, NotFound
from logoadmin.domain.limits import Id, RoleName, Scopes
from logoadmin.domain.lists import Listing
from logoadmin.domain.records import RemovedRole, Role
from logoadmin.domain.transactions import Transactions
from logoadmin.ports.clock import Clock
from logoadmin.ports.storage import UnitOfWork

# The role of new users (contract A12, H3).
DEFAULT_ROLE_ID: Final = 1


class ListRoles(Command):
    """All roles."""

    need = Need(Scope.ROLES_READ)


class CreateRole(Command):
    """A new role."""

    need = Need(Scope.ROLES_WRITE)

    name: RoleName
    scope: Scopes


class GetRole(Command):
    """One role."""

    need = Need(Scope.ROLES_READ)

    role_id: Id


class AmendRole(Command):
    """New values for a role; what is not given stays."""

    need = Need(Scope.ROLES_WRITE, specified=True)

    role_id: Id
    name: RoleName = UNCHANGED
    scope: Scopes = UNCHANGED


class RemoveRole(Command):
    """The end of a role that nobody has."""

    need = Need(Scope.ROLES_WRITE)

    role_id: Id


class RoleService:
    """What can be done with roles. Every method may also raise what :class:`Transactions` raises."""

    def __init__(self, transactions: Transactions, clock: Clock) -> None:
        self._transactions = transactions
        self._clock = clock

    def list(self, command: ListRoles, caller: Caller = OWNER) -> Listing[Role]:
        """Return all roles, by role_id (contract D, E1)."""
        return self._transactions.list(
            command,
            caller,
            lambda uow, after, limit: uow.roles.page(after, limit),
            lambda role: role.role_id,
        )

    def create(self, command: CreateRole, caller: Caller = OWNER) -> Role:
        """Create a role (contract D).

        Raises:
            DuplicateEntry: the name is taken.
        """

        def work(uow: UnitOfWork) -> Role:
            role = Role(uow.roles.next_id(), command.name, command.scope, self._clock.now())
            uow.roles.add(role)
            return role

        return self._transactions.write(command, caller, work)

    def get(self, command: GetRole, caller: Caller = OWNER) -> Role:
        """Return a role (contract D).

        Raises:
            NotFound: there is no such role.
        """
        return self._transactions.read(command, caller, lambda uow: found_role(uow, command.role_id))

    def amend(self, command: AmendRole, caller: Caller = OWNER) -> Role:
        """Change a role; its users' rights change at once (spec §Endpoints 5, contract B5).

        Raises:
            NotFound: there is no such role.
            DuplicateUpdate: another role has the name.
        """

        def work(uow: UnitOfWork) -> Role:
            role = found_role(uow, command.role_id)
            amended = replace(role, **command.changes())
            if amended != role:
                uow.roles.update(amended)
            return amended

        return self._transactions.write(command, caller, work)

    def remove(self, command: RemoveRole, caller: Caller = OWNER) -> RemovedRole:
        """Remove a role (contract D).

        Raises:
            NotFound: there is no such role.
            Conflict: a user has it, or it is the one that new users get.
        """

        def work(uow: UnitOfWork) -> RemovedRole:
            role = found_role(uow, command.role_id)
            if role.role_id == DEFAULT_ROLE_ID:
                raise Conflict(f"Role {role.role_id} is the role of new users")
            if uow.roles.in_use(role.role_id):
                raise Conflict(f"Role {role.role_id} is the role of a user")
            uow.roles.remove(role.role_id)
            return RemovedRole(role.role_id)

        return self._transactions.write(command, caller, work)


def found_role(uow: UnitOfWork, role_id: int) -> Role:
    """Return a role that must be there, or raise NotFound."""
    role = uow.roles.get(role_id)
    if role is None:
        raise NotFound("Role", role_id)
    return role
