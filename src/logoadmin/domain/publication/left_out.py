"""Why an active artwork is not published (contract L4, L5)."""

from typing import Final

from logoadmin.domain.kernel.kinds import AnyArtworkKind
from logoadmin.domain.kernel.records import Logo, Theme
from logoadmin.domain.publication.css.verdict import Verdict
from logoadmin.domain.publication.publication_records import HAS_IMPORT, LeftOut, LeftOutReason

_INVALID: Final = "Browsers may read its CSS in several ways, from line {line}, column {column} on. Correct it there"
_DOCUMENT: Final = (
    "A data: URL in line {line}, column {column} has a document that names other files, which some browsers load. Use "
    "an image that names none"
)


def left_out(kind: AnyArtworkKind, artwork: Logo | Theme, verdict: Verdict, *, publish_imports: bool) -> LeftOut | None:
    """Return why an active artwork is not published, and the cure; None if it is published.

    Args:
        kind: its kind.
        artwork: the artwork.
        verdict: the verdict on its CSS.
        publish_imports: whether artworks with imports are published.
    """
    found = _reason(verdict)
    if found is None and verdict.imports and not publish_imports:
        found = "import", HAS_IMPORT
    return None if found is None else LeftOut(kind.kind, kind.id_of(artwork), artwork.name, found[1], found[0])


def _reason(verdict: Verdict) -> tuple[LeftOutReason, str] | None:
    places = {risk.risk: risk for risk in reversed(verdict.risks)}
    if (invalid := places.get("invalid")) is not None:
        text = _INVALID.format(line=invalid.line, column=invalid.column)
        return "invalid", f"{verdict.reason}. Shorten it" if verdict.reason else text
    if (document := places.get("document")) is not None:
        return "document", _DOCUMENT.format(line=document.line, column=document.column)
    return None
