# ruff: noqa: RUF001 (the tests need letters that look alike)
"""The rules of :mod:`logoadmin.ports.record_storage` for pages, orders and filters, over every adapter."""

import itertools
from dataclasses import replace
from typing import Any, Final, Literal
from unicodedata import normalize

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from logoadmin.domain.kernel.details import NO_DETAILS, Details
from logoadmin.domain.kernel.errors import DuplicateEntry, DuplicateUpdate
from logoadmin.domain.kernel.kinds import ARTWORK_KINDS, AUTHORS, KINDS, LOGOS, ROLES, THEMES, USERS, AnyKind
from logoadmin.domain.kernel.limits import MAX_CUSTOM_CSS, MAX_ID
from logoadmin.domain.kernel.lists import EVERYTHING, Filter, Order, SortKey, TruncatedPage, before_all, search_form
from logoadmin.domain.kernel.records import Change, Kind, Logo, StoredRecord, User
from logoadmin.ports.storage import Storage, UnitOfWork
from tests.contracts.steps import add, author, find, get, link, logo, page, remove, role, theme, update, user, write


@pytest.mark.rule("contract E1")
@pytest.mark.parametrize(
    ("heavy", "where"),
    [
        *((65_000, EVERYTHING), (65_000, Filter(active=False)), (65_000, Filter(q="logo"))),
        *((200_000, Filter(active=False)), (MAX_CUSTOM_CSS, Filter(q="logo"))),
    ],
    ids=["all", "active", "q", "heavy", "heaviest"],
)
def test_a_page_ends_before_it_is_too_large_and_indicates_it(storage: Storage, heavy: int, where: Filter) -> None:
    styles = ["", "🂡" * heavy, "", "", "🂡" * heavy, "🂡" * heavy, "x" * 60_000, "x" * 60_000]
    all_ = [logo(id_, css, active=False) for id_, css in enumerate(styles, 1)]
    write(storage, add(*all_))
    for read in (storage.read, storage.snapshot, storage.write):
        pages, after = [], -1
        while found := read(lambda uow, after=after: uow.records(LOGOS).page(after, 100, where)):  # type: ignore[misc]  # has a default
            pages.append(found)
            after = found[-1].logo_id
        assert [one for found in pages for one in found] == all_
        # The last page may or may not indicate it.
        assert all(isinstance(found, TruncatedPage) for found in pages[:-1])
        assert all(len(found) == 1 or sum(len(one.custom_css) for one in found) <= 65_536 for found in pages)
        assert [len(found) for found in pages] == ([4, 1, 1, 1, 1] if heavy == 65_000 else [1, 1, 2, 1, 1, 1, 1])
    assert not isinstance(page(storage, LOGOS, 2, 2, where), TruncatedPage)


@pytest.mark.rule("contract E1")
def test_pages_of_users_and_changes_are_also_limited_by_size(storage: Storage) -> None:
    users = [User(id_, f"user {id_}", "🂡" * 4096, 1, 0) for id_ in range(1, 41)]
    write(storage, add(role(1), *users))
    listed = page(storage, USERS)
    assert isinstance(listed, TruncatedPage)
    assert len(listed) == 15
    changes = [
        Change(id_, 0, None, "user.amended", Kind.USER, id_, {"avatar": "x" * 4096}, {"avatar": "y" * 4096}, None)
        for id_ in range(1, 41)
    ]
    storage.write(lambda uow: uow.changes.add(changes))
    found = storage.read(lambda uow: uow.changes.page(0, 100))
    assert isinstance(found, TruncatedPage)
    assert (found, len(found)) == (tuple(changes[:7]), 7)


@pytest.mark.rule("contract E2", "contract E3")
@pytest.mark.parametrize("size", [1, 49, 50, 51, 130])
def test_any_number_of_scattered_artworks_have_their_own_authors(storage: Storage, size: int) -> None:
    ids = [*range(0, 10 * (size - 1), 10), MAX_ID]
    expected = [(id_, (3, 1, 2)[: number % 4]) for number, id_ in enumerate(ids)]
    # Other artworks with different authors are between the requested ones.
    others = [replace(theme(id_ + 1), active=True) for id_ in ids[:-1]]
    links = (*expected, *((other.theme_id, (2,)) for other in others))
    write(storage, add(*map(author, (1, 2, 3)), *map(theme, ids), *others), *(link(THEMES, i, *by) for i, by in links))
    found = page(storage, THEMES, limit=999, where=Filter(active=False))
    assert [(artwork.theme_id, tuple(by.author_id for by in artwork.authors)) for artwork in found] == expected


