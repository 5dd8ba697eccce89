"""The index of a published gallery and the withdrawn records (contract L2, L3)."""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Any, Final

from .signatures import parsed

Record = dict[str, Any]
_KINDS: Final = ("author", "logo", "theme")


@dataclass(frozen=True, slots=True)
class Contents:
    """The content of a verified state."""

    pointer: Mapping[str, Any]  # the payload of ``latest.json``
    records: Mapping[str, Mapping[int, Record]]  # of the index, by kind and id
    withdrawn: Mapping[tuple[Any, ...], Record]  # the entries of withdrawn records, by kind, id, time and severity
    hidden: frozenset[tuple[str, int]]  # their kinds and ids

    def record(self, kind: str, record_id: int) -> Record | None:
        """Return a copy of a record, including the authors of an artwork; None if it is missing or withdrawn."""
        record = self.records.get(kind, {}).get(record_id)
        if record is None or (kind, record_id) in self.hidden:
            return None
        if kind == "author":
            return dict(record)
        authors = [self.record("author", author_id) for author_id in record.get("author_ids", ())]
        css = {} if "custom_css_file" in record else {"custom_css": ""}
        return {**css, **record, "authors": authors}


def read_contents(
    pointer: Mapping[str, Any], records: Mapping[str, Mapping[int, Record]], early: Iterable[Record], withdrawn: str
) -> Contents:
    """Return the content of a state: ``early`` are the blocked records of a rejected pointer."""
    listed = parsed(withdrawn)["withdrawn"] if withdrawn else []
    entries = {
        (each["kind"], each["id"], each["at"], each["severity"]): each
        for each in [*pointer["blocked"], *early, *listed]
    }
    return Contents(pointer, records, entries, frozenset((kind, record_id) for kind, record_id, _, _ in entries))


def read_records(index: str) -> dict[str, dict[int, Record]]:
    """Return the records of an index, by kind and id; an empty text has none."""
    if not index:
        return {kind: {} for kind in _KINDS}
    sections = parsed(index)
    return {kind: {record[f"{kind}_id"]: record for record in sections[f"{kind}s"]} for kind in _KINDS}
