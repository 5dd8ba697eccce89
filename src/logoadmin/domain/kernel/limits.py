"""Every limit of an input, once (spec §Limits, contract A1 to A3, A11, D).

Each name here is a constrained type: a command with a field of the type rejects values outside. Lengths are counted in
Unicode code points. Types for one purpose have a description and an example for the OpenAPI document; general ones,
such as :data:`Id`, get them where they are used.
"""

import json
import unicodedata
from enum import StrEnum
from typing import Annotated, Any, Final, Literal

from pydantic import AfterValidator, ConfigDict, FailFast, Field, Strict
from pydantic_core import PydanticCustomError

from logoadmin.domain.kernel.texts import (
    check_url,
    distinct_list,
    matching,
    name_text,
    pattern_text,
    plain_text,
    visible_line,
    visible_text,
)

MAX_ID: Final = 2_147_483_647
# An imported record with a higher id does not move the counter of its kind: one line could use up all ids.
MAX_COUNTED_ID: Final = 2_000_000_000
MAX_NAME: Final = 64
MAX_AVATAR: Final = 4096
MAX_PASSWORD: Final = 256
MAX_PREFERENCES: Final = 4_096  # bytes of JSON
MAX_SESSION_ID: Final = 128
MAX_ADDRESS: Final = 64
MAX_USER_AGENT: Final = 256
MAX_SCOPES: Final = 64
MAX_GALLERY_TITLE: Final = 64
MAX_ARTWORK_NAME: Final = 128
MAX_PREVIEW_URL: Final = 2048
MAX_PICTURE: Final = 8 * 1024 * 1024  # bytes of the file that is sent
MAX_TARGET: Final = 64
MAX_CUSTOM_CSS: Final = 524_288
MAX_TEXT: Final = 20_000
MAX_TAG: Final = 32
MAX_ORIGIN: Final = 128
MAX_REASON: Final = 200
MAX_CHANGE_NOTE: Final = 200
MAX_PROPOSAL_TITLE: Final = 200
MAX_PROPOSAL_NOTE: Final = 2000
MAX_DECLINE_REASON: Final = 1000
MAX_NOTICE: Final = 1_000
MAX_IDEMPOTENCY_KEY: Final = 255

CHALLENGE_EXAMPLE: Final = "vT3m0cWqYf7Kx2sNbR9hLdPzE5uJgA8iOy1tQkMwZ4c"
PICTURE_EXAMPLE: Final = "9f86d081884c7d659a2feaa0c55ad015a3bf4f1b2b0b822cd15d6c15b0f00a08"

_SHA256 = r"^[0-9a-f]{64}$"
_COLOUR = r"^#[0-9a-fA-F]{6}$"
# RFC 6749 §3.3: printable ASCII without space, quotation mark and backslash.
_SCOPE_TOKEN = r"^[\x21\x23-\x5B\x5D-\x7E]+$"
# RFC 3986 with a scheme and a host; beyond ASCII as browsers accept it, but never white space or controls. Browsers
# also read it in the OpenAPI document: JavaScript's flag `v` wants the slashes escaped.
_HTTP_URL = r"^[Hh][Tt][Tt][Pp][Ss]?:\/\/[^\s\x00-\x1f\x7f\/?#\\]+([\/?#][^\s\x00-\x1f\x7f\\]*)?$"
# Without a scheme, it is that of the page or https.
PICTURE_HOST: Final = r"(\*\.)?[a-z0-9\-]+(\.[a-z0-9\-]+)*(:[0-9]{1,5})?"
# No colon before an @ in the authority, where a browser would read a password.
# A link for visitors, or none.
GALLERY_HOME: Final = (
    r"^([Hh][Tt][Tt][Pp][Ss]?:\/\/(?![^\/?#]*@)[^\s\x00-\x1f\x7f\/?#\\]+([\/?#][^\s\x00-\x1f\x7f\\]*)?)?$"
)
_NO_PASSWORD = r"^[^:]*:\/\/(?![^\/?#]*:[^\/?#]*@)\S*$"


def _ascii_digits(text: str) -> str:
    """Return a text with the digits of other keyboards, such as full-width ones, as those of ASCII."""
    return "".join(str(unicodedata.decimal(each)) if each.isdecimal() else each for each in text)


def described(description: str, example: object) -> Any:
    """Return the description of a field in the OpenAPI document, as an argument of ``Annotated``."""
    return Field(description=description, examples=[example])


def examples(*whole: dict[str, Any]) -> ConfigDict:
    """Return the examples in the OpenAPI document of an input whose fields exclude each other."""
    return ConfigDict(json_schema_extra={"examples": [*whole]})


