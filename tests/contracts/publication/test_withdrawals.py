"""The withdrawals follow the history of artworks, for any changes in any order, on every storage (contract L3)."""

import json
from collections.abc import Callable, Iterable
from typing import Any, Final

import pytest
from hypothesis import settings
from hypothesis import strategies as st
from hypothesis.stateful import RuleBasedStateMachine, invariant, rule, run_state_machine_as_test

from logoadmin import ApplyChanges, Change, ImportRecords, Kind, LogoAdmin, LogoAdminError, Owner, Revert, RevertRequest
from logoadmin.adapters.memory_storage import MemoryStorage
from logoadmin.domain.gallery import artworks
from logoadmin.domain.kernel.command import Command
from logoadmin.ports.gallery_storage import Withdrawal
from logoadmin.ports.storage import Storage
from tests.gallery import ARTWORK, FrozenClock, ask, gallery_on, history
from tests.options import LONG

KINDS = st.sampled_from([Kind.LOGO, Kind.THEME])
IDS = st.integers(1, 2)
NAMES = st.sampled_from(["Aurora", "Boreal"])
REASONS = st.sampled_from(["It flickers", "It covers the sign-in form"])
# The position of a change or a request, counted from the newest one.
PLACES = st.integers(0, 4)
LATEST: Final = 10**6


def withdrawals_of(changes: Iterable[Change]) -> dict[tuple[Kind, int], Withdrawal]:
    """Return the expected withdrawals after a history, derived only from its snapshots."""
    withdrawn: dict[tuple[Kind, int], Withdrawal] = {}
    for change in changes:
        if change.kind not in (Kind.LOGO, Kind.THEME):
            continue
        key = change.kind, change.id
        known = withdrawn.get(key)
        was_active = change.before is not None and change.before["active"]
        if change.after is not None and change.after["active"]:
            assert "blocked" not in change.after
            withdrawn.pop(key, None)
            continue
        reason = None if change.after is None else change.after.get("blocked")
        if change.before is None or change.after is None:
            # A created or removed record keeps its block; a restored one may have been blocked when it was removed.
            reason = reason or (None if known is None else known.reason)
        is_other = reason != (None if known is None else known.reason)
        if was_active or is_other:
            withdrawn[key] = Withdrawal(change.kind, change.id, change.at, reason)
    return withdrawn


