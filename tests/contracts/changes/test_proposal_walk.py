"""A random walk of all roles has the same outcome on every storage (contract G5, R1 to R3, R7)."""

from collections.abc import Callable
from contextlib import suppress
from dataclasses import asdict
from typing import Any, Final

import pytest
from hypothesis import settings
from hypothesis import strategies as st
from hypothesis.stateful import RuleBasedStateMachine, invariant, precondition, rule, run_state_machine_as_test

from logoadmin import (
    ApplyChanges,
    Caller,
    Change,
    ExportRecords,
    ListActs,
    LogoAdmin,
    LogoAdminError,
    ProposalState,
    SignedIn,
)
from logoadmin.domain.changes.history import ListChanges, RevertRequest
from logoadmin.domain.changes.member_notices import GetNotices, MarkNoticesSeen
from logoadmin.domain.changes.proposal_commands import (
    AmendProposal,
    ApplyProposal,
    DeclineProposal,
    GetProposal,
    ListProposals,
    ProposeChanges,
    WithdrawProposal,
)
from logoadmin.domain.gallery.authors import CreateAuthor
from logoadmin.domain.kernel.lists import Order
from logoadmin.ports.storage import Storage
from tests.gallery import ARTWORK, LOOK, FrozenClock, gallery_on, if_match, signed_in
from tests.options import LONG
from tests.strategies import some

APPLIED: Final = ProposalState.APPLIED
SOME_ACTS: Final[tuple[Any, ...]] = (
    {},
    {"limit": 2},
    {"kind": "logo"},
    {"kind": "theme", "id": 1},
    {"action": "logo.created"},
)
ORDERS: Final[tuple[Order, ...]] = ("asc", "desc")
# Members, with authors for 101 and 102; reviewers for some kinds; and an administrator.
SCOPES: Final = {
    **dict.fromkeys((101, 102, 103), ("proposals:write",)),
    201: ("logos:write",),
    202: ("logos:write", "themes:write", "authors:write", "proposals:write"),
    203: ("*",),
}
WHO: Final = st.sampled_from([*SCOPES])
IDS: Final = st.integers(1, 3)
# The position of a proposal, counted from the newest one.
BACK: Final = st.integers(0, 3)
REVIEWERS: Final = st.sampled_from([202, 202, 203, 203, 201, 101])
NAMES: Final = st.sampled_from(["Aurora", "Boreal", "Cirrus"])
ARTWORKS: Final = st.sampled_from(["logo", "theme"])
AUTHOR_IDS: Final = st.lists(st.integers(1, 3), max_size=2, unique=True)
# Mostly any version of a record, and sometimes an old one.
ANY: Final = 2**31 - 1
VERSIONS: Final = st.sampled_from([*[ANY] * 9, 3])


def existing(kinds: st.SearchStrategy[str], **what: st.SearchStrategy[Any]) -> st.SearchStrategy[dict[str, Any]]:
    return st.fixed_dictionaries({"kind": kinds, "id": IDS, "version": VERSIONS, **what})


CHANGES: Final = st.lists(
    st.builds(
        lambda kind, name, more: {"kind": kind, "create": {**LOOK, "name": name, **more}},
        *(ARTWORKS, NAMES, some(author_ids=AUTHOR_IDS)),
    )
    | existing(ARTWORKS, set=some(name=NAMES, active=st.booleans(), author_ids=AUTHOR_IDS))
    | existing(ARTWORKS, set=some(name=NAMES))
    | existing(st.just("author"), set=some(username=NAMES, user_id=st.sampled_from([101, 102, 103])))
    | existing(st.sampled_from(["logo", "theme", "author"]), remove=st.just(True)),
    min_size=1,
    max_size=3,
)


