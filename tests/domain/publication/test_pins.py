"""Pinned imports: copies of imported style sheets, and their acceptance (contract L5)."""

import json
from hashlib import sha256
from typing import Any

import pytest

from logoadmin.adapters.memory_storage import MemoryStorage
from logoadmin.domain.changes.history import Revert
from logoadmin.domain.gallery.artworks import AmendTheme, CreateLogo, CreateTheme, GetTheme, RemoveTheme
from logoadmin.domain.kernel.errors import Conflict, NotFound, OutgoingError
from logoadmin.domain.kernel.kinds import THEMES
from logoadmin.domain.kernel.records import Change
from logoadmin.domain.logo_admin import LogoAdmin
from logoadmin.domain.publication.css.verdict import CssImport
from logoadmin.domain.publication.files.pointer import parsed
from logoadmin.domain.publication.pins.artwork_css import GetThemeCss
from logoadmin.domain.publication.pins.pinned_css import PinnedCss, PinnedSheets, Unpinned
from logoadmin.domain.publication.pins.pinned_imports import PinnedCopies, PinnedImport
from logoadmin.domain.publication.pins.pins import (
    AcceptThemePins,
    CheckThemePins,
    GetLogoPins,
    GetThemeCopies,
    GetThemePins,
)
from logoadmin.ports.storage import Storage, UnitOfWork
from tests.gallery import ARTWORK, NOW, FrozenClock, gallery_on, history
from tests.origins import Origins

pytestmark = pytest.mark.rule("contract L5")

URL = "https://styles.example/themes/aurora.css"
BASE = "https://styles.example/base.css"
SVG = "data:image/svg+xml,%3Csvg%3E%3Cimage%20href=//a.example%20/%3E%3C/svg%3E"
OLD, NEW, NEWER = "a { color: red }", "a { color: blue }", "a { color: green }"


def hash_of(css: str) -> str:
    return sha256(css.encode()).hexdigest()


@pytest.fixture
def origins() -> Origins:
    return Origins({URL: OLD})


@pytest.fixture
def gallery(storage: MemoryStorage, clock: FrozenClock, origins: Origins) -> LogoAdmin:
    """A gallery with theme 1, which imports ``URL``; nothing is pinned."""
    made = gallery_on(storage, clock, outgoing=origins)
    made.themes.create(CreateTheme(**theme(f"@import url({URL});")))
    return made


def theme(css: str, **values: Any) -> dict[str, Any]:
    return {**ARTWORK, "custom_css": css, **values}


def pins(gallery: LogoAdmin, theme_id: int = 1) -> tuple[PinnedImport, ...]:
    return gallery.pins.list(GetThemePins(theme_id=theme_id))


def pin(gallery: LogoAdmin) -> tuple[str | None, str | None, str | None]:
    """Return the pinned and the offered sheet of the only import of theme 1, and the failure."""
    (found,) = pins(gallery)
    return found.sha256, found.offered, found.failure


def check(gallery: LogoAdmin) -> tuple[PinnedImport, ...]:
    return gallery.pins.check(CheckThemePins(theme_id=1))


def accept(gallery: LogoAdmin, sheets: dict[str, str] | None = None) -> tuple[PinnedImport, ...]:
    command = AcceptThemePins(theme_id=1) if sheets is None else AcceptThemePins(theme_id=1, offered=sheets)
    return gallery.pins.accept(command)


def published(storage: Storage, theme_id: int = 1) -> PinnedCss:
    """Return what readers get of a theme."""

    def work(uow: UnitOfWork) -> PinnedCss:
        record = uow.records(THEMES).get(theme_id)
        assert record is not None
        return PinnedSheets(uow.publication.pins, THEMES).of(theme_id, record.custom_css)

    return storage.snapshot(work)