class Takedowns(RuleBasedStateMachine):
    """Sends the same commands to a gallery on each storage."""

    def __init__(self, storages: dict[str, Storage]) -> None:
        super().__init__()
        self.clock = FrozenClock()
        self.storages = storages
        self.galleries = {name: gallery_on(storage, self.clock) for name, storage in storages.items()}
        self.requests = 0

    def ask(self, command: Command) -> object:
        return self.call(lambda gallery, caller: ask(gallery, command, caller))

    def call(self, call: Callable[[LogoAdmin, Owner], object]) -> object:
        """Make a call to all galleries, and return its result or error; these and the history must be the same."""
        self.clock.pass_by(1)
        self.requests += 1
        answers = {}
        for name, gallery in self.galleries.items():
            try:
                answer = call(gallery, Owner(f"request {self.requests}"))
            except LogoAdminError as error:
                answer = (type(error), str(error))
            answers[name] = answer, history(gallery)
        for name, given in answers.items():
            assert given == answers["memory"], f"{name} differs from memory"
        return answers["memory"][0]

    @rule(kind=KINDS, active=st.booleans())
    def create(self, kind: Kind, active: bool) -> None:
        values = {**ARTWORK, "active": active}
        self.ask(artworks.CreateLogo(**values) if kind is Kind.LOGO else artworks.CreateTheme(**values))

    @rule(kind=KINDS, ids=st.lists(IDS, min_size=1), active=st.booleans(), name=NAMES, dry_run=st.booleans())
    def load(self, kind: Kind, ids: list[int], active: bool, name: str, dry_run: bool) -> None:
        line = {"kind": kind, **ARTWORK, "name": name, "active": active, "author_ids": []}
        lines = [json.dumps({**line, f"{kind}_id": id_}) for id_ in ids]
        command = ImportRecords(dry_run=dry_run)
        self.call(lambda gallery, caller: gallery.import_export.load(command, lines, caller))

    @rule(id_=IDS, values=st.fixed_dictionaries({}, optional={"active": st.booleans(), "name": NAMES}))
    def amend_logo(self, id_: int, values: dict[str, Any]) -> None:
        self.ask(artworks.AmendLogo(logo_id=id_, **values))

    @rule(id_=IDS, active=st.booleans())
    def switch_theme(self, id_: int, active: bool) -> None:
        self.ask(artworks.AmendTheme(theme_id=id_, active=active))

    @rule(kind=KINDS, id_=IDS, reason=REASONS)
    def block(self, kind: Kind, id_: int, reason: str) -> None:
        logo, theme = artworks.BlockLogo(logo_id=id_, reason=reason), artworks.BlockTheme(theme_id=id_, reason=reason)
        self.ask(logo if kind is Kind.LOGO else theme)

    @rule(kind=KINDS, id_=IDS)
    def remove(self, kind: Kind, id_: int) -> None:
        self.ask(artworks.RemoveLogo(logo_id=id_) if kind is Kind.LOGO else artworks.RemoveTheme(theme_id=id_))

    @rule(
        changes=st.lists(
            st.tuples(KINDS, IDS, st.one_of(st.booleans(), REASONS, NAMES.map(lambda name: {"name": name}), st.none())),
            min_size=1,
            max_size=4,
        )
    )
    def apply(self, changes: list[tuple[Kind, int, Any]]) -> None:
        """Switch, block, rename or remove several artworks."""

        def change(kind: Kind, id_: int, what: Any) -> dict[str, Any]:
            record = {"kind": kind, "id": id_, "version": LATEST}
            if what is None:
                return {**record, "remove": True}
            if isinstance(what, str):
                return {**record, "block": {"reason": what}}
            return {**record, "set": {"active": what} if isinstance(what, bool) else what}

        given: Any = [change(*each) for each in changes]
        self.ask(ApplyChanges(changes=given))

    @rule(place=PLACES)
    def undo(self, place: int) -> None:
        change = history(self.galleries["memory"])[-1 - place :][0]
        undone = self.ask(Revert(change_id=change.change_id))
        if not isinstance(undone, Change) or change.before is None or undone.after is None:
            return
        before = dict(change.before)
        if change.after is None and "blocked" in undone.after:
            # A block since the removal stays.
            before.setdefault("blocked", undone.after["blocked"])
        assert undone.after == before

    @rule(place=PLACES)
    def undo_request(self, place: int) -> None:
        self.ask(RevertRequest(request_id=f"request {max(1, self.requests - place)}"))

    @invariant()
    def withdrawals_follow_the_history(self) -> None:
        for name, storage in self.storages.items():
            expected = withdrawals_of(history(self.galleries[name]))
            stored = storage.read(lambda uow: uow.withdrawals.newest(0, 999))
            assert {(each.kind, each.id): each for each in stored} == expected
            blocked = storage.read(lambda uow: uow.withdrawals.blocked(999))
            assert blocked == tuple(each for each in stored if each.reason is not None)


def walk(make: Callable[[], dict[str, Storage]], examples: int) -> None:
    class Here(Takedowns):
        def __init__(self) -> None:
            super().__init__(make())

    run_state_machine_as_test(Here, settings=settings(max_examples=examples, stateful_step_count=40, deadline=None))


@pytest.mark.rule("contract L3", "contract G2", "contract G4")
def test_withdrawals_follow_the_history() -> None:
    walk(lambda: {"memory": MemoryStorage()}, 400 if LONG else 12)


@pytest.mark.slow("a long random walk")
@pytest.mark.rule("contract L3", "contract G2", "contract G4")
def test_withdrawals_follow_the_history_on_every_storage(fresh: Callable[[], dict[str, Storage]]) -> None:
    walk(fresh, 75 if LONG else 6)
