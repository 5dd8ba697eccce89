"""How databases find records: each page by one index, never by a full scan."""

import contextlib
import itertools
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import replace
from functools import partial
from typing import Any

import pytest

from logoadmin.adapters.sql_storage import SqlStorage
from logoadmin.adapters.sql_storage.tables import metadata
from logoadmin.adapters.sql_storage.transaction import Transaction
from logoadmin.adapters.sql_storage.unit_of_work import SqlUnitOfWork
from logoadmin.domain.kernel.kinds import AUTHORS, LOGOS, ROLES, USERS, AnyKind
from logoadmin.domain.kernel.lists import Filter, Order, SortKey, before_all
from logoadmin.domain.kernel.records import Author, Kind, Logo, Role, User
from logoadmin.ports.gallery_storage import PictureName, Standing, Withdrawal
from logoadmin.ports.proposal_storage import ProposalState, StoredProposal
from logoadmin.ports.storage import UnitOfWork
from tests.gallery import link_author


def keep(users: list[User], uow: UnitOfWork) -> None:
    for role_id in (1, 2):
        uow.records(ROLES).add(Role(role_id, f"role {role_id}", (), 0))
    for user in users:
        uow.records(USERS).add(user)


def page_of(kind: AnyKind, after: int, where: Filter, order: Order = "asc") -> Callable[[UnitOfWork], object]:
    return lambda uow: uow.records(kind).page(after, 10, where, order)


def work_for(storage: SqlStorage, page: Callable[[UnitOfWork], object]) -> int:
    """Return the cost of a page: steps of SQLite, or rows that MariaDB reads."""
    connection = storage._pool.engine.raw_connection()
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
        uow = SqlUnitOfWork(Transaction(connection, storage._pool.statements))
        if storage.embedded:
            driver.set_progress_handler(step, 1)
            page(uow)
            driver.set_progress_handler(None, 1)
            return steps
        before = looked_at()
        page(uow)
        looked = looked_at()
        # Without the cost of reading the counters.
        return looked - before - (looked_at() - looked)
    finally:
        connection.close()


def with_and_without_statistics(storage: SqlStorage) -> Iterator[bool]:
    """Yield before and after the database collects statistics, which its operators may have it do."""
    yield False
    with storage._pool.engine.connect() as connection:
        names = ", ".join(metadata.tables)
        connection.exec_driver_sql("ANALYZE" if storage.embedded else f"ANALYZE TABLE {names}")
    yield True


ORDERS: tuple[Order, Order] = ("asc", "desc")


def all_of(kind: AnyKind, uow: UnitOfWork) -> object:
    return uow.records(kind).page(-1, 3_000)


def sorted_after(kind: AnyKind, sort: SortKey, id_: int | None, order: Order, uow: UnitOfWork) -> object:
    after = None if id_ is None else uow.records(kind).get(id_)
    return uow.records(kind).sorted_page(sort, after, 10, order=order)


@pytest.mark.rule("contract E2", "contract E3", "contract E4")
@pytest.mark.parametrize("order", ORDERS)
def test_the_cost_of_a_page_is_independent_of_the_size_of_the_table(sql_storage: SqlStorage, order: Order) -> None:
    # Only the last hundred have the second role: in descending order, the first hundred.
    numbers = range(3_000) if order == "asc" else range(2_999, -1, -1)
    users = [
        User(id_, f"{'odd' if n % 2 else 'even'} {n:04}", None, 2 if n >= 2_900 else 1, 0)
        for id_, n in zip(numbers, range(3_000), strict=True)
    ]
    sql_storage.write(partial(keep, users))
    everything = work_for(sql_storage, lambda uow: uow.records(USERS).page(-1, 3_000))
    filters = (Filter(), Filter(role_id=2), Filter(role_id=3), Filter(role_id=1))
    for statistics in with_and_without_statistics(sql_storage):
        for after, where in itertools.product((before_all(order), numbers[1_500], numbers[2_980]), filters):
            work = work_for(sql_storage, page_of(USERS, after, where, order))
            assert work < everything / 8, (statistics, after, where)


@pytest.mark.rule("contract E2", "contract E5")
@pytest.mark.parametrize("order", ORDERS)
@pytest.mark.parametrize("sort", ["name", "changed"])
def test_the_cost_of_a_sorted_page_is_independent_of_the_size_of_the_table(
    sql_storage: SqlStorage, sort: SortKey, order: Order
) -> None:
    # All have the same version, like the works of a removed author, and some the same name.
    users = [User(id_, f"user {id_:04}", None, 1, 0, version=7) for id_ in range(3_000)]

    def keep_logos(uow: UnitOfWork) -> None:
        for id_ in range(3_000):
            uow.records(LOGOS).add(Logo(id_, f"Logo {id_ // 30:03}", "u", "forum", "", True, (), 0, version=7))

    sql_storage.write(partial(keep, users))
    sql_storage.write(keep_logos)
    kinds: tuple[AnyKind, ...] = (USERS, LOGOS)
    for statistics in with_and_without_statistics(sql_storage):
        for kind in kinds:
            everything = work_for(sql_storage, partial(all_of, kind))
            for id_ in (None, 10, 1_501, 2_980):
                work = work_for(sql_storage, partial(sorted_after, kind, sort, id_, order))
                assert work < everything / 8, (statistics, kind.plural, id_)


