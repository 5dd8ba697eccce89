"""Blocking artworks, and the list of withdrawn ones in the published gallery (contract L3)."""

from collections.abc import Callable
from typing import Any, Final

import pytest

from logoadmin import ApplyChanges, Change, Imported, Kind, LogoAdmin, Owner, Revert, RevertRequest
from logoadmin.adapters.memory_storage import MemoryStorage
from logoadmin.domain.gallery import artworks
from logoadmin.domain.kernel.errors import ArtworkBlocked, InvalidInput, InvalidLines, NotFound, Outdated
from logoadmin.ports.gallery_storage import Withdrawal
from tests.gallery import ARTWORK, NOW, FrozenClock, ask, failure, history, imported, problems

pytestmark = pytest.mark.rule("contract L3")

REASON: Final = "It covers the sign-in form"
DAY: Final = 86_400
BLOCK: Final = artworks.BlockLogo(logo_id=1, reason=REASON)
SWITCH_OFF: Final = artworks.AmendLogo(logo_id=1, active=False)
LIFT: Final = artworks.AmendLogo(logo_id=1, active=True, unblock=True)
REMOVE: Final = artworks.RemoveLogo(logo_id=1)
BLOCKED: Final = [Withdrawal(Kind.LOGO, 1, NOW, REASON)]


def withdrawn(storage: MemoryStorage) -> list[Withdrawal]:
    return [*storage.read(lambda uow: uow.withdrawals.newest(0, 99))]


def undo(gallery: LogoAdmin, change: Change | None = None) -> Change:
    return gallery.changes.revert(Revert(change_id=(change or history(gallery)[-1]).change_id))


def load(gallery: LogoAdmin, *, dry_run: bool = False, **values: Any) -> Imported:
    return imported(gallery, {"kind": "logo", "logo_id": 1, **ARTWORK, "author_ids": []} | values, dry_run=dry_run)


def apply(gallery: LogoAdmin, *changes: Any, request_id: str | None = None) -> list[Change]:
    given: Any = changes
    return [*gallery.bulk.apply(ApplyChanges(changes=given), Owner(request_id))]


def of_logo(**change: Any) -> dict[str, Any]:
    """Return a change of logo 1, whatever its version is."""
    return {"kind": "logo", "id": 1, "version": 99, **change}


def bulk(gallery: LogoAdmin, **change: Any) -> list[Change]:
    return apply(gallery, of_logo(**change))


def test_a_blocked_artwork_is_inactive_and_the_history_has_a_reason(stocked: LogoAdmin, storage: MemoryStorage) -> None:
    before = stocked.logos.get(artworks.GetLogo(logo_id=1))
    blocked = stocked.logos.block(BLOCK)
    assert (before.active, blocked.active, blocked) == (True, False, stocked.logos.get(artworks.GetLogo(logo_id=1)))
    assert withdrawn(storage) == BLOCKED
    change = history(stocked)[-1]
    assert change.after == {**(change.before or {}), "active": False, "blocked": REASON}
    assert (change.action, blocked.version) == ("logo.blocked", change.change_id)
    # An inactive one can be blocked as well.
    stocked.themes.amend(artworks.AmendTheme(theme_id=1, active=False))
    stocked.themes.block(artworks.BlockTheme(theme_id=1, reason="x"))
    assert withdrawn(storage) == [Withdrawal(Kind.THEME, 1, NOW, "x"), *BLOCKED]


def test_a_block_needs_a_reason_and_a_record(stocked: LogoAdmin, storage: MemoryStorage) -> None:
    reasons: list[Any] = ["", " ", "\u200b", "x" * 201, None, 1]
    for reason in reasons:
        assert failure(artworks.BlockLogo, logo_id=1, reason=reason) is InvalidInput
    with pytest.raises(NotFound, match=r"^Logo 9 not found$"):
        stocked.logos.block(artworks.BlockLogo(logo_id=9, reason=REASON))
    version = stocked.logos.get(artworks.GetLogo(logo_id=1)).version
    assert failure(stocked.logos.block, BLOCK.model_copy(update={"if_match": frozenset({version - 1})})) is Outdated
    assert withdrawn(storage) == []


def test_only_another_reason_changes_a_block(stocked: LogoAdmin, storage: MemoryStorage, clock: FrozenClock) -> None:
    first = stocked.logos.block(BLOCK)
    clock.pass_by(60)
    assert stocked.logos.block(BLOCK).version == first.version
    assert withdrawn(storage) == BLOCKED
    stocked.logos.block(artworks.BlockLogo(logo_id=1, reason="another"))
    assert withdrawn(storage) == [Withdrawal(Kind.LOGO, 1, NOW + 60, "another")]
    undo(stocked)
    assert withdrawn(storage) == [Withdrawal(Kind.LOGO, 1, NOW + 60, REASON)]


LIFTS: Final[dict[str, Callable[[LogoAdmin], object]]] = {
    "PATCH": lambda gallery: ask(gallery, LIFT),
    "bulk": lambda gallery: bulk(gallery, set={"active": True, "unblock": True}),
    "undo": undo,
    "undo of the request": lambda gallery: [*gallery.changes.revert_request(RevertRequest(request_id="block"))],
}


