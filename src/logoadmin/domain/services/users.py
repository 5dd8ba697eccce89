"""Users (spec §Endpoints 1 to 4, contract A12, A13, D)."""

from dataclasses import replace
from functools import partial

from logoadmin.domain.audit.unit_of_work import AuditedUnitOfWork, get_existing
from logoadmin.domain.model.access import OWNER, Caller, Permission, Scope, SignedIn
from logoadmin.domain.model.command import UNSET, Command
from logoadmin.domain.model.errors import NotFound
from logoadmin.domain.model.kinds import USERS
from logoadmin.domain.model.limits import Avatar, Id, Password, Username
from logoadmin.domain.model.lists import Listing, SearchedCommand
from logoadmin.domain.model.records import DEFAULT_ROLE_ID, PasswordHash, RemovedAvatar, RemovedUser, User
from logoadmin.domain.transactions import Transactions
from logoadmin.ports.passwords import PasswordHasher
from logoadmin.ports.storage import UnitOfWork


class ListUsers(SearchedCommand):
    """All users, or those that are asked for."""

    permission = Permission(Scope.USERS_READ, open_by_default=True)

    role_id: Id | None = None


class CreateUser(Command):
    """A new user, with an id that the community gave them."""

    permission = Permission(Scope.USERS_WRITE)
    hashes = True

    user_id: Id
    username: Username
    avatar: Avatar | None = None
    password: Password


class GetUser(Command):
    """One user; everybody may read their own."""

    permission = Permission(Scope.USERS_READ, open_by_default=True, self_field="user_id")

    user_id: Id


class FindUser(Command):
    """The user who has a name."""

    permission = Permission(Scope.USERS_READ, open_by_default=True)

    username: Username


class AmendUser(Command):
    """New values for a user; what is not given stays."""

    permission = Permission(Scope.USERS_WRITE)

    user_id: Id
    username: Username = UNSET
    avatar: Avatar | None = UNSET
    role_id: Id = UNSET


class RemoveUser(Command):
    """The end of a user, and of their sessions and keys."""

    permission = Permission(Scope.USERS_WRITE)

    user_id: Id


class RemoveAvatar(Command):
    """The end of an avatar; everybody may remove their own."""

    permission = Permission(Scope.USERS_WRITE, self_field="user_id")

    user_id: Id


class SetPassword(Command):
    """A new password; everybody may give themselves one."""

    permission = Permission(Scope.USERS_WRITE, self_field="user_id")
    hashes = True

    user_id: Id
    password: Password


class UserService:
    """What can be done with users. Every method may also raise what :class:`Transactions` raises."""

    def __init__(self, transactions: Transactions, hasher: PasswordHasher) -> None:
        self._transactions = transactions
        self._hasher = hasher

    def list(self, command: ListUsers, caller: Caller = OWNER) -> Listing[User]:
        """Return all users, by user_id (spec §Endpoints 1, contract E1)."""
        return self._transactions.list(command, caller, USERS)

    def create(self, command: CreateUser, caller: Caller = OWNER) -> User:
        """Create a user with the default role (spec §Endpoints 2, contract A12).

        Raises:
            DuplicateEntry: the id or the name is taken.
        """
        self._transactions.check(command, caller)
        password = self._hasher.hash(command.password)
        return self._transactions.write(command, caller, partial(self._create, password))

    def get(self, command: GetUser, caller: Caller = OWNER) -> User:
        """Return a user (spec §Endpoints 3).

        Raises:
            NotFound: there is no such user.
        """
        return self._transactions.get(command, caller, USERS)

    def find(self, command: FindUser, caller: Caller = OWNER) -> User:
        """Return the user who has exactly this name (contract A6).

        Raises:
            NotFound: there is no such user.
        """
        return self._transactions.snapshot(command, caller, self._find)

    def amend(self, command: AmendUser, caller: Caller = OWNER) -> User:
        """Change a user (contract D).

        Raises:
            NotFound: there is no such user, or no such role.
            DuplicateUpdate: another user has the name.
            NotPermitted: the caller does not hold all that the user does, or would (contract B4).
            Conflict: nobody would hold everything any more.
            Outdated: it has none of the versions in ``if_match``.
        """
        return self._transactions.write(command, caller, self._amend)

    def remove(self, command: RemoveUser, caller: Caller = OWNER) -> RemovedUser:
        """Remove a user; their sessions and keys end at once (contract D, B5).

        Raises:
            NotFound: there is no such user.
            NotPermitted: the caller does not hold all that the user does (contract B4).
            Conflict: nobody would hold everything any more.
            Outdated: it has none of the versions in ``if_match``.
        """
        return self._transactions.write(command, caller, self._remove)

    def remove_avatar(self, command: RemoveAvatar, caller: Caller = OWNER) -> RemovedAvatar:
        """Remove a user's avatar and answer what it was (spec §Endpoints 4, contract A13).

        Raises:
            NotFound: there is no such user.
            NotPermitted: the caller does not hold all that the user does (contract B4).
            Outdated: it has none of the versions in ``if_match``.
        """
        return self._transactions.write(command, caller, self._remove_avatar)

    def set_password(self, command: SetPassword, caller: Caller = OWNER) -> User:
        """Give a user a new password; their other sessions end at once (contract D, B5).

        Raises:
            NotFound: there is no such user.
            NotPermitted: the caller does not hold all that the user does (contract B4), or is a key that would live on
                in them (contract C5).
            Outdated: it has none of the versions in ``if_match``.
        """
        self._transactions.check(command, caller)
        password = self._hasher.hash(command.password)
        session_id = caller.session_id if isinstance(caller, SignedIn) else None
        return self._transactions.write(command, caller, partial(self._set_password, password, session_id))

    def _create(self, password: PasswordHash, uow: AuditedUnitOfWork, command: CreateUser) -> User:
        values = command.model_dump(exclude={"password"})
        user = uow.records(USERS).add(User(**values, role_id=DEFAULT_ROLE_ID, created_at=uow.now))
        return uow.passwords.set(user.user_id, password)

    def _find(self, uow: UnitOfWork, command: FindUser) -> User:
        known = uow.passwords.credentials(command.username)
        if known is None:
            raise NotFound(USERS.name, command.username)
        return get_existing(uow, USERS, known.user_id)

    def _amend(self, uow: AuditedUnitOfWork, command: AmendUser) -> User:
        return uow.records(USERS).amend(command.user_id, command.if_match, command.changes())

    def _remove(self, uow: AuditedUnitOfWork, command: RemoveUser) -> RemovedUser:
        uow.records(USERS).get_for_change(command.user_id, command.if_match)
        uow.records(USERS).remove(command.user_id)
        return RemovedUser(command.user_id)

    def _remove_avatar(self, uow: AuditedUnitOfWork, command: RemoveAvatar) -> RemovedAvatar:
        user = uow.records(USERS).get_for_change(command.user_id, command.if_match, avatar=None)
        if user.avatar is not None:
            uow.records(USERS).update(replace(user, avatar=None))
        return RemovedAvatar(user.avatar or "")

    def _set_password(
        self, password: PasswordHash, session_id: str | None, uow: AuditedUnitOfWork, command: SetPassword
    ) -> User:
        user = uow.records(USERS).get_for_change(command.user_id, command.if_match, password=password)
        uow.sessions.end_all(user.user_id, keep=session_id)
        return uow.passwords.set(user.user_id, password)
