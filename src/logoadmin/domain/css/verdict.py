"""The verdict on CSS (contract L4)."""

import hashlib
from base64 import b64decode
from collections import Counter
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from threading import Lock
from types import MappingProxyType
from typing import Final
from urllib.parse import unquote_to_bytes

from cachetools import LRUCache, cached

from logoadmin.domain.css.addresses import Use
from logoadmin.domain.css.risks import risks_of
from logoadmin.domain.css.structure import structure_of
from logoadmin.domain.css.tokens import tokenize
from logoadmin.domain.css.urls import host_of
from logoadmin.domain.model.css import Form, Risk, Verdict

# How much memory the findings of texts may take, in bytes.
MAX_REMEMBERED: Final = 32 * 1024 * 1024
MAX_RISKS: Final = 20  # of each kind
# Style sheets in ``data:`` URLs that are read, one inside the other.
_MAX_LEVELS: Final = 4


@dataclass(frozen=True, slots=True)
class _Import:
    url: str
    line: int
    column: int


@dataclass(frozen=True, slots=True)
class _Findings:
    """What a text says itself, without what it imports."""

    hosts: frozenset[str]
    imports: tuple[_Import, ...]
    risks: tuple[Risk, ...]
    size: int

    @property
    def memory(self) -> int:
        """About how many bytes they take."""
        texts = sum(map(len, self.hosts)) + sum(len(each.url) for each in self.imports)
        return 600 + 4 * texts + 100 * (len(self.hosts) + len(self.imports) + len(self.risks))


def judge(css: str, form: Form, pinned: Mapping[str, str] = MappingProxyType({})) -> Verdict:
    """Return the verdict on a text; it is remembered for each distinct text.

    Args:
        css: any text whatsoever.
        form: its grammar: ``declarations`` for a logo, ``sheet`` for a theme.
        pinned: the text of each pinned sheet by the URL of its import, nested ones by ``<sha256>.css``. A browser gets
            these from the gallery, so the host of the import is not contacted; what they contain is.
    """
    own = _findings(css, form)
    hosts, risks, size = set(own.hosts), list(own.risks), own.size
    # The imports to follow, with the place in the text and the level of the import in it.
    waiting = [(each.url, each.line, each.column, 0) for each in own.imports]
    followed: set[str] = set()
    for url, line, column, level in waiting:
        if url in followed:
            continue
        followed.add(url)
        sheet = pinned.get(url)
        if sheet is None and level < _MAX_LEVELS:
            sheet = _data_sheet(url)
        if sheet is None:
            hosts.update(filter(None, (host_of(url),)))
            if _is_data(url) and level >= _MAX_LEVELS:
                risks.append(Risk("invalid", line, column))
            continue
        found = _findings(sheet, "sheet")
        hosts |= found.hosts
        risks += (Risk(name, line, column) for name in {each.risk: None for each in found.risks})
        size += found.size if url in pinned else 0
        waiting += ((each.url, line, column, level + (url not in pinned)) for each in found.imports)
    return Verdict(form, tuple(sorted(hosts)), tuple(each.url for each in own.imports), size, _limited(risks))


def _key(css: str, form: Form) -> tuple[Form, bytes]:
    return form, hashlib.sha256(css.encode("utf-8", "surrogatepass")).digest()


@cached(LRUCache(MAX_REMEMBERED, getsizeof=lambda findings: findings.memory), key=_key, lock=Lock())
def _findings(css: str, form: Form) -> _Findings:
    tokens = tokenize(css)
    structure = structure_of(tokens, form)
    hosts: set[str] = set()
    imports: list[_Import] = []
    for address in (address for block in structure.blocks for address in block.addresses):
        if address.use is Use.IMPORT:
            imports.append(_Import(address.url, address.place.source_line, address.place.source_column))
        else:
            hosts.update(filter(None, (host_of(address.url),)))
    imports.sort(key=lambda each: (each.line, each.column))
    size = len(css.encode("utf-8", "surrogatepass"))
    return _Findings(frozenset(hosts), tuple(imports), _limited(risks_of(tokens, structure)), size)


def _limited(risks: Iterable[Risk]) -> tuple[Risk, ...]:
    """Return distinct risks by place, the first of each kind if there are many."""
    counts: Counter[str] = Counter()
    limited = []
    for risk in sorted(set(risks), key=lambda each: (each.line, each.column, each.risk)):
        counts[risk.risk] += 1
        if counts[risk.risk] <= MAX_RISKS:
            limited.append(risk)
    return tuple(limited)


def _is_data(url: str) -> bool:
    return url.lstrip()[:5].lower() == "data:"


def _data_sheet(url: str) -> str | None:
    """Return the style sheet in a ``data:`` URL (WHATWG Fetch §6); None for any other URL."""
    if not _is_data(url):
        return None
    head, _, body = url.partition("#")[0].partition(",")
    content = unquote_to_bytes(body)
    if head.rstrip().lower().endswith("base64"):
        try:
            content = b64decode(content + b"==")
        except ValueError:
            return ""
    return content.decode("utf-8", "replace")
