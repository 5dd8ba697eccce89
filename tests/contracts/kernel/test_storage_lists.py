# ruff: noqa: RUF001 (the tests need letters that look alike)
"""The rules of :mod:`logoadmin.ports.record_storage` for pages and filters, over every adapter."""

from dataclasses import replace
from typing import Any, Final, Literal
from unicodedata import normalize

import pytest

from logoadmin.domain.kernel.kinds import ARTWORK_KINDS, AUTHORS, KINDS, LOGOS, ROLES, THEMES, USERS, AnyKind
from logoadmin.domain.kernel.limits import MAX_CUSTOM_CSS, MAX_ID
from logoadmin.domain.kernel.lists import EVERYTHING, Filter, TruncatedPage
from logoadmin.domain.kernel.records import Change, Kind, Logo, StoredRecord, Theme, User
from logoadmin.ports.storage import Storage
from tests.contracts.steps import add, author, link, logo, page, remove, role, theme, update, user, write


@pytest.mark.rule("contract E1")
@pytest.mark.parametrize(
    ("heavy", "where"),
    [
        *((65_000, EVERYTHING), (65_000, Filter(active=False)), (65_000, Filter(q="logo"))),
        *((200_000, Filter(active=False)), (MAX_CUSTOM_CSS, Filter(q="logo"))),
    ],
    ids=["all", "active", "q", "heavy", "heaviest"],
)
def test_a_page_ends_before_it_is_heavy_and_says_so(storage: Storage, heavy: int, where: Filter) -> None:
    styles = ["", "🂡" * heavy, "", "", "🂡" * heavy, "🂡" * heavy, "x" * 60_000, "x" * 60_000]
    all_ = [logo(id_, css, active=False) for id_, css in enumerate(styles, 1)]
    write(storage, add(*all_))
    for read in (storage.read, storage.snapshot, storage.write):
        pages, after = [], -1
        while found := read(lambda uow, after=after: uow.records(LOGOS).page(after, 100, where)):  # type: ignore[misc]  # has a default
            pages.append(found)
            after = found[-1].logo_id
        assert [one for found in pages for one in found] == all_
        # The last one may, or may not, be said to be heavy.
        assert all(isinstance(found, TruncatedPage) for found in pages[:-1])
        assert all(len(found) == 1 or sum(len(one.custom_css) for one in found) <= 65_536 for found in pages)
        assert [len(found) for found in pages] == ([4, 1, 1, 1, 1] if heavy == 65_000 else [1, 1, 2, 1, 1, 1, 1])
    assert not isinstance(page(storage, LOGOS, 2, 2, where), TruncatedPage)


@pytest.mark.rule("contract E1")
def test_users_and_changes_are_weighed_too(storage: Storage) -> None:
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


# Filters


GALLERY: tuple[Logo, ...] = tuple(
    replace(logo(number, active=active), name=name, target=target)
    for number, (name, target, active) in enumerate(
        (
            *(("Dawn", "forum", True), ("dawn chorus", "Forum", False), ("DAWN", "forum", False)),
            *(("Dusk", "wiki", True), ("a dawn", "forum", True), ("100%", "forum", True)),
        )
    )
)


def filtered(storage: Storage, **wanted: Any) -> list[int]:
    """Return the ids of the logos that a filter lets through; the themes are the same."""
    where = Filter(**wanted)
    logos = page(storage, LOGOS, where=where)
    ids = [artwork.logo_id for artwork in logos]
    assert ids == [artwork.theme_id for artwork in page(storage, THEMES, where=where)]
    assert logos == storage.snapshot(lambda uow: uow.records(LOGOS).page(-1, 99, where))
    # Page by page it is the same.
    paged = [-1]
    while found := page(storage, LOGOS, paged[-1], 2, where):
        paged += [artwork.logo_id for artwork in found]
    assert paged[1:] == ids
    return ids


@pytest.fixture
def gallery(storage: Storage) -> Storage:
    themes = [Theme(of.logo_id, of.name, "", of.target, "", of.active, (), 0) for of in GALLERY]
    links = ((0, 2, 1), (2, 1), (3, 2), (4, 1, 2))
    write(
        storage,
        add(*map(author, (1, 2, 3)), *GALLERY, *themes),
        *(link(kind, *each) for kind in ARTWORK_KINDS for each in links),
    )
    return storage


