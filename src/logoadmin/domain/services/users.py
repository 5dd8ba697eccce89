"""Users (spec §Endpoints 1 to 4, contract A12, A13, D)."""

from dataclasses import replace

from logoadmin.domain.audit.unit_of_work import AnyUnitOfWork, AuditedUnitOfWork
from logoadmin.domain.model.access import OWNER, Caller, Permission, Scope, SignedIn
from logoadmin.domain.model.command import UNSET, Command
from logoadmin.domain.model.errors import NotFound
from logoadmin.domain.model.limits import Avatar, Id, Password, Username
from logoadmin.domain.model.lists import Listing, SearchedCommand
from logoadmin.domain.model.records import DEFAULT_ROLE_ID, Kind, RemovedAvatar, RemovedUser, User
from logoadmin.domain.services.roles import found_role
from logoadmin.domain.transactions import Transactions
from logoadmin.ports.clock import Clock
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
    """The end of a user."""

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

    def __init__(self, transactions: Transactions, hasher: PasswordHasher, clock: Clock) -> None:
        self._transactions = transactions
        self._hasher = hasher
        self._clock = clock

    def list(self, command: ListUsers, caller: Caller = OWNER) -> Listing[User]:
        """Return all users, by user_id (spec §Endpoints 1, contract E1)."""
        return self._transactions.list(
            command,
            caller,
            lambda uow, after, limit, where: uow.users.page(after, limit, where),
            lambda user: user.user_id,
            Kind.USER,
        )

    def create(self, command: CreateUser, caller: Caller = OWNER) -> User:
        """Create a user with the default role (spec §Endpoints 2, contract A12).

        Raises:
            DuplicateEntry: the id or the name is taken.
        """
        self._transactions.check(command, caller)
        password = self._hasher.hash(command.password)
        user = User(command.user_id, command.username, command.avatar, DEFAULT_ROLE_ID, self._clock.now())

        def work(uow: AuditedUnitOfWork) -> User:
            return uow.users.add(user, password)

        return self._transactions.write(command, caller, work)

    def get(self, command: GetUser, caller: Caller = OWNER) -> User:
        """Return a user (spec §Endpoints 3).

        Raises:
            NotFound: there is no such user.
        """
        return self._transactions.record(command, caller, lambda uow: found_user(uow, command.user_id))

    def find(self, command: FindUser, caller: Caller = OWNER) -> User:
        """Return the user who has exactly this name (contract A6).

        Raises:
            NotFound: there is no such user.
        """

        def work(uow: UnitOfWork) -> User:
            known = uow.users.credentials(command.username)
            if known is None:
                raise NotFound("User", command.username)
            return found_user(uow, known.user_id)

        return self._transactions.snapshot(command, caller, work)

    def amend(self, command: AmendUser, caller: Caller = OWNER) -> User:
        """Change a user (contract D).

        Raises:
            NotFound: there is no such user, or no such role.
            DuplicateUpdate: another user has the name.
            NotPermitted: the caller does not hold all that the user does, or would (contract B4).
            Conflict: nobody would hold everything any more.
            Outdated: it is not the version that the caller saw.
        """

        def work(uow: AuditedUnitOfWork) -> User:
            user = uow.users.get_for_change(command.user_id, command.seen, **command.changes())
            amended = replace(user, **command.changes())
            if amended.role_id != user.role_id:
                found_role(uow, amended.role_id)
            return user if amended == user else uow.users.update(amended)

        return self._transactions.write(command, caller, work)

    def remove(self, command: RemoveUser, caller: Caller = OWNER) -> RemovedUser:
        """Remove a user; their sessions and keys end at once (contract D, B5).

        Raises:
            NotFound: there is no such user.
            NotPermitted: the caller does not hold all that the user does (contract B4).
            Conflict: nobody would hold everything any more.
            Outdated: it is not the version that the caller saw.
        """

        def work(uow: AuditedUnitOfWork) -> RemovedUser:
            uow.users.get_for_change(command.user_id, command.seen)
            uow.users.remove(command.user_id)
            return RemovedUser(command.user_id)

        return self._transactions.write(command, caller, work)

    def remove_avatar(self, command: RemoveAvatar, caller: Caller = OWNER) -> RemovedAvatar:
        """Remove a user's avatar and answer what it was (spec §Endpoints 4, contract A13).

        Raises:
            NotFound: there is no such user.
            NotPermitted: the caller does not hold all that the user does (contract B4).
            Outdated: it is not the version that the caller saw.
        """

        def work(uow: AuditedUnitOfWork) -> RemovedAvatar:
            user = uow.users.get_for_change(command.user_id, command.seen, avatar=None)
            if user.avatar is not None:
                uow.users.update(replace(user, avatar=None))
            return RemovedAvatar(user.avatar or "")

        return self._transactions.write(command, caller, work)

    def set_password(self, command: SetPassword, caller: Caller = OWNER) -> User:
        """Give a user a new password; their other sessions end at once (contract D, B5).

        Raises:
            NotFound: there is no such user.
            NotPermitted: the caller does not hold all that the user does (contract B4), or is a key that would live on
                in them (contract C5).
            Outdated: it is not the version that the caller saw.
        """
        self._transactions.check(command, caller)
        password = self._hasher.hash(command.password)
        session = caller.session_id if isinstance(caller, SignedIn) else None

        def work(uow: AuditedUnitOfWork) -> User:
            user = uow.users.get_for_change(command.user_id, command.seen, password=password)
            uow.sessions.end_all(user.user_id, keep=session)
            return uow.users.set_password(user.user_id, password)

        return self._transactions.write(command, caller, work)


def found_user(uow: AnyUnitOfWork, user_id: int) -> User:
    """Return a user who must be there, or raise NotFound."""
    user = uow.users.get(user_id)
    if user is None:
        raise NotFound("User", user_id)
    return user
