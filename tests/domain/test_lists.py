"""Whole lists, page by page (contract A18, E1)."""

from collections.abc import Callable
from typing import Any

import pytest

from logoadmin.adapters.memory_storage import MemoryStorage
from logoadmin.domain.errors import StorageUnavailable
from logoadmin.domain.lists import Listing, Pages
from logoadmin.domain.logo_admin import LogoAdmin
from logoadmin.domain.records import Author, Logo, Role, Theme, User
from logoadmin.domain.services.authors import ListAuthorLogos, ListAuthors, ListAuthorThemes, RemoveAuthor
from logoadmin.domain.services.logos import ListLogos
from logoadmin.domain.services.roles import ListRoles
from logoadmin.domain.services.themes import ListThemes
from logoadmin.domain.services.users import ListUsers
from logoadmin.ports.storage import UnitOfWork
from tests.gallery import NOW, StandingClock, gallery_on

E1 = pytest.mark.rule("contract E1")


def numbers(size: int, pages: Pages) -> Listing[int]:
    def page(last: int, limit: int) -> tuple[int, ...]:
        return tuple(range(last + 1, min(last + 1 + limit, size)))

    return Listing(page(-1, pages.first), page, pages)


@E1
@pytest.mark.parametrize("pages", [Pages(5, 5), Pages(5, 20, lambda _: 1), Pages(2, 20, lambda _: 10**6)])
@pytest.mark.parametrize("size", [0, 1, 4, 5, 6, 9, 10, 11, 24, 25, 26, 1000])
def test_a_list_is_complete_and_in_order_whatever_its_length(size: int, pages: Pages) -> None:
    listing = numbers(size, pages)
    assert list(listing) == list(range(size))
    assert list(listing) == list(range(size))  # and can be read again
    parts = list(listing.pages())
    assert [number for part in parts for number in part] == list(range(size))
    assert all(0 < len(part) <= pages.most for part in parts)


@E1
def test_pages_weigh_alike_however_much_their_records_weigh() -> None:
    listing = numbers(1000, Pages(4, 300, lambda number: 1 if number < 400 else 2**19 - 1))
    assert [len(page) for page in listing.pages()][:4] == [4, 300, 300, 2]


@E1
def test_pages_are_fetched_only_when_they_are_read() -> None:
    asked: list[int] = []

    def following(last: int, limit: int) -> tuple[int, ...]:
        asked.append(last)
        return tuple(range(last + 1, last + 1 + limit))

    numbers_ = iter(Listing((0, 1), following, Pages(2, 2)))
    assert (next(numbers_), next(numbers_), asked) == (0, 1, [])
    assert (next(numbers_), next(numbers_), asked) == (2, 3, [1])


@E1
def test_a_list_that_fails_midway_never_looks_complete() -> None:
    def following(last: int, limit: int) -> tuple[int, ...]:
        raise StorageUnavailable(f"db after {last}, of {limit}")

    read = iter(Listing((0, 1), following, Pages(2, 2)))
    assert (next(read), next(read)) == (0, 1)
    with pytest.raises(StorageUnavailable):
        next(read)


def fill(uow: UnitOfWork, size: int) -> None:
    """Keep so many of each kind, all pieces by author 1; user ids leave room for the administrator."""
    for id_ in range(1, size + 1):
        if id_ > 2:
            uow.roles.add(Role(id_, f"role {id_}", (), NOW))
        uow.authors.add(Author(id_, id_, f"author {id_}", NOW))
        uow.logos.add(Logo(id_, "n", "http://a", "t", "", False, (), NOW))
        uow.themes.add(Theme(id_, "n", "http://a", "t", "", False, (), NOW))
    for id_ in range(1, size):
        uow.users.add(User(id_, f"user {id_}", None, 1, NOW), None)
    for id_ in range(1, size + 1):
        uow.logos.link(id_, 1)
        uow.themes.link(id_, 1)


LISTS: dict[str, Callable[[LogoAdmin], Listing[Any]]] = {
    "users": lambda gallery: gallery.users.list(ListUsers()),
    "roles": lambda gallery: gallery.roles.list(ListRoles()),
    "authors": lambda gallery: gallery.authors.list(ListAuthors()),
    "themes": lambda gallery: gallery.themes.list(ListThemes()),
    "logos": lambda gallery: gallery.logos.list(ListLogos()),
    "logos of an author": lambda gallery: gallery.authors.logos(ListAuthorLogos(author_id=1)),
    "themes of an author": lambda gallery: gallery.authors.themes(ListAuthorThemes(author_id=1)),
}
ID_FIELDS = {"users": "user_id", "roles": "role_id", "authors": "author_id", "themes": "theme_id", "logos": "logo_id"}


@E1
@pytest.mark.rule("contract A18", "contract D users", "contract D roles", "contract D authors")
@pytest.mark.rule("contract D themes", "contract D logos", "spec §Endpoints 1")
@pytest.mark.parametrize("size", [49, 50, 51, 499, 500, 501, 550, 551])
def test_every_list_has_every_record_once_over_page_boundaries(size: int, clock: StandingClock) -> None:
    storage = MemoryStorage()
    gallery = gallery_on(storage, clock)
    storage.write(lambda uow: fill(uow, size))
    for name, list_ in LISTS.items():
        ids = [getattr(record, ID_FIELDS[name.split()[0]]) for record in list_(gallery)]
        expected = list(range(1, size + 1))
        if name == "users":
            expected[-1] = 2_000_000_000
        assert ids == expected, name


@E1
def test_what_stays_is_read_exactly_once_while_others_come_and_go(gallery: LogoAdmin, storage: MemoryStorage) -> None:
    storage.write(lambda uow: fill(uow, 1200))
    read = iter(gallery.authors.list(ListAuthors()))
    seen = [next(read).author_id for _ in range(600)]
    for author_id in (1, 500, 600, 601, 1200):
        gallery.authors.remove(RemoveAuthor(author_id=author_id))
    storage.write(lambda uow: uow.authors.add(Author(5000, 5000, "late", NOW)))
    seen += [author.author_id for author in read]
    assert len(seen) == len(set(seen))
    assert seen == sorted(seen)
    assert {*range(1, 1201)} - {1, 500, 600, 601, 1200} <= set(seen)


@E1
def test_the_author_of_a_list_may_go_while_it_is_read(gallery: LogoAdmin, storage: MemoryStorage) -> None:
    storage.write(lambda uow: fill(uow, 150))
    read = iter(gallery.authors.logos(ListAuthorLogos(author_id=1)))
    assert next(read).logo_id == 1
    gallery.authors.remove(RemoveAuthor(author_id=1))
    assert [logo.logo_id for logo in read] == list(range(2, 51))
