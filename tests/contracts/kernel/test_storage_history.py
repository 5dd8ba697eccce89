"""The rules of :mod:`logoadmin.ports.storage` for the history, over every adapter: nobody ever misses a change."""

import time
from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace
from typing import Any, Final

import pytest

from logoadmin.domain.kernel.kinds import AUTHORS
from logoadmin.domain.kernel.limits import MAX_CUSTOM_CSS, MAX_ID, Origin
from logoadmin.domain.kernel.lists import ChangeFilter, Order
from logoadmin.domain.kernel.records import Author, Change, Kind
from logoadmin.ports.storage import Storage, UnitOfWork

pytestmark = pytest.mark.rule("contract G")

# Anything that takes longer has failed.
IN_TIME: Final = 20.0


def change(change_id: int, kind: Kind = Kind.LOGO, id_: int = 1, **values: Any) -> Change:
    state = {"name": f"by {change_id}"}
    return replace(Change(change_id, 5, 1, f"{kind}.amended", kind, id_, None, state, f"request {change_id}"), **values)


def add(storage: Storage, *changes: Change) -> None:
    storage.write(lambda uow: uow.changes.add(changes))


@pytest.mark.rule("contract E6")
def test_the_times_of_many_changes_are_read_at_once(storage: Storage) -> None:
    add(storage, *(change(id_, at=1_000 + id_) for id_ in range(1, 121)))
    wanted = [120, *range(1, 90), 1, 500]
    expected = {id_: 1_000 + id_ for id_ in wanted if id_ != 500}
    assert storage.read(lambda uow: uow.changes.times(wanted)) == expected
    assert storage.read(lambda uow: uow.changes.times([])) == {}


def test_changes_are_kept_as_they_are(storage: Storage) -> None:
    state = {
        "name": "a'\"\\\n\t%s{}😀\u2028\x7f",
        "custom_css": "",
        "active": True,
        "avatar": None,
        "created_at": 2**53 - 1,
        "scope": ["*", "a"],
        "authors": [{"logo_author_id": 1, "author_id": 2}],
        "logos": [],
    }
    changes = (
        change(1, before=None, after=state, user_id=None, request_id=None),
        change(2, Kind.USER, MAX_ID, before=state, after={}, user_id=MAX_ID, at=2**53 - 1, request_id="r" * 128),
        change(3, Kind.AUTHOR, 0, before={}, after=None, user_id=0, at=0, request_id="", action="author.removed"),
        change(4, origin=Origin.UNDO, undoes=1),
    )
    add(storage, *changes)

    def look(uow: UnitOfWork) -> object:
        return uow.changes.page(0, 9), tuple(uow.changes.get(number) for number in (1, 2, 3, 4))

    assert storage.read(look) == storage.snapshot(look) == storage.write(look) == (changes, changes)
    kinds = storage.read(lambda uow: [type(found.kind) for found in uow.changes.page(0, 9)])
    assert kinds == [Kind] * 4


@pytest.mark.rule("spec §Limits")
def test_the_history_cannot_be_changed_through_a_change(storage: Storage) -> None:
    """Neither through the stored object, nor through one that was read: by id, in a page, or by request."""

    def readings() -> list[Change]:
        read = storage.read(
            lambda uow: (uow.changes.get(1), *uow.changes.page(0, 9), *uow.changes.of_request("r", 9, 9))
        )
        return [each for each in read if each is not None]

    given: Any = {"name": "Ann", "authors": [{"author_id": 2}]}
    add(storage, change(1, after=given, request_id="r"))
    for values in (given, *(each.after for each in readings())):
        values["name"] = "Eve"
        values["authors"][0]["author_id"] = 3
        values["authors"].append({})
    assert [each.after for each in readings()] == [{"name": "Ann", "authors": [{"author_id": 2}]}] * 3


@pytest.mark.rule("spec §Limits")
def test_changes_of_the_longest_styles_are_kept(storage: Storage) -> None:
    # JSON escapes the second ones.
    before, after = {"custom_css": "🂡" * MAX_CUSTOM_CSS}, {"custom_css": "\x01" * MAX_CUSTOM_CSS}
    add(storage, change(1, before=before, after=after), change(2, before=after, after=None))
    found = storage.read(lambda uow: uow.changes.get(1))
    assert found is not None
    # Compared separately: pytest would print a difference of megabytes.
    assert (found.before == before, found.after == after) == (True, True)
    for number in (0, 1):  # two exceed the size of a page
        assert [len(found.before or ()) for found in storage.read(lambda uow, n=number: uow.changes.page(n, 9))] == [1]  # type: ignore[misc]  # has a default


