"""The ways to sign in, and the rules for them (contract O)."""

from collections.abc import Collection
from dataclasses import dataclass, field
from typing import Final, Literal

from logoadmin.domain.kernel.access import CLOCK_SKEW, RECENT_SECONDS

# A sign-in of this age is not recent by the clock of any machine.
NOT_RECENT_SECONDS: Final = RECENT_SECONDS + CLOCK_SKEW + 1

# No user has this id. It stands for a missing user, so that a lookup takes as many statements.
NO_USER: Final = -1

DAY: Final = 86_400  # seconds
# Lifetimes, in seconds, of an access token, and of a session that is not refreshed.
ACCESS_TOKEN_SECONDS: Final = 900
SESSION_SECONDS: Final = 30 * DAY

# Who must enrol a second factor: nobody, or holders of any scope that changes something (contract O4).
SecondFactorPolicy = Literal["optional", "required"]


@dataclass(frozen=True, slots=True)
class Ways:
    """The ways to sign in that the settings leave open, for the last user who holds everything (contract B4, O4).

    Attributes:
        issuer: the OpenID Connect issuer whose users are accepted; None for no issuer.
        issuer_reports_time: whether the issuer can report when it asked its users who they are.
    """

    password: bool = True
    passkey: bool = True
    issuer: str | None = None
    issuer_reports_time: bool = True


USUAL_WAYS: Final = Ways()


@dataclass(frozen=True, slots=True)
class SingleSignOnRules:
    """The roles of users of the issuer (contract O7). A role is its name or, if no role has that name, its id.

    The first group that a user has decides. Without a default role, users without such a group cannot sign in.
    """

    roles: tuple[tuple[str, str], ...] = ()
    default_role: str | None = None

    def role_of(self, groups: Collection[str]) -> str | None:
        """Return the role of a user with these groups; None if they have none."""
        return next((role for group, role in self.roles if group in groups), self.default_role)

    @property
    def named(self) -> tuple[str, ...]:
        """The roles that the settings name, without repetitions."""
        default = () if self.default_role is None else (self.default_role,)
        return tuple(dict.fromkeys((*(role for _, role in self.roles), *default)))


@dataclass(frozen=True, slots=True)
class SignInRules:
    """The operator's sign-in settings.

    Attributes:
        min_password_length: the minimum length of new passwords, in characters; None if only the limits of the
            specification hold.
        session_days: how long a session lasts, even if it is refreshed.
        event_days: how long security events are kept (contract O9).
    """

    second_factor: SecondFactorPolicy = "optional"
    min_password_length: int | None = None
    session_days: int = 90
    event_days: int = 180
    ways: Ways = field(default_factory=Ways)
    single_sign_on: SingleSignOnRules = field(default_factory=SingleSignOnRules)

    def session_end(self, created_at: int, expires_at: int, now: int) -> int:
        """Return when a session with these times ends unless it is refreshed: its idle or its absolute expiry.

        A clock that was ahead extends nothing (contract K7).
        """
        idle = min(expires_at, now + SESSION_SECONDS)
        return min(idle, min(created_at, now) + self.session_days * DAY)