@pytest.mark.rule("contract E2", "contract E3", "contract E4")
def test_the_cost_of_a_filtered_page_is_that_of_its_matches(sql_storage: SqlStorage) -> None:
    # In the middle: as far as possible from the start of a list, in either order.
    rare = 990

    def keep_logos(uow: UnitOfWork) -> None:
        for author_id in (1, 2):
            uow.records(AUTHORS).add(Author(author_id, author_id, f"author {author_id}", 0))
        for number in range(2_000):
            is_rare = rare <= number < rare + 20
            name, target = ("Aurora" if is_rare else "Midnight"), ("wiki" if is_rare else "forum")
            uow.records(LOGOS).add(Logo(number, name, "u", target, "", not is_rare, (), 0))
            link_author(uow, LOGOS, number, 1 + is_rare)

    sql_storage.write(keep_logos)
    everything = work_for(sql_storage, lambda uow: uow.records(LOGOS).page(-1, 2_000))
    rare_filters: tuple[dict[str, Any], ...] = (
        *({"target": "wiki"}, {"active": False}, {"author_id": 2}, {"target": "forum", "active": False}),
        *({"target": "wiki", "active": True}, {"author_id": 2, "target": "forum"}, {"author_id": 2, "active": True}),
    )
    pages_of = [(before_all(order), order, where) for where in rare_filters for order in ORDERS]
    pages_of += [(700, order, {"author_id": 1}) for order in ORDERS]
    for statistics in with_and_without_statistics(sql_storage):
        for after, order, where in pages_of:
            work = work_for(sql_storage, page_of(LOGOS, after, Filter(**where), order))
            assert work < everything / 6, (statistics, after, order, where)


@contextlib.contextmanager
def sent_statements() -> Iterator[list[str]]:
    """Yield the statements sent to databases during the block."""
    sent: list[str] = []
    execute, store = Transaction.execute, Transaction.store_held_back

    def executed(self: Transaction, statement: Any, values: Any, cursor: Any = None) -> None:
        sent.append(str(statement))
        execute(self, statement, values, cursor)

    def stored(self: Transaction) -> None:
        sent.extend(f"INSERT INTO {table.name}" for table in self._held_back)
        store(self)

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(Transaction, "execute", executed)
        patch.setattr(Transaction, "store_held_back", stored)
        yield sent


@pytest.mark.rule("contract P5")
def test_a_takedown_is_found_by_an_index_among_60_000_records(sql_storage: SqlStorage) -> None:
    placeholder, blocked, own = "f" * 64, "e" * 64, [f"{number:064x}" for number in range(30_000)]
    names = [PictureName("logo", id_, each, Standing.PUBLISHED) for id_, each in enumerate(own)]
    names += [PictureName("theme", id_, placeholder, Standing.OTHER) for id_ in range(30_000)]
    for id_, each in enumerate((placeholder, blocked, own[7])):
        names.append(PictureName("logo", 30_000 + id_, each, Standing.BLOCKED))
    for start in range(0, len(names), 1_000):
        sql_storage.write(partial(_put, names[start : start + 1_000]))
    for statistics in with_and_without_statistics(sql_storage):
        found = sql_storage.read(lambda uow: uow.pictures.taken_down())
        assert found == {placeholder, blocked}
        assert work_for(sql_storage, lambda uow: uow.pictures.taken_down()) < 300, statistics
        for picture in (placeholder, blocked, own[7], own[8], "0" * 64):
            is_taken_down = partial(_is_taken_down, picture)
            assert sql_storage.read(is_taken_down) == (picture in found)
            assert work_for(sql_storage, is_taken_down) < 100, (statistics, picture)
            assert work_for(sql_storage, partial(_names, picture)) < 500, (statistics, picture)


def _put(names: Iterable[PictureName], uow: UnitOfWork) -> None:
    uow.pictures.put_names(names)


def _is_taken_down(picture: str, uow: UnitOfWork) -> bool:
    return uow.pictures.is_taken_down(picture)


def _names(picture: str, uow: UnitOfWork) -> object:
    return uow.pictures.names(picture, 20)


@pytest.mark.rule("contract R7")
def test_the_cost_of_notices_for_members_is_their_number(sql_storage: SqlStorage) -> None:
    proposal = StoredProposal(
        proposal_id=0, version=1, state=ProposalState.DECLINED, user_id=7, user_since=5, title="", kinds=0, summary={},
        size=0, created_at=0, waiting_since=0, decided_at=1, note="", changes=(),
    )  # fmt: skip

    def keep_works(uow: UnitOfWork) -> None:
        for author_id in (1, 2):
            uow.records(AUTHORS).add(Author(author_id, 6 + author_id, f"author {author_id}", 0))
        for id_ in range(2_000):
            uow.proposals.add(replace(proposal, proposal_id=id_, decided_at=id_ + 1, user_since=5 + id_ % 2))
            uow.records(LOGOS).add(Logo(id_, "Aurora", "u", "forum", "", False, (), 0))
            link_author(uow, LOGOS, id_, 1 if id_ < 20 else 2)
            uow.withdrawals.put(Withdrawal(Kind.LOGO, id_, id_, "no" if id_ % 2 else None))

    sql_storage.write(keep_works)
    everything = work_for(sql_storage, lambda uow: uow.proposals.page(-1, 2_000))
    for statistics in with_and_without_statistics(sql_storage):
        found = sql_storage.read(lambda uow: [len(each) for each in _notices(uow)])
        assert found == [50, 10]
        assert work_for(sql_storage, _notices) < everything / 4, statistics


def _notices(uow: UnitOfWork) -> tuple[Sequence[object], ...]:
    stored = uow.member_notices
    return stored.decided(7, 5, 50), stored.blocked(7, 50)
