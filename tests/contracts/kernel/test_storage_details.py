"""What artworks say of themselves, and how they are found by it, over every adapter."""

from dataclasses import replace
from typing import Any, Final

import pytest

from logoadmin.domain.kernel.details import NO_DETAILS, Details
from logoadmin.domain.kernel.errors import DuplicateEntry, DuplicateUpdate
from logoadmin.domain.kernel.kinds import LOGOS, THEMES
from logoadmin.domain.kernel.lists import Filter, Order, SortKey, before_all
from logoadmin.domain.kernel.records import Logo
from logoadmin.ports.storage import Storage, UnitOfWork
from tests.contracts.steps import add, author, get, link, logo, page, remove, theme, update, write

BIG: Final = "\U0001f0a1"
SHOT: Final = {"url": "https://example.org/" + BIG * 2028, "alt": BIG * 200}
LONGEST: Final[dict[str, Any]] = {
    "description": BIG * 500,
    "text": BIG * 20_000,
    "licence": BIG * 64,
    "version": BIG * 32,
    "tags": [chr(0x1F0A1 + number) * 32 for number in range(10)],
    "screenshots": [SHOT] * 8,
    "origin": "x" * 128,
}


def detailed(logo_id: int, **members: Any) -> Logo:
    return replace(logo(logo_id), details=Details(**members))


def ids(found: tuple[Logo, ...]) -> list[int]:
    return [each.logo_id for each in found]


@pytest.mark.rule("contract S1", "contract S2")
def test_details_are_kept_as_they_are(storage: Storage) -> None:
    some = [detailed(1, **LONGEST), detailed(2, description='"\\\u0001', tags=["a"]), logo(3)]
    write(storage, add(*some, replace(theme(1), details=Details(**LONGEST))))
    assert [get(storage, LOGOS, each.logo_id) for each in some] == some
    assert [*page(storage, LOGOS, 0, 1), *page(storage, LOGOS, 1)] == some
    assert some[2].details == NO_DETAILS
    write(storage, update(replace(some[0], details=NO_DETAILS), replace(some[2], details=some[1].details)))
    assert [each.details for each in page(storage, LOGOS)] == [NO_DETAILS, some[1].details, some[1].details]


@pytest.mark.rule("contract S1")
def test_an_origin_is_unique_within_its_kind(storage: Storage) -> None:
    first, second = detailed(1, origin="a-1"), detailed(2, origin="A-1")
    write(storage, add(first, second, logo(3), logo(4), replace(theme(1), details=Details(origin="a-1"))))
    for refused in (detailed(5, origin="a-1"), detailed(0, origin="A-1")):
        with pytest.raises(
            DuplicateEntry, match=rf"^Duplicate entry '{refused.details.origin}' for key 'details.origin'$"
        ):
            write(storage, add(refused))
    with pytest.raises(DuplicateUpdate, match=r"^Duplicate entry 'a-1' for key 'details.origin'$"):
        write(storage, update(detailed(3, origin="a-1")))
    assert page(storage, LOGOS) == (first, second, logo(3), logo(4))
    write(storage, update(detailed(1, origin="b")), update(detailed(3, origin="a-1")), remove(LOGOS, 2))
    write(storage, add(detailed(6, origin="A-1")))
    for origin, found in (("a-1", [3]), ("A-1", [6]), ("b", [1]), ("c", [])):
        assert ids(page(storage, LOGOS, where=Filter(origin=origin))) == found


# Every filter beside a tag, and the logos below that match it; those with an odd id have the tag.
FILTERS: Final[tuple[tuple[dict[str, Any], set[int]], ...]] = (
    ({}, {1, 2, 3, 4, 5, 6, 7, 8, 9}),
    ({"author_id": 1}, {1, 2, 3, 4, 5}),
    ({"target": "forum"}, {1, 2, 3, 4, 5, 6, 7, 8, 9}),
    ({"target": "wiki"}, set()),
    ({"active": True}, {3, 4, 5, 6, 7, 8, 9}),
    ({"q": "LOGO"}, {1, 2, 3, 4, 5, 6, 7, 8, 9}),
    ({"author_id": 1, "active": True, "target": "forum", "q": "logo"}, {3, 4, 5}),
)


@pytest.mark.rule("contract E2", "contract E3", "contract E4", "contract E5")
def test_artworks_are_found_by_a_tag_and_other_filters(storage: Storage) -> None:
    names = [replace(detailed(n, tags=["odd" if n % 2 else "even", "all"]), active=n > 2) for n in range(1, 10)]
    write(storage, add(author(1), author(2), *names), *(link(LOGOS, n, 2, 1) for n in range(1, 6)))
    orders: tuple[tuple[SortKey | None, Order], ...] = (
        *((None, "asc"), (None, "desc"), ("name", "asc")),
        *(("name", "desc"), ("changed", "asc"), ("changed", "desc")),
    )
    for others, matching in FILTERS:
        where = Filter(tag="odd", **others)
        for sort, order in orders:
            expected = sorted((n for n in matching if n % 2), reverse=order == "desc")
            assert walk(storage, where, sort, order) == expected, (others, sort, order)
    assert ids(page(storage, LOGOS, where=Filter(tag="Odd"))) == []
    write(storage, update(replace(names[0], details=Details(tags=("even",)))), remove(LOGOS, 3))
    assert ids(page(storage, LOGOS, where=Filter(tag="odd"))) == [5, 7, 9]
    assert ids(page(storage, LOGOS, where=Filter(tag="even"))) == [1, 2, 4, 6, 8]
    assert page(storage, THEMES, where=Filter(tag="odd")) == ()


def walk(storage: Storage, where: Filter, sort: SortKey | None, order: Order) -> list[int]:
    """Return the ids of a list, read in pages of two."""
    found: list[Logo] = []

    def following(uow: UnitOfWork) -> tuple[Logo, ...]:
        after = found[-1] if found else None
        if sort is not None:
            return uow.records(LOGOS).sorted_page(sort, after, 2, where, order)
        return uow.records(LOGOS).page(before_all(order) if after is None else after.logo_id, 2, where, order)

    while more := storage.read(following):
        found += more
    return ids(tuple(found))
