"""A publication: all files of the gallery of one moment (contract L2, L3, L7)."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Final

from logoadmin.domain.publication.files.contents import Contents
from logoadmin.domain.publication.files.gallery_keys import DAY, Identity
from logoadmin.domain.publication.files.index import Index, hashed_name, index_name
from logoadmin.domain.publication.files.index_differences import named_differences
from logoadmin.domain.publication.files.pointer import Pointer, file_entry, signed
from logoadmin.domain.publication.files.withdrawals import withdrawn_entry, withdrawn_file
from logoadmin.domain.publication.publication_records import READER, Publication
from logoadmin.ports.publication.publication_storage import PublishedIndex, Withdrawal

# The number of earlier indexes from which differences lead to the current one.
MOST_DIFFERENCES: Final = 10


@dataclass(frozen=True, slots=True)
class Sources:
    """What a publication is made of, read at one moment.

    Attributes:
        version: the id of the last change.
        issued: when the pointer is issued, as Unix time.
        identity: what signs it.
        contents: the records.
        earlier: the stored indexes, the newest first.
        withdrawn: the withdrawn records, the newest first.
        blocked: the blocked ones, the newest first.
    """

    version: int
    issued: int
    identity: Identity
    contents: Contents
    earlier: Sequence[PublishedIndex]
    withdrawn: Sequence[Withdrawal]
    blocked: Sequence[Withdrawal]


def assembled(sources: Sources, days: int, reader: bytes) -> tuple[Publication, Index]:
    """Return the files, and the index among them.

    An index that is the newest one in storage keeps its name, so that a change of other records, such as users, changes
    the pointer alone.

    Args:
        sources: the parts.
        days: how long the pointer is valid.
        reader: the content of ``reader.js``, empty for none.
    """
    index = sources.contents.records.index(sources.version)
    earlier = [each for each in sources.earlier if each.sha256 != index.sha256][:MOST_DIFFERENCES]
    if sources.earlier and sources.earlier[0].sha256 == index.sha256:
        index = index.of_version(sources.earlier[0].version)
    withdrawn = withdrawn_file(map(_entry, sources.withdrawn))
    deltas = _deltas(index, earlier)
    files = {
        index.name: index.body,
        hashed_name("withdrawn", withdrawn): withdrawn,
        **{entry["path"]: content for entry, content in deltas.values()},
        **{f"css/{sha256}.css": css.encode() for sha256, css in sorted(sources.contents.sheets.items())},
        **({READER: reader} if reader else {}),
    }
    pointer = _pointer(sources, days, index, withdrawn, {version: entry for version, (entry, _) in deltas.items()})
    older = {index_name(each.version, each.sha256): each.sha256 for each in earlier}
    left_out = tuple(sources.contents.left_out)
    return Publication(sources.version, signed(pointer, sources.identity.keys), files, older, left_out), index


def _pointer(
    sources: Sources, days: int, index: Index, withdrawn: bytes, deltas: Mapping[str, Mapping[str, Any]]
) -> Pointer:
    return Pointer(
        gallery=sources.identity.gallery,
        epoch=sources.identity.epoch,
        version=sources.version,
        issued=sources.issued,
        expires=sources.issued + days * DAY,
        index=file_entry(index.name, index.body),
        withdrawn=file_entry(hashed_name("withdrawn", withdrawn), withdrawn),
        deltas=deltas,
        blocked=[*map(_entry, sources.blocked)],
        next_keys=[key.jwk for key in sources.identity.keys[:-1]],
    )


def _deltas(index: Index, earlier: Sequence[PublishedIndex]) -> Mapping[str, tuple[dict[str, Any], bytes]]:
    """Return the differences by the version that they lead from, the oldest first, each with its entry."""
    return {
        str(old.version): ({**file_entry(name, content), "from_sha256": old.sha256}, content)
        for old, name, content in named_differences(index, reversed(earlier))
    }


def _entry(withdrawal: Withdrawal) -> dict[str, Any]:
    return withdrawn_entry(withdrawal.kind, withdrawal.id, withdrawal.at, withdrawal.reason)
