"""How databases find changes: along one index or another, or by their time, and never through the whole history."""

from collections.abc import Callable
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from logoadmin.adapters.sql_storage import SqlStorage, change_times, tables, transaction
from logoadmin.domain.model.lists import ChangeFilter, Order, TruncatedPage, before_all
from logoadmin.domain.model.records import Change, Kind
from logoadmin.ports.storage import UnitOfWork
from tests.adapters.test_sql_searches import ORDERS, take_statistics, work_for


@pytest.fixture
def small_blocks(monkeypatch: pytest.MonkeyPatch) -> None:
    """Blocks of 2, 6 and 18 changes, so that a short history has some of each."""
    sizes = (2, 6, 18)
    monkeypatch.setattr(transaction, "ADD_TIMES", {size: transaction._add_times(size) for size in sizes})
    monkeypatch.setattr(change_times, "CHANGE_BLOCKS", sizes)
    monkeypatch.setattr(change_times, "_IN_ONE", 3)


def add(storage: SqlStorage, changes: list[Change]) -> None:
    storage.write(lambda uow: uow.changes.add(changes))


def forget_history(storage: SqlStorage) -> None:
    with storage._pool.engine.connect() as connection:
        connection.execute(tables.changes.delete())
        connection.execute(tables.change_times.delete())
        connection.execute(tables.state.update().values(change_id=0))


def page_of(after: int, limit: int, where: ChangeFilter, order: Order) -> Callable[[UnitOfWork], tuple[Change, ...]]:
    return lambda uow: uow.changes.page(after, limit, where, order)


@pytest.mark.rule("contract G3")
@pytest.mark.usefixtures("small_blocks")
@given(data=st.data())
def test_changes_of_a_time_are_found_however_the_clock_was_set(sql_storage: SqlStorage, data: st.DataObject) -> None:
    forget_history(sql_storage)
    for _ in range(data.draw(st.integers(0, 3))):
        last = sql_storage.read(lambda uow: uow.changes.last_id())
        steps = data.draw(st.lists(st.sampled_from([0, 0, 0, 1, 1, 5, -7, 40]), min_size=1, max_size=30))
        times = [max(0, 100 + sum(steps[:at])) for at in range(len(steps))]
        add(
            sql_storage,
            [
                Change(last + n, at, n % 3, "logo.amended", Kind.LOGO, n % 4, None, None, None)
                for n, at in enumerate(times, 1)
            ],
        )
    everything = list(sql_storage.read(lambda uow: uow.changes.page(-1, 10_000)))
    for order in ORDERS:
        since, until = data.draw(st.none() | st.integers(90, 150)), data.draw(st.none() | st.integers(90, 150))
        user_id = data.draw(st.none() | st.integers(0, 2))
        after = data.draw(st.just(before_all(order)) | st.integers(0, 91))
        limit = data.draw(st.integers(1, 40))
        expected = [
            change
            for change in (everything if order == "asc" else everything[::-1])
            if (change.change_id > after if order == "asc" else change.change_id < after)
            and (since is None or change.at >= since)
            and (until is None or change.at <= until)
            and user_id in (None, change.user_id)
        ]
        where = ChangeFilter(user_id=user_id, since=since, until=until)
        assert list(sql_storage.read(page_of(after, limit, where, order))) == expected[:limit]


@pytest.mark.rule("contract G3", "contract E1")
@pytest.mark.usefixtures("small_blocks")
def test_a_heavy_page_of_a_time_ends_before_its_limit_and_says_so(sql_storage: SqlStorage) -> None:
    # Two of each four are of the time, so that a page has several ranges.
    said = {"name": "x" * 20_000}
    times = [5 if number % 4 < 2 else 9 for number in range(1, 41)]
    changes = [Change(n, at, 1, "logo.amended", Kind.LOGO, n, None, said, None) for n, at in enumerate(times, 1)]
    add(sql_storage, changes)
    where = ChangeFilter(since=9, until=9)
    for order in ORDERS:
        expected = [change.change_id for change in changes if change.at == 9][:: 1 if order == "asc" else -1]
        seen: list[int] = []
        after = before_all(order)
        while page := sql_storage.read(page_of(after, 8, where, order)):
            assert len(page) <= 3
            seen += [change.change_id for change in page]
            assert isinstance(page, TruncatedPage) or seen == expected
            after = seen[-1]
        assert seen == expected


def history(*, jumps: bool) -> list[Change]:
    """Return changes of which the last ninety are another's and of another kind; the clock is set back twice."""
    changes = []
    for number in range(1, 6_001):
        is_late = number > 5_910
        at = 1_000 + number // 3
        if jumps and number in (7, 3_000):
            at += 1_000_000
        kind = Kind.ROLE if is_late or number % 2 else Kind.USER
        action = f"{kind}.{'amended' if is_late else 'created'}"
        user_id, request_id = 2 if is_late else 1, f"request {number // 10}"
        changes.append(Change(number, at, user_id, action, kind, number % 1_000, None, None, request_id))
    return changes


RARE: tuple[dict[str, Any], ...] = (
    {"user_id": 2},
    {"action": "role.amended"},
    {"request_id": "request 595"},
    {"kind": Kind.ROLE, "id": 911},
    {"kind": Kind.THEME},
    {"user_id": 9},
    {"since": 2_980},
    {"since": 1_500, "until": 1_505},
    {"until": 1_002},
    {"since": 900_000},
)
FREQUENT: tuple[dict[str, Any], ...] = ({}, {"user_id": 1}, {"kind": Kind.ROLE}, {"kind": Kind.USER}, {"since": 0})


@pytest.mark.rule("contract G3", "contract E2")
@pytest.mark.parametrize("jumps", [False, True])
def test_a_page_of_changes_costs_what_is_in_it_and_not_what_ever_happened(sql_storage: SqlStorage, jumps: bool) -> None:
    add(sql_storage, history(jumps=jumps))
    assert_cheap(sql_storage)
    take_statistics(sql_storage)
    assert_cheap(sql_storage)


def assert_cheap(sql_storage: SqlStorage) -> None:
    """Make sure that no page is looked for in the whole history."""
    everything = work_for(sql_storage, lambda uow: uow.changes.page(-1, 6_000))

    def work(where: dict[str, Any], order: Order, after: int) -> int:
        return work_for(sql_storage, page_of(after, 10, ChangeFilter(**where), order))

    for order in ORDERS:
        for one in RARE:
            for other in FREQUENT:
                if not other.keys() & one.keys():
                    assert work({**other, **one}, order, before_all(order)) < everything / 6, (other, one, order)
        for one in FREQUENT:
            for after in (before_all(order), 3_001):
                assert work(one, order, after) < everything / 6, (one, order, after)
