"""The settings about signing in (contract O)."""

from typing import Annotated

from pydantic import Field

from logoadmin.domain.identity.sign_in_rules import SecondFactorPolicy
from logoadmin.settings.single_sign_on import SingleSignOnSettings
from logoadmin.settings.values import CaseInsensitive, FactorKey, PublicUrlText


class SignInSettings(SingleSignOnSettings):
    """A part of :class:`~logoadmin.settings.settings.Settings`."""

    public_url: PublicUrlText | None = Field(
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
    second_factor: Annotated[SecondFactorPolicy, CaseInsensitive] = Field(
        "optional",
        description=("whether a second factor is `optional`, or `required` of everybody who may change something"),
    )
    factor_key: FactorKey | None = Field(
        None,
        description=(
            "the key that encrypts the secrets of second factors in the database, at least 32 characters; former keys "
            "may follow, separated by commas; by default a key in the database"
        ),
    )
    event_days: int = Field(180, ge=1, le=3_660, description="how long security events are kept; 1 to 3660")
