"""Second factors and recovery codes, as they are returned (contract O1)."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Annotated, Any, Literal

from logoadmin.domain.kernel.limits import Challenge, CreatedAt, FactorId, FactorName, UserId, described

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


_CODES = described(
    "Recovery codes, each of which replaces the second factor once. They are shown only this once.",
    ["7KQ2-M4ZT-9A0C-X3HV-BN5E-R8WD"],
)


@dataclass(frozen=True, slots=True)
class NewFactor(ListedFactor):
    """A second factor that was just enrolled, with ten recovery codes if it is the user's only one."""

    recovery_codes: Annotated[
        tuple[str, ...] | None,
        described(
            "Ten recovery codes with the first factor, shown only this once; `null` with any other.",
            ["7KQ2-M4ZT-9A0C-X3HV-BN5E-R8WD"],
        ),
    ] = field(repr=False)


@dataclass(frozen=True, slots=True)
class NewTotp:
    """A secret for an authenticator app, which is shown only this once. It is a factor once it is confirmed."""

    factor_id: FactorId
    secret: Annotated[
        str, described("The secret in base32, for apps without a camera.", "JBSWY3DPEHPK3PXPJBSWY3DPEHPK3PXP")
    ] = field(repr=False)
    uri: Annotated[
        str,
        described(
            "The same for apps on the same device.",
            "otpauth://totp/gallery.example:ann?secret=JBSWY3DPEHPK3PXPJBSWY3DPEHPK3PXP&issuer=gallery.example",
        ),
    ] = field(repr=False)
    qr_svg: Annotated[str, described("The URI as a QR code, in SVG.", "<svg>...</svg>")] = field(repr=False)


@dataclass(frozen=True, slots=True)
class PasskeyOptions:
    """Options for a browser that creates or uses a passkey."""

    challenge: Challenge = field(repr=False)
    options: Annotated[
        Mapping[str, Any],
        described(
            "The options, as `PublicKeyCredential.parseCreationOptionsFromJSON()` takes them for a new passkey, and "
            "`parseRequestOptionsFromJSON()` for signing in.",
            {"challenge": "AAAAAGtJ0gB2VDNt...", "rpId": "gallery.example", "userVerification": "required"},
        ),
    ]


@dataclass(frozen=True, slots=True)
class RecoveryCodesLeft:
    """The number of a user's recovery codes that were not used."""

    left: Annotated[int, described("The number of recovery codes that are left.", 10)]


@dataclass(frozen=True, slots=True)
class NewRecoveryCodes:
    """Ten recovery codes, which replace the former ones."""

    recovery_codes: Annotated[tuple[str, ...], _CODES] = field(repr=False)


@dataclass(frozen=True, slots=True)
class RemovedFactor:
    """The answer to the removal of a second factor."""

    factor_id: FactorId


@dataclass(frozen=True, slots=True)
class RemovedUserFactors:
    """The answer to the removal of all second factors of a user: their number."""

    user_id: UserId
    removed: Annotated[int, described("The number of second factors that were removed.", 2)]


@dataclass(frozen=True, slots=True)
class SignInLink:
    """A link that signs a user in once (contract R5)."""

    url: Annotated[
        str,
        described(
            "Where to send the member's browser, shown only this once.", "https://gallery.example/console/#link=…"
        ),
    ] = field(repr=False)
    expires_at: Annotated[int, described("When it expires, as Unix time in seconds.", 1_800_000_300)]


@dataclass(frozen=True, slots=True)
class NewSignInCode:
    """A code that signs a user in once, instead of password and second factor (contract O6)."""

    user_id: UserId
    code: Annotated[str, described("The code, shown only this once.", "7KQ2-M4ZT-9A0C-X3HV-BN5E-R8WD")] = field(
        repr=False
    )
    expires_at: Annotated[int, described("When it expires, as Unix time in seconds.", 1_800_000_600)]
