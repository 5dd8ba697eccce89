"""How databases find names by their beginning: in several ways, which all find the same, and none by looking at all."""

import itertools
from collections.abc import Callable
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from logoadmin.adapters.sql_storage import SqlStorage, pages
from logoadmin.adapters.sql_storage.transaction import Transaction
from logoadmin.adapters.sql_storage.unit_of_work import SqlUnitOfWork
from logoadmin.domain.lists import Filter, folded
from logoadmin.domain.records import Role, User
from logoadmin.ports.storage import UnitOfWork

LETTERS = ("a", "B", "ß", "%", "🂡", "\U0010ffff")
NAMES = ["".join(letters) for length in (1, 2, 3) for letters in itertools.product(LETTERS, repeat=length)]
# In another order than the names, and not one after the other.
USERS = [User(7 * (n * 101 % len(NAMES)), name, None, 1 + n % 3 // 2, 0) for n, name in enumerate(sorted(NAMES))]


def keep(users: list[User]) -> Callable[[UnitOfWork], None]:
    def work(uow: UnitOfWork) -> None:
        for role_id in (1, 2):
            uow.roles.add(Role(role_id, f"role {role_id}", (), 0))
        for user in users:
            uow.users.add(user, None)

    return work


@pytest.fixture
def stocked(sql_storage: SqlStorage) -> SqlStorage:
    sql_storage.write(keep(USERS))
    return sql_storage


@pytest.mark.rule("contract E2", "contract E3")
@given(
    where=st.builds(
        Filter,
        prefix=st.sampled_from(["", "s", "no", *NAMES]).map(str.swapcase),
        q=st.sampled_from([None, None, "s", "%", "🂡"]),
        role_id=st.sampled_from([None, None, 1, 2, 3]),
    ),
    limit=st.integers(1, 60),
    after=st.integers(-1, 7 * len(NAMES)),
    ways=st.fixed_dictionaries(
        {"FEW": st.sampled_from([0, 5, 1000]), "NEAR": st.sampled_from([1, 20]), "MANY": st.sampled_from([0, 50, 1000])}
    ),
)
def test_pages_that_are_followed_to_the_end_are_the_whole_list_in_whatever_way_they_are_found(
    stocked: SqlStorage, where: Filter, limit: int, after: int, ways: dict[str, int]
) -> None:
    expected = [
        user
        for user in sorted(USERS, key=lambda user: user.user_id)
        if user.user_id > after
        and folded(user.username).startswith(folded(where.prefix or ""))
        and folded(where.q or "") in folded(user.username)
        and where.role_id in (None, user.role_id)
    ]

    def page(last: int) -> tuple[User, ...]:
        return stocked.read(lambda uow: uow.users.page(last, limit, where))

    found: list[User] = []
    with pytest.MonkeyPatch.context() as patch:
        for name, number in ways.items():
            patch.setattr(pages, name, number)
        while more := page(found[-1].user_id if found else after):
            assert len(more) == min(limit, len(expected) - len(found))
            found += more
    assert found == expected


def work_for(storage: SqlStorage, where: Filter) -> int:
    """Return how much a database does for a first page: the steps of SQLite, the rows that MariaDB looks at."""
    connection = storage._engine.raw_connection()
    driver: Any = connection.driver_connection
    steps = 0

    def step() -> None:
        nonlocal steps
        steps += 1

    def looked_at() -> int:
        with driver.cursor() as cursor:
            cursor.execute("SHOW SESSION STATUS LIKE 'Handler_read%'")
            return sum(int(number) for _, number in cursor.fetchall())

    try:
        uow = SqlUnitOfWork(Transaction(connection, storage._statements))
        if storage.embedded:
            driver.set_progress_handler(step, 1)
            uow.users.page(-1, 10, where)
            driver.set_progress_handler(None, 1)
            return steps
        before = looked_at()
        uow.users.page(-1, 10, where)
        after = looked_at()
        # Without what it takes to read the counters.
        return after - before - (looked_at() - after)
    finally:
        connection.close()


@pytest.mark.rule("contract E2", "contract E3")
def test_a_prefix_costs_what_begins_so_and_not_what_is_there(
    sql_storage: SqlStorage, monkeypatch: pytest.MonkeyPatch
) -> None:
    sql_storage.write(keep([User(number, f"user {number:04}", None, 1, 0) for number in range(2_000)]))
    everything = work_for(sql_storage, Filter(q="user 1999"))
    for where in (Filter(prefix="USER 1999"), Filter(prefix="user 199"), Filter(prefix="User 199", role_id=1)):
        assert work_for(sql_storage, where) < everything / 10, where
    # One that all names have: there is enough of them at the beginning.
    monkeypatch.setattr(pages, "FEW", 20)
    for where in (Filter(prefix="user"), Filter(prefix="user", role_id=1)):
        assert work_for(sql_storage, where) < everything / 5, where
