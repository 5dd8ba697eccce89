"""Links with which members of the host site come in (contract R5)."""

from functools import partial
from typing import Annotated, Any, Final

from logoadmin.domain.identity.accounts import free_user_id, other_way_in
from logoadmin.domain.identity.events.recording import record_event
from logoadmin.domain.identity.factors.records import SignInLink
from logoadmin.domain.identity.first_start import MEMBER_ROLE
from logoadmin.domain.identity.sessions.open_sessions import Proof
from logoadmin.domain.identity.sessions.session_records import Tokens
from logoadmin.domain.identity.sign_in.session_opening import SessionOpening
from logoadmin.domain.identity.sign_in_limits import limits_of
from logoadmin.domain.kernel.access import ANONYMOUS, CLOCK_SKEW, OWNER, PUBLIC, Caller, Permission, Scope
from logoadmin.domain.kernel.command import UNSET, Command
from logoadmin.domain.kernel.errors import (
    Conflict,
    DuplicateEntry,
    DuplicateUpdate,
    InvalidInput,
    LinkRefused,
    NotFound,
    NotPermitted,
    Problem,
    SignInRefused,
)
from logoadmin.domain.kernel.gate import Gate
from logoadmin.domain.kernel.kinds import ROLES, USERS
from logoadmin.domain.kernel.limits import Avatar, OpaqueToken, UserId, Username, described
from logoadmin.domain.kernel.lists import Filter, Listing
from logoadmin.domain.kernel.records import User
from logoadmin.domain.kernel.secret_hashes import stored_hash
from logoadmin.domain.kernel.unit_of_work import AnyUnitOfWork, AuditedUnitOfWork, identity_in
from logoadmin.domain.kernel.use_cases import Service, use_case
from logoadmin.ports.identity.sign_in_storage import Challenge
from logoadmin.ports.kernel.environment import Randomness
from logoadmin.ports.storage import UnitOfWork

LINK_SECONDS: Final = 300
_PURPOSE: Final = "link"
_ROLES_AT_ONCE: Final = 100


class CreateLink(Command):
    """A link that signs a member of the host site in once, and makes them a user if they are none yet."""

    answers_secrets = True

    user_id: Annotated[
        UserId, described("The member's number at the site; left out for a new user without one.", 1042)
    ] = UNSET
    username: Annotated[Username, described("The name; left out, that of an existing user stays.", "Mia")] = UNSET
    avatar: Annotated[
        Avatar | None,
        described("The avatar; left out, that of an existing user stays.", "https://site.example/avatars/1042.png"),
    ] = UNSET


class SignInWithLink(Command):
    """A sign-in with a link."""

    answers_secrets = True

    link: OpaqueToken


class LinkSignIn(Service):
    """The use cases of links."""

    def __init__(self, opening: SessionOpening, randomness: Randomness) -> None:
        super().__init__(opening.transactions)
        self._opening, self._randomness = opening, randomness

    @use_case(Permission(Scope.USERS_WRITE))
    def create(self, gate: Gate, command: CreateLink, caller: Caller = OWNER) -> SignInLink:
        """Create a link that signs a user in once within 5 minutes; it replaces any other of theirs (contract R5).

        The user is created with the role ``member`` if there is none, and an existing one gets the name and the avatar.
        Without a number, it is always a new user, and without a name an existing one.

        Raises:
            InvalidInput: neither a number nor a name is given.
            NotFound: no user has the number, and no name is given.
            LinkRefused: the caller does not hold all scopes of the user, or could not outlast as a service key; or the
                user has a password, a second factor or an identity of an issuer, with which they sign in.
            RecentSignInRequired: the caller is a user who signed in more than 10 minutes ago.
            DuplicateEntry: another user has the name.
            Conflict: no role has the name ``member``, the user is suspended, or all numbers are taken.
        """
        link = self._randomness.text()

        def create(uow: AuditedUnitOfWork, command: CreateLink) -> SignInLink:
            if command.username is UNSET and command.user_id is UNSET:
                raise InvalidInput([Problem(("username",), "Field required", "missing")])
            users = uow.records(USERS)
            user = None if command.user_id is UNSET else users.get(command.user_id)
            if user is None and command.username is UNSET:
                raise NotFound(USERS.name, command.user_id)
            user = _added(uow, command) if user is None else _renewed(uow, user, command)
            # Who may set a password of the user may let them in.
            users.authorize(user, password=link)
            expires_at = uow.now + LINK_SECONDS
            challenges = identity_in(uow).challenges
            challenges.drop(user.user_id, _PURPOSE)
            rights = " ".join(_scope_of(uow, user))
            challenges.add(Challenge(_hashed(link), _PURPOSE, user.user_id, rights, expires_at))
            record_event(uow, "link_made", user.user_id, caller, uow.now)
            return SignInLink(link, expires_at)

        return gate.write(command, caller, create)

    @use_case(PUBLIC)
    def sign_in(self, gate: Gate, command: SignInWithLink, caller: Caller = ANONYMOUS) -> Tokens:
        """Begin a session with a link (contract R5).

        Raises:
            SignInRefused: the link is wrong, was used or has expired; or its user can sign in otherwise by now, or got
                more rights.
            TooManySignIns: there were too many failed attempts.
        """
        with self._opening.attempt(gate, command, caller, partial(_user_of, command)) as attempt:
            limits = limits_of(attempt.client.origin)
            attempt.count(lambda _uow, _now: (limits, None))

            def prove(uow: AuditedUnitOfWork) -> Proof:
                user = _taken(uow, command.link)
                if user is None:
                    raise SignInRefused("This link was used before, or has expired")
                return Proof(user.user_id, "link")

            return attempt.open(prove)


