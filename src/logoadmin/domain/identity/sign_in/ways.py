"""The ways to sign in, as they are returned (contract O7)."""

from dataclasses import dataclass
from typing import Annotated

from logoadmin.domain.kernel.limits import described


@dataclass(frozen=True, slots=True)
class IssuerWay:
    """How to sign in through the issuer: the parameters of the request that a browser makes (contract O7)."""

    name: Annotated[str, described("The host of the issuer.", "login.example")]
    authorization_endpoint: Annotated[str, described("Where browsers go.", "https://login.example/authorize")]
    client_id: Annotated[str, described("The id of this service at the issuer.", "gallery")]
    redirect_uri: Annotated[str, described("Where browsers come back.", "http://localhost:8000/console/")]
    scope: Annotated[str, described("The scopes to ask for, separated by spaces.", "openid profile email")]
    issuer: Annotated[str, described("The identifier of the issuer, `iss`.", "https://login.example")]
    iss_in_response: Annotated[
        bool, described("Whether every response of the issuer has `iss`: one without it is forged.", True)
    ]


@dataclass(frozen=True, slots=True)
class IssuerFailure:
    """An issuer that cannot be used now."""

    name: Annotated[str, described("The host of the issuer.", "login.example")]
    failure: Annotated[str, described("Why it cannot be used now.", "Cannot reach the issuer login.example")]


@dataclass(frozen=True, slots=True)
class SignInWays:
    """The ways to sign in that the settings leave open (contract O7)."""

    password: Annotated[bool, described("Whether people can sign in with a password.", True)]
    passkey: Annotated[bool, described("Whether people can sign in with a passkey alone.", True)]
    public_url: Annotated[str, described("The URL that browsers open.", "http://localhost:8000")]
    issuer: Annotated[
        IssuerWay | IssuerFailure | None,
        described(
            "The issuer of single sign-on; `null` without one.",
            {"name": "login.example", "failure": "Cannot reach the issuer login.example"},
        ),
    ]
