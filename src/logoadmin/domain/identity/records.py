"""Events, sessions, tokens, keys and second factors, as they are returned (contract C, F3, O1, O2, O9)."""

import re
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Annotated, Any, Final, Literal

from logoadmin.domain.kernel.access import SignInFactor, stored_hash
from logoadmin.domain.kernel.errors import InvalidToken
from logoadmin.domain.kernel.limits import (
    Avatar,
    Challenge,
    CreatedAt,
    EventId,
    FactorId,
    FactorName,
    KeyId,
    RoleId,
    RoleName,
    Scopes,
    SessionId,
    UserId,
    Username,
    described,
)

EventName = Literal[
    "signed_in",
    "sign_in_refused",
    "sign_in_limited",
    "session_ended",
    "token_reused",
    "factor_added",
    "factor_removed",
    "recovery_codes_made",
    "key_made",
    "key_removed",
    "password_changed",
    "sign_in_code_made",
    "link_made",
    "suspended",
    "suspension_ended",
]
# Anyone can cause these, so they are counted by user, address and hour.
CountedEvent = Literal["sign_in_refused", "sign_in_limited"]


@dataclass(frozen=True, slots=True)
class SignInEvent:
    """A security event of an account. It is kept after the user is removed, and contains no secrets."""

    event_id: EventId
    at: Annotated[int, described("When it happened, in Unix seconds; if counted, the last time.", 1_800_000_000)]
    event: Annotated[EventName, described("The type of event.", "signed_in")]
    user_id: Annotated[int | None, described("The user; `null` if no user has the given name.", 1042)]
    user_name: Annotated[str | None, described("The name of the user at that time, if there was one.", "ann")] = None
    address: Annotated[
        str | None,
        described(
            "The client's address, or its network if counted; `null` if unknown, hidden or if there were many.",
            "203.0.113.7",
        ),
    ] = None
    user_agent: Annotated[
        str | None,
        described("The client's `User-Agent`, cut to 256 characters; `null` if unknown or hidden.", "curl/8.5.0"),
    ] = None
    factor: Annotated[
        str | None, described("How the user signed in, or the kind of factor that was added or removed.", "totp")
    ] = None
    count: Annotated[int, described("How often it happened within the hour; more than 1 only if counted.", 1)] = 1
    by_user_id: Annotated[int | None, described("The user who did it, if it was another user.", 1)] = None
    by_user_name: Annotated[str | None, described("The name of that user at that time.", "admin")] = None


# Secret scanners find keys by this prefix.
KEY_PREFIX: Final = "lga_"
_KEY: Final = re.compile(KEY_PREFIX + r"[A-Za-z0-9_-]{43}")


@dataclass(frozen=True, slots=True)
class Tokens:
    """The response to a sign-in or a refresh (contract C1)."""

    access_token: Annotated[
        str, described("The access token, to be sent with each request until it expires.", "eyJhbGciOi...")
    ] = field(repr=False)
    token_type: Annotated[str, described("Send the token as `Authorization: Bearer`.", "bearer")]
    expires_in: Annotated[int, described("Seconds until the access token expires.", 900)]
    refresh_token: Annotated[
        str, described("The refresh token, usable once, for the next access token.", "Zk3v...")
    ] = field(repr=False)
    scope: Annotated[
        str,
        described("The scopes allowed now, separated by spaces; `*` allows everything.", "logos:write themes:write"),
    ]


@dataclass(frozen=True, slots=True)
class EndedSession:
    """The response to ending a session: whether it existed (contract C3)."""

    ended: Annotated[bool, described("Whether a session was ended.", True)]


@dataclass(frozen=True, slots=True)
class Me:
    """The user of an access token, with their current scope (contract C3)."""

    user_id: UserId
    username: Username
    avatar: Avatar | None
    role_id: RoleId
    created_at: CreatedAt
    user_since: Annotated[
        int, described("The id of the change that created the user, which tells apart users who had the same id.", 57)
    ]
    scope: Scopes
    must_enrol: Annotated[
        bool, described("Whether the session can only enrol a second factor, which is required.", False)
    ]
    must_change_password: Annotated[
        bool, described("Whether the password was generated at the first start and must be changed first.", False)
    ]
    by_link: Annotated[
        bool,
        described("Whether the user signs in by links of the host site, without a password or a second factor.", False),
    ]
    can_step_up: Annotated[
        bool,
        described(
            "Whether the user has a way to sign in that counts as recent, as required to change second factors, set "
            "a first password and create service keys. An issuer that does not report the time of the sign-in, such "
            "as GitHub, does not count.",
            True,
        ),
    ]


@dataclass(frozen=True, slots=True)
class ListedSession:
    """A session of the user, which began with a sign-in (contract C6)."""

    session_id: SessionId
    created_at: Annotated[int, described("When the user signed in, as Unix time in seconds.", 1_800_000_000)]
    refreshed_at: Annotated[
        int | None, described("When it was last refreshed, in Unix seconds; `null` if it was not.", 1_800_003_600)
    ]
    expires_at: Annotated[
        int, described("When it expires unless it is refreshed, as Unix time in seconds.", 1_830_000_000)
    ]
    address: Annotated[str | None, described("The client's address at the sign-in; `null` if unknown.", "203.0.113.7")]
    user_agent: Annotated[
        str | None,
        described(
            "The `User-Agent` of the sign-in, cut to 256 characters; `null` if unknown.",
            "Mozilla/5.0 (X11; Linux x86_64; rv:140.0) Gecko/20100101 Firefox/140.0",
        ),
    ]
    factor: Annotated[SignInFactor, described("How the user signed in; of two steps, the second.", "totp")]
    current: Annotated[bool, described("Whether this is the session of the access token in the request.", True)]


