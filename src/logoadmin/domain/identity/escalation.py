"""The rules against escalation: callers grant no scope that they lack, nor by an old sign-in (contract B4, C5, O3).

This is the one place where every way to change rights is judged: single changes, bulk changes, imports and undoing.
"""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Any, Final, Protocol

from logoadmin.domain.identity.sign_in_rules import CLOCK_SKEW, RECENT_SECONDS, USUAL_WAYS, Ways
from logoadmin.domain.kernel.access import Rights, Scope
from logoadmin.domain.kernel.errors import Conflict, NotPermitted, RecentSignInRequired
from logoadmin.domain.kernel.kinds import ROLES, USERS
from logoadmin.domain.kernel.lists import Filter, Listing
from logoadmin.domain.kernel.records import DEFAULT_ROLE_ID, Kind, Role, User
from logoadmin.ports.storage import Factors, UnitOfWork

_ROLES_AT_ONCE: Final = 500


@dataclass(slots=True)
class Escalation:
    """The limits on changes of rights in one unit of work.

    Attributes:
        held: the caller's rights; None for every right.
        now: the time of the changes, as Unix time.
        ways: the ways to sign in.
        factors: the second factors of users.
        may_lose_all: whether the changes may have affected the last user who holds everything and can sign in.
    """

    held: Rights | None
    now: int
    ways: Ways
    factors: Factors
    may_lose_all: bool = False

    def check(self, had: Iterable[str], has: Iterable[str], without_asking: Iterable[str] = ()) -> None:
        """Require the caller to hold the old and the new scopes of a role or a user, and a recent sign-in to add some.

        Args:
            had: the old scopes.
            has: the new ones.
            without_asking: scopes that need no recent sign-in.

        Raises:
            NotPermitted: the caller lacks one of them.
            RecentSignInRequired: the caller would add one, and signed in too long ago.
        """
        if self.held is None:
            return
        old, new = frozenset(had), frozenset(has)
        self.held.require(old | new)
        if not Rights(self.held.user_id, old | frozenset(without_asking)).cover(new):
            self.require_recent_sign_in()

    def require_recent_sign_in(self) -> None:
        """Require a recent sign-in of a caller that is a user; service keys never sign in.

        Raises:
            RecentSignInRequired: the caller signed in too long ago, or without their second factor.
        """
        if self.held is not None and self.key_of is None:
            require_recent_sign_in(self.held, self.factors, self.now)

    def check_key(self, had: Iterable[str], has: Iterable[str]) -> None:
        """Reject a service key that grants scopes, because the grant would outlive the key (contract C5).

        Raises:
            NotPermitted: the caller is a service key, and some of the scopes are new.
        """
        if self.key_of is not None and not Rights(self.key_of, frozenset(had)).cover(has):
            raise NotPermitted

    @property
    def key_of(self) -> int | None:
        """The id of the user whose service key the caller is; None for other callers."""
        return None if self.held is None or self.held.of_user else self.held.user_id

    def note_possible_lockout(self, uow: UnitOfWork, user: User) -> None:
        """Have the end of the work check that a user still holds everything, if this one does and can sign in."""
        if Scope.ALL in _scope(uow, user.role_id) and uow.passwords.can_user_sign_in(user.user_id, self.ways):
            self.may_lose_all = True

    def check_somebody_holds_all(self, uow: UnitOfWork) -> None:
        """Require at the end of the work that a user who can sign in holds everything.

        Raises:
            Conflict: no user would.
        """
        if not somebody_holds_all(uow, self.ways):
            raise Conflict(f"This would leave no user who holds {Scope.ALL} and can sign in")


def require_recent_sign_in(held: Rights, factors: Factors, now: int) -> None:
    """Reject a session that began too long ago, by a clock that was ahead, or without an enrolled factor (contract O3).

    Issuers ask for factors of their own, and the operator vouches for those to whom they give a sign-in code.

    Args:
        held: the caller's rights.
        factors: the second factors of users.
        now: the time, in Unix seconds.

    Raises:
        NotPermitted: the caller is a service key, which cannot sign in.
        RecentSignInRequired: the session is older, or began with the password alone although the user has a factor.
    """
    if held.signed_in_at is None:
        raise NotPermitted
    if not -CLOCK_SKEW <= now - held.signed_in_at <= RECENT_SECONDS:
        raise RecentSignInRequired
    if held.factor == "password" and any(factor.confirmed for factor in factors.of_user(held.user_id)):
        raise RecentSignInRequired


def somebody_holds_all(uow: UnitOfWork, ways: Ways) -> bool:
    """Return whether a user who can sign in holds everything."""
    roles = uow.records(ROLES)
    listed = Listing(roles.page(-1, _ROLES_AT_ONCE), ROLES.id_of, roles.page)
    return any(Scope.ALL in role.scope and uow.passwords.can_sign_in(role.role_id, ways) for role in listed)


