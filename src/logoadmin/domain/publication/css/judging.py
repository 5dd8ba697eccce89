"""The verdict on CSS (contract L4)."""

import hashlib
from collections import Counter
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass
from threading import BoundedSemaphore, Lock
from typing import Final

from cachetools import LRUCache, cached
from tinycss2.ast import Node

from logoadmin.domain.kernel.kinds import CssForm
from logoadmin.domain.publication.css.addresses import Address, Use
from logoadmin.domain.publication.css.data_urls import is_data_url, references_in, sheets_in
from logoadmin.domain.publication.css.pages import Condition, Pages, are_within, documents_in
from logoadmin.domain.publication.css.risks import risks_at, risks_of
from logoadmin.domain.publication.css.structure import structure_of
from logoadmin.domain.publication.css.tokens import (
    MAX_BLOCKS,
    MAX_FUNCTIONS,
    MAX_LEVELS,
    has_too_many_blocks,
    other_readings,
    tokenize,
    too_deep,
)
from logoadmin.domain.publication.css.urls import hosts_of
from logoadmin.domain.publication.css.verdict import CssImport, CssRisk, Verdict

# The size of the cache of findings, in bytes.
MAX_REMEMBERED: Final = 32 * 1024 * 1024
MAX_RISKS: Final = 20  # of each kind
# Judging more texts at once would keep the interpreter lock from everything else.
_AT_ONCE: Final = BoundedSemaphore(2)
# Levels of nested style sheets in ``data:`` URLs that are read.
_MAX_LEVELS: Final = 4
TOO_MANY: Final = f"It has more than {MAX_BLOCKS:,} blocks or {MAX_FUNCTIONS:,} functions"
TOO_DEEP: Final = f"It has blocks inside {MAX_LEVELS} others"
TOO_LONG: Final = "Judging it takes too long"


@dataclass(frozen=True, slots=True)
class _Findings:
    """The findings about a text without its imports. They do not refer to its blocks, which take much memory."""

    hosts: frozenset[str]
    imports: tuple[Address, ...]  # in order
    rules: tuple[tuple[CssRisk, Pages], ...]  # its ``@-moz-document`` rules: the risk if their pages are foreign
    risks: tuple[CssRisk, ...]
    size: int
    reason: str = ""

    @property
    def conditions(self) -> list[Condition]:
        """The conditions of its own ``@-moz-document`` rules."""
        return [each for _, pages in self.rules for each in pages]

    def risks_on(self, pages: Pages) -> Iterator[CssRisk]:
        """Yield its risks, and the rules for pages that are, or may be, outside the target's."""
        yield from self.risks
        yield from (risk for risk, own in self.rules if not (own and are_within(own, pages)))

    @property
    def memory(self) -> int:
        """Their approximate size in bytes."""
        texts = (*self.hosts, *(each.url for each in self.imports), *(each.value for each in self.conditions))
        parts = self.hosts, self.imports, self.rules, self.conditions, self.risks
        return 600 + 4 * sum(map(len, texts)) + 200 * sum(map(len, parts))


class _TooLong(Exception):
    """Judging a text takes longer than allowed."""


def judge(css: str, form: CssForm, may_go_on: Callable[[], bool] = lambda: True, pages: Pages = ()) -> Verdict:
    """Return the verdict on any text; the findings about each distinct text are cached.

    ``may_go_on`` is called several times a second; once it returns False, the verdict is ``invalid`` with that reason,
    and not cached. Every ``@-moz-document`` for other pages than those of the artwork's target is a risk.
    """
    try:
        return _judge(css, form, may_go_on, pages)
    except _TooLong:
        return Verdict(form, (), (), _size(css), (CssRisk("invalid", 1, 1),), TOO_LONG)


