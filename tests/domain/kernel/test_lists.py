"""Whole lists, page by page (contract A18, E1), pages and filters (E2, E3)."""

from collections.abc import Callable, Iterable
from typing import Any

import pytest

from logoadmin import Author, Kind, ListChanges, ListRoles, ListUsers, Logo, LogoAdmin, Role, Theme, User
from logoadmin.adapters.memory_storage import MemoryStorage
from logoadmin.domain.gallery.artworks import ListAuthorLogos, ListAuthorThemes, ListLogos, ListThemes
from logoadmin.domain.gallery.audited_artworks import artworks_of
from logoadmin.domain.gallery.authors import ListAuthors, RemoveAuthor
from logoadmin.domain.kernel.kinds import ARTWORK_KINDS, AUTHORS, LOGOS, ROLES, THEMES, USERS
from logoadmin.domain.kernel.limits import MAX_ID
from logoadmin.domain.kernel.lists import ListCommand, Listing, PageSizes, truncated_page
from logoadmin.domain.kernel.unit_of_work import AuditedUnitOfWork
from logoadmin.ports.storage import UnitOfWork
from tests.gallery import NOW, FrozenClock, ask, gallery_on, link_author, problems, recorded

SEARCHES: list[tuple[ListCommand, bool]] = [
    *((ListAuthors(), False), (ListAuthors(limit=5, after=7), False), (ListAuthors(user_id=7), False)),
    *((ListAuthors(q="a"), True), (ListLogos(target="forum"), False), (ListAuthorLogos(author_id=7), False)),
    *((ListAuthorLogos(author_id=7, active=False), True), (ListLogos(target="forum", active=False), True)),
    *((ListLogos(target="forum", q="a"), True), (ListLogos(order="desc"), False)),
    (ListChanges(order="desc", kind=Kind.LOGO, id=7, since=5, until=9), False),
    *((ListChanges(user_id=7, since=5), False), (ListChanges(user_id=7, action="logo.created"), True)),
]


@pytest.mark.rule("contract E3")
@pytest.mark.parametrize(("command", "is_search"), SEARCHES)
def test_a_list_is_a_search_unless_an_index_covers_it(command: ListCommand, is_search: bool) -> None:
    assert command.searches is is_search


E1 = pytest.mark.rule("contract E1")


def numbers(size: int, pages: PageSizes, text: Callable[[int], int] = lambda _: 0) -> Listing[int]:
    def page(last: int, limit: int) -> tuple[int, ...]:
        return truncated_page(range(last + 1, min(last + 1 + limit, size)), text)

    return Listing(page(-1, pages.first), lambda number: number, page, pages)


@E1
@pytest.mark.parametrize("pages", [PageSizes(5, 5), PageSizes(5, 20), PageSizes(2, 20)])
@pytest.mark.parametrize("text", [0, 5_000, 30_000, 40_000, 65_536, 1_000_000])
def test_a_list_of_any_length_and_size_is_complete_and_in_order(pages: PageSizes, text: int) -> None:
    for size in (0, 1, 4, 5, 6, 9, 10, 11, 24, 25, 26, 1000):
        listing = numbers(size, pages, lambda _: text)
        assert list(listing) == list(range(size))
        assert list(listing) == list(range(size))  # and can be read again
        assert bool(listing) is (size > 0)
        parts = list(listing.pages())
        assert [number for part in parts for number in part] == list(range(size))
        assert all(len(part) <= pages.most for part in parts), size
        assert all(len(part) == 1 or len(part) * text <= 65_536 for part in parts), size


@E1
def test_a_list_at_one_moment_is_read_in_one_snapshot_and_a_short_one_is_not_read_again() -> None:
    snapshots: list[Any] = []

    def listing(size: int) -> Listing[int]:
        def page(last: int, limit: int) -> tuple[int, ...]:
            return tuple(range(last + 1, min(last + 1 + limit, size)))

        def snapshot(work: Any) -> Any:
            snapshots.append(size)
            return work(page)

        return Listing(page(-1, 50), lambda number: number, page, PageSizes(50, 200), snapshot=snapshot)

    for size in (0, 49, 50, 51, 1000):
        found = listing(size).at_one_moment(lambda pages: [number for page in pages for number in page])
        assert found == list(range(size))
    assert snapshots == [50, 51, 1000]


