"""Roles (spec §Endpoints 5, contract A11, D)."""

from logoadmin.domain.audit.unit_of_work import AuditedUnitOfWork
from logoadmin.domain.model.access import OWNER, Caller, Permission, Scope
from logoadmin.domain.model.command import UNSET, Command
from logoadmin.domain.model.kinds import ROLES
from logoadmin.domain.model.limits import Id, RoleName, Scopes
from logoadmin.domain.model.lists import Listing, SearchedCommand
from logoadmin.domain.model.records import RemovedRole, Role
from logoadmin.domain.transactions import Transactions


class ListRoles(SearchedCommand):
    """All roles, or those that are asked for."""

    permission = Permission(Scope.ROLES_READ)


class CreateRole(Command):
    """A new role, of a name that none has and with no scope that its maker lacks."""

    permission = Permission(Scope.ROLES_WRITE)

    name: RoleName
    scope: Scopes


class GetRole(Command):
    """A role by its id."""

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

    def __init__(self, transactions: Transactions) -> None:
        self._transactions = transactions

    def list(self, command: ListRoles, caller: Caller = OWNER) -> Listing[Role]:
        """Return all roles, by role_id (contract D, E1)."""
        return self._transactions.list(command, caller, ROLES)

    def create(self, command: CreateRole, caller: Caller = OWNER) -> Role:
        """Create a role (contract D).

        Raises:
            DuplicateEntry: the name is taken.
            NotPermitted: the caller does not hold all of the scope (contract B4).
        """
        return self._transactions.write(command, caller, self._create)

    def get(self, command: GetRole, caller: Caller = OWNER) -> Role:
        """Return a role (contract D).

        Raises:
            NotFound: there is no such role.
        """
        return self._transactions.get(command, caller, ROLES)

    def amend(self, command: AmendRole, caller: Caller = OWNER) -> Role:
        """Change a role; its users' rights change at once (spec §Endpoints 5, contract B5).

        Raises:
            NotFound: there is no such role.
            DuplicateUpdate: another role has the name.
            NotPermitted: the caller does not hold all of the scope that it has or gets (contract B4).
            Conflict: nobody would hold everything any more.
            Outdated: it has none of the versions in ``if_match``.
        """
        return self._transactions.write(command, caller, self._amend)

    def remove(self, command: RemoveRole, caller: Caller = OWNER) -> RemovedRole:
        """Remove a role (contract D).

        Raises:
            NotFound: there is no such role.
            Conflict: a user has it, or it is the one that new users get.
            NotPermitted: the caller does not hold all of its scope (contract B4).
            Outdated: it has none of the versions in ``if_match``.
        """
        return self._transactions.write(command, caller, self._remove)

    def _create(self, uow: AuditedUnitOfWork, command: CreateRole) -> Role:
        roles = uow.records(ROLES)
        roles.authorize(None, scope=command.scope)
        return roles.add(Role(roles.next_id(), command.name, command.scope, uow.now))

    def _amend(self, uow: AuditedUnitOfWork, command: AmendRole) -> Role:
        return uow.records(ROLES).amend(command.role_id, command.if_match, command.changes())

    def _remove(self, uow: AuditedUnitOfWork, command: RemoveRole) -> RemovedRole:
        uow.records(ROLES).get_for_change(command.role_id, command.if_match)
        uow.records(ROLES).remove(command.role_id)
        return RemovedRole(command.role_id)