# Every id in a path, a query or a body (spec §Rules 1).
Id = Annotated[int, Strict(), Field(ge=0, le=MAX_ID)]
UserId = Annotated[Id, described("The id of the user.", 1042)]
RoleId = Annotated[Id, described("The id of the role.", 1)]
AuthorId = Annotated[Id, described("The id of the author.", 7)]
ThemeId = Annotated[Id, described("The id of the theme.", 7)]
LogoId = Annotated[Id, described("The id of the logo.", 12)]
LinkId = Annotated[Id, described("The id of the link.", 19)]
KeyId = Annotated[Id, described("The id of the service key.", 2)]
ChangeId = Annotated[Id, described("The id of the change. Ids rise in the order in which changes were made.", 57)]
ProposalId = Annotated[Id, described("The id of the proposal.", 3)]
EventId = Annotated[Id, described("The id of the event. Later events have higher ids.", 3071)]
CommunityId = Annotated[
    Id, described("The author's number at the community site, unique. It need not be a user of this service.", 1042)
]
UnixTime = Annotated[int, Strict(), Field(ge=0, le=2**53 - 1)]
CreatedAt = Annotated[UnixTime, described("When it was created, as Unix time in seconds.", 1_800_000_000)]
PageSize = Annotated[
    int, Strict(), Field(ge=1, le=1000), described("The maximum number of records; without it, the whole list.", 100)
]
KeySeconds = Annotated[int, Strict(), Field(ge=1, le=100 * 366 * 86_400)]
Flag = Annotated[bool, Strict()]
Active = Annotated[Flag, described("Whether the artwork is in use.", True)]
_USERNAME: Final = described(
    "The name, with at least one visible character; unique and compared exactly: `Ann` and `ann` are two.", "Ann"
)
Username = Annotated[str, *name_text(MAX_NAME), _USERNAME]
# The name of a user who may have got it before names had to be visible.
ExistingUsername = Annotated[str, *plain_text(1, MAX_NAME), _USERNAME]
RoleName = Annotated[str, *name_text(MAX_NAME), described("The name, with at least one visible character.", "editor")]
Avatar = Annotated[
    str,
    *plain_text(0, MAX_AVATAR),
    described(
        "The avatar: any text by which the site finds the picture; `null` for none.", "https://example.org/ann.png"
    ),
]
Password = Annotated[
    str,
    *plain_text(1, MAX_PASSWORD),
    Field(repr=False),
    described("The password. Only its hash is stored, and it is never returned.", "correct horse battery staple"),
]
OpaqueToken = Annotated[
    str,
    *plain_text(1, 256),
    Field(repr=False),
    described("The refresh token, usable once, for the next access token.", "Zk3v..."),
]
SessionId = Annotated[
    str,
    *plain_text(1, MAX_SESSION_ID),
    described(
        "The id of the session, the claim `sid` of its access tokens. It is not a refresh token.",
        "nR8tJ3vXq0yB6mKc1sWfZ5uHd7oLe2aPg9iTx4kVwQE",
    ),
]
FactorId = Annotated[Id, described("The id of the second factor.", 3)]
FactorName = Annotated[
    str, *name_text(MAX_NAME), described("The name that the user chose, with at least one visible character.", "Phone")
]
Challenge = Annotated[
    str,
    *plain_text(1, 128),
    Field(repr=False),
    described(
        "The challenge of the first step. It grants no access, and is valid for five minutes and one success.",
        CHALLENGE_EXAMPLE,
    ),
]
TotpCode = Annotated[
    str,
    Strict(),
    Field(repr=False, json_schema_extra={"pattern": "^[0-9]{6}$"}),
    AfterValidator(_ascii_digits),
    AfterValidator(matching("^[0-9]{6}$", "string_pattern_mismatch", "String should be six digits")),
    described("The current code of the authenticator app. Each code is valid once.", "287082"),
]
# A recovery code or a sign-in code.
TypedCode = Annotated[
    str,
    *plain_text(1, 64),
    Field(repr=False),
    described("The code, in any case, with or without hyphens and spaces.", "7KQ2-M4ZT-9A0C-X3HV-BN5E-R8WD"),
]
Action = Annotated[str, *plain_text(1, 64)]
RequestId = Annotated[
    str,
    *plain_text(1, 128),
    described("The id of the request that made the change; `null` if there was none.", "8e03978e40d5"),
]


class Origin(StrEnum):
    """The kind of request that made a change, if it was not about one record."""

    IMPORT = "import"
    UNDO = "undo"
    BULK = "bulk"
    PROPOSAL = "proposal"


ChangeNote = Annotated[
    str,
    *visible_text(MAX_CHANGE_NOTE),
    described("Why the change was made, in the user's words; at least one visible character.", "Asked for by Ann"),
]

IdempotencyKey = Annotated[str, *plain_text(1, MAX_IDEMPOTENCY_KEY)]
HashText = Annotated[str, *plain_text(1, 255), Field(repr=False)]
ArtworkName = Annotated[
    str, *name_text(MAX_ARTWORK_NAME), described("The name, with at least one visible character.", "Aurora")
]
Query = Annotated[str, *plain_text(1, 128), described("Records whose name contains this text, ignoring case.", "aur")]
BlockReason = Annotated[
    str,
    *visible_text(MAX_REASON),
    described(
        "Why it is blocked, for readers of the gallery; at least one visible character.", "It covers the sign-in form"
    ),
]
ProposalTitle = Annotated[
    str,
    *visible_text(MAX_PROPOSAL_TITLE),
    described("The subject, with at least one visible character.", "A darker Aurora"),
]
ProposalNote = Annotated[
    str, *plain_text(0, MAX_PROPOSAL_NOTE), described("A message to the reviewers.", "Easier to read at night")
]
DeclineReason = Annotated[
    str,
    *visible_text(MAX_DECLINE_REASON),
    described("Why it is declined, for its submitter; at least one visible character.", "The text is hard to read"),
]
Target = Annotated[str, *plain_text(1, MAX_TARGET), described("The part of the site to which it applies.", "forum")]
CustomCss = Annotated[
    str,
    *plain_text(0, MAX_CUSTOM_CSS),
    described("The style sheet that applies it to the site.", "body { color: #123 }"),
]
ArtworkText = Annotated[
    str, *plain_text(0, MAX_TEXT), described("The authors' text about it, in CommonMark.", "A *dark* theme.")
]