def fill(uow: UnitOfWork, size: int) -> None:
    """Store `size` records of each kind, all artworks by author 1; user ids leave room for the administrator."""
    for id_ in range(1, size + 1):
        if id_ > 2:
            uow.records(ROLES).add(Role(id_, f"role {id_}", (), NOW))
        uow.records(AUTHORS).add(Author(id_, id_, f"author {id_}", NOW))
        uow.records(LOGOS).add(Logo(id_, "n", "http://a", "t", "", False, (), NOW))
        uow.records(THEMES).add(Theme(id_, "n", "http://a", "t", "", False, (), NOW))
    for id_ in range(1, size):
        uow.records(USERS).add(User(id_, f"user {id_}", None, 1, NOW))
    for id_ in range(1, size + 1):
        link_author(uow, LOGOS, id_, 1)
        link_author(uow, THEMES, id_, 1)


ASKS: dict[str, tuple[type[ListCommand], dict[str, Any]]] = {
    "users": (ListUsers, {}),
    "roles": (ListRoles, {}),
    "authors": (ListAuthors, {}),
    "themes": (ListThemes, {}),
    "logos": (ListLogos, {}),
    "logos of an author": (ListAuthorLogos, {"author_id": 1}),
    "themes of an author": (ListAuthorThemes, {"author_id": 1}),
    "changes": (ListChanges, {}),
}


def listed(gallery: LogoAdmin, name: str, **values: Any) -> Listing[Any]:
    kind, ids = ASKS[name]
    found: Listing[Any] = ask(gallery, kind(**(ids | values)))
    return found


def ids_in(name: str, records: Iterable[Any]) -> list[int]:
    return [getattr(record, f"{name.split()[0].removesuffix('s')}_id") for record in records]


def ids(gallery: LogoAdmin, name: str, **values: Any) -> list[int]:
    return ids_in(name, listed(gallery, name, **values))


@E1
@pytest.mark.rule("contract A18", "contract D users", "contract D roles", "contract D authors")
@pytest.mark.rule("contract D themes", "contract D logos", "spec §Endpoints 1")
@pytest.mark.parametrize("size", [49, 50, 51, 499, 500, 501, 550, 551])
def test_every_list_has_every_record_once_over_page_boundaries(size: int, clock: FrozenClock) -> None:
    storage = MemoryStorage()
    gallery = gallery_on(storage, clock)
    storage.write(lambda uow: fill(uow, size))
    for name in ASKS:
        expected = list(range(1, size + 1))
        if name == "users":
            expected[-1] = 2_000_000_000
        assert name == "changes" or ids(gallery, name) == expected, name


@E1
def test_remaining_records_are_read_once_while_others_come_and_go(gallery: LogoAdmin, storage: MemoryStorage) -> None:
    storage.write(lambda uow: fill(uow, 1200))
    read = iter(gallery.authors.list(ListAuthors()))
    seen = [next(read).author_id for _ in range(600)]
    for author_id in (1, 500, 600, 601, 1200):
        gallery.authors.remove(RemoveAuthor(author_id=author_id))
    storage.write(lambda uow: uow.records(AUTHORS).add(Author(5000, 5000, "late", NOW)))
    seen += [author.author_id for author in read]
    assert len(seen) == len(set(seen))
    assert seen == sorted(seen)
    assert {*range(1, 1201)} - {1, 500, 600, 601, 1200} <= set(seen)


@pytest.fixture
def varied(gallery: LogoAdmin, storage: MemoryStorage) -> LogoAdmin:
    """Seven of each, by two authors in turn, with names that are alike."""
    names = ("Aurora", "aurora borealis", "STRASSE", "straße", "İstanbul", "100%_\\", "Ωmega ΣΑΣ")

    def work(uow: AuditedUnitOfWork) -> None:
        for id_, name in enumerate(names, 1):
            uow.records(AUTHORS).add(Author(id_, 100 + id_, name, NOW))
        for id_, name in enumerate(names, 1):
            uow.records(ROLES).add(Role(10 + id_, name, (), NOW))
            uow.records(USERS).add(User(id_, name, None, 10 + id_ % 2 + 1, NOW))
            values = (id_, name, "http://a", "forum" if id_ < 4 else "Forum", "", id_ % 3 == 0, (), NOW)
            for kind in ARTWORK_KINDS:
                artworks_of(uow, kind).add_with_authors(kind.record(*values), (1 + id_ % 2, 3))

    storage.write(recorded(work, NOW))
    return gallery


