"""Users (spec §Endpoints 1 to 4, contract A12, A13, D)."""

import json
from dataclasses import replace
from typing import Annotated, Any

from logoadmin.domain.identity import accounts
from logoadmin.domain.identity.accounts import end_sign_ins, must_change_password, require_not_by_link
from logoadmin.domain.identity.callers import require_recent_sign_in
from logoadmin.domain.identity.new_passwords import NewPasswords
from logoadmin.domain.identity.sign_in_attempts import Attempt
from logoadmin.domain.identity.sign_in_events import record_event
from logoadmin.domain.identity.sign_in_limits import Limit, limits_of
from logoadmin.domain.kernel.access import (
    OWNER,
    SIGNED_IN,
    Caller,
    Held,
    Permission,
    Rights,
    Scope,
    SignedIn,
    networks_of,
    user_of,
)
from logoadmin.domain.kernel.command import UNSET, Command
from logoadmin.domain.kernel.errors import IncorrectPassword, InvalidInput, NotFound, Problem, TooManySignIns
from logoadmin.domain.kernel.gate import Gate, Transactions, WriteWork
from logoadmin.domain.kernel.kinds import ROLES, USERS
from logoadmin.domain.kernel.limits import (
    Active,
    Avatar,
    ExistingUsername,
    Password,
    Preferences,
    RoleId,
    UserId,
    Username,
    described,
)
from logoadmin.domain.kernel.lists import Listing, SearchedCommand
from logoadmin.domain.kernel.pagination import list_records
from logoadmin.domain.kernel.records import DEFAULT_ROLE_ID, PasswordHash, RemovedAvatar, RemovedUser, User
from logoadmin.domain.kernel.unit_of_work import (
    AuditedUnitOfWork,
    ReadUnitOfWork,
    get_existing,
    get_unless_unmodified,
    identity_in,
)
from logoadmin.domain.kernel.use_cases import Service, reads, reads_with_rights, storage_of, use_case, writes
from logoadmin.ports.identity_storage import Account
from logoadmin.ports.passwords import PasswordHasher
from logoadmin.ports.storage import UnitOfWork


class ListUsers(SearchedCommand):
    """All users, or those that match the filters."""

    role_id: Annotated[RoleId, described("Users with this role.", 1)] | None = None


class CreateUser(Command):
    """A new user; the community assigns the id."""

    hashes = True

    user_id: UserId
    username: Username
    avatar: Avatar | None = None
    role_id: Annotated[RoleId, described("The role; if omitted, that of new users.", DEFAULT_ROLE_ID)] = DEFAULT_ROLE_ID
    password: Password


class GetUser(Command):
    """A user by their id; users may read their own."""

    user_id: UserId


class FindUser(Command):
    """A user by their name."""

    username: ExistingUsername


class AmendUser(Command):
    """New values for a user; fields that are left out stay as they are."""

    user_id: UserId
    username: Username = UNSET
    avatar: Avatar | None = UNSET
    role_id: RoleId = UNSET
    active: Annotated[
        Active, described("`false` suspends the user: their sessions and keys end, and they cannot sign in.", False)
    ] = UNSET


class RemoveUser(Command):
    """The removal of a user, with their sessions and keys."""

    user_id: UserId


class RemoveAvatar(Command):
    """The removal of an avatar; users may remove their own."""

    user_id: UserId


class SetPassword(Command):
    """A new password; users may set their own, with the current one."""

    hashes = True

    user_id: UserId
    password: Password
    current_password: Annotated[
        Password,
        described("Your current password, to set your own. It is ignored for other users.", "a password until now"),
    ] = UNSET