def test_a_new_import_is_not_pinned_until_it_is_fetched(gallery: LogoAdmin, origins: Origins) -> None:
    assert pins(gallery) == (PinnedImport(URL, None, None, None, None),)
    assert origins.asked == []
    assert gallery.pins.pin_missing(60) == 1
    assert pins(gallery) == (PinnedImport(URL, hash_of(OLD), None, None, NOW),)
    assert origins.asked == [URL]


def test_a_pin_changes_neither_with_its_origin_nor_without_it(
    gallery: LogoAdmin, storage: MemoryStorage, clock: FrozenClock, origins: Origins
) -> None:
    gallery.pins.pin_missing(60)
    changes = history(gallery)
    origins.sheets[URL] = NEW
    clock.pass_by(10_000)
    assert gallery.pins.pin_missing(60) == 0
    assert pin(gallery) == (hash_of(OLD), None, None)
    del origins.sheets[URL]
    check(gallery)
    assert pin(gallery) == (hash_of(OLD), None, "styles.example: status 404")
    assert published(storage).sheets == {hash_of(OLD): OLD}
    assert history(gallery) == changes


def test_another_sheet_is_shown_with_the_difference_and_pinned_when_it_is_accepted(
    gallery: LogoAdmin, storage: MemoryStorage, clock: FrozenClock, origins: Origins
) -> None:
    check(gallery)
    origins.sheets[URL] = NEW
    clock.pass_by(60)
    (found,) = check(gallery)
    assert (found.sha256, found.offered, found.checked_at) == (hash_of(OLD), hash_of(NEW), NOW + 60)
    assert found.difference == (
        f"--- pinned/{hash_of(OLD)}.css\n+++ offered/{hash_of(NEW)}.css\n@@ -1,1 +1,1 @@\n-{OLD}\n+{NEW}\n"
    )
    assert pins(gallery) == (found,)
    assert published(storage).css == f"@import url(css/{hash_of(OLD)}.css);"
    assert accept(gallery) == (PinnedImport(URL, hash_of(NEW), None, None, NOW + 60),)
    assert published(storage) == PinnedCss(
        f"@import url(css/{hash_of(NEW)}.css);", {URL: hash_of(NEW)}, {hash_of(NEW): NEW}
    )


def test_both_copies_are_shown_with_their_verdicts(gallery: LogoAdmin, origins: Origins) -> None:
    def copies() -> PinnedCopies:
        return gallery.pins.copies(GetThemeCopies(theme_id=1))

    assert (copies().pinned.css, copies().offered) == ("", None)
    check(gallery)
    origins.sheets[URL] = f"@import url({BASE}); {NEW}"
    origins.sheets[BASE] = "b { position: fixed; inset: 0; background: url(https://evil.example/x) }"
    check(gallery)
    found = copies()
    assert (found.pinned.css, found.pinned.verdict.hosts, found.pinned.verdict.risks) == (f"{OLD}\n\n", (), ())
    assert found.offered is not None
    assert "position: fixed" in (found.offered.css or "")
    assert found.offered.verdict.hosts == ("evil.example",)
    assert [each.risk for each in found.offered.verdict.risks] == ["overlay"]
    accept(gallery)
    assert (copies().pinned, copies().offered) == (found.offered, None)


def test_an_offer_outlives_its_origin(gallery: LogoAdmin, origins: Origins) -> None:
    check(gallery)
    origins.sheets[URL] = NEW
    check(gallery)
    origins.sheets[URL] = OutgoingError("styles.example", "timed out")
    check(gallery)
    assert pin(gallery) == (hash_of(OLD), hash_of(NEW), "styles.example: timed out")
    accept(gallery)
    assert pin(gallery) == (hash_of(NEW), None, "styles.example: timed out")