@pytest.mark.rule("contract G3", "contract E2", "contract E4")
def test_changes_are_filtered_in_either_order(storage: Storage) -> None:
    times = [5, 5, 6, 6, 7, 7, 9, 9, 12]
    changes = [
        change(
            number,
            (Kind.LOGO, Kind.THEME)[number % 2],
            1 + number % 3,
            at=at,
            user_id=None if number == 4 else number % 4,
            action=f"{(Kind.LOGO, Kind.THEME)[number % 2]}.{'removed' if number > 6 else 'amended'}",
            request_id=f"request {number // 3}",
        )
        for number, at in enumerate(times, 1)
    ]
    for one in changes:
        add(storage, one)
    assert storage.read(lambda uow: uow.changes.last_id()) == 9

    def page(where: ChangeFilter, order: Order, after: int, limit: int = 99) -> list[int]:
        found = storage.read(lambda uow: uow.changes.page(after, limit, where, order))
        return [change.change_id for change in found]

    for where, expected in (
        *((ChangeFilter(), [1, 2, 3, 4, 5, 6, 7, 8, 9]), (ChangeFilter(kind=Kind.LOGO), [2, 4, 6, 8])),
        *((ChangeFilter(kind=Kind.USER), []), (ChangeFilter(kind=Kind.THEME, id=2), [1, 7])),
        *((ChangeFilter(user_id=0), [8]), (ChangeFilter(action="logo.removed"), [8])),
        *((ChangeFilter(action="Logo.removed"), []), (ChangeFilter(request_id="request 1"), [3, 4, 5])),
        *((ChangeFilter(request_id="request 1 "), []), (ChangeFilter(since=7), [5, 6, 7, 8, 9])),
        *((ChangeFilter(until=6), [1, 2, 3, 4]), (ChangeFilter(since=6, until=9), [3, 4, 5, 6, 7, 8])),
        *((ChangeFilter(since=9, until=6), []), (ChangeFilter(since=2**53 - 1), [])),
        (ChangeFilter(kind=Kind.LOGO, user_id=2, since=6), [6]),
        (ChangeFilter(kind=Kind.THEME, action="theme.removed", request_id="request 3", until=12), [9]),
    ):
        assert page(where, "asc", -1) == expected, where
        assert page(where, "desc", MAX_ID + 1) == expected[::-1], where
        for after in range(11):
            assert page(where, "asc", after, 2) == [id_ for id_ in expected if id_ > after][:2]
            assert page(where, "desc", after, 2) == [id_ for id_ in expected[::-1] if id_ < after][:2]


@pytest.mark.rule("contract I1")
def test_many_changes_of_one_write_are_kept_together(storage: Storage) -> None:
    changes = tuple(change(number, id_=number % 7) for number in range(1, 402))
    add(storage, *changes)
    assert storage.read(lambda uow: uow.changes.page(0, 1_000)) == changes
    assert storage.read(lambda uow: uow.changes.last_of(Kind.LOGO, 3)) == 395


@pytest.mark.rule("contract G4")
def test_the_changes_of_a_request_are_found_newest_first(storage: Storage) -> None:
    def of(number: int, request_id: str | None, kind: Kind = Kind.LOGO, text: str = "") -> Change:
        return change(number, kind, 1, request_id=request_id, after={"name": text})

    long = "x" * 40_000
    mine = [of(1, "a", Kind.ROLE), of(3, "a", text=long), of(5, "a", text=long), of(6, "a")]
    add(storage, mine[0], of(2, "A"), mine[1], of(4, None), *mine[2:], of(7, "a "), of(8, "b", Kind.USER))

    def look(uow: UnitOfWork) -> object:
        def page(below: int, limit: int) -> list[int]:
            return [found.change_id for found in uow.changes.of_request("a", below, limit)]

        assert uow.changes.of_request("a", 6, 1) == (mine[2],)
        assert [uow.changes.last_of(Kind.LOGO, 1, besides) for besides in (None, "a ", "c")] == [7, 6, 7]
        assert [uow.changes.last_of(Kind.USER, 1, besides) for besides in ("a", "b")] == [8, 0]
        return [page(MAX_ID, 1), page(7, 9), page(5, 9), page(1, 9), len(uow.changes.of_request("c", 9, 9))]

    expected = [[6], [6, 5], [3, 1], [], 0]
    assert storage.read(look) == storage.snapshot(look) == storage.write(look) == expected