class Guard(Protocol):
    """The rules of a kind of record."""

    def __init__(self, uow: UnitOfWork, escalation: Escalation, /) -> None: ...

    def authorize(self, record: Any, values: Mapping[str, Any], /) -> None:
        """Reject a caller that would exceed their own scopes by giving a record these values or removing it.

        Raises:
            NotPermitted: the caller would.
        """

    def check_unused(self, record: Any, /) -> None:
        """Require that a record can be removed.

        Raises:
            Conflict: it is in use.
        """

    def note_possible_lockout(self, before: Any, after: Any, /) -> None:
        """Have the end of the work check that a user still holds everything, if this change may affect the last one."""


class RoleGuard:
    """The guard of roles (contract B4)."""

    def __init__(self, uow: UnitOfWork, escalation: Escalation) -> None:
        self._uow, self._escalation = uow, escalation

    def authorize(self, record: Role | None, values: Mapping[str, Any]) -> None:
        """Reject callers without the old and new scopes of the role, and keys that add scopes."""
        had = record.scope if record else ()
        has = values.get("scope", had)
        self._escalation.check(had, has)
        if record is not None:
            self._escalation.check_key(had, has)

    def check_unused(self, record: Role) -> None:
        """Reject the removal of a role that users have, or that new users get."""
        if record.role_id == DEFAULT_ROLE_ID:
            raise Conflict(f"Role {record.role_id} is the role of new users")
        if self._uow.records(USERS).page(-1, 1, Filter(role_id=record.role_id)):
            raise Conflict(f"Role {record.role_id} is the role of a user")

    def note_possible_lockout(self, before: Role, after: Role | None) -> None:
        """Check at the end if a role of users who can sign in loses the scope of everything."""
        stays = after is not None and Scope.ALL in after.scope
        held = not stays and Scope.ALL in before.scope
        if held and self._uow.passwords.can_sign_in(before.role_id, self._escalation.ways):
            self._escalation.may_lose_all = True


class UserGuard:
    """The guard of users (contract B4)."""

    def __init__(self, uow: UnitOfWork, escalation: Escalation) -> None:
        self._uow, self._escalation = uow, escalation
        # The users who are new in this unit of work, and get their first password in it.
        self._new: set[int] = set()

    def authorize(self, record: User | None, values: Mapping[str, Any]) -> None:
        """Reject callers without the old and new scopes of the user, and keys that would outlive themselves.

        Another user's new password needs a recent sign-in, as a new scope does; a new user with the role that all of
        them get needs none (spec §Endpoints 2).
        """
        held = self._escalation.held
        if held is None:
            return
        had = _scope(self._uow, record.role_id) if record else ()
        has = _scope(self._uow, values["role_id"]) if "role_id" in values else had
        self._escalation.check(had, has, () if record else _scope(self._uow, DEFAULT_ROLE_ID))
        if self._escalation.key_of is not None and Scope.ALL in {*has} - {*had}:
            raise NotPermitted
        gets_password = values.get("password") is not None
        if record is None:
            self._new.update({values["user_id"]} if "user_id" in values else ())
        elif gets_password and record.user_id not in (held.user_id, *self._new):
            self._escalation.require_recent_sign_in()
        if gets_password and record is not None and record.user_id == self._escalation.key_of:
            raise NotPermitted
        if gets_password or (record is not None and self._could_sign_in(record.user_id)):
            # The scopes that every new user gets are not granted by the key.
            self._escalation.check_key((*_scope(self._uow, DEFAULT_ROLE_ID), *(() if gets_password else had)), has)

    def check_unused(self, record: User) -> None:
        """Accept the removal of any user, because nothing refers to users."""

    def note_possible_lockout(self, before: User, after: User | None) -> None:
        """Check at the end if a user who can sign in loses the scope of everything."""
        if after is None or Scope.ALL not in _scope(self._uow, after.role_id):
            self._escalation.note_possible_lockout(self._uow, before)

    def _could_sign_in(self, user_id: int) -> bool:
        """Return whether a user can sign in now, or could with other settings."""
        return self._uow.passwords.can_user_sign_in(user_id, USUAL_WAYS) or bool(self._uow.identities.of_user(user_id))


def _scope(uow: UnitOfWork, role_id: int) -> tuple[str, ...]:
    role = uow.records(ROLES).get(role_id)
    return role.scope if role else ()


GUARDS: Final[Mapping[Kind, type[Guard]]] = {Kind.ROLE: RoleGuard, Kind.USER: UserGuard}