def test_nothing_is_accepted_that_the_caller_did_not_see(gallery: LogoAdmin, origins: Origins) -> None:
    with pytest.raises(Conflict, match="Nothing is offered for the imports of theme 1"):
        accept(gallery)
    check(gallery)
    origins.sheets[URL] = NEW
    check(gallery)
    others = {URL: hash_of(NEWER)}, {URL: hash_of(OLD)}, {BASE: hash_of(NEW)}, {URL: hash_of(NEW), BASE: hash_of(NEW)}
    for wrong in others:
        with pytest.raises(Conflict, match=r"(Something else|Nothing) is offered for the import https://"):
            accept(gallery, wrong)
    assert pin(gallery) == (hash_of(OLD), hash_of(NEW), None)
    accept(gallery, {URL: hash_of(NEW)})
    with pytest.raises(Conflict):
        accept(gallery, {URL: hash_of(NEW)})


def test_an_artwork_that_does_not_exist_has_no_pins(gallery: LogoAdmin) -> None:
    with pytest.raises(NotFound):
        pins(gallery, 9)
    with pytest.raises(NotFound):
        gallery.pins.check(CheckThemePins(theme_id=9))
    with pytest.raises(NotFound):
        gallery.pins.accept(AcceptThemePins(theme_id=9))


def test_one_of_several_imports_is_accepted(gallery: LogoAdmin, storage: MemoryStorage, origins: Origins) -> None:
    gallery.themes.amend(AmendTheme(theme_id=1, custom_css=f"@import url({URL}); @import '{BASE}' print; {OLD}"))
    origins.sheets[BASE] = OLD
    check(gallery)
    origins.sheets |= {URL: NEW, BASE: NEWER}
    check(gallery)
    found = accept(gallery, {BASE: hash_of(NEWER)})
    assert [(each.url, each.sha256, each.offered) for each in found] == [
        (URL, hash_of(OLD), hash_of(NEW)),
        (BASE, hash_of(NEWER), None),
    ]
    assert found[0].difference is not None
    css = f"@import url(css/{hash_of(OLD)}.css); @import 'css/{hash_of(NEWER)}.css' print; {OLD}"
    assert published(storage) == PinnedCss(
        css, {URL: hash_of(OLD), BASE: hash_of(NEWER)}, {hash_of(OLD): OLD, hash_of(NEWER): NEWER}
    )


def offered(gallery: LogoAdmin, origins: Origins) -> None:
    """Let the origin offer another sheet than the pinned one."""
    check(gallery)
    origins.sheets[URL] = NEW
    check(gallery)


def sheets(change: Change) -> tuple[Any, Any]:
    assert change.before is not None
    assert change.after is not None
    same = {name: value for name, value in change.before.items() if name != "pins"}
    assert {**same, "pins": change.after["pins"]} == change.after
    return change.before["pins"], change.after["pins"]


@pytest.mark.rule("contract L4")
def test_a_record_with_a_document_is_left_out_until_its_documents_are_accepted(
    gallery: LogoAdmin, storage: MemoryStorage, origins: Origins
) -> None:
    sheet = f"a {{ mask: url({SVG}) }}"
    origins.sheets[URL] = sheet
    check(gallery)
    with pytest.raises(Unpinned, match="out of which Firefox loads"):
        published(storage)
    (_, found) = pins(gallery)
    assert (found.url, found.sha256, found.offered) == ("data:", None, hash_of(f"{SVG}\n"))
    assert found.difference == f"--- none\n+++ offered/{found.offered}.css\n@@ -0,0 +1,1 @@\n+{SVG}\n"
    with pytest.raises(Conflict, match="Something else is offered"):
        accept(gallery, {"data:": "0" * 64})
    assert accept(gallery)[1] == PinnedImport("data:", found.offered, None, None, None)
    assert published(storage).sheets == {hash_of(sheet): sheet}
    # Another text with the same documents is published, and one with another document is not.
    gallery.themes.amend(AmendTheme(theme_id=1, custom_css=f"@import url({URL}); b {{ filter: url({SVG}) }}"))
    published(storage)
    gallery.themes.amend(AmendTheme(theme_id=1, custom_css=f"@import url({URL}); b {{ filter: url({SVG}x) }}"))
    with pytest.raises(Unpinned):
        published(storage)
    assert pins(gallery)[1].difference is not None
    assert f" {SVG}\n+{SVG}x\n" in (pins(gallery)[1].difference or "")