def _judge(css: str, form: CssForm, may_go_on: Callable[[], bool], pages: Pages) -> Verdict:
    own = _findings(css, form, may_go_on)
    hosts, risks, conditions = set(own.hosts), [*own.risks_on(pages)], own.conditions
    # The imports to follow, each with the token in the text that leads to it, and its level.
    waiting = [(each.url, each.place, 0) for each in own.imports]
    followed: set[str] = set()
    for url, place, level in waiting:
        if url in followed:
            continue
        followed.add(url)
        if level >= _MAX_LEVELS and is_data_url(url):
            risks += risks_at("invalid", [place])
            continue
        hosts.update(hosts_of(url))
        for found in (_findings(sheet, "sheet", may_go_on) for sheet in sheets_in(url)):
            hosts |= found.hosts
            for name in {each.risk: None for each in found.risks_on(pages)}:
                risks += risks_at(name, [place])
            conditions += found.conditions
            waiting += ((each.url, place, level + 1) for each in found.imports)
    imports = tuple(CssImport(each.url) for each in own.imports)
    listed = tuple(dict.fromkeys(map(str, conditions)))
    return Verdict(form, tuple(sorted(hosts)), imports, own.size, _limited(risks), own.reason, documents=listed)


def _size(css: str) -> int:
    return len(css.encode("utf-8", "surrogatepass"))


def _key(css: str, form: CssForm, _may_go_on: Callable[[], bool]) -> tuple[CssForm, bytes]:
    return form, hashlib.sha256(css.encode("utf-8", "surrogatepass")).digest()


@cached(LRUCache(MAX_REMEMBERED, getsizeof=lambda findings: findings.memory), key=_key, lock=Lock())
def _findings(css: str, form: CssForm, may_go_on: Callable[[], bool]) -> _Findings:
    with _AT_ONCE:
        return _analyze(css, form, may_go_on)


def _analyze(css: str, form: CssForm, may_go_on: Callable[[], bool]) -> _Findings:
    def go_on() -> None:
        if not may_go_on():
            raise _TooLong

    if has_too_many_blocks(css):
        return _Findings(frozenset(), (), (), (CssRisk("invalid", 1, 1),), _size(css), TOO_MANY)
    go_on()
    tokens = tokenize(css)
    go_on()
    structure = structure_of(tokens, form)
    go_on()
    own = list(structure.addresses())
    imports = sorted((each for each in own if each.use is Use.IMPORT), key=lambda each: tokens.offset(each.place))
    rules = [*documents_in(tokens)]
    for other in map(tokenize, other_readings(css)):
        go_on()
        own += structure_of(other, form).addresses()
        rules += documents_in(other)
    hosts, documents = _contacted((each for each in own if each.use is not Use.IMPORT), go_on)
    risks = [*risks_at("document", documents)]
    for found in risks_of(tokens, structure):
        go_on()
        risks.append(found)
    foreign = risks_at("foreign_document", (each.place for each in rules))
    return _Findings(
        frozenset(hosts),
        tuple(imports),
        tuple(zip(foreign, (each.conditions for each in rules), strict=True)),
        _limited(risks),
        _size(css),
        TOO_DEEP if any(too_deep(tokens.nodes)) else "",
    )


def _contacted(addresses: Iterable[Address], go_on: Callable[[], None]) -> tuple[set[str], list[Node]]:
    """Return the hosts of URLs, and the places of `data:` URLs with documents that are a risk."""
    hosts: set[str] = set()
    documents: list[Node] = []
    for each in addresses:
        go_on()
        references = references_in(each.url)
        hosts.update(*map(hosts_of, (each.url, *references.urls)))
        if references.is_risk:
            documents.append(each.place)
    return hosts, documents


def _limited(risks: Iterable[CssRisk]) -> tuple[CssRisk, ...]:
    """Return distinct risks by place, up to :data:`MAX_RISKS` of each kind."""
    counts: Counter[str] = Counter()
    limited = []
    for risk in sorted(set(risks), key=lambda each: (each.line, each.column, each.risk)):
        counts[risk.risk] += 1
        if counts[risk.risk] <= MAX_RISKS:
            limited.append(risk)
    return tuple(limited)