@pytest.mark.rule("contract E3")
def test_artworks_are_filtered_by_each_value(gallery: Storage) -> None:
    assert filtered(gallery) == [0, 1, 2, 3, 4, 5]
    assert filtered(gallery, target="forum") == [0, 2, 4, 5]
    assert filtered(gallery, target="Forum") == [1]
    assert filtered(gallery, target="foru") == []
    assert filtered(gallery, active=True) == [0, 3, 4, 5]
    assert filtered(gallery, active=False) == [1, 2]
    assert filtered(gallery, author_id=1) == [0, 2, 4]
    assert filtered(gallery, author_id=2) == [0, 3, 4]
    assert filtered(gallery, author_id=3) == filtered(gallery, author_id=9) == []
    assert filtered(gallery, q="dawn") == filtered(gallery, q="DaWn") == [0, 1, 2, 4]
    assert filtered(gallery, q="") == [0, 1, 2, 3, 4, 5]
    assert filtered(gallery, q="dawns") == []
    assert filtered(gallery, q="dawn chorus") == [1]


@pytest.mark.rule("contract E2", "contract E3")
def test_filters_are_all_to_be_met(gallery: Storage) -> None:
    assert filtered(gallery, target="forum", active=True) == [0, 4, 5]
    assert filtered(gallery, q="dawn", target="forum") == [0, 2, 4]
    assert filtered(gallery, q="dawn", active=False, author_id=1) == [2]
    assert filtered(gallery, q="d", author_id=9) == []
    assert filtered(gallery, q="dawn", target="forum", active=True, author_id=2) == [0, 4]
    assert filtered(gallery, target="wiki", author_id=1) == []
    where = Filter(q="D", target="forum", active=True, author_id=1)
    assert page(gallery, LOGOS, 0, 9, where) == (replace(GALLERY[4], authors=(author(1), author(2))),)
    assert page(gallery, LOGOS, -1, 1, where) == (replace(GALLERY[0], authors=(author(2), author(1))),)
    assert page(gallery, LOGOS, 4, 1, where) == ()


@pytest.mark.rule("contract E2", "contract E3")
@pytest.mark.parametrize("size", [1, 49, 50, 51, 130])
def test_however_many_artworks_far_apart_come_with_their_own_authors(storage: Storage, size: int) -> None:
    ids = [*range(0, 10 * (size - 1), 10), MAX_ID]
    expected = [(id_, (3, 1, 2)[: number % 4]) for number, id_ in enumerate(ids)]
    # Between those that are asked for are others, with authors of their own.
    others = [replace(theme(id_ + 1), active=True) for id_ in ids[:-1]]
    links = (*expected, *((other.theme_id, (2,)) for other in others))
    write(storage, add(*map(author, (1, 2, 3)), *map(theme, ids), *others), *(link(THEMES, i, *by) for i, by in links))
    found = page(storage, THEMES, limit=999, where=Filter(active=False))
    assert [(artwork.theme_id, tuple(by.author_id for by in artwork.authors)) for artwork in found] == expected