class Walk(RuleBasedStateMachine):
    """Each step is done on every storage by the same user, with the same request id."""

    def __init__(self, storages: dict[str, Storage]) -> None:
        super().__init__()
        self.clock = FrozenClock()
        self.galleries = {name: self.start(storage) for name, storage in storages.items()}
        self.seen: dict[int, int] = {}
        self.requests = self.proposals = 0
        self.applied: str | None = None
        for who, kind in ((103, "logo"), (101, "theme"), (103, "theme"), (102, "logo")):
            self.propose(who, [{"kind": kind, "create": LOOK}], "Aurora")

    def start(self, storage: Storage) -> LogoAdmin:
        gallery = gallery_on(storage, self.clock)
        for user_id, scope in SCOPES.items():
            signed_in(storage, *scope, user_id=user_id)
        gallery.authors.create(CreateAuthor(user_id=101, username="Ann"))
        gallery.authors.create(CreateAuthor(user_id=102, username="Ben"))
        linked = [
            {"kind": "logo", "create": {**ARTWORK, "author_ids": [1, 2]}},
            {"kind": "theme", "create": {**ARTWORK, "author_ids": [2, 1]}},
        ]
        tuple(gallery.bulk.apply(ApplyChanges.model_validate({"changes": linked})))
        return gallery

    def step(self, who: int, call: Callable[[LogoAdmin, Caller], Any]) -> None:
        """Do a step as a user on all storages, and compare the outcomes."""
        self.requests += 1
        self.clock.pass_by(1)
        caller = SignedIn(who, f"session of {who}", request_id=f"request-{self.requests}")
        outcomes = {name: outcome(gallery, caller, call) for name, gallery in self.galleries.items()}
        for name, found in outcomes.items():
            assert found == outcomes["memory"], f"{name} differs from memory"

    def id_of(self, back: int) -> int:
        """Return the id of one of the last proposals."""
        return max(1, self.proposals - back)

    def propose(self, who: int, changes: list[Any], title: str) -> None:
        def propose(gallery: LogoAdmin, caller: Caller) -> Any:
            made = gallery.proposals.propose(proposing(title, changes), caller)
            self.proposals = made.proposal_id
            return made

        self.step(who, propose)

    @rule(who=WHO, changes=CHANGES, title=NAMES)
    def propose_anything(self, who: int, changes: list[Any], title: str) -> None:
        self.propose(who, changes, title)

    @rule(who=st.sampled_from([101, 102, 103]), kind=ARTWORKS, name=NAMES)
    def propose_new(self, who: int, kind: str, name: str) -> None:
        self.propose(who, [{"kind": kind, "create": {**LOOK, "name": name}}], name)

    @rule(who=st.sampled_from([101, 102]), kind=ARTWORKS, field=st.sampled_from(["name", "target"]), value=NAMES)
    def propose_own(self, who: int, kind: str, field: str, value: str) -> None:
        self.propose(who, [{"kind": kind, "id": 1, "version": ANY, "set": {field: value}}], value)

    @rule(who=WHO, back=BACK, changes=st.none() | CHANGES, title=NAMES)
    def amend(self, who: int, back: int, changes: list[Any] | None, title: str) -> None:
        command = AmendProposal(proposal_id=self.id_of(back), title=title)
        if changes is not None:
            command = AmendProposal(proposal_id=self.id_of(back), changes=proposing(title, changes).changes)
        self.step(who, lambda gallery, caller: gallery.proposals.amend(command, caller))

    @rule(who=WHO, back=BACK)
    def look(self, who: int, back: int) -> None:
        """Record the version of a proposal, with which it can be decided."""
        id_ = self.id_of(back)

        def look(gallery: LogoAdmin, caller: Caller) -> Any:
            proposal = gallery.proposals.get(GetProposal(proposal_id=id_), caller)
            self.seen[id_] = proposal.version
            return proposal

        self.step(who, look)

    @rule(who=REVIEWERS, back=BACK, is_conditional=st.booleans())
    def apply(self, who: int, back: int, is_conditional: bool) -> None:
        id_ = self.id_of(back)
        command = ApplyProposal(proposal_id=id_)
        if is_conditional and id_ in self.seen:
            command = if_match(command, self.seen[id_])

        def apply(gallery: LogoAdmin, caller: Caller) -> Any:
            applied = gallery.proposals.apply(command, caller)
            self.applied = applied.request_id
            return applied

        self.step(who, apply)

    @precondition(lambda self: self.applied)
    @rule()
    def undo_the_last_applied(self) -> None:
        command = RevertRequest(request_id=str(self.applied))
        self.step(203, lambda gallery, caller: [*gallery.changes.revert_request(command, caller)])

    @rule(who=REVIEWERS, back=BACK)
    def decline(self, who: int, back: int) -> None:
        command = DeclineProposal(proposal_id=self.id_of(back), reason="No")
        self.step(who, lambda gallery, caller: gallery.proposals.decline(command, caller))

    @rule(who=st.sampled_from([101, 102, 103]), back=BACK)
    def withdraw(self, who: int, back: int) -> None:
        command = WithdrawProposal(proposal_id=self.id_of(back))
        self.step(who, lambda gallery, caller: gallery.proposals.withdraw(command, caller))

    def change(self, *changes: Any) -> None:
        """Change records as an administrator, between a proposal and its decision."""
        command = ApplyChanges(changes=changes)
        self.step(203, lambda gallery, caller: [*gallery.bulk.apply(command, caller)])

    @rule(changes=CHANGES)
    def change_artworks(self, changes: list[Any]) -> None:
        self.change(*changes)

    @rule(back=st.integers(0, 4))
    def undo(self, back: int) -> None:
        command = RevertRequest(request_id=f"request-{self.requests - back}")
        self.step(203, lambda gallery, caller: [*gallery.changes.revert_request(command, caller)])

    @rule(user_id=st.sampled_from([102, 103, 201]), scope=st.sampled_from([["proposals:write"], ["themes:write"], []]))
    def change_rights(self, user_id: int, scope: list[str]) -> None:
        # After the two roles of the first start, each user has their own.
        self.change({"kind": "role", "id": 3 + [*SCOPES].index(user_id), "version": ANY, "set": {"scope": scope}})

    @precondition(lambda self: self.proposals > 4)
    @rule()
    def remove_user(self) -> None:
        self.change({"kind": "user", "id": 103, "version": ANY, "remove": True})

    @rule(kind=ARTWORKS, id_=IDS)
    def block(self, kind: str, id_: int) -> None:
        self.change({"kind": kind, "id": id_, "version": ANY, "block": {"reason": "It flickers"}})

    @rule(who=WHO)
    def see_notices(self, who: int) -> None:
        self.step(who, lambda gallery, caller: gallery.member_notices.mark_seen(MarkNoticesSeen(), caller))

    @rule(who=WHO, state=st.none() | st.sampled_from(ProposalState), of=st.none() | WHO, after=st.none() | IDS)
    def list(self, who: int, state: ProposalState | None, of: int | None, after: int | None) -> None:
        def pages(gallery: LogoAdmin, caller: Caller) -> Any:
            whole = ListProposals(state=state, user_id=of, after=after)
            backwards = ListProposals(state=state, user_id=of, limit=2, order="desc")
            found: Any = [gallery.proposals.list(command, caller) for command in (whole, backwards)]
            found += (gallery.acts.list(ListActs(order=order, **where)) for order in ORDERS for where in SOME_ACTS)
            return [(page.version, page.next_after, [*page]) for page in found]

        self.step(who, pages)

    @invariant()
    def a_proposal_is_applied_while_one_of_its_changes_holds(self) -> None:
        for gallery in self.galleries.values():
            changes = [*gallery.changes.list(ListChanges())]
            # Undoing an undo makes the change hold again.
            undoers: dict[int | None, int] = {each.undoes: each.change_id for each in changes if each.undoes}
            holds: dict[int, bool] = {}
            for change in reversed(changes):
                undoer = undoers.get(change.change_id)
                holds[change.change_id] = undoer is None or not holds[undoer]
            made = [each for each in changes if each.origin == "proposal"]
            holding = {each.request_id for each in made if holds[each.change_id] and not is_own_author(each)}
            proposals = [*gallery.proposals.list(ListProposals())]
            applied = {each.request_id for each in proposals if each.state is APPLIED} - {None}
            assert applied == holding
            # A proposal that waits again, or was decided after that, has the request that applied it.
            assert {each.request_id for each in made} >= {each.request_id for each in proposals} - {None}