@pytest.mark.rule("contract G", "contract L4")
def test_the_acceptance_of_documents_can_be_undone_and_done_again(gallery: LogoAdmin, storage: MemoryStorage) -> None:
    gallery.themes.amend(AmendTheme(theme_id=1, custom_css=f"b {{ filter: url({SVG}) }}"))
    accept(gallery)
    change = history(gallery)[-1]
    assert (change.action, sheets(change)) == ("theme.pins_accepted", ({"data:": None}, {"data:": hash_of(f"{SVG}\n")}))
    gallery.changes.revert(Revert(change_id=change.change_id))
    with pytest.raises(Unpinned):
        published(storage)
    gallery.changes.revert(Revert(change_id=history(gallery)[-1].change_id))
    published(storage)
    assert [*gallery.pins.check_all()] == []
    gallery.changes.revert(Revert(change_id=history(gallery)[-1].change_id))
    assert pins(gallery)[0].offered == hash_of(f"{SVG}\n")


@pytest.mark.rule("contract G", "contract G2")
def test_an_acceptance_is_in_the_history_and_can_be_undone_and_done_again(gallery: LogoAdmin, origins: Origins) -> None:
    offered(gallery, origins)
    before, after = {URL: hash_of(OLD)}, {URL: hash_of(NEW)}
    for undone, expected, now in (
        (None, (before, after), (hash_of(NEW), None, None)),
        (0, (after, before), (hash_of(OLD), hash_of(NEW), None)),
        (1, (before, after), (hash_of(NEW), None, None)),
        (2, (after, before), (hash_of(OLD), hash_of(NEW), None)),
    ):
        known = history(gallery)
        if undone is None:
            accept(gallery)
        else:
            gallery.changes.revert(Revert(change_id=known[-1].change_id))
        (change,) = history(gallery)[len(known) :]
        assert (change.action, change.kind, change.id) == ("theme.pins_accepted", "theme", 1)
        assert sheets(change) == expected
        assert pin(gallery) == now
        assert gallery.themes.get(GetTheme(theme_id=1)).version == change.change_id


def test_undoing_another_change_of_the_record_keeps_the_accepted_sheet(gallery: LogoAdmin, origins: Origins) -> None:
    offered(gallery, origins)
    gallery.themes.amend(AmendTheme(theme_id=1, name="Boreal"))
    amended = history(gallery)[-1].change_id
    accept(gallery)
    gallery.changes.revert(Revert(change_id=amended))
    assert gallery.themes.get(GetTheme(theme_id=1)).name == "Aurora"
    assert pin(gallery) == (hash_of(NEW), None, None)


def test_pins_outlast_the_record_and_its_edits_so_that_a_return_uses_the_reviewed_sheets(
    gallery: LogoAdmin, storage: MemoryStorage, origins: Origins
) -> None:
    check(gallery)
    origins.sheets[URL] = NEW
    gallery.themes.remove(RemoveTheme(theme_id=1))
    gallery.changes.revert(Revert(change_id=history(gallery)[-1].change_id))
    assert pin(gallery) == (hash_of(OLD), None, None)
    gallery.themes.amend(AmendTheme(theme_id=1, custom_css=OLD))
    assert pins(gallery) == ()
    assert check(gallery) == ()
    assert published(storage) == PinnedCss(OLD, {}, {})
    gallery.themes.amend(AmendTheme(theme_id=1, custom_css=f"@import '{URL}'; {NEW}"))
    assert pin(gallery) == (hash_of(OLD), None, None)