@pytest.mark.rule("contract E3")
def test_people_are_filtered_by_role_by_user_and_by_name(storage: Storage) -> None:
    users = [user(i, f"User {i}", role_id=1 + i % 2) for i in range(6)]
    authors = [author(i, 100 + i, f"Author {i}") for i in range(6)]
    write(storage, add(*(role(i, f"Role {i}") for i in (1, 2)), *users, *authors))
    rows: tuple[tuple[AnyKind, Filter, int, int, list[int]], ...] = (
        *((USERS, Filter(role_id=1), -1, 9, [0, 2, 4]), (USERS, Filter(role_id=1), 0, 1, [2])),
        *((USERS, Filter(role_id=3), -1, 9, []), (USERS, Filter(role_id=2, q="uSER 3"), -1, 9, [3])),
        *((USERS, Filter(role_id=1, q="user 3"), -1, 9, []), (USERS, Filter(role_id=1, q="us"), 0, 9, [2, 4])),
        *((USERS, Filter(role_id=3, q="us"), -1, 9, []), (USERS, Filter(q="S"), 2, 2, [3, 4])),
        *((AUTHORS, Filter(user_id=103), -1, 9, [3]), (AUTHORS, Filter(user_id=103), 3, 9, [])),
        *((AUTHORS, Filter(user_id=3), -1, 9, []), (AUTHORS, Filter(user_id=103, q="THOR"), -1, 9, [3])),
        *((AUTHORS, Filter(user_id=103, q="2"), -1, 9, []), (AUTHORS, Filter(q="HOR "), 1, 2, [2, 3])),
        *((ROLES, Filter(q="LE 2"), -1, 9, [2]), (ROLES, Filter(q="LE 2"), 2, 9, [])),
    )
    for kind, where, after, limit, expected in rows:
        assert [*map(kind.id_of, page(storage, kind, after, limit, where))] == expected, (kind.plural, where)


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
    # At the ends of the ranges of code points.
    *(("a\U0010ffffb", "A\U0010ffff", True), ("\U0010ffff\U0010ffff", "\U0010ffff", True), ("b", "a\U0010ffff", False)),
    *(("\ud7ffa", "\ud7ff", True), ("\ue000", "\ud7ff", False), ("\uffffa", "\uffff", True), ("𐀀", "\uffff", False)),
    ("Ångström", "ström", True),
    ("Ångström", "ångs", True),
    ("barbarbaz", "BARBAZ", True),
    ("barba", "barbarb", False),
    # In each normal form, of the name and of the search text.
    *(("Ａ\u0301na", normalize(form, "ÁN"), True) for form in FORMS),
    *((normalize(form, "Ёж ﬁ 한"), "ё", True) for form in FORMS),
    *((normalize(form, "Ёж ﬁ 한"), normalize("NFD", "한"), True) for form in FORMS),
    *((normalize(form, "Ёж ﬁ 한"), "FI", True) for form in FORMS),
)


@pytest.mark.rule("contract E3")
def test_names_are_searched_without_regard_to_case_and_to_the_letter(storage: Storage) -> None:
    names = list(dict.fromkeys(name for name, _, _ in SEARCHES))
    write(storage, add(role(1_000, "r")))
    for number, name in enumerate(names):
        write(storage, add(*named(number, name, f"-{name}-")))
    for name, part, there in SEARCHES:
        expected = [number for number, each in enumerate(names) if plain(part) in plain(each)]
        assert (names.index(name) in expected) == there, (name, part)
        for kind in KINDS.values():
            found = page(storage, kind, limit=999, where=Filter(q=part))
            assert [*map(kind.id_of, found)] == expected, (kind.plural, name, part)


@pytest.mark.rule("contract E3")
def test_a_search_follows_a_name_that_is_changed_or_removed(storage: Storage) -> None:
    def found() -> list[list[int]]:
        return [[len(page(storage, kind, where=Filter(q=q))) for kind in KINDS.values()] for q in ("OLD", "new")]

    write(storage, add(role(1_000, "r"), *named(1, "Old")))
    assert found() == [[1] * 5, [0] * 5]
    write(storage, update(*named(1, "New")))
    assert found() == [[0] * 5, [1] * 5]
    write(storage, *(remove(kind, 1) for kind in KINDS.values()))
    write(storage, add(*named(1, "Old")))
    assert found() == [[1] * 5, [0] * 5]


def plain(text: str) -> str:
    return normalize("NFKC", normalize("NFKC", text).casefold())


def named(id_: int, name: str, amid: str = "") -> tuple[StoredRecord, ...]:
    """Return a record of each kind with a name, of roles and themes ``amid`` other letters."""
    people = role(id_, amid or name), user(id_, name, role_id=1_000), author(id_, username=name)
    return *people, replace(theme(id_), name=amid or name), replace(logo(id_), name=name)


@pytest.mark.rule("spec §Limits", "contract E3")
@pytest.mark.parametrize("letter", ["🂡", "ΐ", "ß", "𐐀"])
def test_the_longest_names_are_searched_to_their_end(storage: Storage, letter: str) -> None:
    # Folding makes up to three letters of one.
    name = letter * 63 + "Z"
    write(storage, add(role(1, name), author(1, username=name), replace(logo(1), name=letter * 127 + "Z")))
    kinds: tuple[AnyKind, ...] = (ROLES, AUTHORS, LOGOS)
    # The last one is all of the name of a logo, and more than the name of another kind can be.
    for q, counts in (
        (letter * 60 + "z", [1, 1, 1]),
        (letter * 63, [1, 1, 1]),
        (letter.swapcase() * 127 + "z", [0, 0, 1]),
    ):
        assert [len(page(storage, kind, where=Filter(q=q))) for kind in kinds] == counts
