"""Codes and links that sign a user in once (contract O6, R5).

Codes are for users who lost their password or their factors, links for members of the host site.
"""

from functools import partial
from typing import Annotated, Any, Final

from logoadmin.domain.identity.accounts import free_user_id, other_way_in
from logoadmin.domain.identity.challenges import hashed_code, new_code
from logoadmin.domain.identity.first_start import MEMBER_ROLE
from logoadmin.domain.identity.open_sessions import SignInService
from logoadmin.domain.identity.records import NewSignInCode, SignInLink, Tokens
from logoadmin.domain.identity.roles import role_named
from logoadmin.domain.identity.sign_in_events import record_event
from logoadmin.domain.identity.sign_in_limits import limits_of
from logoadmin.domain.identity.sign_in_rules import NO_USER
from logoadmin.domain.kernel.access import ANONYMOUS, CLOCK_SKEW, PUBLIC, Caller, Permission, Scope, stored_hash
from logoadmin.domain.kernel.command import UNSET, Command
from logoadmin.domain.kernel.errors import (
    Conflict,
    DuplicateEntry,
    DuplicateUpdate,
    InvalidInput,
    LinkRefused,
    NotFound,
    NotPermitted,
    SignInRefused,
)
from logoadmin.domain.kernel.gate import Gate
from logoadmin.domain.kernel.kinds import ROLES, USERS
from logoadmin.domain.kernel.limits import Avatar, ExistingUsername, OpaqueToken, TypedCode, UserId, Username, described
from logoadmin.domain.kernel.records import User
from logoadmin.domain.kernel.unit_of_work import AnyUnitOfWork, AuditedUnitOfWork, identity_in
from logoadmin.domain.kernel.use_cases import use_case, writes
from logoadmin.ports.identity_storage import Account
from logoadmin.ports.sign_in_storage import Challenge, ChallengePurpose
from logoadmin.ports.storage import UnitOfWork

CODE_SECONDS: Final = 600
LINK_SECONDS: Final = 300


class CreateSignInCode(Command):
    """A code with which a user signs in once, instead of password and second factor."""

    keeps_answer = False

    user_id: UserId


class SignInWithCode(Command):
    """A sign-in with a code that the operator issued."""

    keeps_answer = False

    username: ExistingUsername
    code: TypedCode


class CodeSignIn(SignInService):
    """The use cases of sign-in codes."""

    @writes(Permission(Scope.USERS_WRITE, recent=True))
    def create(self, uow: AuditedUnitOfWork, command: CreateSignInCode) -> NewSignInCode:
        """Create a code that signs a user in once within 10 minutes; it replaces any other of theirs (contract O6).

        It is shown only once. No endpoint calls this: it is for the command line, and for programs that embed the
        service.

        Raises:
            NotFound: the user does not exist.
            NotPermitted: the caller does not hold all scopes of the user (contract B4), or is a service key.
            Outdated: the user has none of the versions in ``if_match``.
        """
        code = new_code(self._open_sessions.randomness)
        # Callers that may set the user's password may let them in.
        user_id = uow.records(USERS).get_for_change(command.user_id, command.if_match, password=code).user_id
        expires_at = _store(uow, _hashed_code(user_id, code), "sign_in_code", user_id, CODE_SECONDS)
        record_event(uow, "sign_in_code_made", user_id, uow.caller, uow.now)
        return NewSignInCode(user_id, code, expires_at)

    @use_case(PUBLIC)
    def sign_in(self, gate: Gate, command: SignInWithCode, caller: Caller = ANONYMOUS) -> Tokens:
        """Begin a session with a code, whatever factors the user has; their other sessions end (contract O6).

        Raises:
            SignInRefused: the name or the code is wrong, or the code was used or has expired.
            TooManySignIns: there were too many failed attempts.
        """
        with self._open_sessions.attempt(gate, caller) as attempt:
            # A code stays usable while the name is under attack.
            limits = limits_of(attempt.networks, command.username, guessable=False)
            attempt.count(lambda uow: (uow.identity.passwords.account(command.username), limits))

            def begin(uow: AuditedUnitOfWork, command: SignInWithCode) -> Tokens:
                account = identity_in(uow).passwords.account(command.username)
                user_id = NO_USER if account is None else account.user_id
                if _redeem(uow, _hashed_code(user_id, command.code), "sign_in_code", CODE_SECONDS) is None:
                    raise SignInRefused("Incorrect username or code")
                # Other sessions may be somebody else's.
                self._open_sessions.end_all(uow, user_id)
                return self._open_sessions.begin(uow, attempt, account, "sign_in_code")

            return gate.write(command, attempt.client, begin)


class CreateLink(Command):
    """A link that signs a member of the host site in once, and creates their user if it does not exist."""

    keeps_answer = False

    user_id: Annotated[
        UserId, described("The member's number at the site; omitted for a new user without one.", 1042)
    ] = UNSET
    username: Annotated[Username, described("The name; if omitted, an existing user keeps theirs.", "Mia")] = UNSET
    avatar: Annotated[
        Avatar | None,
        described("The avatar; if omitted, an existing user keeps theirs.", "https://site.example/avatars/1042.png"),
    ] = UNSET


class SignInWithLink(Command):
    """A sign-in with a link."""

    keeps_answer = False

    link: OpaqueToken


