"""Hosts in the one form in which they can be compared (contract L8)."""

import re
from contextlib import suppress
from ipaddress import ip_address
from typing import Final

_NAME: Final = re.compile(r"(?=.{1,253}\Z)[a-z0-9_-]{1,63}(\.[a-z0-9_-]{1,63})*", re.ASCII)
# Systems read such names as addresses, each in its own way: 0x7f.1, 017700000001, 127.1.
_NUMBER: Final = re.compile(r"(.*\.)?([0-9]+|0x[0-9a-f]*)", re.ASCII)


def canonical_host(text: str) -> str | None:
    """Return a name in lower case without a trailing dot, or an address without brackets; None for anything else."""
    host = text.lower().removesuffix(".")
    bare = host[1:-1] if host.startswith("[") and host.endswith("]") else host
    if "%" not in bare:  # the scope of an address
        with suppress(ValueError):
            return str(ip_address(bare))
    return host if _NAME.fullmatch(host) and not _NUMBER.fullmatch(host) else None
