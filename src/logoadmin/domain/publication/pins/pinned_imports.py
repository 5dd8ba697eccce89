"""The pinned imports of an artwork, as its reviewers see them (contract L5)."""

import re
from dataclasses import dataclass
from typing import Annotated, Any, Final

from pydantic import AfterValidator, Field, WithJsonSchema
from pydantic_core import PydanticCustomError

from logoadmin.domain.kernel.limits import UnixTime, described
from logoadmin.domain.kernel.records import Kind
from logoadmin.domain.publication.css.verdict import Verdict

SHA256_EXAMPLE: Final = "e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855"

_SHA256: Final = r"^[0-9a-f]{64}$"
_MOST_ACCEPTED: Final = 1_000

Sha256 = Annotated[
    str,
    Field(strict=True, pattern=_SHA256),
    described("The SHA-256 of a style sheet, in hexadecimal digits.", SHA256_EXAMPLE),
]


def _check_sheets(value: dict[str, Any]) -> dict[str, str]:
    """Refuse other values, without the place: that would be a URL, and errors repeat nothing of the input."""
    pattern = re.compile(_SHA256.removesuffix("$") + r"\Z")
    if not all(isinstance(each, str) and pattern.match(each) for each in value.values()):
        raise PydanticCustomError("string_pattern_mismatch", "Values should be SHA-256 in hexadecimal digits")
    return value


AcceptedSheets = Annotated[
    dict[str, Any],
    Field(min_length=1, max_length=_MOST_ACCEPTED),
    AfterValidator(_check_sheets),
    WithJsonSchema(
        {
            "type": "object",
            "additionalProperties": {"type": "string", "pattern": _SHA256},
            "minProperties": 1,
            "maxProperties": _MOST_ACCEPTED,
        }
    ),
    described(
        "The SHA-256 of each sheet to accept, by the imported URL; without it, all that are offered.",
        {"https://styles.example/aurora.css": SHA256_EXAMPLE},
    ),
]


@dataclass(frozen=True, slots=True)
class PinnedImport:
    """A style sheet that an artwork imports, and the copy of it that readers get."""

    url: Annotated[
        str,
        described(
            "The imported URL, as it is written; `data:` for all documents in `data:` URLs, accepted together.",
            "https://styles.example/aurora.css",
        ),
    ]
    sha256: Annotated[
        Sha256 | None, described("The SHA-256 of the pinned copy; `null` if there is none.", SHA256_EXAMPLE)
    ]
    offered: Annotated[
        Sha256 | None,
        described("The SHA-256 of what the URL has now, if that is another sheet; `null` otherwise.", SHA256_EXAMPLE),
    ]
    failure: Annotated[
        str | None,
        described(
            "Why the sheet could not be fetched when that was last tried; `null` if it could.",
            "styles.example: status 404",
        ),
    ]
    checked_at: Annotated[
        UnixTime | None,
        described("When it was last fetched, or should have been, in Unix seconds; `null` for never.", 1_800_000_000),
    ]
    difference: Annotated[
        str | None,
        described(
            "What accepting the offered sheet would change, as a unified difference of at most 64 KiB; `null` if "
            "nothing is offered.",
            "--- pinned/….css\n+++ offered/….css\n@@ -1,1 +1,1 @@\n-body { color: #123 }\n+body { color: #321 }\n",
        ),
    ] = None


_VERDICT: Final = {"form": "sheet", "hosts": [], "imports": [], "size": 23, "risks": []}
_INLINED: Final = {"css": "body { color: #123 }\n", "verdict": _VERDICT}


@dataclass(frozen=True, slots=True)
class InlinedCss:
    """The CSS of an artwork with copies of the sheets that it imports, and the verdict on it."""

    css: Annotated[
        str | None,
        described(
            "The CSS with the copies in place of their `@import`, in their layers and conditions, for previews; `null` "
            "if it is longer than 4 MiB.",
            "@media screen {\nbody { color: #123 }\n}\n",
        ),
    ]
    verdict: Annotated[Verdict, described("The verdict on it.", _VERDICT)]


@dataclass(frozen=True, slots=True)
class PinnedCopies:
    """What readers get of an artwork, and what they would get if everything that is offered were accepted."""

    pinned: Annotated[InlinedCss, described("With the pinned copies, as far as there are any.", _INLINED)]
    offered: Annotated[InlinedCss | None, described("With the offered ones; `null` if nothing is offered.", _INLINED)]


@dataclass(frozen=True, slots=True)
class CheckedRecord:
    """An active artwork whose imports were compared with what their origins have.

    Attributes:
        kind: its kind.
        id: its id.
        name: its name.
        imports: its imports; ``failure`` is that of this check.
    """

    kind: Kind
    id: int
    name: str
    imports: tuple[PinnedImport, ...]