def is_own_author(change: Change) -> bool:
    """Return whether a change may have created the submitter's own author, who may remain without artworks."""
    after = change.after or {}
    return change.action == "author.created" and after.get("user_id") == change.submitter_id


def proposing(title: str, changes: list[Any]) -> ProposeChanges:
    return ProposeChanges(title=title, changes=tuple(changes))


def outcome(gallery: LogoAdmin, caller: Caller, call: Callable[[LogoAdmin, Caller], Any]) -> Any:
    """Return the result or error of a call, and the contents of the gallery after it."""
    try:
        answer = call(gallery, caller)
    except LogoAdminError as error:
        answer = type(error), str(error)
    lines: list[str] = []
    gallery.import_export.dump(ExportRecords(), lines.append)
    proposals = [(asdict(each), each.version) for each in gallery.proposals.list(ListProposals())]
    return answer, proposals, notices(gallery), [*gallery.changes.list(ListChanges())], lines


def notices(gallery: LogoAdmin) -> list[Any]:
    """Return the notices of the members, of whom one may be removed."""
    found: list[Any] = []
    for user_id in (101, 102, 103):
        caller = SignedIn(user_id, f"session of {user_id}")
        with suppress(LogoAdminError):
            found.append(gallery.member_notices.get(GetNotices(), caller))
    return found


@pytest.mark.slow("a long random walk")
@pytest.mark.rule("contract R1", "contract R2", "contract R3", "contract G5", "contract R7")
def test_all_storages_agree_about_proposals(fresh: Callable[[], dict[str, Storage]]) -> None:
    class Here(Walk):
        def __init__(self) -> None:
            super().__init__(fresh())

    examples = 60 if LONG else 6
    run_state_machine_as_test(Here, settings=settings(max_examples=examples, stateful_step_count=40, deadline=None))