@pytest.mark.rule("contract E2", "contract E4")
@pytest.mark.parametrize("order", ["asc", "desc"])
@pytest.mark.parametrize("name", ASKS)
def test_a_list_in_either_order_may_begin_after_any_id(varied: LogoAdmin, name: str, order: str) -> None:
    whole = ids(varied, name) if order == "asc" else ids(varied, name)[::-1]
    assert ids(varied, name, order=order) == whole
    assert len(whole) >= 3
    for after in (None, 0, 1, 3, 8, 15, 500, 2_147_483_647, *whole):
        expected = [id_ for id_ in whole if after is None or (id_ > after if order == "asc" else id_ < after)]
        rest = listed(varied, name, after=after, order=order)
        assert (ids_in(name, rest), rest.next_after) == (expected, None)
        for limit in (1, 2, 1000):
            page = listed(varied, name, after=after, limit=limit, order=order)
            assert ids_in(name, page) == ids_in(name, page) == expected[:limit]
            assert page.next_after == (expected[limit - 1] if len(expected) > limit else None)


@pytest.mark.rule("contract E4")
def test_a_descending_list_includes_the_highest_possible_id(gallery: LogoAdmin, storage: MemoryStorage) -> None:
    storage.write(lambda uow: uow.records(USERS).add(User(MAX_ID, "last", None, 1, NOW)))
    assert ids(gallery, "users", limit=1, order="desc") == [MAX_ID]
    page = gallery.users.list(ListUsers(limit=1, order="desc"))
    rest = gallery.users.list(ListUsers(after=page.next_after, order="desc"))
    assert {MAX_ID} == {user.user_id for user in page} - {user.user_id for user in rest}


@pytest.mark.rule("contract E1", "contract E3", "contract E4")
def test_whole_lists_are_filtered_beyond_their_first_page(gallery: LogoAdmin, storage: MemoryStorage) -> None:
    storage.write(lambda uow: fill(uow, 600))
    expected = [5, *range(50, 60), *range(500, 600)]
    assert ids(gallery, "authors", q="AUTHOR 5") == expected
    assert ids(gallery, "authors", q="AUTHOR 5", order="desc") == expected[::-1]
    assert ids(gallery, "logos", author_id=1, active=False, order="desc") == list(range(600, 0, -1))


OF_ARTWORKS = ("logos", "themes", "logos of an author", "themes of an author")
# The filters of lists, each with the numbers of the names in ``varied`` that it finds.
FILTERED: list[tuple[tuple[str, ...], dict[str, Any], list[int]]] = [
    (("users", "roles", "authors", *OF_ARTWORKS), {"q": "STRAẞE"}, [3, 4]),
    *((OF_ARTWORKS, {"target": "forum"}, [1, 2, 3]), (OF_ARTWORKS, {"active": False}, [1, 2, 4, 5, 7])),
    (OF_ARTWORKS, {"active": False, "target": "Forum", "q": "s"}, [4, 5]),
    *((("logos", "themes"), {"author_id": 1}, [2, 4, 6]), (("logos", "themes"), {"author_id": 99}, [])),
    (("logos", "themes"), {"author_id": 2, "active": False, "q": "aurora"}, [1]),
    *((("users",), {"role_id": 12, "q": "s"}, [3, 5]), (("users",), {"role_id": 99}, [])),
    (("authors",), {"user_id": 103}, [3]),
]


@pytest.mark.rule("contract E3")
@pytest.mark.parametrize(("names", "values", "expected"), FILTERED)
def test_a_list_passes_filters(
    varied: LogoAdmin, names: tuple[str, ...], values: dict[str, Any], expected: list[int]
) -> None:
    for name in names:
        assert ids(varied, name, **values) == there(name, expected), name


def there(name: str, numbers: list[int]) -> list[int]:
    """Return the ids in a list of the records with these names of ``varied``."""
    if name in ("logos of an author", "themes of an author"):
        return [number for number in numbers if number % 2 == 0]
    return [10 + number for number in numbers] if name == "roles" else numbers


@pytest.mark.rule("contract E2", "contract E3")
@pytest.mark.parametrize(
    ("field", "wrong"),
    [
        *(("active", value) for value in (1, "true", 0.0)),
        *(("order", value) for value in ("", "DESC", "ascending", 1, True)),
    ],
)
def test_a_wrong_value_is_refused(gallery: LogoAdmin, field: str, wrong: object) -> None:
    assert [*problems(listed, gallery, "logos", **{field: wrong})] == [(field,)]
