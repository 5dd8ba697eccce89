"""Signing in through an issuer, and the ways to sign in (contract O7).

The browser fetches a code from the issuer, and sends it here with the secrets of its sign-in. The service exchanges the
code at the issuer, and believes nothing that the browser says about the person."""

import logging
from dataclasses import dataclass
from functools import partial
from typing import Annotated, Any

from pydantic import Field, Strict

from logoadmin.domain.identity.issuer_users import IssuerUsers, Roleless, UserMissing, known_names
from logoadmin.domain.identity.open_sessions import NO_ROLE, OpenSessions, SignInService
from logoadmin.domain.identity.records import Tokens
from logoadmin.domain.identity.sign_in_attempts import Attempt
from logoadmin.domain.identity.sign_in_rules import Ways
from logoadmin.domain.kernel.access import ANONYMOUS, PUBLIC, Caller
from logoadmin.domain.kernel.command import Command
from logoadmin.domain.kernel.errors import Conflict, IssuerRefused, IssuerUnavailable, SignInForbidden
from logoadmin.domain.kernel.gate import Gate
from logoadmin.domain.kernel.limits import described
from logoadmin.domain.kernel.unit_of_work import AuditedUnitOfWork, identity_in
from logoadmin.domain.kernel.use_cases import use_case
from logoadmin.domain.public_url import PublicUrl
from logoadmin.ports.issuer import IssuedIdentity, Issuer

# RFC 6749 §A.11: printable ASCII.
_VISIBLE_ASCII = r"^[\x20-\x7E]+$"
# RFC 3986: the characters that need no escape (RFC 7636 §4.1).
_UNRESERVED = r"^[A-Za-z0-9._~\-]+$"


def _text(minimum: int, maximum: int, pattern: str) -> tuple[Any, ...]:
    return Strict(), Field(min_length=minimum, max_length=maximum, pattern=pattern, repr=False)


IssuerCode = Annotated[
    str,
    *_text(1, 4_096, _VISIBLE_ASCII),
    described("The `code` that the issuer returned to the browser, valid once.", "SplxlOBeZQQYbYS6WxSbIA"),
]
CodeVerifier = Annotated[
    str,
    *_text(43, 128, _UNRESERVED),
    described(
        "The PKCE verifier, whose SHA-256 the browser sent to the issuer.",
        "dBjftJeZ4CVP-mB92K27uhbUJU1p1r_wW1gFWFOEjXk",
    ),
]
Nonce = Annotated[
    str,
    *_text(16, 255, _UNRESERVED),
    described(
        "The nonce that the browser sent to the issuer, random for each sign-in; unused without the scope `openid`.",
        "n-0S6_WzA2Mj0S6_WzA2Mj",
    ),
]
RedirectUri = Annotated[
    str,
    *_text(1, 2_048, _VISIBLE_ASCII),
    described(
        "The `redirect_uri` of the ways to sign in, to which the issuer returned the browser.",
        "http://localhost:8000/console/",
    ),
]


@dataclass(frozen=True, slots=True)
class IssuerWay:
    """The parameters of the request with which a browser signs in through the issuer (contract O7)."""

    name: Annotated[str, described("The host of the issuer, or its name.", "login.example")]
    authorization_endpoint: Annotated[
        str, described("The URL to which browsers are sent.", "https://login.example/authorize")
    ]
    client_id: Annotated[str, described("The id of this service at the issuer.", "gallery")]
    redirect_uri: Annotated[
        str, described("The URL to which the issuer returns browsers.", "http://localhost:8000/console/")
    ]
    scope: Annotated[
        str, described("The scopes to request, separated by spaces; none if empty.", "openid profile email")
    ]
    issuer: Annotated[str, described("The identifier of the issuer in its responses, `iss`.", "https://login.example")]
    iss_in_response: Annotated[
        bool, described("Whether every response of the issuer has `iss`; if so, one without it is forged.", True)
    ]


@dataclass(frozen=True, slots=True)
class IssuerFailure:
    """An issuer that cannot be used now."""

    name: Annotated[str, described("The host of the issuer, or its name.", "login.example")]
    failure: Annotated[str, described("Why the issuer cannot be used now.", "Cannot reach the issuer login.example")]


@dataclass(frozen=True, slots=True)
class SignInWays:
    """The ways to sign in that the settings allow (contract O7)."""

    password: Annotated[bool, described("Whether people can sign in with a password.", True)]
    passkey: Annotated[bool, described("Whether people can sign in with a passkey alone.", True)]
    public_url: Annotated[str, described("The URL that browsers open.", "http://localhost:8000")]
    issuer: Annotated[
        IssuerWay | IssuerFailure | None,
        described(
            "The issuer of single sign-on; `null` if there is none.",
            {"name": "login.example", "failure": "Cannot reach the issuer login.example"},
        ),
    ]


