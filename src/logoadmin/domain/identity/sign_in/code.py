"""Sign-in codes: the way back for users who lost a password or their second factors (contract O6)."""

from typing import Final

from logoadmin.domain.identity.accounts import end_sign_ins
from logoadmin.domain.identity.events.recording import record_event, user_named
from logoadmin.domain.identity.factors.records import NewSignInCode
from logoadmin.domain.identity.factors.recovery import hashed_code, new_code
from logoadmin.domain.identity.sessions.open_sessions import Proof, sessions_of
from logoadmin.domain.identity.sessions.session_records import Tokens
from logoadmin.domain.identity.sign_in.session_opening import SessionOpening
from logoadmin.domain.identity.sign_in_limits import limits_of
from logoadmin.domain.kernel.access import ANONYMOUS, CLOCK_SKEW, OWNER, PUBLIC, Anonymous, Caller, Permission, Scope
from logoadmin.domain.kernel.command import Command
from logoadmin.domain.kernel.errors import SignInRefused
from logoadmin.domain.kernel.gate import Gate
from logoadmin.domain.kernel.kinds import USERS
from logoadmin.domain.kernel.limits import ExistingUsername, TypedCode, UserId
from logoadmin.domain.kernel.unit_of_work import AuditedUnitOfWork, identity_in
from logoadmin.domain.kernel.use_cases import Service, use_case
from logoadmin.ports.identity.sign_in_storage import Challenge
from logoadmin.ports.kernel.environment import Randomness

CODE_SECONDS: Final = 600
# No user has this id, so no code belongs to it.
_NOBODY: Final = -1


class CreateSignInCode(Command):
    """A code with which a user signs in once, instead of password and second factor."""

    answers_secrets = True

    user_id: UserId


class SignInWithCode(Command):
    """A sign-in with a code that the operator handed out."""

    answers_secrets = True

    username: ExistingUsername
    code: TypedCode


class CodeSignIn(Service):
    """The use cases of sign-in codes."""

    def __init__(self, opening: SessionOpening, randomness: Randomness) -> None:
        super().__init__(opening.transactions)
        self._opening, self._randomness = opening, randomness

    @use_case(Permission(Scope.USERS_WRITE, recent=True))
    def create(self, gate: Gate, command: CreateSignInCode, caller: Caller = OWNER) -> NewSignInCode:
        """Create a code that signs a user in once within 10 minutes; it replaces any other of theirs (contract O6).

        It is shown only this once. No endpoint calls this: it is for the command line, and for programs that embed the
        service.

        Raises:
            NotFound: the user does not exist.
            NotPermitted: the caller does not hold all scopes of the user (contract B4), or is a service key.
            RecentSignInRequired: the caller signed in more than 10 minutes ago.
            Outdated: the user has none of the versions in ``if_match``.
        """
        code = new_code(self._randomness)

        def create(uow: AuditedUnitOfWork, command: CreateSignInCode) -> NewSignInCode:
            # Who may set a password of the user may let them in.
            user = uow.records(USERS).get_for_change(command.user_id, command.if_match, password=code)
            identity_in(uow).challenges.drop(user.user_id, "sign_in_code")
            expires_at = uow.now + CODE_SECONDS
            identity_in(uow).challenges.add(
                Challenge(_hashed(user.user_id, code), "sign_in_code", user.user_id, "", expires_at)
            )
            record_event(uow, "sign_in_code_made", user.user_id, caller, uow.now)
            return NewSignInCode(user.user_id, code, expires_at)

        return gate.write(command, caller, create)

    @use_case(PUBLIC)
    def sign_in(self, gate: Gate, command: SignInWithCode, caller: Caller = ANONYMOUS) -> Tokens:
        """Begin a session with a code, whatever factors the user has; their other sessions end (contract O6).

        Raises:
            SignInRefused: the name or the code is wrong, or the code was used or has expired.
            TooManySignIns: there were too many failed attempts.
        """
        with self._opening.attempt(gate, command, caller, user_named(command.username)) as attempt:
            # The way back stays open while the name is under attack: a code cannot be guessed.
            limits = limits_of(attempt.client.origin, command.username, is_known=True)
            attempt.count(lambda _uow, _now: (limits, None))

            def prove(uow: AuditedUnitOfWork) -> Proof:
                known = identity_in(uow).passwords.credentials(command.username)
                user_id = _NOBODY if known is None else known.user_id
                if not _take(uow, user_id, command.code):
                    raise SignInRefused("Incorrect username or code")
                self._end_sign_ins(uow, user_id, attempt.client)
                return Proof(user_id, "sign_in_code")

            return attempt.open(prove)

    def _end_sign_ins(self, uow: AuditedUnitOfWork, user_id: int, client: Anonymous) -> None:
        """End the sessions of a user, which somebody else may have begun."""
        ended = len(sessions_of(user_id, uow, uow.now, self._opening.tokens.lifetimes))
        end_sign_ins(uow, user_id)
        if ended:
            record_event(uow, "session_ended", user_id, client, uow.now, count=ended)


def _take(uow: AuditedUnitOfWork, user_id: int, code: str) -> bool:
    """Use up a code of a user; return whether it is valid now. For no user, it asks storage all the same."""
    found = identity_in(uow).challenges.get(_hashed(user_id, code))
    if found is None or found.purpose != "sign_in_code":
        return False
    # A code from a clock that was ahead is not valid for longer.
    is_valid = uow.now < found.expires_at <= uow.now + CODE_SECONDS + CLOCK_SKEW
    return is_valid and identity_in(uow).challenges.take(found.challenge_hash)


def _hashed(user_id: int, code: str) -> str:
    return hashed_code("sign-in code", user_id, code)