def test_a_failure_is_stored_and_tried_again_after_ten_minutes(
    gallery: LogoAdmin, storage: MemoryStorage, clock: FrozenClock, origins: Origins
) -> None:
    with pytest.raises(Unpinned, match="was not fetched yet"):
        published(storage)
    origins.sheets[URL] = OutgoingError("styles.example", "timed out")
    assert gallery.pins.pin_missing(60) == 1
    assert pin(gallery) == (None, None, "styles.example: timed out")
    with pytest.raises(Unpinned, match=r"cannot be pinned: styles\.example: timed out"):
        published(storage)
    origins.sheets[URL] = OLD
    clock.pass_by(599)
    assert gallery.pins.pin_missing(60) == 0
    clock.pass_by(1)
    assert gallery.pins.pin_missing(60) == 1
    assert pin(gallery) == (hash_of(OLD), None, None)


@pytest.mark.rule("contract K7")
def test_a_clock_that_was_ahead_delays_no_pin(gallery: LogoAdmin, clock: FrozenClock, origins: Origins) -> None:
    del origins.sheets[URL]
    clock.pass_by(86_400)
    gallery.pins.pin_missing(60)
    clock.pass_by(-86_400)
    origins.sheets[URL] = OLD
    assert gallery.pins.pin_missing(60) == 1
    assert pin(gallery) == (hash_of(OLD), None, None)


def test_drafts_are_pinned_when_somebody_checks_them(gallery: LogoAdmin, origins: Origins) -> None:
    gallery.themes.amend(AmendTheme(theme_id=1, active=False))
    assert gallery.pins.pin_missing(60) == 0
    assert origins.asked == []
    check(gallery)
    assert pin(gallery) == (hash_of(OLD), None, None)


def test_a_logo_can_import_too(gallery: LogoAdmin) -> None:
    gallery.logos.create(CreateLogo(**theme(f"@import url({URL}); color: red")))
    assert gallery.pins.pin_missing(60) == 2
    assert [each.sha256 for each in gallery.pins.list(GetLogoPins(logo_id=1))] == [hash_of(OLD)]


def test_without_a_way_out_nothing_is_fetched_and_pinned_sheets_stay(
    gallery: LogoAdmin, storage: MemoryStorage, clock: FrozenClock, origins: Origins
) -> None:
    offered(gallery, origins)
    closed = gallery_on(storage, clock, started=False)
    assert closed.pins.pin_missing(60) == 0
    with pytest.raises(Conflict, match="pin_imports is false"):
        check(closed)
    with pytest.raises(Conflict, match="pin_imports is false"):
        tuple(closed.pins.check_all())
    accept(closed)
    assert published(storage).sheets == {hash_of(NEW): NEW}


@pytest.mark.rule("contract L4")
def test_the_verdict_covers_the_pinned_sheets(gallery: LogoAdmin, origins: Origins) -> None:
    origins.sheets = {
        URL: f"@import '{BASE}'; a {{ background: url(a.png) }}",
        BASE: "a { background: url(//b.example/) }",
    }
    command = GetThemeCss(theme_id=1)
    before = gallery.themes.css(command)
    assert (before.hosts, before.version, before.imports) == (("styles.example",), 0, (CssImport(URL),))
    check(gallery)
    after = gallery.themes.css(command)
    assert (after.import_urls, after.hosts, after.version) == ((URL,), ("b.example", "styles.example"), 0)
    # The same form as in the index.
    publication = gallery.publication.generate()
    index = json.loads(publication.files[parsed(publication.pointer).index["path"]])
    assert index["themes"][0]["css"]["imports"] == [{"url": URL, "sha256": after.imports[0].sha256}]
    origins.sheets = {URL: "a { background: url(https://c.example/) }"}
    check(gallery)
    assert gallery.themes.css(command) == after
    accept(gallery)
    assert gallery.themes.css(command).hosts == ("c.example",)


# Runs over all records.


