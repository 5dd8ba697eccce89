"""What lists show of proposals, found once when their changes are stored (contract R1)."""

from collections import Counter
from collections.abc import Iterator, Sequence
from typing import Any, Final

from logoadmin.domain.changes.proposal_commands import AmendProposal, ProposeChanges
from logoadmin.domain.changes.proposal_rules import Values, after
from logoadmin.domain.kernel.command import UNSET
from logoadmin.domain.kernel.kinds import ARTWORK_KINDS, KINDS, AnyArtworkKind
from logoadmin.domain.kernel.records import Kind
from logoadmin.domain.kernel.unit_of_work import Reading, proposals_in
from logoadmin.domain.publication.css.css_service import verdict_on
from logoadmin.domain.publication.css.targets import Targets
from logoadmin.domain.publication.css.verdict import Verdict
from logoadmin.ports.environment import Clock

# For the verdicts on all changes of one proposal together, in seconds of processor time.
_MOST_JUDGING: Final = 4.0
_MOST_SHOWN: Final = 3
_MOST_HOSTS: Final = 100
_CSS: Final = "custom_css"
_TARGET: Final = "target"


class Judge:
    """Finds the verdicts on the CSS of one proposal, which share a limit of time, while no transaction is open."""

    def __init__(self, clock: Clock, targets: Targets) -> None:
        self._clock, self._targets, self._end = clock, targets, clock.worked() + _MOST_JUDGING
        self._known: dict[tuple[Kind, str, str], Verdict] = {}

    def verdict(self, kind: AnyArtworkKind, css: str, target: str) -> Verdict:
        """Return the verdict on CSS for a target."""
        key = (kind.kind, css, target)
        if key not in self._known:
            self._known[key] = verdict_on(kind, css, self._clock, self._targets.pages(target), self._end)
        return self._known[key]

    def known(self, kind: AnyArtworkKind, record: Values) -> Verdict | None:
        """Return a verdict that was found before, or None."""
        return self._known.get((kind.kind, record[_CSS], record[_TARGET]))


def texts_to_judge(uow: Reading, command: ProposeChanges | AmendProposal) -> Iterator[tuple[AnyArtworkKind, str, str]]:
    """Yield the CSS that a command proposes, and the CSS that it would replace, each with its target."""
    changes = () if command.changes is UNSET else command.changes
    for change in changes:
        kind = _artwork_kind(change.kind)
        values = change.set or change.create or {}
        if kind is None or not {_CSS, _TARGET} & values.keys():
            continue
        record = None if change.id is None else uow.records(kind).get(change.id)
        before = () if record is None else (record.custom_css, record.target)
        css, target = values.get(_CSS, *before[:1]), values.get(_TARGET, *before[1:])
        if isinstance(css, str) and isinstance(target, str):
            yield kind, css, target
        if before:
            yield kind, *before
    earlier = proposals_in(uow).get(command.proposal_id) if isinstance(command, AmendProposal) and changes else None
    for stored in () if earlier is None else earlier.changes:
        kind = _artwork_kind(stored["kind"])
        if kind is not None and stored["before"]:
            yield kind, stored["before"][_CSS], stored["before"][_TARGET]


def summary_of(changes: Sequence[Values], judge: Judge, own_host: str) -> dict[str, Any]:
    """Return what lists show of changes, from verdicts that were found before."""
    hosts: set[str] = set()
    risks: dict[str, None] = {}
    artworks = [(kind, each) for each in changes if (kind := _artwork_kind(each["kind"])) is not None]
    for kind, change in artworks:
        old, new = change["before"], after(change)
        is_same = old is not None and new is not None and all(old[each] == new[each] for each in (_CSS, _TARGET))
        verdict = None if not new or is_same else judge.known(kind, new)
        before = judge.known(kind, old) if old else None
        if verdict is not None:
            known = {each.risk for each in before.risks} if before else set()
            hosts |= {*verdict.hosts} - {own_host, *(before.hosts if before else ())}
            risks |= dict.fromkeys(each.risk for each in verdict.risks if each.risk not in known)
    first = [after(change) or change["before"] or {} for _, change in artworks[:_MOST_SHOWN]]
    return {
        "counts": dict(Counter(change["kind"] for change in changes)),
        "names": [record["name"] for record in first],
        "pictures": [record["preview_url"] for record in first],
        "new_hosts": sorted(hosts)[:_MOST_HOSTS],
        "risks": [*risks],
        "artworks": [],
    }


def _artwork_kind(kind: str) -> AnyArtworkKind | None:
    return next((each for each in ARTWORK_KINDS if each is KINDS[Kind(kind)]), None)