FORMS: Final[tuple[Literal["NFC", "NFD", "NFKC", "NFKD"], ...]] = ("NFC", "NFD", "NFKC", "NFKD")

# Name, search text, and whether the name contains it.
SEARCHES = (
    *(("Straße", "SS", True), ("STRASSE", "ß", True), ("Straße", "STRASSE", True), ("ẞ", "ss", True)),
    *(("İstanbul", "i̇", True), ("İstanbul", "i", True), ("ı", "i", False), ("I", "i", True), ("I", "ı", False)),
    *(("Åsa", "å", True), ("\u212bsa", "Å", True), ("A\u030asa", "Å", True), ("Åsa", "a", True), ("Å", "a", False)),
    *(("Ann", "á", False), ("ánn", "a", False), ("ÁNN", "ánn", True), ("ΣΑΣ", "σας", True), ("ς", "Σ", True)),
    *(("100%", "%", True), ("100", "%", False), ("a_b", "_", True), ("ab", "_", False), ("ab", "a%b", False)),
    *(("a\\b", "\\", True), ("ab", "\\", False), ("a\\b", "\\\\", False), ("a%b", "\\%", False)),
    *(('O\'Neil "Q"', "'n", True), ("x", "' OR 1=1 --", False), ("*?[a]", "*?[", True), ("abc", "*", False)),
    *(("ann ", "n ", True), ("ann", "n ", False), (" ann", " A", True), ("a\tb", "\t", True), ("a b", "\t", False)),
    *(("🦊", "🦊", True), ("🦊", "🦋", False), ("ﬁn", "fi", True), ("ΐ", "ΐ", True), ("ａ", "a", True)),
    *(("Ａ", "ａ", True), ("𐐀", "𐐨", True), ("あ", "ア", False), ("x\u200by", "xy", False), ("ǆ", "ǅ", True)),
    # At the limits of ranges of code points.
    *(("a\U0010ffffb", "A\U0010ffff", True), ("\U0010ffff\U0010ffff", "\U0010ffff", True), ("b", "a\U0010ffff", False)),
    *(("\ud7ffa", "\ud7ff", True), ("\ue000", "\ud7ff", False), ("\uffffa", "\uffff", True), ("𐀀", "\uffff", False)),
    ("Ångström", "ström", True),
    ("Ångström", "ångs", True),
    ("barbarbaz", "BARBAZ", True),
    ("barba", "barbarb", False),
    # In each normalization form, of the name and of the search text.
    *(("Ａ\u0301na", normalize(form, "ÁN"), True) for form in FORMS),
    *((normalize(form, "Ёж ﬁ 한"), "ё", True) for form in FORMS),
    *((normalize(form, "Ёж ﬁ 한"), normalize("NFD", "한"), True) for form in FORMS),
    *((normalize(form, "Ёж ﬁ 한"), "FI", True) for form in FORMS),
)


@pytest.mark.rule("contract E3")
def test_search_ignores_case_but_is_otherwise_exact(storage: Storage) -> None:
    names = list(dict.fromkeys(name for name, _, _ in SEARCHES))
    write(storage, add(role(1_000, "r")))
    for number, name in enumerate(names):
        write(storage, add(*named(number, name, f"-{name}-")))
    for name, part, matches in SEARCHES:
        expected = [number for number, each in enumerate(names) if plain(part) in plain(each)]
        assert (names.index(name) in expected) == matches, (name, part)
        for kind in KINDS.values():
            found = page(storage, kind, limit=999, where=Filter(q=part))
            assert [*map(kind.id_of, found)] == expected, (kind.plural, name, part)


def plain(text: str) -> str:
    return normalize("NFKC", normalize("NFKC", text).casefold())


def named(id_: int, name: str, amid: str = "") -> tuple[StoredRecord, ...]:
    """Return a record of each kind with a name; for roles and themes, it is surrounded by ``amid``."""
    people = role(id_, amid or name), user(id_, name, role_id=1_000), author(id_, username=name)
    return *people, replace(theme(id_), name=amid or name), replace(logo(id_), name=name)


@pytest.mark.rule("spec §Limits", "contract E3")
@pytest.mark.parametrize("letter", ["🂡", "ΐ", "ß", "𐐀"])
def test_search_covers_the_longest_names(storage: Storage, letter: str) -> None:
    # Case folding turns one letter into up to three.
    name = letter * 63 + "Z"
    write(storage, add(role(1, name), author(1, username=name), replace(logo(1), name=letter * 127 + "Z")))
    kinds: tuple[AnyKind, ...] = (ROLES, AUTHORS, LOGOS)
    # The last text is the whole name of a logo, and longer than the names of other kinds can be.
    for q, counts in (
        (letter * 60 + "z", [1, 1, 1]),
        (letter * 63, [1, 1, 1]),
        (letter.swapcase() * 127 + "z", [0, 0, 1]),
    ):
        assert [len(page(storage, kind, where=Filter(q=q))) for kind in kinds] == counts