class UserService(Service):
    """The use cases of users.

    Each raises NotFound if the user or the role in its command does not exist, Outdated if the user has none of the
    versions in ``if_match``, and NotPermitted if the caller does not hold all scopes of the user (contract B4).
    """

    def __init__(self, transactions: Transactions, new_passwords: NewPasswords) -> None:
        super().__init__(transactions)
        self._new_passwords, self._clock = new_passwords, transactions.clock

    @reads(Permission(Scope.USERS_READ, open_by_default=True))
    def list(self, uow: ReadUnitOfWork, command: ListUsers) -> Listing[User]:
        """Return all users, by user_id (spec §Endpoints 1, contract E1)."""
        return list_records(self, uow, command, USERS)

    @use_case(Permission(Scope.USERS_WRITE))
    def create(self, gate: Gate, command: CreateUser, caller: Caller = OWNER) -> User:
        """Create a user, with the default role unless another is given (spec §Endpoints 2, §Rules 3, contract A12, G5).

        Raises:
            InvalidInput: the password is not accepted (contract O5).
            RecentSignInRequired: the role is not the default, and the caller signed in too long ago (contract O3).
            DuplicateEntry: the id or the name is taken.
        """
        gate.require_token(caller)
        self._new_passwords.check(command.password, command.username)
        gate.check(command, caller)
        return gate.write(command, caller, creation(self._new_passwords.hasher, command.password))

    @reads(Permission(Scope.USERS_READ, open_by_default=True, self_field="user_id"))
    def get(self, uow: ReadUnitOfWork, command: GetUser) -> User:
        """Return a user (spec §Endpoints 3)."""
        return get_unless_unmodified(uow, USERS, command)

    @reads(Permission(Scope.USERS_READ, open_by_default=True))
    def find(self, uow: ReadUnitOfWork, command: FindUser) -> User:
        """Return the user with exactly this name (contract A6)."""
        account = identity_in(uow).passwords.account(command.username)
        if account is None:
            raise NotFound(USERS.name, command.username)
        return get_existing(uow, USERS, account.user_id)

    @writes(Permission(Scope.USERS_WRITE))
    def amend(self, uow: AuditedUnitOfWork, command: AmendUser) -> User:
        """Change a user, or suspend them: their sessions and keys end at once, and their name stays (contract D).

        Raises:
            DuplicateUpdate: another user has the name.
            RecentSignInRequired: the caller lifts a suspension, and signed in too long ago (contract O3).
            Conflict: nobody would hold everything any more.
        """
        return uow.records(USERS).amend(command.user_id, command.if_match, command.new_values())

    @writes(Permission(Scope.USERS_WRITE))
    def remove(self, uow: AuditedUnitOfWork, command: RemoveUser) -> RemovedUser:
        """Remove a user; their sessions and keys end at once (contract D, B5).

        Raises:
            Conflict: nobody would hold everything any more.
        """
        uow.records(USERS).get_for_change(command.user_id, command.if_match)
        uow.records(USERS).remove(command.user_id)
        return RemovedUser(command.user_id)

    @writes(Permission(Scope.USERS_WRITE, self_field="user_id"))
    def remove_avatar(self, uow: AuditedUnitOfWork, command: RemoveAvatar) -> RemovedAvatar:
        """Remove a user's avatar and return it (spec §Endpoints 4, contract A13)."""
        user = uow.records(USERS).get_for_change(command.user_id, command.if_match, avatar=None)
        if user.avatar is not None:
            uow.records(USERS).update(replace(user, avatar=None))
        return RemovedAvatar(user.avatar or "")

    @use_case(Permission(Scope.USERS_WRITE, self_field="user_id", first_password=True))
    def set_password(self, gate: Gate, command: SetPassword, caller: Caller = OWNER) -> User:
        """Set a user's password; their other sessions end at once (contract D, B5, O5).

        Users who set their own must give the current one, so that an open session is not enough. Users without a
        password, such as those of an issuer, need a recent sign-in.

        Raises:
            InvalidInput: the password is not accepted or is the generated first one, or the current one is missing.
            IncorrectPassword: the current one is wrong, which counts as a failed sign-in.
            TooManySignIns: there were too many failed sign-ins.
            SignsInByLink: the user signs in by links of the host site, which would end.
            RecentSignInRequired: the user has no password yet, and signed in more than 10 minutes ago.
            NotPermitted: also for service keys, which must not create access that outlasts them (contract C5).
        """
        gate.require_token(caller)
        own = caller if isinstance(caller, SignedIn) and caller.user_id == command.user_id else None
        self._check_form(command, is_own=own is not None)
        gate.check(command, caller)
        self._new_passwords.check(command.password, self._name_of(command.user_id))
        current = None if own is None else self._verified(command, own)
        password = self._new_passwords.hasher.hash(command.password)  # expensive, so outside the transaction

        def set_password(uow: AuditedUnitOfWork, command: SetPassword) -> User:
            if own is not None:
                _check_own(uow, command, current)
            user = uow.records(USERS).get_for_change(command.user_id, command.if_match, password=password)
            end_sign_ins(uow, user.user_id, None if own is None else own.session_id)
            record_event(uow, "password_changed", user.user_id, caller, uow.now)
            return accounts.set_password(uow, user, password, verified=True)

        return gate.write(command, caller, set_password)

    def _name_of(self, user_id: int) -> str:
        user = storage_of(self).read(lambda uow: uow.records(USERS).get(user_id))
        return "" if user is None else user.username

    def _check_form(self, command: SetPassword, *, is_own: bool) -> None:
        """Check the new password's form, and require the current one of users who change their own."""
        problems = self._new_passwords.problems(command.password)
        if is_own and command.current_password is UNSET:
            stored = storage_of(self).read(lambda uow: uow.identity.passwords.get(command.user_id))
            if stored is not None:
                problems += (Problem(("current_password",), "Field required", "missing"),)
        if problems:
            raise InvalidInput(problems)

    def _verified(self, command: SetPassword, caller: SignedIn) -> PasswordHash | None:
        """Verify the caller's current password, and return its hash; None if they have no password."""
        attempt = Attempt(storage_of(self), caller, networks_of(caller.origin), self._clock.now())

        def look_up(uow: UnitOfWork) -> tuple[Account | None, tuple[Limit, ...]]:
            account = uow.identity.passwords.account(caller.user_id)
            if account is None or account.password is None:
                return account, ()
            return account, limits_of(attempt.networks, account.username)

        try:
            account = attempt.count(look_up)
            if account is None or account.password is None:
                return None
            given = command.current_password
            if given is UNSET or not self._new_passwords.hasher.verify(account.password, given):
                raise IncorrectPassword
        except (IncorrectPassword, TooManySignIns) as error:
            attempt.refuse(error, self._clock.now())
            raise
        attempt.storage.write(lambda uow: attempt.take_back(uow, named=True))
        return account.password