@pytest.mark.parametrize("way", LIFTS)
def test_activating_and_undoing_end_a_block(stocked: LogoAdmin, storage: MemoryStorage, way: str) -> None:
    stocked.logos.block(BLOCK, Owner("block"))
    LIFTS[way](stocked)
    assert withdrawn(storage) == []
    change = history(stocked)[-1]
    before, after = change.before or {}, change.after or {"blocked": ""}
    assert (change.action, before["blocked"], "blocked" in after) == ("logo.unblocked", REASON, False)
    # Undoing that blocks it again.
    again = undo(stocked)
    assert again.after == change.before
    assert withdrawn(storage) == BLOCKED
    assert not stocked.logos.get(artworks.GetLogo(logo_id=1)).active


IS_REFUSED: Final[dict[str, Callable[[LogoAdmin], object]]] = {
    "PATCH": lambda gallery: ask(gallery, artworks.AmendLogo(logo_id=1, active=True, unblock=False, name="x")),
    "bulk": lambda gallery: bulk(gallery, set={"active": True}),
    "import": lambda gallery: load(gallery, active=True),
    "dry run of an import": lambda gallery: load(gallery, active=True, dry_run=True),
    "import after removal": lambda gallery: (ask(gallery, REMOVE), load(gallery, active=True)),
}


@pytest.mark.parametrize("way", IS_REFUSED)
def test_activating_lifts_a_block_only_if_asked_to(stocked: LogoAdmin, storage: MemoryStorage, way: str) -> None:
    stocked.logos.block(BLOCK)
    with pytest.raises((ArtworkBlocked, InvalidLines)) as refused:
        IS_REFUSED[way](stocked)
    problems = [problem for line in getattr(refused.value, "lines", ()) for problem in line.problems]
    said = " ".join([str(refused.value), *(problem.msg for problem in problems)])
    assert f"Logo 1 is blocked: {REASON}" in said
    assert {problem.loc for problem in problems} <= {("active",)}
    assert withdrawn(storage) == BLOCKED


def test_unblock_has_no_effect_on_an_artwork_that_is_not_blocked(stocked: LogoAdmin, storage: MemoryStorage) -> None:
    for command in (SWITCH_OFF, LIFT):
        ask(stocked, command)
    before = history(stocked)[-1]
    ask(stocked, artworks.AmendLogo(logo_id=1, unblock=True))
    assert (withdrawn(storage), history(stocked)[-1]) == ([], before)


KEEPS: Final[dict[str, Callable[[LogoAdmin], object]]] = {
    "other values": lambda gallery: ask(gallery, artworks.AmendLogo(logo_id=1, name="x", active=False)),
    "switching off": lambda gallery: ask(gallery, SWITCH_OFF),
    "bulk": lambda gallery: bulk(gallery, set={"name": "x", "author_ids": [2]}),
    "import": lambda gallery: load(gallery, active=False, name="x"),
    "an author": lambda gallery: ask(gallery, artworks.LinkLogoAuthor(logo_id=1, author_id=2)),
    "removal": lambda gallery: ask(gallery, REMOVE),
    "removal in bulk": lambda gallery: bulk(gallery, remove=True),
    "return": lambda gallery: (ask(gallery, REMOVE), undo(gallery)),
    "removal once more": lambda gallery: (ask(gallery, REMOVE), undo(gallery), undo(gallery)),
    "import after removal": lambda gallery: (ask(gallery, REMOVE), load(gallery, active=False)),
}


@pytest.mark.parametrize("way", KEEPS)
def test_other_changes_keep_a_block(stocked: LogoAdmin, storage: MemoryStorage, clock: FrozenClock, way: str) -> None:
    stocked.logos.block(BLOCK)
    blocked = history(stocked)[-1]
    clock.pass_by(60)
    KEEPS[way](stocked)
    assert withdrawn(storage) == BLOCKED
    change = history(stocked)[-1]
    assert change == blocked or REASON in (change.before or change.after or {}).values()
    assert (change.after or {"blocked": REASON})["blocked"] == REASON
    if change != blocked and change.before and change.after:
        assert [*change.after] == [*change.before]  # the fields are in one order


def test_many_artworks_are_blocked_and_undone_at_once(stocked: LogoAdmin, storage: MemoryStorage) -> None:
    block = {"id": 1, "version": 99, "block": {"reason": REASON}}
    made = apply(stocked, {"kind": "logo", **block}, {"kind": "theme", **block}, request_id="takedown")
    assert [change.action for change in made] == ["logo.blocked", "theme.blocked"]
    assert withdrawn(storage) == [Withdrawal(Kind.THEME, 1, NOW, REASON), *BLOCKED]
    [*stocked.changes.revert_request(RevertRequest(request_id="takedown"))]
    assert withdrawn(storage) == []


@pytest.mark.rule("contract J7")
@pytest.mark.parametrize(
    ("change", "loc"),
    [
        (of_logo(kind="author", block={"reason": REASON}), ("block",)),
        (of_logo(block={}), ("block", "reason")),
        (of_logo(block={"reason": ""}), ("block", "reason")),
        (of_logo(block={"reason": REASON, "author_ids": []}), ("block", "author_ids")),
        (of_logo(block={"reason": REASON}, version=None), ("version",)),
        (of_logo(block={"reason": REASON}, remove=True), ()),
        (of_logo(block={"reason": REASON}, set={}), ()),
    ],
)
def test_a_block_in_bulk_is_checked_like_any_other(change: Any, loc: tuple[str, ...]) -> None:
    assert [*problems(ApplyChanges, changes=(change,))] == [("changes", 0, *loc)]
