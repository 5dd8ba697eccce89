"""How databases find records: along one index or another, which all lead to the same, and never through everything."""

import itertools
from collections.abc import Callable
from functools import partial
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from sqlalchemy import func, select

from logoadmin.adapters.sql_storage import SqlStorage, page_queries, tables
from logoadmin.adapters.sql_storage.ngrams import ngrams_of, ngrams_that_cover
from logoadmin.adapters.sql_storage.records import RECORDS
from logoadmin.adapters.sql_storage.storage import unit_of_work
from logoadmin.adapters.sql_storage.transaction import Transaction
from logoadmin.domain.model.kinds import AUTHORS, LOGOS, ROLES, USERS, AnyKind
from logoadmin.domain.model.limits import MAX_ARTWORK_NAME
from logoadmin.domain.model.lists import Filter, Order, before_all
from logoadmin.domain.model.records import Author, Kind, Logo, Role, User
from logoadmin.ports.storage import UnitOfWork
from tests.gallery import link_author

LETTERS = ("a", "B", "ß", "%", "🂡", "\U0010ffff")
NAMES = ["".join(letters) for length in (1, 2, 3) for letters in itertools.product(LETTERS, repeat=length)]
NAMES += [f"{first}-{second}" for first, second in itertools.pairwise(NAMES[::3])]
# In another order than the names, and not one after the other.
MANY_USERS = [User(7 * (n * 101 % len(NAMES)), name, None, 1 + n % 3 // 2, 0) for n, name in enumerate(sorted(NAMES))]


def keep(users: list[User]) -> Callable[[UnitOfWork], None]:
    def work(uow: UnitOfWork) -> None:
        for role_id in (1, 2):
            uow.records(ROLES).add(Role(role_id, f"role {role_id}", (), 0))
        for user in users:
            uow.records(USERS).add(user)

    return work


@pytest.fixture
def stocked(sql_storage: SqlStorage) -> SqlStorage:
    sql_storage.write(keep(MANY_USERS))
    return sql_storage


@pytest.mark.rule("contract E2", "contract E3", "contract E4")
@given(
    where=st.builds(
        Filter,
        q=st.none() | st.sampled_from(["", "s", "no", "sssss", *NAMES]).map(str.swapcase),
        role_id=st.sampled_from([None, None, 1, 2, 3]),
    ),
    limit=st.integers(1, 60),
    after=st.integers(-1, 7 * len(NAMES)),
    sample=st.sampled_from([1, 3, 20, 100]),
    order=st.sampled_from(["asc", "desc"]),
)
def test_pages_that_are_followed_to_the_end_are_the_whole_list_along_whatever_index_path_they_are_found(
    stocked: SqlStorage, where: Filter, limit: int, after: int, sample: int, order: Order
) -> None:
    after = after if order == "asc" or after > 0 else before_all(order)
    expected = [
        user
        for user in sorted(MANY_USERS, key=lambda user: user.user_id, reverse=order == "desc")
        if (user.user_id > after if order == "asc" else user.user_id < after)
        and (where.q or "").casefold() in user.username.casefold()
        and where.role_id in (None, user.role_id)
    ]

    def page(last: int) -> tuple[User, ...]:
        return stocked.read(lambda uow: uow.records(USERS).page(last, limit, where, order))

    found: list[User] = []
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(page_queries, "_SAMPLE", sample)
        while more := page(found[-1].user_id if found else after):
            assert len(more) == min(limit, len(expected) - len(found))
            found += more
    assert found == expected


@pytest.mark.rule("contract E3")
@given(st.text("abß🂡", max_size=40), st.data())
def test_every_part_of_a_name_is_covered_by_n_grams_of_it(name: str, data: st.DataObject) -> None:
    first = data.draw(st.integers(0, len(name)))
    part = name[first : data.draw(st.integers(first, len(name)))]
    cover = ngrams_that_cover(Kind.USER, part)
    assert ngrams_of(Kind.USER, name).issuperset(cover)
    assert bool(cover) == bool(part)


def kept_ngrams(storage: SqlStorage) -> list[tuple[str, int]]:
    prefix = tables.NGRAM_PREFIXES[Kind.USER]
    with storage._pool.engine.connect() as connection:
        # Not with LIKE: MariaDB does not find characters beyond U+FFFF along an index with it.
        return sorted((gram, id_) for gram, id_ in connection.execute(select(tables.ngrams)) if gram[0] == prefix)


@pytest.mark.rule("contract E3")
def test_the_n_grams_of_each_kind_begin_with_another_character() -> None:
    assert {len(prefix) for prefix in tables.NGRAM_PREFIXES.values()} == {1}
    assert len(set(tables.NGRAM_PREFIXES.values())) == len(Kind)


@pytest.mark.rule("contract E3")
def test_the_longest_name_is_cut_to_its_end(sql_storage: SqlStorage) -> None:
    longest = "ΐ" * (MAX_ARTWORK_NAME - 1)  # folded, each is three characters
    sql_storage.write(lambda uow: uow.records(LOGOS).add(Logo(1, f"{longest}Z", "u", "t", "", True, (), 0)))
    assert sql_storage.read(lambda uow: len(uow.records(LOGOS).page(-1, 9, Filter(q="ΐz")))) == 1
    with sql_storage._pool.engine.connect() as connection:
        places = connection.execute(select(func.max(tables.ngram_places.c.ends))).scalar()
    assert places == len(("ΐ" * MAX_ARTWORK_NAME).casefold())


class _Undo(Exception):
    """Ends work that is not to be kept."""


STEPS = st.lists(
    st.tuples(st.sampled_from(["set", "remove", "undo"]), st.integers(1, 3), st.sampled_from(NAMES[-40:])), max_size=8
)


@pytest.fixture
def peopled(sql_storage: SqlStorage) -> SqlStorage:
    sql_storage.write(keep([]))
    return sql_storage


@pytest.mark.rule("contract E3")
@given(groups=st.lists(STEPS, max_size=4))
def test_the_n_grams_that_are_kept_are_those_of_the_names_that_are_there(
    peopled: SqlStorage, groups: list[list[tuple[str, int, str]]]
) -> None:
    names: dict[int, str] = {}

    def step(what: str, user_id: int, name: str) -> Callable[[UnitOfWork], None]:
        def work(uow: UnitOfWork) -> None:
            user = User(user_id, f"{name} {user_id}", None, 1, 0)
            if what == "remove":
                uow.records(USERS).remove(user_id)
            elif uow.records(USERS).get(user_id) is None:
                uow.records(USERS).add(user)
            else:
                uow.records(USERS).update(user)
            if what == "undo":
                raise _Undo

        return work

    def together(steps: list[tuple[str, int, str]]) -> None:
        for what, user_id, name in steps:
            try:
                peopled.write(step(what, user_id, name))
            except _Undo:
                continue
            if what == "remove":
                names.pop(user_id, None)
            else:
                names[user_id] = f"{name} {user_id}"

    for steps in [[("remove", user_id, "") for user_id in (1, 2, 3)], *groups]:
        peopled.atomic(partial(together, steps))
        expected = sorted((gram, id_) for id_, name in names.items() for gram in ngrams_of(Kind.USER, name.casefold()))
        assert kept_ngrams(peopled) == expected


@pytest.mark.rule("contract E3")
def test_what_somebody_removed_by_hand_neither_is_found_nor_stands_in_the_way(sql_storage: SqlStorage) -> None:
    sql_storage.write(keep([User(5, "Aurora", None, 1, 0)]))
    with sql_storage._pool.engine.connect() as connection:
        connection.execute(tables.users.delete())

    def found(part: str) -> list[int]:
        return [user.user_id for user in sql_storage.read(lambda uow: uow.records(USERS).page(-1, 9, Filter(q=part)))]

    assert found("aur") == []
    sql_storage.write(lambda uow: uow.records(USERS).add(User(5, "Aurum", None, 1, 0)))
    assert found("aur") == found("aurum") == [5]
    assert found("aurora") == found("rora") == []


def page_of(kind: AnyKind, after: int, where: Filter, order: Order = "asc") -> Callable[[UnitOfWork], object]:
    return lambda uow: uow.records(kind).page(after, 10, where, order)


def work_for(storage: SqlStorage, page: Callable[[UnitOfWork], object]) -> int:
    """Return how much a database does for a page: the steps of SQLite, the rows that MariaDB looks at."""
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
        uow = unit_of_work(Transaction(connection, storage._pool._statements))
        if storage.embedded:
            driver.set_progress_handler(step, 1)
            page(uow)
            driver.set_progress_handler(None, 1)
            return steps
        before = looked_at()
        page(uow)
        looked = looked_at()
        # Without what it takes to read the counters.
        return looked - before - (looked_at() - looked)
    finally:
        connection.close()


def take_statistics(storage: SqlStorage) -> None:
    """Have the database count what is there, as those who run it may."""
    with storage._pool.engine.connect() as connection:
        names = ", ".join(tables.metadata.tables)
        connection.exec_driver_sql("ANALYZE" if storage.embedded else f"ANALYZE TABLE {names}")


ORDERS: tuple[Order, Order] = ("asc", "desc")


@pytest.mark.rule("contract E2", "contract E3", "contract E4")
@pytest.mark.parametrize("order", ORDERS)
def test_a_page_costs_what_is_in_it_and_not_what_is_there(sql_storage: SqlStorage, order: Order) -> None:
    # Only the last hundred have the second role; seen from the other end, the first hundred.
    numbers = range(3_000) if order == "asc" else range(2_999, -1, -1)
    users = [
        User(id_, f"{'odd' if n % 2 else 'even'} {n:04}", None, 2 if n >= 2_900 else 1, 0)
        for id_, n in zip(numbers, range(3_000), strict=True)
    ]
    sql_storage.write(keep(users))
    everything = work_for(sql_storage, lambda uow: uow.records(USERS).page(-1, 3_000))
    filters = (
        *(Filter(), Filter(q="even"), Filter(q="EVEN 2998"), Filter(q="even 1"), Filter(q="n 29"), Filter(q="9")),
        *(Filter(q="zz"), Filter(q="even zz"), Filter(role_id=2), Filter(role_id=3), Filter(role_id=1)),
        *(Filter(q="odd", role_id=2), Filter(q="d 290", role_id=1), Filter(q="d 299", role_id=1), Filter(q="2999")),
    )
    for statistics in (False, True):
        if statistics:
            take_statistics(sql_storage)
        for after, where in itertools.product((before_all(order), numbers[1_500], numbers[2_980]), filters):
            work = work_for(sql_storage, page_of(USERS, after, where, order))
            assert work < everything / 8, (statistics, after, where)


@pytest.mark.rule("contract E2", "contract E3")
def test_of_a_long_part_its_rarest_end_is_found(sql_storage: SqlStorage, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(page_queries, "_SAMPLE", 10)
    begins = "Whoever reads this knows of user number "
    sql_storage.write(keep([User(n, f"{begins}{n:04}", None, 1, 0) for n in range(1_000)]))
    everything = work_for(sql_storage, lambda uow: uow.records(USERS).page(-1, 1_000))
    for q in (f"{begins}0999", f"{begins[9:]}0999", f"{begins}0999 "):
        where = Filter(q=q)
        work = work_for(sql_storage, page_of(USERS, -1, where))
        assert work < everything / 4, where


@pytest.mark.rule("contract E2", "contract E3", "contract E4")
def test_a_page_of_artworks_costs_what_meets_the_rarest_filter(sql_storage: SqlStorage) -> None:
    # In the middle: as far as can be from where a list begins, in either order.
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
    rarest: tuple[dict[str, Any], ...] = ({"q": "rora"}, {"target": "wiki"}, {"active": False}, {"author_id": 2})
    frequent: tuple[dict[str, Any], ...] = ({"q": "MID"}, {"target": "forum"}, {"active": True}, {"author_id": 1})
    pages_of = [
        (before_all(order), order, {**other, **one})
        for one in rarest
        for other in ({}, *rarest, *frequent)
        for order in ORDERS
    ]
    pages_of += [(700, order, {**other, "author_id": 1}) for other in frequent for order in ORDERS]
    for statistics in (False, True):
        if statistics:
            take_statistics(sql_storage)
        for after, order, where in pages_of:
            work = work_for(sql_storage, page_of(LOGOS, after, Filter(**where), order))
            assert work < everything / 6, (statistics, after, order, where)


AB_NAMES = ["".join(letters) for letters in itertools.product("ab", repeat=6)]


@pytest.fixture
def logos_of_ab(sql_storage: SqlStorage) -> SqlStorage:
    def work(uow: UnitOfWork) -> None:
        for number, name in enumerate(AB_NAMES):
            uow.records(LOGOS).add(Logo(number, name, "u", "forum", "", name.startswith("a"), (), 0))

    sql_storage.write(work)
    return sql_storage


@pytest.mark.rule("contract E3")
@given(
    where=st.fixed_dictionaries(
        {},
        optional={
            "q": st.text("ab", min_size=1, max_size=128),
            "target": st.just("forum"),
            "active": st.booleans(),
            "author_id": st.just(1),
        },
    ),
    sample=st.integers(1, 9),
)
def test_no_query_is_made_for_how_many_n_grams_are_searched_or_which_of_them_is_the_best(
    logos_of_ab: SqlStorage, where: dict[str, Any], sample: int
) -> None:
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(page_queries, "_SAMPLE", sample)
        for order in ORDERS:
            logos_of_ab.read(page_of(LOGOS, before_all(order), Filter(**where), order))
    page = RECORDS[Kind.LOGO][1].page
    assert page._along.cache_info().currsize <= 106
    assert page._samples.cache_info().currsize <= 20
    assert logos_of_ab._pool._statements.compiled.cache_info().currsize <= 150