def keep_changes(storage: Storage, writes: int, most: int = 3) -> None:
    """Write changes in groups; each change contains the size of its group."""
    for number in range(writes):

        def work(uow: UnitOfWork, many: int = 1 + number % most) -> None:
            last = uow.changes.last_id()
            uow.changes.add([change(last + i + 1, Kind.AUTHOR, i, after={"of": many}) for i in range(many)])

        storage.write(work)


def follow(storage: Storage, until: int, page: int, *, snapshot: bool = False) -> list[Change]:
    """Keep reading after the last change seen until ``until`` changes have been seen."""
    look = storage.snapshot if snapshot else storage.read
    seen: list[Change] = []
    deadline = time.monotonic() + IN_TIME
    while len(seen) < until and time.monotonic() < deadline:
        after = seen[-1].change_id if seen else 0
        more = look(lambda uow, after=after: uow.changes.page(after, page))  # type: ignore[misc]  # has a default
        seen += more
        if not more:
            time.sleep(0.002)  # polling without a pause would slow the writers down
    return seen


def assert_whole(seen: list[Change], many: int) -> None:
    """Assert that each change occurs once, in order, and that changes of the same write are adjacent."""
    assert [found.change_id for found in seen] == list(range(1, many + 1))
    at = 0
    while at < many:
        of = (seen[at].after or {})["of"]
        assert [found.id for found in seen[at : at + of]] == list(range(of))
        at += of


@pytest.mark.rule("contract F1")
def test_followers_of_the_history_see_every_change_once_and_in_order(storage: Storage) -> None:
    # Each of 4 writers stores 1, 2 or 3 changes 30 times.
    many = 4 * 30 * 2
    with ThreadPoolExecutor(6) as executor:
        followers = [executor.submit(follow, storage, many, page, snapshot=page > 1) for page in (1, 100)]
        writers = [executor.submit(keep_changes, storage, 30) for _ in range(4)]
        for writer in writers:
            writer.result(IN_TIME)
        for follower in followers:
            assert_whole(follower.result(IN_TIME), many)
    assert storage.read(lambda uow: uow.changes.last_id()) == many


def test_no_snapshot_has_a_record_without_its_change_or_a_change_without_its_record(storage: Storage) -> None:
    many = 3 * 25

    def create(_: int) -> None:
        for _number in range(25):
            storage.write(work)

    def work(uow: UnitOfWork) -> None:
        change_id = uow.changes.last_id() + 1
        uow.records(AUTHORS).add(
            Author(uow.records(AUTHORS).next_id(), change_id, f"author {change_id}", 0, version=change_id)
        )
        uow.changes.add([change(change_id, Kind.AUTHOR, change_id)])

    def look(uow: UnitOfWork) -> tuple[int, list[int], list[int], int, int]:
        authors = [found.version for found in uow.records(AUTHORS).page(-1, 999)]
        changes = [found.change_id for found in uow.changes.page(0, 999)]
        last = uow.changes.last_of_kinds().get(Kind.AUTHOR, 0)
        return uow.changes.last_id(), authors, changes, last, uow.changes.last_of(Kind.AUTHOR, len(changes))

    with ThreadPoolExecutor(3) as executor:
        creating = [executor.submit(create, number) for number in range(3)]
        deadline = time.monotonic() + IN_TIME
        seen = 0
        while seen < many and time.monotonic() < deadline:
            seen, authors, changes, last_of_kind, last_of_record = storage.snapshot(look)
            assert authors == changes == list(range(1, seen + 1))
            assert last_of_kind == last_of_record == seen
        for each in creating:
            each.result(IN_TIME)
    assert seen == many
