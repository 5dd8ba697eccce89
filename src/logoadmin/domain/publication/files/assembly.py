"""A publication: all files of the gallery of one moment (contract L2, L3, L7)."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Final

from logoadmin.domain.publication.css.targets import NO_TARGETS, Targets
from logoadmin.domain.publication.files.contents import Contents
from logoadmin.domain.publication.files.gallery_keys import DAY, Identity
from logoadmin.domain.publication.files.index import Index, hashed_name, packed_fingerprints
from logoadmin.domain.publication.files.index_differences import named_differences
from logoadmin.domain.publication.files.page import PAGE
from logoadmin.domain.publication.files.pointer import Pointer, file_entry, signed
from logoadmin.domain.publication.files.user_style_files import UserStyles
from logoadmin.domain.publication.files.withdrawals import withdrawn_entry, withdrawn_file
from logoadmin.domain.publication.publication_records import Publication, PublishedIndex
from logoadmin.ports.publication.publication_storage import Withdrawal

# The number of earlier indexes from which differences lead to the current one.
MOST_DIFFERENCES: Final = 10


@dataclass(frozen=True, slots=True)
class Sources:
    """What a publication is made of, read at one moment.

    Attributes:
        version: the id of the last change.
        index_version: the id of the last change of a logo, a theme or an author, so that all machines give an index the
            same name, and a change of a user renews the pointer alone.
        issued: when the pointer is issued, as Unix time.
        identity: what signs it.
        contents: the records.
        withdrawn: the withdrawn records, the newest first.
        blocked: the blocked ones, the newest first.
    """

    version: int
    index_version: int
    issued: int
    identity: Identity
    contents: Contents
    withdrawn: Sequence[Withdrawal]
    blocked: Sequence[Withdrawal]


@dataclass(frozen=True, slots=True)
class Unsigned:
    """What a publication has besides the pointer and the files that it names.

    Attributes:
        files: the reader and the page.
        targets: the targets of user styles.
        url: the URL of ``/gallery/``; None if that is not known.
    """

    files: Mapping[str, bytes] = field(default_factory=dict)
    targets: Targets = NO_TARGETS
    url: str | None = None


def assembled(sources: Sources, earlier: Sequence[PublishedIndex], days: int, unsigned: Unsigned) -> Publication:
    """Return the files.

    Args:
        sources: the parts.
        earlier: the indexes that readers may have, the newest first.
        days: how long the pointer is valid.
        unsigned: what the pointer does not name.
    """
    contents = sources.contents
    index = sources.contents.records.index(sources.index_version)
    earlier = [each for each in earlier if each.sha256 != index.sha256][:MOST_DIFFERENCES]
    withdrawn = withdrawn_file(map(_entry, sources.withdrawn))
    deltas = _deltas(index, earlier)
    files = {
        index.name: index.body,
        hashed_name("withdrawn", withdrawn): withdrawn,
        **{entry["path"]: content for entry, content in deltas.values()},
        **{f"css/{sha256}.css": css.encode() for sha256, css in sorted(sources.contents.sheets.items())},
        **unsigned.files,
    }
    pointer = _pointer(sources, days, index, withdrawn, {version: entry for version, (entry, _) in deltas.items()})
    current = PublishedIndex(index.version, index.sha256, packed_fingerprints(index))
    styles = UserStyles(
        index,
        contents.sheets,
        contents.versions,
        unsigned.targets,
        sources.identity.gallery,
        unsigned.url,
        has_page=PAGE in unsigned.files,
    )
    signed_pointer = signed(pointer, sources.identity.keys)
    left_out = tuple(contents.left_out)
    return Publication(sources.version, signed_pointer, files, (current, *earlier), left_out, styles)


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