class LinkSignIn(SignInService):
    """The use cases of links."""

    @writes(Permission(Scope.USERS_WRITE))
    def create(self, uow: AuditedUnitOfWork, command: CreateLink) -> SignInLink:
        """Create a link that signs a user in once within 5 minutes; it replaces any other of theirs (contract R5).

        A missing user is created with the role ``member``; an existing one gets the name and the avatar. Without a
        number, the user is always new, and without a name always existing.

        Raises:
            InvalidInput: neither a number nor a name is given.
            NotFound: no user has the number, and no name is given.
            LinkRefused: the caller does not hold all scopes of the user, or is a service key that the access would
                outlast; or the user has a password, a second factor or an identity of an issuer to sign in with.
            RecentSignInRequired: the caller is a user who signed in more than 10 minutes ago.
            DuplicateEntry: another user has the name.
            Conflict: no role has the name ``member``, the user is suspended, or all numbers are taken.
        """
        if command.username is UNSET and command.user_id is UNSET:
            raise InvalidInput.of("Field required", "username", type_="missing")
        users, link = uow.records(USERS), self._open_sessions.randomness.text()
        user = None if command.user_id is UNSET else users.get(command.user_id)
        if user is None and command.username is UNSET:
            raise NotFound(USERS.name, command.user_id)
        user = _create_user(uow, command) if user is None else _update_user(uow, user, command)
        # Callers that may set the user's password may let them in.
        users.authorize(user, password=link)
        rights = " ".join(_scope_of(uow, user))
        expires_at = _store(uow, _hashed_link(link), "link", user.user_id, LINK_SECONDS, rights)
        record_event(uow, "link_made", user.user_id, uow.caller, uow.now)
        return SignInLink(link, expires_at)

    @use_case(PUBLIC)
    def sign_in(self, gate: Gate, command: SignInWithLink, caller: Caller = ANONYMOUS) -> Tokens:
        """Begin a session with a link (contract R5).

        Raises:
            SignInRefused: the link is wrong, was used or has expired; or its user has since got another way to sign in,
                or more rights.
            TooManySignIns: there were too many failed attempts.
        """
        with self._open_sessions.attempt(gate, caller, partial(_account_of, command.link)) as attempt:
            attempt.count()

            def begin(uow: AuditedUnitOfWork, command: SignInWithLink) -> Tokens:
                user = _user_of_link(uow, command.link)
                if user is None:
                    raise SignInRefused("This link was used before, or has expired")
                account = identity_in(uow).passwords.account(user.user_id)
                return self._open_sessions.begin(uow, attempt, account, "link")

            return gate.write(command, attempt.client, begin)


def _create_user(uow: AuditedUnitOfWork, command: CreateLink) -> User:
    role_id = role_named(uow, MEMBER_ROLE)
    if role_id is None:
        raise Conflict(f"No role has the name {MEMBER_ROLE}: create it, with the scope {Scope.PROPOSALS_WRITE}")
    avatar = None if command.avatar is UNSET else command.avatar
    user_id = free_user_id(uow) if command.user_id is UNSET else command.user_id
    return uow.records(USERS).add(User(user_id, command.username, avatar, role_id, uow.now))


def _update_user(uow: AuditedUnitOfWork, user: User, command: CreateLink) -> User:
    """Give an existing user the name and the avatar of a link."""
    other_way = other_way_in(uow, user.user_id)
    if other_way is not None:
        raise LinkRefused(f"User {user.user_id} has {other_way}")
    try:
        uow.records(USERS).authorize(user, password="")
    except NotPermitted:
        raise LinkRefused(f"User {user.user_id} has scopes that you cannot grant") from None
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


def _user_of_link(uow: AuditedUnitOfWork, link: str) -> User | None:
    """Use up a link; return its user if it is valid now."""
    found = _redeem(uow, _hashed_link(link), "link", LINK_SECONDS)
    user = None if found is None or found.user_id is None else uow.records(USERS).get(found.user_id)
    if found is None or user is None:
        return None
    is_as_before = {*_scope_of(uow, user)} <= {*found.data.split()}
    return user if is_as_before and other_way_in(uow, user.user_id) is None else None


def _account_of(link: str, uow: UnitOfWork) -> Account | None:
    """Return the account of a link; None once it is used."""
    found = uow.identity.challenges.get(_hashed_link(link))
    if found is None or found.purpose != "link" or found.user_id is None:
        return None
    return uow.identity.passwords.account(found.user_id)


def _store(
    uow: AuditedUnitOfWork, hashed: str, purpose: ChallengePurpose, user_id: int, seconds: int, data: str = ""
) -> int:
    """Store a code or a link in place of any other of its user; return when it expires."""
    challenges, expires_at = identity_in(uow).challenges, uow.now + seconds
    challenges.drop(user_id, purpose)
    challenges.add(Challenge(hashed, purpose, user_id, data, expires_at))
    return expires_at


def _redeem(uow: AuditedUnitOfWork, hashed: str, purpose: ChallengePurpose, seconds: int) -> Challenge | None:
    """Use up a code or a link; return it if it is valid now."""
    found = identity_in(uow).challenges.get(hashed)
    if found is None or found.purpose != purpose:
        return None
    # One from a clock that was ahead is not valid for longer.
    is_valid = uow.now < found.expires_at <= uow.now + seconds + CLOCK_SKEW
    return found if identity_in(uow).challenges.take(hashed) and is_valid else None


_hashed_code: Final = partial(hashed_code, "sign-in code")
_hashed_link: Final = partial(stored_hash, "sign-in link")
