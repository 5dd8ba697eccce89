"""The published gallery: its files, and the records that it lacks (contract L1, L2)."""

from collections.abc import Hashable, Mapping
from dataclasses import dataclass, field
from typing import Final, Literal

from logoadmin.domain.model.records import Kind

# The names of files below `/gallery/`.
POINTER: Final = "latest.json"
READER: Final = "reader.js"


NOT_FETCHED: Final = "An imported style sheet was not fetched yet"
LeftOutReason = Literal["not_fetched", "not_pinned"]


@dataclass(frozen=True, slots=True)
class LeftOut:
    """An active record that is not published, because its imports cannot be pinned; ``reason`` is a sentence."""

    kind: Kind
    id: int
    name: str
    reason: str

    @property
    def code(self) -> LeftOutReason:
        """The reason as one of a few, for metrics: the imports are still to be fetched, or cannot be pinned."""
        return "not_fetched" if self.reason == NOT_FETCHED else "not_pinned"


@dataclass(frozen=True, slots=True)
class Publication:
    """The gallery of one moment as files.

    Attributes:
        version: the id of the last change.
        pointer: the content of ``latest.json``, signed.
        files: the content of every file that it names and of ``reader.js``, by name relative to it.
        older: the SHA-256 of the earlier indexes in storage by the name of their file: readers whose pointer comes from
            a cache may still ask for them.
        left_out: the active records that are not published, logos first, by id.
        state: what decides whether the publication is current; equal for equal states of the gallery.
    """

    version: int
    pointer: bytes = field(repr=False)
    files: Mapping[str, bytes] = field(repr=False)
    older: Mapping[str, str] = field(default_factory=dict, repr=False)
    left_out: tuple[LeftOut, ...] = ()
    state: Hashable = field(default=None, repr=False)
