"""Lists by name and by last change of :mod:`logoadmin.ports.record_storage`, over every adapter."""

import itertools
from dataclasses import replace
from typing import Any, Final

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from logoadmin.domain.kernel.kinds import ARTWORK_KINDS, AUTHORS, KINDS, LOGOS, ROLES, THEMES, USERS, AnyKind
from logoadmin.domain.kernel.lists import EVERYTHING, Filter, Order, SortKey, TruncatedPage, search_form
from logoadmin.domain.kernel.records import StoredRecord
from logoadmin.ports.storage import Storage
from tests.contracts.steps import add, author, link, logo, page, remove, role, theme, user, write

pytestmark = pytest.mark.rule("contract E5")

# In no order; some names differ in case alone, and several records have one version.
NAMES: Final = ("b", "B", "a", "ß", "SS", "z\U0010ffff", "z", "Z ", "z\t", "\uffff", "🂡", "A", "aa", "Ä", "ä")
SORTS: Final = st.sampled_from(["name", "changed"])
ORDERS: Final = st.sampled_from(["asc", "desc"])


@pytest.fixture
def sorted_gallery(storage: Storage) -> Storage:
    numbered = list(enumerate(NAMES, 1))

    def version(number: int) -> int:
        return 100 - number // 3 * 7 % 23

    artworks = [
        replace(artwork, name=name, version=version(number), active=number % 2 == 0, target=("x", "y")[number % 3 > 0])
        for number, name in numbered
        for artwork in (logo(number), theme(number))
    ]
    write(
        storage,
        add(*(replace(role(number, name), version=version(number)) for number, name in numbered)),
        add(
            *(replace(user(number, name, role_id=1 + number % 2), version=version(number)) for number, name in numbered)
        ),
        add(*(replace(author(number, username=name), version=version(number)) for number, name in numbered)),
        add(*artworks),
        *(link(kind, number, *{1, 1 + number % 4}) for kind in ARTWORK_KINDS for number, _ in numbered),
    )
    return storage


def sorted_page(
    storage: Storage,
    kind: AnyKind,
    sort: SortKey,
    after: StoredRecord | None = None,
    limit: int = 99,
    where: Filter = EVERYTHING,
    order: Order = "asc",
) -> tuple[Any, ...]:
    return storage.read(lambda uow: uow.records(kind).sorted_page(sort, after, limit, where, order))


def place(kind: AnyKind, sort: SortKey, record: StoredRecord) -> tuple[Any, int]:
    return search_form(getattr(record, kind.name_field)) if sort == "name" else record.version, kind.id_of(record)


WHERE: Final[dict[AnyKind, st.SearchStrategy[Filter]]] = {
    ROLES: st.builds(Filter, q=st.sampled_from([None, "a", "z", "s"])),
    USERS: st.builds(Filter, q=st.sampled_from([None, "a", "z"]), role_id=st.sampled_from([None, 1, 2, 3])),
    AUTHORS: st.builds(Filter, q=st.sampled_from([None, "a", "z"]), user_id=st.sampled_from([None, 103])),
    **{
        kind: st.builds(
            Filter,
            q=st.sampled_from([None, None, "a", "z", "s"]),
            target=st.sampled_from([None, "x", "y"]),
            active=st.sampled_from([None, True, False]),
            author_id=st.sampled_from([None, 1, 3, 9]),
        )
        for kind in (LOGOS, THEMES)
    },
}


@pytest.mark.rule("contract E2", "contract E3", "contract E4")
@settings(suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(data=st.data(), kind=st.sampled_from([*KINDS.values()]), sort=SORTS, order=ORDERS, limit=st.integers(1, 6))
def test_sorted_pages_that_are_followed_are_the_whole_list_in_order(
    sorted_gallery: Storage, data: st.DataObject, kind: AnyKind, sort: SortKey, order: Order, limit: int
) -> None:
    where = data.draw(WHERE[kind])
    by_id = page(sorted_gallery, kind, where=where)
    expected = sorted(by_id, key=lambda record: place(kind, sort, record), reverse=order == "desc")
    assert [*sorted_page(sorted_gallery, kind, sort, where=where, order=order)] == expected
    found: list[Any] = []
    while more := sorted_page(sorted_gallery, kind, sort, found[-1] if found else None, limit, where, order):
        assert len(more) == min(limit, len(expected) - len(found))
        found += more
    assert found == expected
    assert [record.version for record in found] == [record.version for record in expected]


@pytest.mark.parametrize("sort", ["name", "changed"])
@pytest.mark.parametrize("order", ["asc", "desc"])
def test_a_page_goes_on_after_a_record_that_is_gone(sorted_gallery: Storage, sort: SortKey, order: Order) -> None:
    before = sorted_page(sorted_gallery, LOGOS, sort, order=order)
    write(sorted_gallery, remove(LOGOS, before[4].logo_id))
    assert sorted_page(sorted_gallery, LOGOS, sort, before[4], order=order) == before[5:]


@pytest.mark.rule("contract E1")
def test_a_sorted_page_ends_before_it_is_heavy(storage: Storage) -> None:
    logos = [replace(logo(number, "x" * 40_000), name=f"{9 - number}") for number in range(1, 6)]
    write(storage, add(*logos))
    found = sorted_page(storage, LOGOS, "name", limit=3)
    assert isinstance(found, TruncatedPage)
    assert [each.logo_id for each in found] == [5]
    pages = [*itertools.chain(found, sorted_page(storage, LOGOS, "name", found[-1], 1))]
    assert [each.logo_id for each in pages] == [5, 4]
