"""The commands about second factors (contract O1, O2)."""

from typing import Annotated, Any, Final, Literal

from logoadmin.domain.identity.factors.passkey_records import PasskeyUse
from logoadmin.domain.kernel.access import PUBLIC, SIGNED_IN, Permission, Scope
from logoadmin.domain.kernel.command import UNSET, Command
from logoadmin.domain.kernel.errors import InvalidInput, Problem, SecondFactorKind
from logoadmin.domain.kernel.limits import Challenge, FactorId, FactorName, TotpCode, TypedCode, UserId, described

# The fields of the second step, one of which is given; they have the names of the factors.
_ANSWERS: Final[tuple[SecondFactorKind, ...]] = ("totp", "passkey", "recovery_code")


class ListFactors(Command):
    """The caller's own second factors."""

    permission = SIGNED_IN
    enrols = True


class EnrolTotp(Command):
    """A new secret for an authenticator app."""

    permission = SIGNED_IN
    changes_records = False
    recent = True
    enrols = True

    name: FactorName


class ConfirmTotp(Command):
    """The proof that an authenticator app has the secret, which makes it a factor."""

    permission = SIGNED_IN
    changes_records = False
    recent = True
    enrols = True

    factor_id: FactorId
    code: TotpCode


class RemoveFactor(Command):
    """The removal of one of the caller's own second factors."""

    permission = SIGNED_IN
    recent = True

    factor_id: FactorId


class ListUserFactors(Command):
    """The second factors of a user."""

    permission = Permission(Scope.USERS_READ)

    user_id: UserId


class RemoveUserFactors(Command):
    """The removal of all second factors of a user, who has lost them."""

    permission = Permission(Scope.USERS_WRITE)
    recent = True

    user_id: UserId


class CountRecoveryCodes(Command):
    """The number of the caller's recovery codes that are left."""

    permission = SIGNED_IN
    enrols = True


class MakeRecoveryCodes(Command):
    """Ten new recovery codes, in place of those that are left."""

    permission = SIGNED_IN
    changes_records = False
    recent = True
    enrols = True


class SignInWithFactor(Command):
    """The second step of a sign-in, with one of the factors that the first one named."""

    permission = PUBLIC
    changes_records = False

    grant_type: Annotated[
        Literal["second_factor"], described("`second_factor`, after the first step.", "second_factor")
    ]
    challenge: Challenge
    totp: TotpCode = UNSET
    passkey: PasskeyUse = UNSET
    recovery_code: TypedCode = UNSET

    def model_post_init(self, _: Any, /) -> None:
        """Require exactly one answer.

        Raises:
            InvalidInput: there is none, or more than one.
        """
        given = [kind for kind in _ANSWERS if getattr(self, kind) is not UNSET]
        if len(given) != 1:
            text = f"Input should have one of {', '.join(_ANSWERS)}"
            problem = Problem((given[1],), text, "value_error") if given else Problem((_ANSWERS[0],), text, "missing")
            raise InvalidInput([problem])

    @property
    def answer(self) -> tuple[SecondFactorKind, Any]:
        """The kind of factor, and its answer to the challenge."""
        return next((kind, getattr(self, kind)) for kind in _ANSWERS if getattr(self, kind) is not UNSET)
