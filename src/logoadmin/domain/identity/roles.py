"""Roles, with a preview of their changes (spec §Endpoints 5, contract A11, D, J7)."""

from collections.abc import Iterable
from dataclasses import dataclass
from functools import partial
from typing import Annotated, Final

from logoadmin.domain.kernel.access import OWNER, Caller, Permission, Rights, Scope
from logoadmin.domain.kernel.command import UNSET, Command
from logoadmin.domain.kernel.gate import Gate
from logoadmin.domain.kernel.kinds import ROLES, USERS
from logoadmin.domain.kernel.limits import MAX_ID, Flag, RoleId, RoleName, Scopes, UserId, Username, described
from logoadmin.domain.kernel.lists import Filter, Listing, SearchedCommand
from logoadmin.domain.kernel.pagination import list_records
from logoadmin.domain.kernel.records import RemovedRole, Role
from logoadmin.domain.kernel.unit_of_work import (
    AnyUnitOfWork,
    AuditedUnitOfWork,
    ReadUnitOfWork,
    all_records,
    get_unless_unmodified,
)
from logoadmin.domain.kernel.use_cases import Service, reads, use_case, writes

_PAINTER: Final = {"role_id": 3, "name": "painter", "scope": ["logos:write"], "created_at": 1767225600}
_PAINTER_ANN: Final = {"user_id": 1042, "username": "Ann", "gains": ["logos:write"], "loses": ["themes:write"]}


@dataclass(frozen=True, slots=True)
class AffectedUser:
    """A user whose rights a change of their role would affect (contract J7)."""

    user_id: UserId
    username: Username
    gains: Annotated[tuple[str, ...], described("The scopes that the user would gain.", ["logos:write"])]
    loses: Annotated[tuple[str, ...], described("The scopes that the user would lose.", ["themes:write"])]


@dataclass(frozen=True, slots=True)
class RoleEffect:
    """The role after a change, and the users who would gain or lose rights (contract J7)."""

    role: Annotated[Role, described("The role after the change.", _PAINTER)]
    users: Annotated[tuple[AffectedUser, ...], described("The users who would gain or lose rights.", [_PAINTER_ANN])]


class ListRoles(SearchedCommand):
    """All roles, or those that match the filters."""


class CreateRole(Command):
    """A new role, with a unique name and no scope that the caller lacks."""

    name: RoleName
    scope: Scopes


class GetRole(Command):
    """A role by its id."""

    role_id: RoleId


class AmendRole(Command):
    """New values for a role; fields that are left out stay as they are."""

    role_id: RoleId
    name: RoleName = UNSET
    scope: Scopes = UNSET
    dry_run: Annotated[Flag, described("Whether to show what would change for whom, without changing it.", True)] = (
        False
    )


class RemoveRole(Command):
    """The removal of a role that no user has."""

    role_id: RoleId


class RoleService(Service):
    """The use cases of roles.

    Each raises NotFound if the role does not exist, Outdated if it has none of the versions in ``if_match``, and
    NotPermitted if the caller does not hold all of its old and new scope (contract B4).
    """

    @reads(Permission(Scope.ROLES_READ))
    def list(self, uow: ReadUnitOfWork, command: ListRoles) -> Listing[Role]:
        """Return all roles, by role_id (contract D, E1)."""
        return list_records(self, uow, command, ROLES)

    @writes(Permission(Scope.ROLES_WRITE))
    def create(self, uow: AuditedUnitOfWork, command: CreateRole) -> Role:
        """Create a role (contract D).

        Raises:
            DuplicateEntry: the name is taken.
        """
        roles = uow.records(ROLES)
        roles.authorize(None, scope=command.scope)
        return roles.create(**command.own_values(), created_at=uow.now)

    @reads(Permission(Scope.ROLES_READ))
    def get(self, uow: ReadUnitOfWork, command: GetRole) -> Role:
        """Return a role (contract D)."""
        return get_unless_unmodified(uow, ROLES, command)

    @writes(Permission(Scope.ROLES_WRITE, open_by_default=True))
    def amend(self, uow: AuditedUnitOfWork, command: AmendRole) -> Role:
        """Change a role; its users' rights change at once (spec §Endpoints 5, §Rules 2, contract B5).

        Raises:
            DuplicateUpdate: another role has the name.
            Conflict: nobody would hold everything any more.
        """
        return uow.records(ROLES).amend(command.role_id, command.if_match, command.new_values())

    @use_case(Permission(Scope.ROLES_WRITE, open_by_default=True))
    def preview(self, gate: Gate, command: AmendRole, caller: Caller = OWNER) -> RoleEffect:
        """Preview a change of a role without making it (contract J7), with the errors of :meth:`amend`."""
        return gate.write(command.model_copy(update={"dry_run": True}), caller, _amend_for_effect)

    @writes(Permission(Scope.ROLES_WRITE))
    def remove(self, uow: AuditedUnitOfWork, command: RemoveRole) -> RemovedRole:
        """Remove a role (contract D).

        Raises:
            Conflict: a user has the role, or it is the role of new users.
        """
        uow.records(ROLES).get_for_change(command.role_id, command.if_match)
        uow.records(ROLES).remove(command.role_id)
        return RemovedRole(command.role_id)


def role_named(uow: AnyUnitOfWork, wanted: str) -> int | None:
    """Return the id of the role with this name or, if none has it, with this id; None if there is no such role."""
    named = (role.role_id for role in all_records(ROLES, uow.records(ROLES).page) if role.name == wanted)
    if (found := next(named, None)) is not None:
        return found
    role_id = int(wanted) if wanted.isascii() and wanted.isdecimal() and len(wanted) <= len(str(MAX_ID)) else MAX_ID + 1
    return role_id if role_id <= MAX_ID and uow.records(ROLES).get(role_id) is not None else None


def _amend_for_effect(uow: AuditedUnitOfWork, command: AmendRole) -> RoleEffect:
    """Change a role, and return the users whose rights changed."""
    roles = uow.records(ROLES)
    before = roles.get(command.role_id)
    role = roles.amend(command.role_id, command.if_match, command.new_values())
    had = before.scope if before else ()
    gains, loses = _beyond(role.scope, had), _beyond(had, role.scope)
    page = partial(uow.records(USERS).page, where=Filter(role_id=role.role_id))
    users = all_records(USERS, page) if gains or loses else ()
    return RoleEffect(role, tuple(AffectedUser(user.user_id, user.username, gains, loses) for user in users))


def _beyond(scope: Iterable[str], other: Iterable[str]) -> tuple[str, ...]:
    """Return the scopes that ``other`` does not cover."""
    held = Rights(0, frozenset(other))
    return tuple(each for each in scope if not held.cover((each,)))
