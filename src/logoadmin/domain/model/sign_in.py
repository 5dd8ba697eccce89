"""What signs people in, and the rules for it (contract O)."""

from dataclasses import dataclass, field
from typing import Final, Literal

# What a session began with; of two steps, the second.
SignInFactor = Literal["password", "totp", "passkey", "recovery_code", "sign_in_code", "issuer"]

# The age up to which a sign-in is recent (contract O3).
RECENT_SECONDS: Final = 600
# Seconds by which the clocks of two machines may differ, before one finds tokens of the other not yet valid.
CLOCK_SKEW: Final = 10

# Who must enrol a second factor: nobody, everybody, or holders of any scope that changes something (contract O4).
SecondFactorPolicy = Literal["optional", "required", "required_for_admins"]


@dataclass(frozen=True, slots=True)
class Ways:
    """The ways to sign in that the settings leave open, for the last user who holds everything (contract B4, O4).

    Attributes:
        password: whether passwords are accepted.
        passkey: whether passkeys can be used.
        issuer: the OpenID Connect issuer whose users are accepted; None for no issuer.
    """

    password: bool = True
    passkey: bool = True
    issuer: str | None = None


USUAL_WAYS: Final = Ways()


@dataclass(frozen=True, slots=True)
class SignInRules:
    """The choices of the operator about signing in.

    Attributes:
        second_factor: who must enrol a second factor.
        grace_days: how long they may still do everything without one, from their first sign-in under the rule.
        min_password_length: the minimum length of new passwords, in characters; None if only the limits of the
            specification hold.
        event_days: how long security events are kept (contract O9).
        ways: the ways to sign in.
    """

    second_factor: SecondFactorPolicy = "optional"
    grace_days: int = 7
    min_password_length: int | None = None
    event_days: int = 180
    ways: Ways = field(default_factory=Ways)
