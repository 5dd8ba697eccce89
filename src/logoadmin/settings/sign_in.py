"""The settings about signing in (contract O)."""

from typing import Any, Final

from pydantic import Field, SecretStr, field_validator
from pydantic_core import PydanticCustomError

from logoadmin.domain.identity.sign_in_rules import SecondFactorPolicy
from logoadmin.domain.kernel.public_url import public_url
from logoadmin.settings.single_sign_on import SingleSignOnSettings

_MIN_FACTOR_KEY: Final = 32


class SignInSettings(SingleSignOnSettings):
    """A part of :class:`~logoadmin.settings.settings.Settings`."""

    public_url: str | None = Field(
        None,
        description=(
            "the [URL that browsers open](secure.md#the-public-url), such as `https://gallery.example`; by default "
            "`http://localhost:PORT`, followed by `root_path`"
        ),
    )
    password_sign_in: bool = Field(True, description="whether people can sign in with a password")
    min_password_length: int = Field(
        8,
        ge=1,
        le=64,
        description=(
            "the minimum length of new passwords under the access policy `guarded`; 1 to 64. From 8 on, the most "
            "common passwords are refused as well"
        ),
    )
    second_factor: SecondFactorPolicy = Field(
        "optional",
        description=(
            "who must have a second factor: `optional`, `required` (everybody) or `required_for_admins` "
            "(everybody who may change something)"
        ),
    )
    second_factor_grace_days: int = Field(
        7, ge=0, le=366, description="for how many days after their first sign-in they may do without one; up to 366"
    )
    factor_key: SecretStr | None = Field(
        None,
        description=(
            "the key that encrypts the secrets of second factors in the database, at least 32 characters; former keys "
            "may follow, separated by commas; by default a key in the database"
        ),
    )
    event_days: int = Field(180, ge=1, le=3_660, description="how long security events are kept; 1 to 3660")

    @field_validator("public_url")
    @classmethod
    def _is_public_url(cls, value: str | None) -> str | None:
        try:
            return None if value is None else public_url(value).base
        except ValueError as error:
            raise PydanticCustomError("public_url", "{text}", {"text": str(error)}) from None

    @field_validator("factor_key")
    @classmethod
    def _is_long(cls, value: SecretStr | None) -> SecretStr | None:
        if value is not None and any(len(key) < _MIN_FACTOR_KEY for key in keys_in(value)):
            raise PydanticCustomError("factor_key", f"should have at least {_MIN_FACTOR_KEY} characters")
        return value

    @field_validator("second_factor", mode="before")
    @classmethod
    def _in_lower_case(cls, value: Any) -> Any:
        return value.lower() if isinstance(value, str) else value


def keys_in(secret: SecretStr | None) -> tuple[str, ...]:
    """Return the keys in a secret, separated by commas; none without one."""
    return () if secret is None else tuple(key.strip() for key in secret.get_secret_value().split(","))
