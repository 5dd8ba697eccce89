"""Pins that two processes store at once: each order of their steps (contract L5)."""

from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from hashlib import sha256
from typing import Final

import pytest

from logoadmin.adapters.memory_storage import MemoryStorage
from logoadmin.domain.changes.history import Revert
from logoadmin.domain.gallery.artworks import AmendTheme, CreateTheme, RemoveTheme
from logoadmin.domain.kernel.errors import Conflict, NotFound
from logoadmin.domain.logo_admin import LogoAdmin
from logoadmin.domain.publication.pins.pins import AcceptThemePins, CheckThemePins, GetThemePins
from tests.gallery import ARTWORK, FrozenClock, gallery_on, history
from tests.origins import Origins

pytestmark = pytest.mark.rule("contract L5")

URL: Final = "https://styles.example/aurora.css"
# What the origin has, one after the other.
SHEETS: Final = ("a { top: 0 }", "a { top: 1 }", "a { top: 2 }")
A, B, C = (sha256(css.encode()).hexdigest() for css in SHEETS)


@dataclass
class Processes:
    """Two processes on one storage, which ask the same origin, and theme 1, which imports ``URL``."""

    one: LogoAdmin
    other: LogoAdmin
    origin_of_one: Origins
    origin_of_other: Origins
    clock: FrozenClock

    def pinned(self) -> tuple[str | None, str | None]:
        """Return the pinned and the offered sheet of the theme."""
        (found,) = self.one.pins.list(GetThemePins(theme_id=1))
        return found.sha256, found.offered

    def has(self, css: str) -> None:
        """Let the origin have another sheet for everybody who asks from now on."""
        self.origin_of_one.sheets[URL] = self.origin_of_other.sheets[URL] = css

    def while_one_fetches(self, work: Callable[[], object]) -> None:
        """Do something after the origin answered the first process, and before that stores the answer."""

        def once(url: str) -> None:
            self.origin_of_one.before = lambda _: None
            answer = self.origin_of_one.sheets[url]
            work()
            self.origin_of_one.sheets[url] = answer

        self.origin_of_one.before = once

    def check(self, process: LogoAdmin) -> None:
        process.pins.check(CheckThemePins(theme_id=1))

    def accept(self, process: LogoAdmin, sheet: str | None = None) -> None:
        process.pins.accept(
            AcceptThemePins(theme_id=1) if sheet is None else AcceptThemePins(theme_id=1, offered={URL: sheet})
        )

    def edit(self, css: str) -> None:
        self.other.themes.amend(AmendTheme(theme_id=1, custom_css=css))


@pytest.fixture
def two(storage: MemoryStorage) -> Processes:
    clock, of_one, of_other = FrozenClock(), Origins({URL: SHEETS[0]}), Origins({URL: SHEETS[0]})
    one = gallery_on(storage, clock, outgoing=of_one)
    other = gallery_on(storage, clock, outgoing=of_other, started=False)
    one.themes.create(CreateTheme(**{**ARTWORK, "custom_css": f"@import '{URL}';"}))
    return Processes(one, other, of_one, of_other, clock)


def test_of_two_first_pins_the_first_that_is_stored_stays(two: Processes) -> None:
    def pin() -> None:
        two.clock.pass_by(1)
        two.has(SHEETS[1])
        two.other.pins.pin_missing(60)

    two.while_one_fetches(pin)
    two.one.pins.pin_missing(60)
    # The older answer replaces neither the pin nor the later answer.
    assert two.pinned() == (B, None)


def test_a_first_pin_that_failed_does_not_replace_one_that_did_not(two: Processes) -> None:
    two.while_one_fetches(lambda: two.other.pins.pin_missing(60))
    del two.origin_of_other.sheets[URL]
    two.one.pins.pin_missing(60)
    assert two.pinned() == (A, None)


def test_a_check_during_a_check_leaves_the_later_answer(two: Processes) -> None:
    two.check(two.one)
    two.has(SHEETS[1])

    def check() -> None:
        two.clock.pass_by(1)
        two.has(SHEETS[2])
        two.check(two.other)

    two.while_one_fetches(check)
    two.check(two.one)
    assert two.pinned() == (A, C)


@pytest.mark.parametrize(("fetched", "expected"), [(0, (B, A)), (1, (B, None)), (2, (B, C))])
def test_an_acceptance_during_a_check_stays_and_is_compared_with(
    two: Processes, fetched: int, expected: tuple[str | None, str | None]
) -> None:
    two.check(two.one)
    two.has(SHEETS[1])
    two.check(two.one)
    two.has(SHEETS[fetched])
    two.while_one_fetches(lambda: two.accept(two.other))
    two.check(two.one)
    assert two.pinned() == expected


def test_an_acceptance_of_what_a_check_replaced_meanwhile_is_refused(two: Processes) -> None:
    two.check(two.one)
    two.has(SHEETS[1])
    two.check(two.one)
    two.has(SHEETS[2])
    two.check(two.other)
    with pytest.raises(Conflict, match="Something else is offered"):
        two.accept(two.one, B)
    assert two.pinned() == (A, C)
    two.accept(two.one, C)
    with pytest.raises(Conflict, match="Nothing is offered"):
        two.accept(two.other, C)


@pytest.mark.parametrize("css", ["a {}", "@import 'https://elsewhere.example/';"])
def test_an_import_that_an_edit_removed_meanwhile_is_not_pinned(two: Processes, css: str) -> None:
    two.while_one_fetches(lambda: two.edit(css))
    two.one.pins.pin_missing(60)
    assert all(each.sha256 is None for each in two.one.pins.list(GetThemePins(theme_id=1)))
    two.edit(f"@import '{URL}';")
    assert two.pinned() == (None, None)
    two.while_one_fetches(lambda: two.edit(css))
    two.check(two.one)
    two.edit(f"@import '{URL}';")
    assert two.pinned() == (None, None)


def test_a_record_that_is_removed_meanwhile_gets_no_pin(two: Processes) -> None:
    two.while_one_fetches(lambda: two.other.themes.remove(RemoveTheme(theme_id=1)))
    assert two.one.pins.pin_missing(60) == 0
    two.other.changes.revert(Revert(change_id=history(two.one)[-1].change_id))
    two.while_one_fetches(lambda: two.other.themes.remove(RemoveTheme(theme_id=1)))
    with pytest.raises(NotFound):
        two.check(two.one)
    two.other.changes.revert(Revert(change_id=history(two.one)[-1].change_id))
    assert two.pinned() == (None, None)


def test_many_checks_and_acceptances_at_once_end_with_what_one_of_them_left(two: Processes) -> None:
    """With threads: each accepted sheet was offered, and the history has every pin."""
    two.check(two.one)

    def work(number: int) -> str | None:
        process = (two.one, two.other)[number % 2]
        origin = (two.origin_of_one, two.origin_of_other)[number % 2]
        origin.sheets[URL] = SHEETS[number % 3]
        two.check(process)
        try:
            two.accept(process)
        except Conflict as error:
            return str(error)
        return None

    with ThreadPoolExecutor(4) as threads:
        refused = [error for error in threads.map(work, range(24)) if error]
    assert {error.partition(" is")[0] for error in refused} <= {"Nothing"}
    accepted = [change for change in history(two.one) if change.action == "theme.pins_accepted"]
    pinned = [A]
    for change in accepted:
        assert change.before is not None
        assert change.after is not None
        assert change.before["pins"] == {URL: pinned[-1]}
        pinned.append(change.after["pins"][URL])
    assert two.pinned()[0] == pinned[-1]
