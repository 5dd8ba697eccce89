"""Nobody gives others, or themselves, more than they hold (contract B4, C5): the rules of roles and users."""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Any, Final, Protocol

from logoadmin.domain.model.access import Rights, Scope
from logoadmin.domain.model.errors import Conflict, NotPermitted
from logoadmin.domain.model.kinds import ROLES, USERS
from logoadmin.domain.model.lists import Filter, Listing
from logoadmin.domain.model.records import DEFAULT_ROLE_ID, Kind, Role, User
from logoadmin.ports.storage import UnitOfWork

_ROLES_AT_ONCE: Final = 500


@dataclass(slots=True)
class Escalation:
    """What the changes of one unit of work must not do to rights, by whoever makes them.

    Attributes:
        held: what the caller may do; None where that is everything.
        may_lose_all: whether the last one who holds everything and can sign in may be among those who changed.
    """

    held: Rights | None
    may_lose_all: bool = False

    def check(self, had: Iterable[str], has: Iterable[str]) -> None:
        """Make sure that the caller holds the scopes that a role or a user had, and those that it is to have.

        Raises:
            NotPermitted: they do not.
        """
        if self.held is not None:
            self.held.require((*had, *has))

    def check_key(self, had: Iterable[str], has: Iterable[str]) -> None:
        """Make sure that a key hands out nothing: it ends, and whoever had it by then could go on (contract C5).

        Raises:
            NotPermitted: the caller is a key, and of these scopes some were not there before.
        """
        if self.key_of is not None and not Rights(self.key_of, frozenset(had)).cover(has):
            raise NotPermitted

    @property
    def key_of(self) -> int | None:
        """The id of the user whose key the caller is; None where they are no key."""
        return None if self.held is None or self.held.of_user else self.held.user_id

    def check_somebody_holds_all(self, uow: UnitOfWork) -> None:
        """Make sure at the end of the work that somebody who can sign in holds everything.

        Raises:
            Conflict: nobody would any more.
        """
        roles = uow.records(ROLES)
        listed = Listing(roles.page(-1, _ROLES_AT_ONCE), ROLES.id_of, roles.page)
        if not any(Scope.ALL in role.scope and uow.passwords.can_sign_in(role.role_id) for role in listed):
            raise Conflict(f"The last user who holds {Scope.ALL} stays as they are")


class Guard(Protocol):
    """The rules of a kind of record."""

    def __init__(self, uow: UnitOfWork, escalation: Escalation, /) -> None: ...

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

    def note_possible_lockout(self, before: Any, after: Any, /) -> None:
        """Have the end of the work look whether somebody still holds everything, where this may be the last one."""


class RoleGuard:
    """Refuses changes of a role by which somebody would gain, or everybody lose, rights (contract B4)."""

    def __init__(self, uow: UnitOfWork, escalation: Escalation) -> None:
        self._uow, self._escalation = uow, escalation

    def authorize(self, record: Role | None, values: Mapping[str, Any]) -> None:
        """Refuse who does not hold what the role holds, or is to hold; and a key that gives the role more."""
        had = record.scope if record else ()
        has = values.get("scope", had)
        self._escalation.check(had, has)
        if record is not None:
            self._escalation.check_key(had, has)

    def check_unused(self, record: Role) -> None:
        """Refuse the end of a role that somebody has or will get."""
        if record.role_id == DEFAULT_ROLE_ID:
            raise Conflict(f"Role {record.role_id} is the role of new users")
        if self._uow.records(USERS).page(-1, 1, Filter(role_id=record.role_id)):
            raise Conflict(f"Role {record.role_id} is the role of a user")

    def note_possible_lockout(self, before: Role, after: Role | None) -> None:
        """Look at the end where a role loses everything and somebody who has it can sign in."""
        stays = after is not None and Scope.ALL in after.scope
        if not stays and Scope.ALL in before.scope and self._uow.passwords.can_sign_in(before.role_id):
            self._escalation.may_lose_all = True


class UserGuard:
    """Refuses changes of a user by which somebody would gain, or everybody lose, rights (contract B4)."""

    def __init__(self, uow: UnitOfWork, escalation: Escalation) -> None:
        self._uow, self._escalation = uow, escalation

    def authorize(self, record: User | None, values: Mapping[str, Any]) -> None:
        """Refuse who does not hold what the user holds, or is to hold; and a key that would live on in the user."""
        if self._escalation.held is None:
            return
        had = self._scope(record.role_id) if record else ()
        has = self._scope(values["role_id"]) if "role_id" in values else had
        self._escalation.check(had, has)
        gets_password = values.get("password") is not None
        if gets_password and record is not None and record.user_id == self._escalation.key_of:
            raise NotPermitted
        if gets_password or (record is not None and self._uow.passwords.get(record.user_id) is not None):
            # What every new user gets is nothing that a key hands out.
            self._escalation.check_key((*self._scope(DEFAULT_ROLE_ID), *(() if gets_password else had)), has)

    def check_unused(self, record: User) -> None:
        """Let every user go: nothing refers to one."""

    def note_possible_lockout(self, before: User, after: User | None) -> None:
        """Look at the end where a user who can sign in loses everything."""
        stays = after is not None and Scope.ALL in self._scope(after.role_id)
        held = not stays and Scope.ALL in self._scope(before.role_id)
        if held and self._uow.passwords.get(before.user_id) is not None:
            self._escalation.may_lose_all = True

    def _scope(self, role_id: int) -> tuple[str, ...]:
        role = self._uow.records(ROLES).get(role_id)
        return role.scope if role else ()


GUARDS: Final[Mapping[Kind, type[Guard]]] = {Kind.ROLE: RoleGuard, Kind.USER: UserGuard}
