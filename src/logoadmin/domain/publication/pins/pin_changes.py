"""What a pin becomes when its origin was asked, and when something offered is accepted (contract L5)."""

from collections.abc import Mapping
from dataclasses import replace
from typing import Final

from logoadmin.domain.kernel.kinds import AnyArtworkKind
from logoadmin.domain.kernel.records import Logo, Theme
from logoadmin.domain.publication.css import documents_of, judge
from logoadmin.domain.publication.pins.import_trees import Outcome, Tree
from logoadmin.ports.publication.publication_storage import Pin, Pins

# The action in the history; the field of its snapshots with the SHA-256 of pinned sheets by URL, which others lack.
PINS_ACCEPTED: Final = "pins_accepted"
PINS_FIELD: Final = "pins"
# Instead of an imported URL, it stands for all documents in `data:` URLs of a record, which are accepted together: the
# sheet is a list of them, for people, and no style sheet. As an import this URL would be an empty sheet.
DOCUMENTS: Final = "data:"
# Seconds until an origin that failed is asked again, unless somebody asks for it.
RETRY_AFTER: Final = 600


def imports_of(kind: AnyArtworkKind, css: str) -> tuple[str, ...]:
    """Return the imports of the CSS of a record that can be pinned, in order and without duplicates."""
    if not may_import(css):
        return ()
    return tuple(url for url in dict.fromkeys(judge(css, kind.css_form).import_urls) if url != DOCUMENTS)


def may_import(css: str) -> bool:
    """Return False for a text that surely has no import, as most, since judging takes a while."""
    # An at-rule of this name has it in its text, or an escape.
    return "@" in css and ("\\" in css or "import" in css.lower())


def documents(kind: AnyArtworkKind, css: str, pinned: Mapping[str, str]) -> str:
    """Return the documents in `data:` URLs that readers would get with a record, one on each line; empty for none.

    Args:
        kind: the kind of the record.
        css: its CSS.
        pinned: the pinned sheets by the imports that lead to them.
    """
    # Most texts have no such URL: it has its scheme in its text, or an escape or a tab inside the scheme.
    if not any("\\" in text or "\t" in text or "data:" in text.lower() for text in (css, *pinned.values())):
        return ""
    return "".join(f"{url}\n" for url in documents_of(css, kind.css_form, pinned))


def is_due(pin: Pin | None, now: int) -> bool:
    """Return whether an import has no pinned sheet, and may be fetched."""
    # A clock that was ahead delays nothing.
    return pin is None or (pin.sheet is None and not 0 <= now - pin.checked_at < RETRY_AFTER)


def answered(pin: Pin, outcome: Outcome, now: int) -> Pin:
    """Return a pin after its origin was asked.

    The first sheet that an origin sends is pinned; a later one that differs is only offered.
    """
    if not isinstance(outcome, Tree):
        return replace(pin, failure=str(outcome), checked_at=now)
    sheet = pin.sheet or outcome.sha256
    offered = None if outcome.sha256 == sheet else outcome.sha256
    return replace(pin, sheet=sheet, offered=offered, failure=None, checked_at=now)


def repinned(pin: Pin, sheet: str | None) -> Pin:
    """Return a pin with another sheet; what its origin had when it was last asked stays offered, if that differs."""
    if pin.url == DOCUMENTS:  # they have no origin, which would offer something
        return replace(pin, sheet=sheet)
    at_origin = pin.offered or pin.sheet
    return replace(pin, sheet=sheet, offered=None if at_origin == sheet else at_origin)


def store(
    pins: Pins, kind: AnyArtworkKind, record: Logo | Theme, outcomes: Mapping[str, Outcome], asked_at: int, now: int
) -> None:
    """Store what the origins of a record's imports answered.

    An import that the record no longer has is not pinned, and an answer does not replace that of a later question.

    Args:
        pins: the pins, in a write of records, so that neither the record nor its pins change before its end.
        kind: the kind of the record.
        record: the record as it is now.
        outcomes: the outcomes by the URL of the import.
        asked_at: when the first origin was asked.
        now: the current time.
    """
    id_ = kind.id_of(record)
    known = {pin.url: pin for pin in pins.of(kind.kind, id_)}
    for url in imports_of(kind, record.custom_css):
        pin = known.get(url, Pin(kind.kind, id_, url, None, None, None, 0))
        outcome = outcomes.get(url)
        first = pin.sheet is None and isinstance(outcome, Tree)
        if outcome is None or (asked_at < pin.checked_at <= now and not first):
            continue
        if isinstance(outcome, Tree):
            for sha, css in outcome.sheets.items():
                pins.add_sheet(sha, css)
        pins.put(answered(pin, outcome, now))