# In no order; some names differ only in case, and several records have the same version.
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


@pytest.mark.rule("contract E5")
@pytest.mark.rule("contract E2", "contract E3", "contract E4")
@settings(suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(data=st.data(), kind=st.sampled_from([*KINDS.values()]), sort=SORTS, order=ORDERS, limit=st.integers(1, 6))
def test_consecutive_sorted_pages_are_the_whole_list_in_order(
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


@pytest.mark.rule("contract E5")
@pytest.mark.parametrize("sort", ["name", "changed"])
@pytest.mark.parametrize("order", ["asc", "desc"])
def test_a_page_continues_after_a_removed_record(sorted_gallery: Storage, sort: SortKey, order: Order) -> None:
    before = sorted_page(sorted_gallery, LOGOS, sort, order=order)
    write(sorted_gallery, remove(LOGOS, before[4].logo_id))
    assert sorted_page(sorted_gallery, LOGOS, sort, before[4], order=order) == before[5:]


@pytest.mark.rule("contract E5")
@pytest.mark.rule("contract E1")
def test_a_sorted_page_ends_before_it_is_too_large(storage: Storage) -> None:
    logos = [replace(logo(number, "x" * 40_000), name=f"{9 - number}") for number in range(1, 6)]
    write(storage, add(*logos))
    found = sorted_page(storage, LOGOS, "name", limit=3)
    assert isinstance(found, TruncatedPage)
    assert [each.logo_id for each in found] == [5]
    pages = [*itertools.chain(found, sorted_page(storage, LOGOS, "name", found[-1], 1))]
    assert [each.logo_id for each in pages] == [5, 4]


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
def test_details_are_stored_unchanged(storage: Storage) -> None:
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
    write(storage, add(detailed(6, origin="A-1"), author(2), author(1)), link(LOGOS, 3, 2, 1))
    for origin, found in (("a-1", [3]), ("A-1", [6]), ("b", [1]), ("c", [])):
        listed = page(storage, LOGOS, where=Filter(origin=origin))
        assert ids(listed) == found
        assert find(storage, LOGOS, "details.origin", origin) == next(iter(listed), None)


# Every filter, alone or combined with a tag, and the logos below that match it; those with odd ids have the tag.
FILTERS: Final[tuple[tuple[dict[str, Any], set[int]], ...]] = (
    ({}, {1, 2, 3, 4, 5, 6, 7, 8, 9}),
    ({"author_id": 1}, {1, 2, 3, 4, 5}),
    ({"author_id": 9}, set()),
    ({"target": "forum"}, {1, 2, 3, 4, 5, 6, 7, 8}),
    ({"target": "Forum"}, {9}),
    *(({"target": target}, set[int]()) for target in ("foru", "wiki")),
    ({"active": True}, {3, 4, 5, 6, 7, 8, 9}),
    ({"active": False, "target": "forum"}, {1, 2}),
    *(({"q": q}, {1, 2, 3, 4, 5, 6, 7, 8, 9}) for q in ("LOGO", "")),
    *(({"q": q}, set[int]()) for q in ("logos", "%")),
    ({"q": "o 5", "author_id": 2, "active": True}, {5}),
    ({"author_id": 1, "active": True, "target": "forum", "q": "logo"}, {3, 4, 5}),
)


@pytest.mark.rule("contract E2", "contract E3", "contract E4", "contract E5")
def test_artworks_are_found_by_filters(storage: Storage) -> None:
    names = [replace(detailed(n, tags=["odd" if n % 2 else "even", "all"]), active=n > 2) for n in range(1, 10)]
    names[8] = replace(names[8], target="Forum")
    write(storage, add(author(1), author(2), *names), *(link(LOGOS, n, 2, 1) for n in range(1, 6)))
    orders: tuple[tuple[SortKey | None, Order], ...] = (
        *((None, "asc"), (None, "desc"), ("name", "asc")),
        *(("name", "desc"), ("changed", "asc"), ("changed", "desc")),
    )
    for others, matching in FILTERS:
        for sort, order in orders:
            expected = sorted(matching, reverse=order == "desc")
            assert walk(storage, Filter(**others), sort, order) == expected, (others, sort, order)
            tagged = [n for n in expected if n % 2]
            assert walk(storage, Filter(tag="odd", **others), sort, order) == tagged, (others, sort, order)
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