log = logging.getLogger("logoadmin.issuer")


class SignInByIssuer(Command):
    """A sign-in through the issuer, with the code that it returned to the browser."""

    keeps_answer = False
    asks_others = True

    code: IssuerCode
    code_verifier: CodeVerifier
    nonce: Nonce
    redirect_uri: RedirectUri


class ShowWays(Command):
    """The ways to sign in."""

    asks_others = True


class IssuerSignIn(SignInService):
    """The use cases of signing in through an issuer."""

    def __init__(
        self, sessions: OpenSessions, issuer: Issuer | None, users: IssuerUsers, ways: Ways, public_url: PublicUrl
    ) -> None:
        super().__init__(sessions)
        self._issuer, self._users, self._ways, self._public_url = issuer, users, ways, public_url

    @use_case(PUBLIC)
    def ways(self, gate: Gate, _command: ShowWays, caller: Caller = ANONYMOUS) -> SignInWays:
        """Return the ways to sign in, for the sign-in page; this may ask the issuer."""
        gate.require_token(caller)
        return SignInWays(self._ways.password, self._ways.passkey, self._public_url.base, self._way_of_issuer())

    @use_case(PUBLIC)
    def sign_in(self, gate: Gate, command: SignInByIssuer, caller: Caller = ANONYMOUS) -> Tokens:
        """Begin a session of the person for whom the issuer issued a code; a new person becomes a user.

        Raises:
            SignInForbidden: there is no issuer, or the person's groups have no role.
            IssuerRefused: the code, the ID token or the redirect URI is wrong.
            IssuerUnavailable: the issuer is out of reach.
            TooManySignIns: there were too many failed attempts.
            Conflict: the last user who holds everything would get another role from their groups.
        """
        with self._open_sessions.attempt(gate, caller) as attempt:
            if self._issuer is None:
                raise SignInForbidden("Single sign-on is not set up")
            attempt.count()
            person = self._redeem(self._issuer, command, attempt.now)
            try:
                return self._open(gate, command, attempt, person)
            except Roleless:
                self._refuse(gate, command, attempt.client, person)
                raise SignInForbidden(NO_ROLE) from None

    def _way_of_issuer(self) -> IssuerWay | IssuerFailure | None:
        if self._issuer is None:
            return None
        try:
            authorization = self._issuer.authorization()
        except IssuerUnavailable as error:
            return IssuerFailure(self._issuer.name, str(error))
        return IssuerWay(
            self._issuer.name,
            authorization.endpoint,
            self._issuer.client_id,
            self._issuer.return_url,
            authorization.scope,
            authorization.issuer,
            authorization.iss_in_response,
        )

    def _redeem(self, issuer: Issuer, command: SignInByIssuer, now: int) -> IssuedIdentity:
        """Redeem the code at the issuer, outside of any transaction, and return the person."""
        if command.redirect_uri != issuer.return_url:
            log.warning(
                "Refused a sign-in: its redirect_uri is not %s, which is derived from public_url", issuer.return_url
            )
            raise IssuerRefused
        return issuer.redeem(command.code, command.code_verifier, command.nonce, now)

    def _open(self, gate: Gate, command: SignInByIssuer, attempt: Attempt, person: IssuedIdentity) -> Tokens:
        """Begin a session of a person, and create their user if it is missing."""

        def begin(uow: AuditedUnitOfWork, _command: SignInByIssuer) -> Tokens:
            account = identity_in(uow).passwords.account(self._users.signed_in(uow, person))
            # An issuer may keep people signed in, so anyone at their open screen could get this far.
            return self._open_sessions.begin(uow, attempt, account, "issuer", person.authenticated_at or 0)

        try:
            return gate.write(command, attempt.client, begin)
        except UserMissing:
            # In a write of its own, so that the history has their creation, which tells apart users with the same id.
            known = attempt.storage.snapshot(partial(known_names, person))
            gate.write(command, attempt.client, lambda uow, _command: self._users.create(uow, person, known))
            return gate.write(command, attempt.client, begin)

    def _refuse(self, gate: Gate, command: SignInByIssuer, client: Caller, person: IssuedIdentity) -> None:
        try:
            gate.write(command, client, lambda uow, _command: self._users.refuse(uow, person))
        except Conflict:
            log.warning("The issuer names no group with a role for the last user with all rights, which stay")