def test_the_check_of_all_asks_for_every_active_record_with_imports(gallery: LogoAdmin, origins: Origins) -> None:
    gallery.themes.create(CreateTheme(**theme(f"@import '{BASE}';", name="Boreal")))
    gallery.themes.create(CreateTheme(**theme("@import 'https://draft.example/';", active=False)))
    gallery.themes.create(CreateTheme(**ARTWORK))
    check(gallery)
    origins.sheets[URL] = NEW
    first, second = gallery.pins.check_all()
    assert (first.kind, first.id, first.name) == ("theme", 1, "Aurora")
    assert first.imports == pins(gallery)
    assert first.imports[0].difference is not None
    assert (second.name, [each.failure for each in second.imports]) == ("Boreal", ["styles.example: status 404"])


def test_a_host_that_times_out_is_not_asked_again_and_again(
    gallery: LogoAdmin, clock: FrozenClock, origins: Origins
) -> None:
    for number in range(2, 9):
        gallery.themes.create(CreateTheme(**theme(f"@import 'https://slow.example/{number}.css';")))

    def wait(url: str) -> None:
        clock.pass_by(10 if "slow" in url else 0)

    origins.before = wait
    slow = [f"https://slow.example/{number}.css" for number in range(2, 9)]
    assert gallery.pins.pin_missing(3600) == 8
    assert origins.asked == [URL, *slow[:3]]
    assert [pins(gallery, 1 + number)[0].failure for number in range(1, 5)] == ["slow.example: status 404"] * 3 + [None]
    # The next run begins with those that were not asked.
    origins.asked.clear()
    gallery.pins.pin_missing(3600)
    assert origins.asked == slow[3:6]
    origins.asked.clear()
    reasons = [each.imports[0].failure for each in gallery.pins.check_all()]
    assert reasons[4:] == ["slow.example: not asked, after 3 requests that failed slowly"] * 4
    assert origins.asked == [URL, *slow[:3]]


def test_sheets_that_nothing_leads_to_are_removed(gallery: LogoAdmin, storage: MemoryStorage, origins: Origins) -> None:
    origins.sheets[BASE] = "b {}"
    for number in range(5):
        origins.sheets[URL] = f"@import '{BASE}'; a {{ top: {number} }}"
        check(gallery)
        if number == 2:
            accept(gallery)
    names = [hash_of(_sheet(number)) for number in range(5)]

    def left() -> list[int]:
        found = storage.read(lambda uow: [uow.publication.pins.sheet(name) for name in names])
        return [number for number, css in enumerate(found) if css is not None]

    assert left() == [0, 1, 2, 3, 4]
    for _ in range(2):
        tuple(gallery.pins.check_all())
        assert left() == [0, 2, 4]  # the sheet before the acceptance, the pinned one, and the offered one
    assert published(storage).sheets == {names[2]: _sheet(2), hash_of("b {}"): "b {}"}
    gallery.changes.revert(Revert(change_id=history(gallery)[-1].change_id))
    assert published(storage).sheets == {names[0]: _sheet(0), hash_of("b {}"): "b {}"}


def _sheet(number: int) -> str:
    """Return the pinned text of a sheet that imports another one."""
    return f"@import '{hash_of('b {}')}.css'; a {{ top: {number} }}"


def test_a_sheet_the_database_lost_is_a_reason(gallery: LogoAdmin, storage: MemoryStorage, origins: Origins) -> None:
    offered(gallery, origins)
    assert storage.write(lambda uow: uow.publication.pins.keep_sheets([])) == 2
    with pytest.raises(Unpinned, match="is missing from the database"):
        published(storage)
    assert gallery.themes.css(GetThemeCss(theme_id=1)).hosts == ("styles.example",)
    (found,) = pins(gallery)
    assert "is missing from the database" in (found.difference or "")


def test_a_run_begins_no_record_after_its_time(gallery: LogoAdmin, clock: FrozenClock, origins: Origins) -> None:
    for number in range(2, 5):
        gallery.themes.create(CreateTheme(**theme(f"@import 'https://h{number}.example/';")))
    origins.before = lambda _: clock.pass_by(9)
    assert gallery.pins.pin_missing(10) == 2
    assert origins.asked == [URL, "https://h2.example/"]