@dataclass(frozen=True, slots=True)
class RemovedSession:
    """The response to ending a session of the user (contract C6)."""

    session_id: SessionId


@dataclass(frozen=True, slots=True)
class RemovedUserSessions:
    """The response to ending all sessions of a user: their number (contract C6)."""

    user_id: UserId
    ended: Annotated[int, described("The number of sessions that were ended.", 3)]


@dataclass(frozen=True, slots=True)
class ServiceKey:
    """A service key (contract C5), without its secret.

    The times are Unix time; None for never.
    """

    key_id: KeyId
    name: RoleName
    scope: Scopes
    created_at: CreatedAt
    expires_at: Annotated[
        int | None, described("When it expires, as Unix time in seconds; `null` for never.", 1_830_000_000)
    ]
    last_used_at: Annotated[
        int | None, described("When it was last used, to the minute, in Unix seconds; `null` for never.", None)
    ]

    def is_valid(self, now: int) -> bool:
        """Return whether it has not expired."""
        return self.expires_at is None or self.expires_at > now


@dataclass(frozen=True, slots=True)
class NewServiceKey(ServiceKey):
    """A new service key with its secret, which is shown only once."""

    key: Annotated[str, described("The service key, shown only once.", "lga_7Hq2...")] = field(repr=False)


@dataclass(frozen=True, slots=True)
class RemovedServiceKey:
    """The response to the removal of a service key."""

    key_id: KeyId


def hashed_key(token: str) -> str:
    """Return the hash of a service key, by which storage finds it; InvalidToken if no key has this form."""
    if _KEY.fullmatch(token) is None:
        raise InvalidToken
    return stored_hash("service key", token)


FactorKind = Literal["totp", "passkey"]


@dataclass(frozen=True, slots=True)
class ListedFactor:
    """A second factor, without its secret. The times are Unix time."""

    factor_id: FactorId
    kind: Annotated[FactorKind, described("`totp` for codes of an authenticator app, or `passkey`.", "totp")]
    name: FactorName
    created_at: CreatedAt
    last_used_at: Annotated[
        int | None, described("When it last signed the user in, in Unix seconds; `null` for never.", 1_800_003_600)
    ]


_CODE: Final = "7KQ2-M4ZT-9A0C-X3HV-BN5E-R8WD"


@dataclass(frozen=True, slots=True)
class NewFactor(ListedFactor):
    """A second factor that was just enrolled, with ten recovery codes if it is the user's only one."""

    recovery_codes: Annotated[
        tuple[str, ...] | None,
        described("Ten recovery codes for the first factor, shown only once; `null` for any other.", [_CODE]),
    ] = field(repr=False)


@dataclass(frozen=True, slots=True)
class NewTotp:
    """A secret for an authenticator app, which is shown only once. It becomes a factor when it is confirmed."""

    factor_id: FactorId
    secret: Annotated[
        str, described("The secret in base32, for apps without a camera.", "JBSWY3DPEHPK3PXPJBSWY3DPEHPK3PXP")
    ] = field(repr=False)
    uri: Annotated[
        str,
        described(
            "The secret as a URI, for apps on the same device.",
            "otpauth://totp/gallery.example:ann?secret=JBSWY3DPEHPK3PXPJBSWY3DPEHPK3PXP&issuer=gallery.example",
        ),
    ] = field(repr=False)


@dataclass(frozen=True, slots=True)
class PasskeyOptions:
    """Options for a browser that creates or uses a passkey."""

    challenge: Challenge = field(repr=False)
    options: Annotated[
        Mapping[str, Any],
        described(
            "The options: for a new passkey, the argument of `PublicKeyCredential.parseCreationOptionsFromJSON()`; "
            "for signing in, of `parseRequestOptionsFromJSON()`.",
            {"challenge": "AAAAAGtJ0gB2VDNt...", "rpId": "gallery.example", "userVerification": "required"},
        ),
    ]


@dataclass(frozen=True, slots=True)
class RecoveryCodesLeft:
    """The number of a user's unused recovery codes."""

    left: Annotated[int, described("The number of recovery codes that are left.", 10)]


@dataclass(frozen=True, slots=True)
class NewRecoveryCodes:
    """Ten recovery codes, which replace the previous ones."""

    recovery_codes: Annotated[
        tuple[str, ...],
        described("Recovery codes, each of which replaces the second factor once. They are shown only once.", [_CODE]),
    ] = field(repr=False)


@dataclass(frozen=True, slots=True)
class RemovedFactor:
    """The response to the removal of a second factor."""

    factor_id: FactorId


@dataclass(frozen=True, slots=True)
class RemovedUserFactors:
    """The response to the removal of all second factors of a user: their number."""

    user_id: UserId
    removed: Annotated[int, described("The number of second factors that were removed.", 2)]


@dataclass(frozen=True, slots=True)
class SignInLink:
    """The secret part of a link that signs a user in once (contract R5), which is shown only once."""

    link: str = field(repr=False)
    expires_at: int


@dataclass(frozen=True, slots=True)
class NewSignInCode:
    """A code that signs a user in once, instead of password and second factor (contract O6)."""

    user_id: UserId
    code: Annotated[str, described("The code, shown only once.", _CODE)] = field(repr=False)
    expires_at: Annotated[int, described("When it expires, as Unix time in seconds.", 1_800_000_600)]