def _added(uow: AuditedUnitOfWork, command: CreateLink) -> User:
    """Return the new user of a link."""
    roles = uow.records(ROLES)
    where = Filter(q=MEMBER_ROLE)
    named = Listing(
        roles.page(-1, _ROLES_AT_ONCE, where),
        ROLES.id_of,
        lambda after, limit: roles.page(after, limit, where),
    )
    role = next((role for role in named if role.name == MEMBER_ROLE), None)
    if role is None:
        raise Conflict(f"No role has the name {MEMBER_ROLE}: create it, with the scope {Scope.PROPOSALS_WRITE}")
    avatar = None if command.avatar is UNSET else command.avatar
    user_id = free_user_id(uow) if command.user_id is UNSET else command.user_id
    return uow.records(USERS).add(User(user_id, command.username, avatar, role.role_id, uow.now))


def _renewed(uow: AuditedUnitOfWork, user: User, command: CreateLink) -> User:
    """Return an existing user with the name and the avatar of a link."""
    other_way = other_way_in(uow, user.user_id)
    if other_way is not None:
        raise LinkRefused(user.user_id, f"has {other_way}")
    try:
        uow.records(USERS).authorize(user, password="")
    except NotPermitted:
        raise LinkRefused(user.user_id, "has scopes that you cannot grant") from None
    if not user.active:
        raise Conflict(f"User {user.user_id} is suspended")
    values: dict[str, Any] = {name: value for name, value in command.new_values().items() if name != "user_id"}
    try:
        return uow.records(USERS).amend(user.user_id, None, values)
    except DuplicateUpdate as error:
        raise DuplicateEntry(error.value, error.key) from None


def _scope_of(uow: AnyUnitOfWork, user: User) -> tuple[str, ...]:
    role = uow.records(ROLES).get(user.role_id)
    return () if role is None else role.scope


def _taken(uow: AuditedUnitOfWork, link: str) -> User | None:
    """Use up a link; return its user if it is valid now."""
    found = identity_in(uow).challenges.get(_hashed(link))
    if found is None or found.purpose != _PURPOSE or found.user_id is None:
        return None
    # A link from a clock that was ahead is not valid for longer.
    is_valid = uow.now < found.expires_at <= uow.now + LINK_SECONDS + CLOCK_SKEW
    user = uow.records(USERS).get(found.user_id)
    if not identity_in(uow).challenges.take(found.challenge_hash) or not is_valid or user is None:
        return None
    is_as_before = {*_scope_of(uow, user)} <= {*found.data.split()}
    return user if is_as_before and other_way_in(uow, user.user_id) is None else None


def _user_of(command: SignInWithLink, uow: UnitOfWork) -> int | None:
    """Return the user of a link, for events; None once it was used."""
    found = uow.identity.challenges.get(_hashed(command.link))
    return None if found is None or found.purpose != _PURPOSE else found.user_id


def _hashed(link: str) -> str:
    return stored_hash("sign-in link", link)
