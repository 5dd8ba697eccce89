"""Differences: what leads from an earlier index to the current one (contract L2)."""

from collections.abc import Iterable, Iterator

from logoadmin.domain.publication.files.index import (
    SECTIONS,
    Fingerprints,
    Index,
    Section,
    canonical,
    hashed_name,
    unpacked_fingerprints,
)
from logoadmin.domain.publication.publication_records import PublishedIndex


def difference(index: Index, version: int, sha256: str, fingerprints: bytes) -> bytes | None:
    """Return the difference from an earlier index, of which only the fingerprints are needed.

    A reader drops the records in ``removed``, puts those in ``set`` in their place by id, and has the current index: as
    canonical JSON it has the hash in ``to``.

    Args:
        index: the current index.
        version: the version of the earlier one.
        sha256: its hash.
        fingerprints: see :func:`~logoadmin.domain.publication.files.index.packed_fingerprints`.

    Returns:
        The content of the file; None if it would not be smaller than the index.
    """
    earlier = unpacked_fingerprints(fingerprints)
    members = {"from": _end(version, sha256), "to": _end(index.version, index.sha256)}
    length = 0
    for name in SECTIONS:
        changes = _changes(index.sections[name], earlier[name])
        if changes is not None:
            members[name] = changes
            length += len(changes)
            if length >= len(index.body):
                return None
    return b"{" + b",".join(b'"%s":%s' % (name.encode(), members[name]) for name in sorted(members)) + b"}"


def named_differences(index: Index, earlier: Iterable[PublishedIndex]) -> Iterator[tuple[PublishedIndex, str, bytes]]:
    """Yield the differences from earlier indexes: each of them with the name and the content of the file."""
    for old in earlier:
        content = difference(index, old.version, old.sha256, old.fingerprints)
        if content is not None:
            yield old, hashed_name(f"from-{old.version}", content), content


def _end(version: int, sha256: str) -> bytes:
    return canonical({"sha256": sha256, "version": version})


def _changes(section: Section, earlier: Fingerprints) -> bytes | None:
    """Return the changes of a section as canonical JSON, None if there are none."""
    known = dict(earlier)
    changed = [
        place for place, (id_, fingerprint) in enumerate(section.fingerprints) if known.pop(id_, None) != fingerprint
    ]
    if not changed and not known:
        return None
    return b'{"removed":%s,"set":[%s]}' % (canonical(sorted(known)), b",".join(map(section.record, changed)))
