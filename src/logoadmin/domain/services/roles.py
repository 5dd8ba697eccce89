"""Roles (spec §Endpoints 5, contract A11, D)."""

from dataclasses import replace

from logoadmin.domain.audit.unit_of_work import AnyUnitOfWork, AuditedUnitOfWork
from logoadmin.domain.model.access import OWNER, Caller, Permission, Scope
from logoadmin.domain.model.command import UNSET, Command
from logoadmin.domain.model.errors import Conflict, NotFound
from logoadmin.domain.model.limits import Id, RoleName, Scopes
from logoadmin.domain.model.lists import Listing, SearchedCommand
from logoadmin.domain.model.records import DEFAULT_ROLE_ID, Kind, RemovedRole, Role
from logoadmin.domain.transactions import Transactions
from logoadmin.ports.clock import Clock


class ListRoles(SearchedCommand):
    """All roles, or those that are asked for."""

    permission = Permission(Scope.ROLES_READ)


class CreateRole(Command):
    """A new role."""

    permission = Permission(Scope.ROLES_WRITE)

    name: RoleName
    scope: Scopes


class GetRole(Command):
    """One role."""

    permission = Permission(Scope.ROLES_READ)

    role_id: Id


class AmendRole(Command):
    """New values for a role; what is not given stays."""

    permission = Permission(Scope.ROLES_WRITE, open_by_default=True)

    role_id: Id
    name: RoleName = UNSET
    scope: Scopes = UNSET


class RemoveRole(Command):
    """The end of a role that nobody has."""

    permission = Permission(Scope.ROLES_WRITE)

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
            lambda uow, after, limit, where: uow.roles.page(after, limit, where),
            lambda role: role.role_id,
            Kind.ROLE,
        )

    def create(self, command: CreateRole, caller: Caller = OWNER) -> Role:
        """Create a role (contract D).

        Raises:
            DuplicateEntry: the name is taken.
            NotPermitted: the caller does not hold all of the scope (contract B4).
        """

        def work(uow: AuditedUnitOfWork) -> Role:
            uow.roles.authorize(None, scope=command.scope)
            role = Role(uow.roles.next_id(), command.name, command.scope, self._clock.now())
            return uow.roles.add(role)

        return self._transactions.write(command, caller, work)

    def get(self, command: GetRole, caller: Caller = OWNER) -> Role:
        """Return a role (contract D).

        Raises:
            NotFound: there is no such role.
        """
        return self._transactions.record(command, caller, lambda uow: found_role(uow, command.role_id))

    def amend(self, command: AmendRole, caller: Caller = OWNER) -> Role:
        """Change a role; its users' rights change at once (spec §Endpoints 5, contract B5).

        Raises:
            NotFound: there is no such role.
            DuplicateUpdate: another role has the name.
            NotPermitted: the caller does not hold all of the scope that it has or gets (contract B4).
            Conflict: nobody would hold everything any more.
            Outdated: it is not the version that the caller saw.
        """

        def work(uow: AuditedUnitOfWork) -> Role:
            role = uow.roles.get_for_change(command.role_id, command.seen, **command.changes())
            amended = replace(role, **command.changes())
            return role if amended == role else uow.roles.update(amended)

        return self._transactions.write(command, caller, work)

    def remove(self, command: RemoveRole, caller: Caller = OWNER) -> RemovedRole:
        """Remove a role (contract D).

        Raises:
            NotFound: there is no such role.
            Conflict: a user has it, or it is the one that new users get.
            NotPermitted: the caller does not hold all of its scope (contract B4).
            Outdated: it is not the version that the caller saw.
        """

        def work(uow: AuditedUnitOfWork) -> RemovedRole:
            role = uow.roles.get_for_change(command.role_id, command.seen)
            check_unused(uow, role.role_id)
            uow.roles.remove(role.role_id)
            return RemovedRole(role.role_id)

        return self._transactions.write(command, caller, work)


def check_unused(uow: AnyUnitOfWork, role_id: int) -> None:
    """Make sure that a role may go, or raise Conflict."""
    if role_id == DEFAULT_ROLE_ID:
        raise Conflict(f"Role {role_id} is the role of new users")
    if uow.roles.in_use(role_id):
        raise Conflict(f"Role {role_id} is the role of a user")


def found_role(uow: AnyUnitOfWork, role_id: int) -> Role:
    """Return a role that must be there, or raise NotFound."""
    role = uow.roles.get(role_id)
    if role is None:
        raise NotFound("Role", role_id)
    return role
