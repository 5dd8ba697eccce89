"""Conditions on the version of a record or a list, as headers have them (contract F1, RFC 9110 §13.1)."""

import re
from collections.abc import Sequence
from typing import Final

from starlette.types import Scope

from logoadmin.entrypoints.http_api.compression import SUFFIX

Fields = list[tuple[bytes, bytes]]

# What only an answer with a body has to say.
_OF_THE_BODY: Final = {b"content-encoding", b"content-length", b"content-type", b"link"}
_TAG: Final = re.compile(r'(W/)?"([!#-~\x80-\xff]*)"')
_TAGS: Final = re.compile(rf"[\s,]*{_TAG.pattern}(?:\s*,[\s,]*{_TAG.pattern})*[\s,]*")
# The same version may be answered in gzip, too (contract K8).
_VERSION: Final = re.compile(f"(0|[1-9][0-9]{{0,18}})(?:{SUFFIX})?", re.ASCII)


def header_values(scope: Scope, name: bytes) -> list[str]:
    """Return the values of a header, in the order in which they were sent."""
    return [value.decode("latin-1") for key, value in scope["headers"] if key == name]


def entity_tags(sent: Sequence[str], *, weak: bool) -> frozenset[str] | None:
    """Return what is between the quotes of the entity tags in a list; None for ``*``, which any version matches.

    Args:
        sent: the values of the header; what is no list of tags names none.
        weak: whether weak tags are compared, too (RFC 9110 §8.8.3.2).
    """
    text = ", ".join(sent).strip()
    if text == "*":
        return None
    if _TAGS.fullmatch(text) is None:
        return frozenset()
    return frozenset(tag for is_weak, tag in _TAG.findall(text) if weak or not is_weak)


def if_none_match(scope: Scope) -> frozenset[int] | None:
    """Return the versions that a client has and need not be sent; None for whichever there is."""
    sent = header_values(scope, b"if-none-match")
    return _versions(entity_tags(sent, weak=True)) if sent else frozenset()


def if_match(scope: Scope) -> frozenset[int] | None:
    """Return the versions of which a client saw one; None where it does not matter."""
    sent = header_values(scope, b"if-match")
    return _versions(entity_tags(sent, weak=False)) if sent else None


def known_tag(scope: Scope, etag: bytes) -> bytes | None:
    """Return the entity tag by which a client has an answer already, in gzip or not; None if it has not."""
    sent = header_values(scope, b"if-none-match")
    if not sent:
        return None
    tags = entity_tags(sent, weak=True)
    tag = etag.decode("latin-1").strip('"')
    if tags is None or tag in tags:
        return etag
    other = tag.removesuffix(SUFFIX) if tag.endswith(SUFFIX) else f"{tag}{SUFFIX}"
    return f'"{other}"'.encode("latin-1") if other in tags else None


def unmodified(fields: Fields, tag: bytes) -> Fields:
    """Return the header fields of an answer as they are in a 304, which names what the client has."""
    kept = [field for field in fields if field[0] not in _OF_THE_BODY]
    return [(name, tag if name == b"etag" else value) for name, value in kept]


def _versions(tags: frozenset[str] | None) -> frozenset[int] | None:
    """Return the versions that tags name; those that are not ours match nothing."""
    return None if tags is None else frozenset(int(found[1]) for tag in tags if (found := _VERSION.fullmatch(tag)))