def _check_size(value: dict[str, Any]) -> dict[str, Any]:
    """Refuse an object that is too long as JSON, or that no JSON in UTF-8 can be."""
    try:
        size = len(json.dumps(value, ensure_ascii=False, allow_nan=False, separators=(",", ":")).encode())
    except (TypeError, ValueError):
        raise PydanticCustomError("json_invalid", "Input should be JSON in UTF-8") from None
    if size > MAX_PREFERENCES:
        raise PydanticCustomError("too_long", f"Input should be at most {MAX_PREFERENCES} bytes of JSON")
    return value


Preferences = Annotated[
    dict[str, Any], AfterValidator(_check_size), described("Any JSON object of at most 4 KiB.", {"look.logos": "table"})
]
PreviewUrl = Annotated[
    str,
    *pattern_text(_HTTP_URL, "Input should be an absolute http or https URL", "url_parsing", maximum=MAX_PREVIEW_URL),
    described("The URL of a preview picture: absolute, http or https.", "https://example.org/aurora.png"),
]
# The limits of new and changed records; older records, and their exports, keep their values.
NewPreviewUrl = Annotated[
    PreviewUrl,
    AfterValidator(matching(_NO_PASSWORD, "url_parsing", "Input should be a URL without a password")),
    AfterValidator(check_url),
    described(
        "The URL of a preview picture: absolute, http or https, without a password.", "https://example.org/aurora.png"
    ),
]
# Of a picture: that on which it stands out.
Ground = Literal["light", "dark"]
PictureHash = Annotated[
    str,
    *pattern_text(_SHA256, "Input should be 64 hexadecimal digits"),
    described("The picture: the SHA-256 of its stored file, in hexadecimal digits.", PICTURE_EXAMPLE),
]
ScopeToken = Annotated[
    str,
    *pattern_text(
        _SCOPE_TOKEN,
        "Scope should be printable ASCII without space, quotation mark and backslash",
        minimum=1,
        maximum=MAX_NAME,
    ),
]


# Repeated ones are dropped, the order is kept.
Scopes = Annotated[
    tuple[str, ...],
    distinct_list(ScopeToken, Field(max_length=MAX_SCOPES)),
    described("The allowed scopes, such as `logos:write`; `*` allows everything.", ["logos:write", "themes:write"]),
]
_PictureHost = Annotated[
    str,
    *pattern_text(
        f"^{PICTURE_HOST}$",
        "String should be the name of a host, such as i.example or *.example",
        maximum=261,  # a name of 253 characters, with a wildcard and a port
    ),
]
PictureHosts = Annotated[
    tuple[str, ...],
    distinct_list(_PictureHost, Field(max_length=64)),
    described("The hosts from which previews of CSS may load pictures, such as `*.example`.", ["i.example"]),
]
GalleryTitle = Annotated[
    str,
    *visible_line(MAX_GALLERY_TITLE),
    described(
        "The title of the page for visitors, with at least one visible character; `null` for the configured one.",
        "Logos of the forum",
    ),
]
GalleryHome = Annotated[
    str,
    *pattern_text(
        GALLERY_HOME, "Input should be an http or https URL without credentials", "url_parsing", maximum=MAX_PREVIEW_URL
    ),
    AfterValidator(check_url),
    described(
        "The URL to which the page for visitors links, empty for none; `null` for the configured one.",
        "https://www.example",
    ),
]
GalleryMark = Annotated[
    PictureHash,
    described("The picture beside the title, which must be stored by the service; `null` for none.", PICTURE_EXAMPLE),
]
GalleryAccent = Annotated[
    str,
    *pattern_text(_COLOUR, "Input should be a colour such as #3355cc"),
    AfterValidator(str.lower),
    described(
        "The colour of links and buttons, made lighter or darker where contrast requires it; `null` for the default.",
        "#3355cc",
    ),
]
SubmissionRules = Annotated[
    str,
    *plain_text(0, 4_000),
    described(
        "The rules for submissions, as plain text shown to submitters; empty for none.", "Logos are 300 pixels wide."
    ),
]
# As many as fit into a line; of hundreds of thousands of invalid ids, only the first is reported.
AuthorIds = Annotated[tuple[int, ...], distinct_list(Id, FailFast())]
AuthorNames = Annotated[tuple[str, ...], distinct_list(Username, FailFast())]