def creation(hasher: PasswordHasher, accepted: str) -> WriteWork[CreateUser, User]:
    """Hash an accepted password, which is expensive; return the unit-of-work function that creates its user."""
    password = hasher.hash(accepted)

    def create(uow: AuditedUnitOfWork, command: CreateUser) -> User:
        values, users = command.model_dump(exclude={"password"}), uow.records(USERS)
        users.authorize(None, **values, password=password)
        get_existing(uow, ROLES, command.role_id)
        return accounts.set_password(uow, users.add(User(**values, created_at=uow.now)), password)

    return create


def _check_own(uow: AuditedUnitOfWork, command: SetPassword, current: PasswordHash | None) -> None:
    """Require that users may replace their own password, of which ``current`` is the verified hash."""
    if identity_in(uow).passwords.get(command.user_id) != current:  # changed meanwhile
        raise IncorrectPassword
    if command.password == command.current_password and must_change_password(uow, command.user_id):
        raise InvalidInput.of("Password should differ from the first one", "password")
    if current is None and isinstance(uow.held, Rights):
        require_not_by_link(uow, uow.held)
        require_recent_sign_in(uow, uow.held, uow.now)


class GetPreferences(Command):
    """The caller's own preferences."""


class SetPreferences(Command):
    """New preferences of the caller, which replace all old ones."""

    preferences: Preferences


class PreferenceService(Service):
    """The use cases of preferences.

    Those for one's own account raise NotAuthenticated unless the caller is a user, and NotPermitted for service keys.
    """

    @reads_with_rights(SIGNED_IN)
    def get(self, uow: ReadUnitOfWork, _command: GetPreferences, held: Held) -> dict[str, Any]:
        """Return the caller's preferences, empty if none were set."""
        stored = identity_in(uow).preferences.get(user_of(held))
        found: dict[str, Any] = {} if stored is None else json.loads(stored)
        return found

    @writes(SIGNED_IN)
    def set(self, uow: AuditedUnitOfWork, command: SetPreferences) -> dict[str, Any]:
        """Replace the caller's preferences and return them. They are not in the history, and go with the user."""
        identity_in(uow).preferences.set(user_of(uow.held), json.dumps(command.preferences, ensure_ascii=False))
        return command.preferences
