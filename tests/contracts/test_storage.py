# ruff: noqa: RUF001 (the tests need letters that look alike)
"""Every sentence of :mod:`logoadmin.ports.storage`, over every adapter."""

import threading
import time
from collections.abc import Callable, Sequence
from concurrent.futures import Future, ThreadPoolExecutor
from dataclasses import replace
from functools import partial
from typing import Any

import pytest

from logoadmin.domain.model.access import Rights
from logoadmin.domain.model.errors import Conflict, DuplicateEntry, DuplicateUpdate
from logoadmin.domain.model.kinds import AUTHORS, KINDS, LOGOS, ROLES, THEMES, USERS, AnyArtworkKind, AnyKind
from logoadmin.domain.model.limits import MAX_CUSTOM_CSS, MAX_ID
from logoadmin.domain.model.lists import EVERYTHING, Filter, TruncatedPage
from logoadmin.domain.model.records import Author, Change, Kind, Link, Logo, PasswordHash, Role, Theme, User
from logoadmin.domain.model.sessions import ServiceKey
from logoadmin.domain.services.keys import CreateKey, ListKeys
from logoadmin.domain.services.sessions import SignIn
from logoadmin.domain.services.users import ListUsers
from logoadmin.ports.storage import Credentials, Session, Storage, StoredResponse, UnitOfWork
from tests.gallery import (
    ADMIN_PASSWORD,
    NOW,
    FrozenClock,
    add_user,
    atomic,
    gallery_on,
    has_users,
    link_author,
    link_id_of,
)

# Names that some collation or other takes for the same.
LOOK_ALIKES = (
    *("Ann", "ann", "ANN", "ánn", "ann ", "ann  ", " ann", "ann\t", "ann\n", "a\u0301nn", "Å", "\u212b", "A\u030a"),
    *(
        "ß",
        "ss",
        "ſ",
        "s",
        "İ",
        "i",
        "ı",
        "I",
        "😀",
        "😁",
        "🂡",
        "ﬀ",
        "ff",
        "1",
        "１",
        "\u200b",
        "\u00ad",
        "''",
        '"',
        "\\",
    ),
    *("%", "_", "\u0001", "\uffff", "\ue000", "\U0010ffff", "null", "0", "00", "あ", "ア", "ｱ"),
)


def role(role_id: int = 1, name: str = "member", scope: tuple[str, ...] = ()) -> Role:
    return Role(role_id, name, scope, 1_700_000_000)


def user(user_id: int, username: str, avatar: str | None = None, role_id: int = 1) -> User:
    return User(user_id, username, avatar, role_id, 1_700_000_000 + user_id % 7)


def author(author_id: int, user_id: int | None = None, username: str | None = None) -> Author:
    return Author(author_id, 100 + author_id if user_id is None else user_id, username or f"author {author_id}", 5)


def logo(logo_id: int, custom_css: str = "a { }", *, active: bool = True) -> Logo:
    return Logo(logo_id, f"logo {logo_id}", "https://example.org/l.png", "forum", custom_css, active, (), 9)


def theme(theme_id: int) -> Theme:
    return Theme(theme_id, f"theme {theme_id}", "https://example.org/t.png", "wiki", "", False, (), 9)


def session(session_id: str, user_id: int, expires_at: int = 2_000) -> Session:
    return Session(session_id, user_id, 1_000, expires_at)


def link_all(uow: UnitOfWork, kind: AnyArtworkKind, artwork_id: int, author_ids: Sequence[int]) -> None:
    """Link authors in place of those who are linked."""
    uow.links(kind).remove_all(artwork_id)
    for author_id in author_ids:
        link_author(uow, kind, artwork_id, author_id)


def write(storage: Storage, *steps: Callable[[UnitOfWork], object]) -> Any:
    def work(uow: UnitOfWork) -> object:
        return [step(uow) for step in steps][-1]

    return storage.write(work)


def at_once(*works: Callable[[], object]) -> list[object]:
    """Run works in threads that start together; return what each returned or raised."""
    start = threading.Barrier(len(works))

    def run(work: Callable[[], object]) -> object:
        start.wait()
        try:
            return work()
        except Exception as error:
            return error

    with ThreadPoolExecutor(len(works)) as executor:
        return list(executor.map(run, works))


# Names and texts


@pytest.mark.rule("contract A6")
def test_names_that_look_alike_are_different_names(storage: Storage) -> None:
    def keep(uow: UnitOfWork) -> None:
        uow.records(ROLES).add(role())
        for number, name in enumerate(LOOK_ALIKES):
            add_user(uow, user(number, name), PasswordHash(f"hash {number}"))
            uow.records(AUTHORS).add(author(number, username=name))
            uow.records(ROLES).add(role(number + 2, f"{name}"))

    storage.write(keep)
    for number, name in enumerate(LOOK_ALIKES):
        found = write(storage, lambda uow, name=name: uow.passwords.credentials(name))  # type: ignore[misc]  # has a default
        assert found == Credentials(number, PasswordHash(f"hash {number}"))
    assert [user.username for user in storage.read(lambda uow: uow.records(USERS).page(-1, 1000))] == list(LOOK_ALIKES)
    assert [author.username for author in storage.read(lambda uow: uow.records(AUTHORS).page(-1, 1000))] == list(
        LOOK_ALIKES
    )
    assert [role.name for role in storage.read(lambda uow: uow.records(ROLES).page(1, 1000))] == list(LOOK_ALIKES)


def add_author(author_id: int, name: str, uow: UnitOfWork) -> None:
    uow.records(AUTHORS).add(author(author_id, username=name))


@pytest.mark.rule("contract A6")
def test_each_name_duplicates_only_the_same_name(storage: Storage) -> None:
    found = {}
    write(storage, *(partial(add_author, number, name) for number, name in enumerate(LOOK_ALIKES)))
    for name in LOOK_ALIKES:
        try:
            write(storage, partial(add_author, len(LOOK_ALIKES), name))
        except DuplicateEntry as error:
            found[name] = (error.value, error.key, str(error))
    assert found == {name: (name, "username", f"Duplicate entry '{name}' for key 'username'") for name in LOOK_ALIKES}


@pytest.mark.rule("contract E1")
@pytest.mark.parametrize(
    ("heavy", "where"),
    [
        (65_000, EVERYTHING),
        (65_000, Filter(active=False)),
        (65_000, Filter(q="logo")),
        (200_000, Filter(active=False)),
        (MAX_CUSTOM_CSS, Filter(q="logo")),
    ],
    ids=["all", "active", "q", "heavy", "heaviest"],
)
def test_a_page_ends_before_it_is_heavy_and_says_so(storage: Storage, heavy: int, where: Filter) -> None:
    styles = ["", "🂡" * heavy, "", "", "🂡" * heavy, "🂡" * heavy, "x" * 60_000, "x" * 60_000]
    all_ = [replace(logo(id_), custom_css=css, active=False) for id_, css in enumerate(styles, 1)]
    write(storage, *(lambda uow, one=one: uow.records(LOGOS).add(one) for one in all_))
    for read in (storage.read, storage.snapshot, storage.write):
        pages, after = [], -1
        while page := read(lambda uow, after=after: uow.records(LOGOS).page(after, 100, where)):  # type: ignore[misc]  # has a default
            pages.append(page)
            after = page[-1].logo_id
        assert [one for page in pages for one in page] == all_
        # The last one may, or may not, be said to be heavy.
        assert [isinstance(page, TruncatedPage) for page in pages[:-1]] == [True] * (len(pages) - 1)
        assert all(len(page) == 1 or sum(len(one.custom_css) for one in page) <= 65_536 for page in pages)
        assert [len(page) for page in pages] == ([4, 1, 1, 1, 1] if heavy == 65_000 else [1, 1, 2, 1, 1, 1, 1])
    assert not isinstance(storage.read(lambda uow: uow.records(LOGOS).page(2, 2, where)), TruncatedPage)


@pytest.mark.rule("contract E1")
def test_users_and_changes_are_weighed_too(storage: Storage) -> None:
    users = [User(id_, f"user {id_}", "🂡" * 4096, 1, 0) for id_ in range(1, 41)]
    write(
        storage,
        lambda uow: uow.records(ROLES).add(role(1)),
        *(lambda uow, one=one: uow.records(USERS).add(one) for one in users),
    )
    page = storage.read(lambda uow: uow.records(USERS).page(-1, 100))
    assert isinstance(page, TruncatedPage)
    assert len(page) == 15
    changes = [
        Change(id_, 0, None, "user.amended", Kind.USER, id_, {"avatar": "x" * 4096}, {"avatar": "y" * 4096}, None)
        for id_ in range(1, 41)
    ]
    storage.write(lambda uow: uow.changes.add(changes))
    found = storage.read(lambda uow: uow.changes.page(0, 100))
    assert isinstance(found, TruncatedPage)
    assert (found, len(found)) == (tuple(changes[:7]), 7)


@pytest.mark.rule("spec §Limits", "contract A3", "contract D")
def test_the_longest_texts_of_the_largest_characters_are_kept(storage: Storage) -> None:
    big = Logo(MAX_ID, "🂡" * 128, "https://" + "🂡" * 2040, "🂡" * 64, "🂡" * MAX_CUSTOM_CSS, True, (), 2**53 - 1)
    someone = User(MAX_ID, "🂡" * 64, "🂡" * 4096, MAX_ID, 2**53 - 1)
    scope = tuple(f"{number:064}" for number in range(64))
    write(
        storage,
        lambda uow: uow.records(LOGOS).add(big),
        lambda uow: uow.records(ROLES).add(Role(MAX_ID, "🂡" * 64, scope, 2**53 - 1)),
        lambda uow: add_user(uow, someone, PasswordHash("h" * 255)),
    )
    assert storage.read(lambda uow: uow.records(LOGOS).get(MAX_ID)) == big
    assert storage.read(lambda uow: uow.records(LOGOS).page(-1, 10)) == (big,)
    assert storage.read(lambda uow: uow.records(USERS).get(MAX_ID)) == someone
    assert storage.read(lambda uow: uow.records(ROLES).get(MAX_ID)) == Role(MAX_ID, "🂡" * 64, scope, 2**53 - 1)
    assert storage.read(lambda uow: uow.passwords.get(MAX_ID)) == PasswordHash("h" * 255)


@pytest.mark.rule("spec §Limits")
def test_the_smallest_values_are_kept(storage: Storage) -> None:
    nothing = Theme(0, "", "", "", "", False, (), 0)
    write(
        storage,
        lambda uow: uow.records(THEMES).add(nothing),
        lambda uow: uow.records(ROLES).add(Role(0, "r", (), 0)),
        lambda uow: uow.records(USERS).add(User(0, "u", "", 0, 0)),
        lambda uow: uow.records(AUTHORS).add(Author(0, 0, "a", 0)),
    )
    assert storage.read(lambda uow: uow.records(THEMES).get(0)) == nothing
    assert storage.read(lambda uow: uow.records(USERS).page(-1, 1)) == (User(0, "u", "", 0, 0),)
    assert storage.read(lambda uow: uow.records(AUTHORS).get(0)) == Author(0, 0, "a", 0)
    assert storage.read(lambda uow: uow.records(ROLES).get(0)) == Role(0, "r", (), 0)


# Users


@pytest.mark.rule("spec §Endpoints 1", "spec §Endpoints 3", "contract A18")
def test_users_come_by_id_and_page_by_page(storage: Storage) -> None:
    three = [user(30, "c"), user(10, "b", avatar="https://example.org/a.png"), user(20, "a")]
    write(
        storage,
        lambda uow: uow.records(ROLES).add(role()),
        *(lambda uow, u=u: uow.records(USERS).add(u) for u in three),
    )
    assert storage.read(lambda uow: uow.records(USERS).page(-1, 2)) == (three[1], three[2])
    assert storage.read(lambda uow: uow.records(USERS).page(20, 2)) == (three[0],)
    assert storage.read(lambda uow: uow.records(USERS).page(30, 2)) == ()
    assert storage.read(lambda uow: uow.records(USERS).get(10)) == three[1]
    assert storage.read(lambda uow: uow.records(USERS).get(11)) is None


@pytest.mark.rule("spec §Endpoints 2", "contract A6", "contract A8")
def test_a_taken_user_id_is_found_before_a_taken_name(storage: Storage) -> None:
    def work(uow: UnitOfWork) -> None:
        uow.records(ROLES).add(role())
        add_user(uow, user(1, "ann"), PasswordHash("one"))
        for again, value, key in ((user(1, "ann"), 1, "user_id"), (user(2, "ann"), "ann", "username")):
            with pytest.raises(DuplicateEntry) as caught:
                add_user(uow, again, PasswordHash("two"))
            assert type(caught.value) is DuplicateEntry
            assert (caught.value.value, caught.value.key) == (value, key)
        uow.records(USERS).add(user(2, "ben"))

    storage.write(work)
    assert storage.read(lambda uow: uow.records(USERS).page(-1, 10)) == (user(1, "ann"), user(2, "ben"))
    assert storage.read(lambda uow: uow.passwords.get(1)) == PasswordHash("one")


@pytest.mark.rule("contract A7", "contract D")
def test_a_user_gets_new_values_but_no_taken_name(storage: Storage) -> None:
    write(
        storage,
        lambda uow: uow.records(ROLES).add(role()),
        lambda uow: uow.records(ROLES).add(role(2, "admin")),
        lambda uow: add_user(uow, user(1, "ann", "old"), PasswordHash("one")),
        lambda uow: uow.records(USERS).add(user(2, "ben")),
        lambda uow: uow.sessions.add(session("s", 1)),
    )

    def work(uow: UnitOfWork) -> None:
        with pytest.raises(DuplicateUpdate) as caught:
            uow.records(USERS).update(user(1, "ben"))
        assert (caught.value.value, caught.value.key) == ("ben", "username")
        assert uow.records(USERS).get(1) == user(1, "ann", "old")
        uow.records(USERS).update(user(1, "Ann", None, role_id=2))
        uow.records(USERS).update(user(1, "Ann", None, role_id=2))

    storage.write(work)
    assert storage.read(lambda uow: uow.records(USERS).get(1)) == user(1, "Ann", None, role_id=2)
    assert storage.read(lambda uow: uow.passwords.get(1)) == PasswordHash("one")
    assert storage.read(lambda uow: uow.sessions.rights("s", 1)) == Rights(1, frozenset())


@pytest.mark.rule("contract C4")
def test_passwords_are_kept_and_replaced(storage: Storage) -> None:
    write(storage, lambda uow: uow.records(ROLES).add(role()), lambda uow: uow.records(USERS).add(user(1, "ann")))
    assert storage.read(lambda uow: uow.passwords.credentials("ann")) == Credentials(1, None)
    assert storage.read(lambda uow: uow.passwords.get(1)) is None
    write(storage, lambda uow: uow.passwords.set(1, PasswordHash("new")))
    assert storage.read(lambda uow: uow.passwords.credentials("ann")) == Credentials(1, PasswordHash("new"))
    assert storage.read(lambda uow: uow.passwords.get(1)) == PasswordHash("new")
    assert storage.read(lambda uow: uow.passwords.get(2)) is None
    assert storage.read(lambda uow: uow.passwords.credentials("Ann")) is None


@pytest.mark.rule("contract D")
def test_a_removed_user_takes_the_sessions_along(storage: Storage) -> None:
    write(
        storage,
        lambda uow: uow.records(ROLES).add(role()),
        lambda uow: uow.records(USERS).add(user(1, "ann")),
        lambda uow: uow.sessions.add(session("s", 1)),
        lambda uow: uow.sessions.add_refresh_token("t", "s"),
    )
    assert write(storage, lambda uow: uow.records(USERS).remove(1)) is True
    assert write(storage, lambda uow: uow.records(USERS).remove(1)) is False
    assert storage.read(lambda uow: uow.sessions.rights("s", 1)) is None
    assert storage.read(lambda uow: uow.sessions.refresh_token("t")) is None
    write(storage, lambda uow: uow.records(USERS).add(user(1, "ann")))


# Roles


@pytest.mark.rule("spec §Endpoints 5", "contract A7", "contract A8", "contract A11")
def test_roles_are_kept_with_their_scope_in_order(storage: Storage) -> None:
    admin = role(2, "admin", ("users:read", "*", "a"))

    def work(uow: UnitOfWork) -> None:
        uow.records(ROLES).add(role())
        uow.records(ROLES).add(admin)
        with pytest.raises(DuplicateEntry) as caught:
            uow.records(ROLES).add(role(3, "admin"))
        assert (caught.value.value, caught.value.key) == ("admin", "name")
        with pytest.raises(DuplicateUpdate) as caught:
            uow.records(ROLES).update(role(1, "admin"))
        assert (caught.value.value, caught.value.key) == ("admin", "name")
        uow.records(ROLES).update(role(1, "Admin", ("b", "a")))

    storage.write(work)
    assert storage.read(lambda uow: uow.records(ROLES).page(-1, 10)) == (role(1, "Admin", ("b", "a")), admin)
    assert storage.read(lambda uow: uow.records(ROLES).page(1, 1)) == (admin,)
    assert storage.read(lambda uow: uow.records(ROLES).get(2)) == admin
    assert storage.read(lambda uow: uow.records(ROLES).get(3)) is None


@pytest.mark.rule("contract B4")
def test_of_those_who_have_a_role_somebody_can_sign_in_who_has_a_password(storage: Storage) -> None:
    write(
        storage,
        lambda uow: uow.records(ROLES).add(role()),
        lambda uow: uow.records(ROLES).add(role(2, "admin")),
        lambda uow: uow.records(USERS).add(user(1, "ann")),
    )
    assert storage.read(lambda uow: (uow.passwords.can_sign_in(1), uow.passwords.can_sign_in(2))) == (False, False)
    write(storage, lambda uow: add_user(uow, user(2, "ben"), PasswordHash("x")))
    assert storage.read(lambda uow: (uow.passwords.can_sign_in(1), uow.passwords.can_sign_in(2))) == (True, False)
    write(storage, lambda uow: uow.records(USERS).update(replace(user(2, "ben"), role_id=2)))
    assert storage.read(lambda uow: (uow.passwords.can_sign_in(1), uow.passwords.can_sign_in(2))) == (False, True)
    write(storage, lambda uow: uow.passwords.set(1, PasswordHash("y")), lambda uow: uow.records(USERS).remove(2))
    assert storage.read(lambda uow: (uow.passwords.can_sign_in(1), uow.passwords.can_sign_in(2))) == (True, False)


@pytest.mark.rule("contract D")
def test_roles_know_whether_they_are_in_use(storage: Storage) -> None:
    write(
        storage,
        lambda uow: uow.records(ROLES).add(role()),
        lambda uow: uow.records(ROLES).add(role(2, "admin")),
        lambda uow: uow.records(USERS).add(user(1, "ann")),
    )
    assert storage.read(lambda uow: has_users(uow, 1)) is True
    assert storage.read(lambda uow: has_users(uow, 2)) is False
    assert write(storage, lambda uow: uow.records(ROLES).remove(2)) is True
    assert write(storage, lambda uow: uow.records(ROLES).remove(2)) is False
    write(storage, lambda uow: uow.records(ROLES).add(role(3, "admin")))


# Authors


@pytest.mark.rule("spec §Endpoints 6", "spec §Endpoints 7", "spec §Rules 2", "contract A7", "contract A8")
def test_a_taken_user_id_of_an_author_is_found_before_a_taken_name(storage: Storage) -> None:
    def work(uow: UnitOfWork) -> None:
        uow.records(AUTHORS).add(author(1, 7, "ann"))
        uow.records(AUTHORS).add(author(2, 8, "ben"))
        for again, value, key in ((author(3, 7, "ben"), 7, "user_id"), (author(3, 9, "ben"), "ben", "username")):
            with pytest.raises(DuplicateEntry) as caught:
                uow.records(AUTHORS).add(again)
            assert type(caught.value) is DuplicateEntry
            assert (caught.value.value, caught.value.key) == (value, key)
        for again, value, key in ((author(2, 7, "ann"), 7, "user_id"), (author(2, 8, "ann"), "ann", "username")):
            with pytest.raises(DuplicateUpdate) as caught:
                uow.records(AUTHORS).update(again)
            assert (caught.value.value, caught.value.key) == (value, key)
        uow.records(AUTHORS).update(author(2, 8, "ben"))
        uow.records(AUTHORS).update(author(1, 9, "Ben"))

    storage.write(work)
    assert storage.read(lambda uow: uow.records(AUTHORS).page(-1, 10)) == (author(1, 9, "Ben"), author(2, 8, "ben"))
    assert storage.read(lambda uow: uow.records(AUTHORS).page(1, 10)) == (author(2, 8, "ben"),)
    assert storage.read(lambda uow: uow.records(AUTHORS).get(3)) is None


@pytest.mark.rule("contract A7", "contract A8")
def test_no_text_of_the_driver_is_behind_a_duplicate(storage: Storage) -> None:
    write(storage, lambda uow: uow.records(AUTHORS).add(author(1, 7, "a'n\"n😀")))
    with pytest.raises(DuplicateEntry) as caught:
        write(storage, lambda uow: uow.records(AUTHORS).add(author(2, 8, "a'n\"n😀")))
    assert str(caught.value) == "Duplicate entry 'a'n\"n😀' for key 'username'"
    assert caught.value.__cause__ is None
    assert caught.value.__context__ is None


@pytest.mark.rule("contract D")
def test_a_removed_author_takes_the_links_along(storage: Storage) -> None:
    write(
        storage,
        *(lambda uow, i=i: uow.records(AUTHORS).add(author(i)) for i in (1, 2)),
        lambda uow: uow.records(LOGOS).add(logo(1)),
        lambda uow: uow.records(THEMES).add(theme(1)),
        lambda uow: link_all(uow, LOGOS, 1, (1, 2)),
        lambda uow: link_all(uow, THEMES, 1, (1,)),
    )
    assert write(storage, lambda uow: uow.records(AUTHORS).remove(1)) is True
    assert write(storage, lambda uow: uow.records(AUTHORS).remove(1)) is False
    assert storage.read(lambda uow: uow.records(LOGOS).get(1)) == replace(logo(1), authors=(author(2),))
    assert storage.read(lambda uow: uow.records(THEMES).get(1)) == theme(1)
    assert storage.read(lambda uow: link_id_of(uow, LOGOS, 1, 1)) is None


# Artworks


@pytest.mark.rule("spec §Endpoints 9", "spec §Endpoints 11", "spec §Rules 6", "contract A18")
def test_authors_of_an_artwork_come_in_link_order(storage: Storage) -> None:
    write(
        storage,
        *(lambda uow, i=i: uow.records(AUTHORS).add(author(i)) for i in (1, 2, 3)),
        lambda uow: uow.records(LOGOS).add(logo(4)),
        lambda uow: uow.records(LOGOS).add(logo(5, active=False)),
    )
    links = [write(storage, lambda uow, i=i: link_author(uow, LOGOS, 4, i)) for i in (3, 1, 2)]  # type: ignore[misc]  # has a default
    assert links == [1, 2, 3]
    expected = replace(logo(4), authors=(author(3), author(1), author(2)))
    assert storage.read(lambda uow: uow.records(LOGOS).get(4)) == expected
    assert write(storage, lambda uow: uow.records(LOGOS).get(4)) == expected
    assert storage.snapshot(lambda uow: uow.records(LOGOS).page(-1, 10)) == (expected, logo(5, active=False))
    assert storage.read(lambda uow: uow.records(LOGOS).get(5)) == logo(5, active=False)
    assert storage.read(lambda uow: uow.records(LOGOS).get(6)) is None
    assert write(storage, lambda uow: uow.records(LOGOS).get(6)) is None


@pytest.mark.rule("spec §Endpoints 8", "spec §Endpoints 12", "spec §Rules 5", "contract A16", "contract A17")
def test_links_are_made_found_and_undone(storage: Storage) -> None:
    write(
        storage,
        *(lambda uow, i=i: uow.records(AUTHORS).add(author(i)) for i in (1, 2)),
        lambda uow: uow.records(THEMES).add(theme(1)),
        lambda uow: uow.records(LOGOS).add(logo(1)),
    )
    assert write(storage, lambda uow: link_author(uow, THEMES, 1, 2)) == 1
    assert write(storage, lambda uow: link_author(uow, LOGOS, 1, 2)) == 1
    assert write(storage, lambda uow: link_author(uow, THEMES, 1, 1)) == 2
    assert storage.read(lambda uow: link_id_of(uow, THEMES, 1, 2)) == 1
    assert storage.read(lambda uow: link_id_of(uow, LOGOS, 1, 1)) is None
    assert write(storage, lambda uow: uow.links(THEMES).remove(1, 2)) is True
    assert write(storage, lambda uow: uow.links(THEMES).remove(1, 2)) is False
    assert write(storage, lambda uow: uow.links(THEMES).remove(9, 9)) is False
    assert storage.read(lambda uow: link_id_of(uow, THEMES, 1, 2)) is None
    assert write(storage, lambda uow: link_author(uow, THEMES, 1, 2)) == 3
    assert storage.read(lambda uow: uow.records(THEMES).get(1)) == replace(theme(1), authors=(author(1), author(2)))


@pytest.mark.rule("contract I1", "contract A18")
def test_the_authors_of_an_artwork_are_replaced_with_new_links(storage: Storage) -> None:
    write(
        storage,
        *(lambda uow, i=i: uow.records(AUTHORS).add(author(i)) for i in (1, 2, 3)),
        lambda uow: uow.records(LOGOS).add(logo(1)),
        lambda uow: link_all(uow, LOGOS, 1, (1, 2)),
    )
    write(storage, lambda uow: link_all(uow, LOGOS, 1, [2, 3]))
    assert storage.read(lambda uow: uow.records(LOGOS).get(1)) == replace(logo(1), authors=(author(2), author(3)))
    assert storage.read(lambda uow: link_id_of(uow, LOGOS, 1, 2)) == 3
    write(storage, lambda uow: link_all(uow, LOGOS, 1, ()))
    assert storage.read(lambda uow: uow.records(LOGOS).get(1)) == logo(1)


@pytest.mark.rule("spec §Endpoints 10", "contract A15", "contract D")
def test_a_removed_artwork_takes_its_links_along(storage: Storage) -> None:
    write(
        storage,
        lambda uow: uow.records(AUTHORS).add(author(1)),
        lambda uow: uow.records(LOGOS).add(logo(1)),
        lambda uow: link_author(uow, LOGOS, 1, 1),
    )
    assert write(storage, lambda uow: uow.records(LOGOS).remove(1)) is True
    assert write(storage, lambda uow: uow.records(LOGOS).remove(1)) is False
    assert storage.read(lambda uow: link_id_of(uow, LOGOS, 1, 1)) is None
    assert write(storage, lambda uow: uow.records(LOGOS).add(logo(1)), lambda uow: uow.records(LOGOS).get(1)) == logo(1)


@pytest.mark.rule("contract D")
def test_an_artwork_gets_new_values_and_keeps_its_authors(storage: Storage) -> None:
    write(
        storage,
        lambda uow: uow.records(AUTHORS).add(author(1)),
        lambda uow: uow.records(LOGOS).add(replace(logo(1), authors=(author(9),))),
        lambda uow: link_author(uow, LOGOS, 1, 1),
        lambda uow: uow.records(LOGOS).update(logo(1, "b { }", active=False)),
    )
    expected = replace(logo(1, "b { }", active=False), authors=(author(1),))
    assert storage.read(lambda uow: uow.records(LOGOS).get(1)) == expected


@pytest.mark.rule("contract A18", "contract D", "contract E2")
def test_artworks_come_by_id_and_page_by_page_also_those_of_an_author(storage: Storage) -> None:
    write(
        storage,
        *(lambda uow, i=i: uow.records(AUTHORS).add(author(i)) for i in (1, 2)),
        *(lambda uow, i=i: uow.records(LOGOS).add(logo(i)) for i in (5, 3, 1, 4, 2)),
        *(lambda uow, i=i: link_all(uow, LOGOS, i, (2, 1)) for i in (4, 1)),
        lambda uow: link_all(uow, LOGOS, 2, (2,)),
        lambda uow: link_all(uow, LOGOS, 5, (1,)),
    )
    authors = {1: (author(2), author(1)), 2: (author(2),), 4: (author(2), author(1)), 5: (author(1),)}
    all_ = tuple(replace(logo(i), authors=authors.get(i, ())) for i in range(1, 6))
    assert storage.read(lambda uow: uow.records(LOGOS).page(-1, 10)) == all_
    assert storage.read(lambda uow: uow.records(LOGOS).page(1, 3)) == all_[1:4]
    assert storage.read(lambda uow: uow.records(LOGOS).page(5, 3)) == ()
    assert storage.read(lambda uow: uow.records(LOGOS).page(-1, 10, where=Filter(author_id=1))) == (
        all_[0],
        all_[3],
        all_[4],
    )
    assert storage.read(lambda uow: uow.records(LOGOS).page(1, 1, where=Filter(author_id=1))) == (all_[3],)
    assert storage.read(lambda uow: uow.records(LOGOS).page(-1, 10, where=Filter(author_id=3))) == ()
    assert storage.read(lambda uow: uow.records(THEMES).page(-1, 10, where=Filter(author_id=1))) == ()


# Versions


@pytest.mark.rule("contract F1")
def test_records_are_kept_with_their_versions(storage: Storage) -> None:
    write(
        storage,
        lambda uow: uow.records(ROLES).add(replace(role(), version=1)),
        lambda uow: uow.records(USERS).add(replace(user(1, "ann"), version=2)),
        lambda uow: uow.records(AUTHORS).add(replace(author(1), version=3)),
        lambda uow: uow.records(THEMES).add(replace(theme(1), version=4)),
        lambda uow: uow.records(LOGOS).add(replace(logo(1), version=MAX_ID)),
        lambda uow: link_author(uow, LOGOS, 1, 1),
    )

    def versions(uow: UnitOfWork) -> object:
        found = (
            uow.records(ROLES).get(1),
            uow.records(USERS).get(1),
            uow.records(AUTHORS).get(1),
            uow.records(THEMES).get(1),
            uow.records(LOGOS).get(1),
        )
        pages = (
            uow.records(ROLES).page,
            uow.records(USERS).page,
            uow.records(AUTHORS).page,
            uow.records(THEMES).page,
            uow.records(LOGOS).page,
        )
        listed = [record for page in pages for record in page(-1, 9)]
        assert [record.version for record in found if record] == [record.version for record in listed]
        assert found == tuple(listed)
        return [record.version for record in listed], [by.version for by in listed[-1].authors]  # type: ignore[union-attr]  # artworks, by now

    assert storage.read(versions) == storage.snapshot(versions) == ([1, 2, 3, 4, MAX_ID], [3])
    write(
        storage,
        lambda uow: uow.records(ROLES).update(replace(role(), version=11)),
        lambda uow: uow.records(USERS).update(replace(user(1, "ann"), version=12)),
        lambda uow: uow.records(AUTHORS).update(replace(author(1), version=13)),
        lambda uow: uow.records(THEMES).update(replace(theme(1), version=14)),
        lambda uow: uow.records(LOGOS).update(replace(logo(1), version=15)),
    )
    assert storage.read(versions) == storage.write(versions) == ([11, 12, 13, 14, 15], [13])


@pytest.mark.rule("contract C4", "contract F1")
def test_a_password_changes_no_version(storage: Storage) -> None:
    write(
        storage,
        lambda uow: uow.records(ROLES).add(role()),
        lambda uow: uow.records(USERS).add(replace(user(1, "ann"), version=5)),
        lambda uow: uow.passwords.set(1, PasswordHash("new")),
        lambda uow: uow.passwords.set(1, PasswordHash("renewed")),
    )
    found = storage.read(lambda uow: uow.records(USERS).get(1))
    assert found is not None
    assert found.version == 5
    assert storage.read(lambda uow: uow.passwords.get(1)) == PasswordHash("renewed")


@pytest.mark.rule("contract F1")
def test_records_that_differ_in_their_version_alone_are_equal(storage: Storage) -> None:
    write(storage, lambda uow: uow.records(LOGOS).add(replace(logo(1), version=3)))
    assert storage.read(lambda uow: uow.records(LOGOS).get(1)) == logo(1)
    assert "version" not in repr(storage.read(lambda uow: uow.records(LOGOS).get(1)))


@pytest.mark.rule("contract F1")
def test_artworks_that_are_touched_get_another_version_and_nothing_else(storage: Storage) -> None:
    write(
        storage,
        *(lambda uow, i=i: uow.records(LOGOS).add(replace(logo(i), version=i)) for i in (1, 2, 3)),
        lambda uow: uow.records(THEMES).add(replace(theme(1), version=1)),
        lambda uow: uow.records(AUTHORS).add(author(1)),
        lambda uow: link_author(uow, LOGOS, 1, 1),
        lambda uow: uow.records(LOGOS).touch([1, 3], 9),
        lambda uow: uow.records(LOGOS).touch((), 10),
    )
    found = storage.read(lambda uow: uow.records(LOGOS).page(-1, 9))
    assert found == (replace(logo(1), authors=(author(1),)), logo(2), logo(3))
    assert [artwork.version for artwork in found] == [9, 2, 9]
    assert [artwork.version for artwork in storage.read(lambda uow: uow.records(THEMES).page(-1, 9))] == [1]
    with pytest.raises(KeyError):
        write(storage, lambda uow: uow.records(LOGOS).touch({1, 2}, 11), lambda uow: {}[uow])  # type: ignore[index]  # fails
    assert [artwork.version for artwork in storage.read(lambda uow: uow.records(LOGOS).page(-1, 9))] == [9, 2, 9]


# Filters

GALLERY: tuple[Logo, ...] = tuple(
    replace(logo(number), name=name, target=target, active=active)
    for number, (name, target, active) in enumerate(
        [
            ("Dawn", "forum", True),
            ("dawn chorus", "Forum", False),
            ("DAWN", "forum", False),
            ("Dusk", "wiki", True),
            ("a dawn", "forum", True),
            ("100%", "forum", True),
        ]
    )
)


def filtered(storage: Storage, **wanted: Any) -> list[int]:
    """Return the ids of the logos that a filter lets through; the themes are the same."""
    where = Filter(**wanted)
    logos, themes = storage.read(
        lambda uow: (uow.records(LOGOS).page(-1, 99, where), uow.records(THEMES).page(-1, 99, where))
    )
    ids = [artwork.logo_id for artwork in logos]
    assert ids == [artwork.theme_id for artwork in themes]
    assert logos == storage.snapshot(lambda uow: uow.records(LOGOS).page(-1, 99, where))
    # Page by page it is the same.
    paged = [-1]
    while found := storage.read(lambda uow, after=paged[-1]: uow.records(LOGOS).page(after, 2, where)):  # type: ignore[misc]  # has a default
        paged += [artwork.logo_id for artwork in found]
    assert paged[1:] == ids
    return ids


@pytest.fixture
def gallery(storage: Storage) -> Storage:
    def keep(uow: UnitOfWork) -> None:
        for number in (1, 2, 3):
            uow.records(AUTHORS).add(author(number))
        for artwork in GALLERY:
            uow.records(LOGOS).add(artwork)
            uow.records(THEMES).add(Theme(artwork.logo_id, artwork.name, "", artwork.target, "", artwork.active, (), 0))
        for artwork_id, author_ids in ((0, (2, 1)), (2, (1,)), (3, (2,)), (4, (1, 2))):
            link_all(uow, LOGOS, artwork_id, author_ids)
            link_all(uow, THEMES, artwork_id, author_ids)

    storage.write(keep)
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
    assert gallery.read(lambda uow: uow.records(LOGOS).page(0, 9, where)) == (
        replace(GALLERY[4], authors=(author(1), author(2))),
    )
    assert gallery.read(lambda uow: uow.records(LOGOS).page(-1, 1, where)) == (
        replace(GALLERY[0], authors=(author(2), author(1))),
    )
    assert gallery.read(lambda uow: uow.records(LOGOS).page(4, 1, where)) == ()


@pytest.mark.rule("contract E2", "contract E3")
def test_artworks_far_apart_come_with_their_own_authors(storage: Storage) -> None:
    def keep(uow: UnitOfWork) -> None:
        for number in (1, 2):
            uow.records(AUTHORS).add(author(number))
        for number in (0, 3, 1_000, 1_000_000, MAX_ID):
            uow.records(LOGOS).add(replace(logo(number), active=number != 3))
            link_all(uow, LOGOS, number, (2, 1) if number % 2 else (1,))

    storage.write(keep)
    found = storage.read(lambda uow: uow.records(LOGOS).page(-1, 9, Filter(active=True)))
    assert [(artwork.logo_id, [by.author_id for by in artwork.authors]) for artwork in found] == [
        (0, [1]),
        (1_000, [1]),
        (1_000_000, [1]),
        (MAX_ID, [2, 1]),
    ]


@pytest.mark.rule("contract E2", "contract E3")
@pytest.mark.parametrize("size", [1, 49, 50, 51, 100, 130])
def test_however_many_artworks_far_apart_come_with_their_own_authors(storage: Storage, size: int) -> None:
    def keep(uow: UnitOfWork) -> None:
        for number in (1, 2, 3):
            uow.records(AUTHORS).add(author(number))
        for number in range(size):
            uow.records(THEMES).add(theme(10 * number))
            link_all(uow, THEMES, 10 * number, (3, 1, 2)[: number % 4])

    storage.write(keep)
    found = storage.read(lambda uow: uow.records(THEMES).page(-1, 999, Filter(active=False)))
    assert [(artwork.theme_id, [by.author_id for by in artwork.authors]) for artwork in found] == [
        (10 * number, [3, 1, 2][: number % 4]) for number in range(size)
    ]


@pytest.mark.rule("contract E3")
def test_people_are_filtered_by_role_by_user_and_by_name(storage: Storage) -> None:
    write(
        storage,
        *(lambda uow, i=i: uow.records(ROLES).add(role(i, f"Role {i}")) for i in (1, 2)),
        *(lambda uow, i=i: uow.records(USERS).add(user(i, f"User {i}", role_id=1 + i % 2)) for i in range(6)),
        *(lambda uow, i=i: uow.records(AUTHORS).add(author(i, 100 + i, f"Author {i}")) for i in range(6)),
    )

    def users(where: Filter, after: int = -1, limit: int = 9) -> list[int]:
        return [found.user_id for found in storage.read(lambda uow: uow.records(USERS).page(after, limit, where))]

    def authors(where: Filter, after: int = -1, limit: int = 9) -> list[int]:
        return [found.author_id for found in storage.read(lambda uow: uow.records(AUTHORS).page(after, limit, where))]

    assert users(Filter(role_id=1)) == [0, 2, 4]
    assert users(Filter(role_id=1), 0, 1) == [2]
    assert users(Filter(role_id=2, q="uSER 3")) == [3]
    assert users(Filter(role_id=1, q="user 3")) == users(Filter(role_id=3)) == []
    assert users(Filter(q="S"), 2, 2) == [3, 4]
    assert users(Filter(q="us", role_id=1), 0, 9) == [2, 4]
    assert users(Filter(q="us", role_id=3)) == []
    assert authors(Filter(user_id=103)) == [3]
    assert authors(Filter(user_id=103), 3) == authors(Filter(user_id=3)) == []
    assert authors(Filter(user_id=103, q="THOR")) == [3]
    assert authors(Filter(user_id=103, q="2")) == []
    assert authors(Filter(q="HOR "), 1, 2) == [2, 3]
    assert storage.read(lambda uow: uow.records(ROLES).page(-1, 9, Filter(q="LE 2"))) == (role(2, "Role 2"),)
    assert storage.read(lambda uow: uow.records(ROLES).page(2, 9, Filter(q="LE 2"))) == ()


# Name, search text, and whether the name contains it.
SEARCHES = (
    *(("Straße", "SS", True), ("STRASSE", "ß", True), ("Straße", "STRASSE", True), ("ẞ", "ss", True)),
    *(("İstanbul", "i̇", True), ("İstanbul", "i", True), ("ı", "i", False), ("I", "i", True), ("I", "ı", False)),
    *(("Åsa", "å", True), ("\u212bsa", "Å", True), ("A\u030asa", "Å", False), ("Åsa", "a", True), ("Å", "a", False)),
    *(("Ann", "á", False), ("ánn", "a", False), ("ÁNN", "ánn", True), ("ΣΑΣ", "σας", True), ("ς", "Σ", True)),
    *(("100%", "%", True), ("100", "%", False), ("a_b", "_", True), ("ab", "_", False), ("ab", "a%b", False)),
    *(("a\\b", "\\", True), ("ab", "\\", False), ("a\\b", "\\\\", False), ("a%b", "\\%", False)),
    *(('O\'Neil "Q"', "'n", True), ("x", "' OR 1=1 --", False), ("*?[a]", "*?[", True), ("abc", "*", False)),
    *(("ann ", "n ", True), ("ann", "n ", False), (" ann", " A", True), ("a\tb", "\t", True), ("a b", "\t", False)),
    *(
        ("🦊", "🦊", True),
        ("🦊", "🦋", False),
        ("ﬁn", "fi", True),
        ("ΐ", "ΐ", True),
        ("ａ", "a", False),
        ("Ａ", "ａ", True),
    ),
    *(("𐐀", "𐐨", True), ("あ", "ア", False), ("x\u200by", "xy", False), ("ǆ", "ǅ", True)),
    # At the ends of the ranges of code points.
    *(("a\U0010ffffb", "A\U0010ffff", True), ("\U0010ffff\U0010ffff", "\U0010ffff", True), ("b", "a\U0010ffff", False)),
    *(("\ud7ffa", "\ud7ff", True), ("\ue000", "\ud7ff", False), ("\uffffa", "\uffff", True), ("𐀀", "\uffff", False)),
    # As long as the parts that a database may keep of names, shorter and longer; with them in another order.
    *(("Ångström", "ström", True), ("Ångström", "ångs", True), ("Ångström", "ngst", True), ("Ångström", "ngs", True)),
    *(("barbarbaz", "BARBARBAZ", True), ("barbarbaz", "barbaz", True), ("barbarbaz", "bazbar", False)),
    *(
        ("barba", "barbarb", False),
        ("barbarbaz", "rbarb", True),
        ("barbarbaz", "rbaba", False),
        ("🦊🦋🦊🦋🦊", "🦋🦊🦋🦊", True),
    ),
)


@pytest.mark.rule("contract E3")
def test_names_are_searched_without_regard_to_case_and_to_the_letter(storage: Storage) -> None:
    names = list(dict.fromkeys(name for name, _, _ in SEARCHES))

    def keep(uow: UnitOfWork) -> None:
        uow.records(ROLES).add(role(1_000, "r"))
        for number, name in enumerate(names):
            uow.records(ROLES).add(role(number, f"-{name}-"))
            uow.records(USERS).add(user(number, name, role_id=1_000))
            uow.records(AUTHORS).add(author(number, username=name))
            uow.records(LOGOS).add(replace(logo(number), name=name))
            uow.records(THEMES).add(replace(theme(number), name=f"-{name}-"))

    storage.write(keep)
    for name, part, there in SEARCHES:
        where = Filter(q=part)
        found = storage.read(
            lambda uow, where=where: (  # type: ignore[misc]  # has a default
                [record.role_id for record in uow.records(ROLES).page(-1, 999, where)],
                [record.user_id for record in uow.records(USERS).page(-1, 999, where)],
                [record.author_id for record in uow.records(AUTHORS).page(-1, 999, where)],
                [record.logo_id for record in uow.records(LOGOS).page(-1, 999, where)],
                [record.theme_id for record in uow.records(THEMES).page(-1, 999, where)],
            )
        )
        expected = [number for number, each in enumerate(names) if part.casefold() in each.casefold()]
        assert found == (expected,) * 5, (name, part)
        assert (names.index(name) in expected) == there, (name, part)


@pytest.mark.rule("contract E3")
def test_a_search_follows_a_name_that_is_changed_or_removed(storage: Storage) -> None:
    def found(part: str) -> object:
        where = Filter(q=part)
        return storage.read(
            lambda uow: [
                len(page(-1, 9, where))
                for page in (
                    uow.records(ROLES).page,
                    uow.records(USERS).page,
                    uow.records(AUTHORS).page,
                    uow.records(THEMES).page,
                    uow.records(LOGOS).page,
                )
            ]
        )

    old: tuple[Callable[[UnitOfWork], object], ...] = (
        lambda uow: uow.records(ROLES).add(role(1, "Old")),
        lambda uow: uow.records(USERS).add(user(1, "Old")),
        lambda uow: uow.records(AUTHORS).add(author(1, username="Old")),
        lambda uow: uow.records(THEMES).add(replace(theme(1), name="Old")),
        lambda uow: uow.records(LOGOS).add(replace(logo(1), name="Old")),
    )
    write(storage, *old)
    assert (found("OLD"), found("new")) == ([1] * 5, [0] * 5)
    write(
        storage,
        lambda uow: uow.records(ROLES).update(role(1, "New")),
        lambda uow: uow.records(USERS).update(user(1, "New")),
        lambda uow: uow.records(AUTHORS).update(author(1, username="New")),
        lambda uow: uow.records(THEMES).update(replace(theme(1), name="New")),
        lambda uow: uow.records(LOGOS).update(replace(logo(1), name="New")),
    )
    assert (found("OLD"), found("new")) == ([0] * 5, [1] * 5)
    write(
        storage,
        lambda uow: uow.records(USERS).remove(1),
        lambda uow: uow.records(ROLES).remove(1),
        lambda uow: uow.records(AUTHORS).remove(1),
        lambda uow: uow.records(THEMES).remove(1),
        lambda uow: uow.records(LOGOS).remove(1),
    )
    write(storage, *old)
    assert (found("OLD"), found("new")) == ([1] * 5, [0] * 5)


@pytest.mark.rule("spec §Limits", "contract E3")
@pytest.mark.parametrize("letter", ["🂡", "ΐ", "ß", "𐐀"])
def test_the_longest_names_are_searched_to_their_end(storage: Storage, letter: str) -> None:
    # Folding makes up to three letters of one.
    write(
        storage,
        lambda uow: uow.records(ROLES).add(role(1, letter * 63 + "Z")),
        lambda uow: uow.records(AUTHORS).add(author(1, username=letter * 63 + "Z")),
        lambda uow: uow.records(LOGOS).add(replace(logo(1), name=letter * 127 + "Z")),
    )
    for where in (Filter(q=letter * 60 + "z"), Filter(q=letter * 63)):
        assert len(storage.read(lambda uow, where=where: uow.records(ROLES).page(-1, 9, where))) == 1  # type: ignore[misc]  # has a default
        assert len(storage.read(lambda uow, where=where: uow.records(AUTHORS).page(-1, 9, where))) == 1  # type: ignore[misc]  # has a default
        assert len(storage.read(lambda uow, where=where: uow.records(LOGOS).page(-1, 9, where))) == 1  # type: ignore[misc]  # has a default
    # The whole name, and more than any name of the kind can be.
    whole = Filter(q=letter.swapcase() * 127 + "z")
    assert len(storage.read(lambda uow: uow.records(LOGOS).page(-1, 9, whole))) == 1
    assert storage.read(
        lambda uow: (uow.records(ROLES).page(-1, 9, whole), uow.records(AUTHORS).page(-1, 9, whole))
    ) == ((), ())


# Links


@pytest.mark.rule("contract A16", "contract G2")
def test_links_are_listed_in_link_order_by_artwork_and_by_author(storage: Storage) -> None:
    write(
        storage,
        *(lambda uow, i=i: uow.records(AUTHORS).add(author(i)) for i in (1, 2, 3)),
        *(lambda uow, i=i: uow.records(LOGOS).add(logo(i)) for i in (1, 2, 3)),
        lambda uow: uow.records(THEMES).add(theme(1)),
        *(lambda uow, p=p, a=a: link_author(uow, LOGOS, p, a) for p, a in ((3, 2), (1, 3), (1, 1), (2, 2), (1, 2))),
        lambda uow: link_author(uow, THEMES, 1, 2),
    )
    assert storage.read(lambda uow: uow.links(LOGOS).of_artwork(1)) == (Link(2, 1, 3), Link(3, 1, 1), Link(5, 1, 2))
    assert storage.read(lambda uow: uow.links(LOGOS).of_artwork(9)) == ()
    assert storage.read(lambda uow: uow.links(LOGOS).of_author(2)) == (Link(1, 3, 2), Link(4, 2, 2), Link(5, 1, 2))
    assert storage.snapshot(lambda uow: uow.links(THEMES).of_author(2)) == (Link(1, 1, 2),)
    assert (
        storage.read(lambda uow: uow.links(LOGOS).of_author(9))
        == storage.read(lambda uow: uow.links(THEMES).of_author(1))
        == ()
    )


@pytest.mark.rule("contract A16", "contract G2")
def test_links_that_are_brought_back_keep_their_ids_and_their_order(storage: Storage) -> None:
    write(
        storage,
        *(lambda uow, i=i: uow.records(AUTHORS).add(author(i)) for i in (1, 2, 3)),
        *(lambda uow, i=i: uow.records(LOGOS).add(logo(i)) for i in (1, 2)),
        *(lambda uow, p=p, a=a: link_author(uow, LOGOS, p, a) for p, a in ((1, 3), (1, 1), (2, 3), (1, 2))),
    )
    gone = storage.read(lambda uow: uow.links(LOGOS).of_author(3))
    write(storage, lambda uow: uow.records(AUTHORS).remove(3))
    assert storage.read(lambda uow: uow.links(LOGOS).of_artwork(1)) == (Link(2, 1, 1), Link(4, 1, 2))
    write(storage, lambda uow: uow.records(AUTHORS).add(author(3)), lambda uow: uow.links(LOGOS).add(gone))
    assert storage.read(lambda uow: uow.links(LOGOS).of_artwork(1)) == (Link(1, 1, 3), Link(2, 1, 1), Link(4, 1, 2))
    assert storage.read(lambda uow: uow.links(LOGOS).of_artwork(2)) == (Link(3, 2, 3),)
    expected = replace(logo(1), authors=(author(3), author(1), author(2)))
    assert storage.read(lambda uow: uow.records(LOGOS).get(1)) == expected
    assert storage.read(lambda uow: uow.records(LOGOS).page(-1, 1)) == (expected,)
    write(storage, lambda uow: uow.links(LOGOS).add(()))
    # Their order is not that in which they came back.
    of_artwork = storage.read(lambda uow: uow.links(LOGOS).of_artwork(1))
    write(
        storage,
        lambda uow: uow.links(LOGOS).remove_all(1),
        lambda uow: uow.links(LOGOS).add(of_artwork[::-1]),
        lambda uow: uow.links(LOGOS).remove_all(9),
    )
    assert storage.read(lambda uow: uow.links(LOGOS).of_artwork(1)) == of_artwork
    assert storage.read(lambda uow: uow.records(LOGOS).get(1)) == expected
    write(storage, lambda uow: uow.links(LOGOS).remove(1, 3))
    assert write(storage, lambda uow: link_author(uow, LOGOS, 1, 3)) == 5


# Ids

# How to read the next id of each kind, and to use one.
COUNTED: dict[str, tuple[Callable[[UnitOfWork], int], Callable[[UnitOfWork, int], object]]] = {
    "role_id": (
        lambda uow: uow.records(ROLES).next_id(),
        lambda uow, id_: uow.records(ROLES).add(role(id_, f"role {id_}")),
    ),
    "author_id": (
        lambda uow: uow.records(AUTHORS).next_id(),
        lambda uow, id_: uow.records(AUTHORS).add(author(id_, id_)),
    ),
    "logo_id": (lambda uow: uow.records(LOGOS).next_id(), lambda uow, id_: uow.records(LOGOS).add(logo(id_))),
    "theme_id": (lambda uow: uow.records(THEMES).next_id(), lambda uow, id_: uow.records(THEMES).add(theme(id_))),
}
REMOVED: dict[str, Callable[[UnitOfWork, int], bool]] = {
    "role_id": lambda uow, id_: uow.records(ROLES).remove(id_),
    "author_id": lambda uow, id_: uow.records(AUTHORS).remove(id_),
    "logo_id": lambda uow, id_: uow.records(LOGOS).remove(id_),
    "theme_id": lambda uow, id_: uow.records(THEMES).remove(id_),
}


@pytest.mark.rule("contract A2", "contract D")
@pytest.mark.parametrize("id_name", COUNTED)
def test_ids_count_on_from_the_highest_that_ever_was(storage: Storage, id_name: str) -> None:
    next_id, use = COUNTED[id_name]

    def add(uow: UnitOfWork) -> int:
        id_ = next_id(uow)
        use(uow, id_)
        return id_

    assert write(storage, add) == 1
    assert write(storage, add, add) == 3
    write(storage, lambda uow: REMOVED[id_name](uow, 3))
    assert write(storage, add) == 4
    write(storage, lambda uow: use(uow, 10), lambda uow: use(uow, 7))
    assert write(storage, add) == 11
    assert write(storage, lambda uow: use(uow, 20), add) == 21


@pytest.mark.rule("contract A2", "contract I2")
@pytest.mark.parametrize("id_name", COUNTED)
def test_ids_of_undone_work_are_free_again(storage: Storage, id_name: str) -> None:
    next_id, use = COUNTED[id_name]

    def fail(uow: UnitOfWork) -> None:
        use(uow, next_id(uow))
        use(uow, 100)
        raise KeyError

    with pytest.raises(KeyError):
        storage.write(fail)
    assert write(storage, next_id) == 1


@pytest.mark.rule("contract A2")
@pytest.mark.parametrize("id_name", COUNTED)
def test_there_is_an_end_to_ids(storage: Storage, id_name: str) -> None:
    next_id, use = COUNTED[id_name]
    write(storage, lambda uow: use(uow, MAX_ID - 1))
    assert write(storage, lambda uow: use(uow, next_id(uow)), lambda uow: REMOVED[id_name](uow, MAX_ID)) is True
    with pytest.raises(Conflict, match=f"^No {id_name} is left$"):
        write(storage, next_id)
    write(storage, lambda uow: use(uow, 5))


@pytest.mark.rule("contract A16")
def test_link_ids_are_not_given_twice(storage: Storage) -> None:
    def fail(uow: UnitOfWork) -> None:
        link_author(uow, LOGOS, 1, 1)
        raise KeyError

    write(storage, lambda uow: uow.records(AUTHORS).add(author(1)), lambda uow: uow.records(LOGOS).add(logo(1)))
    with pytest.raises(KeyError):
        storage.write(fail)
    assert write(storage, lambda uow: link_author(uow, LOGOS, 1, 1)) == 1
    write(storage, lambda uow: uow.links(LOGOS).remove(1, 1))
    assert write(storage, lambda uow: link_author(uow, LOGOS, 1, 1)) == 2


# Sessions


@pytest.fixture
def signed_in(storage: Storage) -> Storage:
    write(
        storage,
        lambda uow: uow.records(ROLES).add(role(1, "editor", ("logos:write", "a"))),
        lambda uow: uow.records(USERS).add(user(1, "ann")),
        lambda uow: uow.records(USERS).add(user(2, "ben")),
        *(lambda uow, s=s: uow.sessions.add(session(s, 1)) for s in ("one", "two", "three")),
        lambda uow: uow.sessions.add(session("bens", 2)),
        *(lambda uow, s=s: uow.sessions.add_refresh_token(f"token {s}", s) for s in ("one", "two", "three", "bens")),
    )
    return storage


def alive(storage: Storage) -> list[str]:
    owners = {"one": 1, "two": 1, "three": 1, "bens": 2}
    rightful = [s for s, u in owners.items() if storage.read(lambda uow, s=s, u=u: uow.sessions.rights(s, u))]  # type: ignore[misc]  # has a default
    tokens = [s for s in owners if storage.read(lambda uow, s=s: uow.sessions.refresh_token(f"token {s}"))]  # type: ignore[misc]  # has a default
    assert rightful == tokens
    return rightful


@pytest.mark.rule("contract B5")
def test_rights_are_those_of_the_role_right_now(signed_in: Storage) -> None:
    def held(uow: UnitOfWork) -> object:
        return uow.sessions.rights("one", 1)

    editor = Rights(1, frozenset(("a", "logos:write")), of_user=True)
    assert signed_in.read(held) == signed_in.snapshot(held) == signed_in.write(held) == editor
    write(signed_in, lambda uow: uow.records(ROLES).update(role(1, "editor", ("*",))))
    assert signed_in.read(held) == Rights(1, frozenset(("*",)))
    for session_id, user_id in (("one", 2), ("ONE", 1), ("none", 1), ("one", 3)):
        assert signed_in.read(lambda uow, s=session_id, u=user_id: uow.sessions.rights(s, u)) is None  # type: ignore[misc]  # has a default


@pytest.mark.rule("contract C3")
def test_sessions_end_with_their_refresh_tokens(signed_in: Storage) -> None:
    write(signed_in, lambda uow: uow.sessions.end("one"), lambda uow: uow.sessions.end("nowhere"))
    assert alive(signed_in) == ["two", "three", "bens"]
    write(signed_in, lambda uow: uow.sessions.end_all(1, keep="two"))
    assert alive(signed_in) == ["two", "bens"]
    write(signed_in, lambda uow: uow.sessions.end_all(1))
    assert alive(signed_in) == ["bens"]


@pytest.mark.rule("contract C6")
def test_the_sessions_of_a_user_come_by_when_they_began_then_by_id_with_all_that_is_known(signed_in: Storage) -> None:
    earlier = Session("zero", 1, 999, 2_000, 1_500, "2001:db8::" + "f" * 54, "🖼" * 256)
    later = Session("a later one", 1, 1_001, 2**53 - 1)
    write(signed_in, lambda uow: uow.sessions.add(later), lambda uow: uow.sessions.add(earlier))
    expected = (earlier, *(session(name, 1) for name in ("one", "three", "two")), later)
    assert signed_in.read(lambda uow: uow.sessions.of_user(1)) == expected
    assert signed_in.read(lambda uow: uow.sessions.of_user(2)) == (session("bens", 2),)
    assert signed_in.read(lambda uow: uow.sessions.of_user(3)) == ()
    write(
        signed_in, lambda uow: uow.sessions.update_times(replace(earlier, created_at=1, expires_at=3, refreshed_at=2))
    )
    assert signed_in.read(lambda uow: uow.sessions.of_user(1))[0] == replace(
        earlier, created_at=1, expires_at=3, refreshed_at=2
    )
    assert signed_in.read(lambda uow: uow.sessions.of_user(1))[1:] == expected[1:]


@pytest.mark.rule("contract C3")
def test_expired_sessions_end_and_prolonged_ones_do_not(signed_in: Storage) -> None:
    def prolong(uow: UnitOfWork) -> None:
        uow.sessions.update_times(session("two", 1, 2_001))
        uow.sessions.use_refresh_token("token two")

    write(signed_in, prolong, lambda uow: uow.sessions.forget_expired(1_999, 99))
    assert alive(signed_in) == ["one", "two", "three", "bens"]
    with pytest.raises(ZeroDivisionError):
        write(signed_in, lambda uow: uow.sessions.forget_expired(9_999, 99), lambda _: 1 // 0)
    assert alive(signed_in) == ["one", "two", "three", "bens"]
    write(signed_in, lambda uow: uow.sessions.forget_expired(2_000, 99))
    assert alive(signed_in) == ["two"]
    assert signed_in.read(lambda uow: uow.sessions.refresh_token("token two")) == (session("two", 1, 2_001), True)


@pytest.mark.rule("contract C3", "contract F3")
def test_sessions_and_answers_can_be_made_to_expire_earlier(signed_in: Storage) -> None:
    answers = [StoredResponse(f"hash {number}", "", 1_000 * number) for number in range(1, 4)]
    write(signed_in, *(lambda uow, a=a: uow.stored_responses.add(a) for a in answers))
    write(signed_in, lambda uow: uow.sessions.update_times(session("two", 1, 3_000)))

    def ends(uow: UnitOfWork) -> list[int]:
        sessions = [uow.sessions.refresh_token(f"token {name}") for name in ("one", "two")]
        kept = [uow.stored_responses.get(answer.key_hash) for answer in answers]
        return [*(found[0].expires_at for found in sessions if found), *(found.expires_at for found in kept if found)]

    def expire_by(latest: int, most: int) -> list[Callable[[UnitOfWork], object]]:
        return [
            lambda uow: uow.sessions.expire_by(latest, most),
            lambda uow: uow.stored_responses.expire_by(latest, most),
        ]

    write(signed_in, *expire_by(3_000, 99))
    with pytest.raises(ZeroDivisionError):
        write(signed_in, *expire_by(1_500, 99), lambda _: 1 // 0)
    assert signed_in.read(ends) == [2_000, 3_000, 1_000, 2_000, 3_000]
    write(signed_in, *expire_by(2_500, 99))
    assert signed_in.read(ends) == [2_000, 2_500, 1_000, 2_000, 2_500]
    write(signed_in, *expire_by(1_500, 1))
    assert sorted(signed_in.read(ends)[2:]) in ([1_000, 1_500, 2_000], [1_000, 1_500, 2_500])
    write(signed_in, *expire_by(1_500, 99))
    assert signed_in.read(ends) == [1_500, 1_500, 1_000, 1_500, 1_500]


@pytest.mark.rule("contract C3")
def test_tokens_of_expired_sessions_are_forgotten_in_limited_batches(signed_in: Storage) -> None:
    hashes = [f"{number} of three" for number in range(5)]

    def begin(uow: UnitOfWork) -> None:
        uow.sessions.update_times(session("three", 1, 1_999))
        for hash_ in hashes:
            uow.sessions.add_refresh_token(hash_, "three")

    def left(uow: UnitOfWork) -> tuple[int, list[str]]:
        tokens = sum(uow.sessions.refresh_token(hash_) is not None for hash_ in [*hashes, "token three"])
        there = [s for s, owner in (("three", 1), ("bens", 2), ("one", 1), ("two", 1)) if uow.sessions.rights(s, owner)]
        return tokens, there

    write(signed_in, begin)
    for expected in (
        (4, ["three", "bens", "one", "two"]),
        (2, ["three", "bens", "one", "two"]),
        (0, ["three", "bens", "one", "two"]),
        (0, ["one", "two"]),  # the one without tokens went, and another one; a third one has lost its token
        (0, ["two"]),
        (0, []),
    ):
        write(signed_in, lambda uow: uow.sessions.forget_expired(2_000, 2))
        assert signed_in.read(left) == expected


@pytest.mark.rule("contract C3")
def test_refresh_tokens_remember_that_they_were_used(signed_in: Storage) -> None:
    def found(uow: UnitOfWork) -> object:
        return uow.sessions.refresh_token("token one")

    assert signed_in.read(found) == signed_in.write(found) == (session("one", 1), False)
    write(
        signed_in,
        lambda uow: uow.sessions.use_refresh_token("token one"),
        lambda uow: uow.sessions.add_refresh_token("newer", "one"),
    )
    assert signed_in.read(found) == signed_in.write(found) == (session("one", 1), True)
    assert signed_in.read(lambda uow: uow.sessions.refresh_token("newer")) == (session("one", 1), False)
    assert signed_in.read(lambda uow: uow.sessions.refresh_token("TOKEN one")) is None


@pytest.mark.rule("contract C3")
def test_ending_a_session_returns_whether_it_existed(signed_in: Storage) -> None:
    assert write(signed_in, lambda uow: uow.sessions.end("one")) is True
    assert write(signed_in, lambda uow: uow.sessions.end("one")) is False
    assert write(signed_in, lambda uow: uow.sessions.end("TWO")) is False
    assert alive(signed_in) == ["two", "three", "bens"]


# Service keys


def key(key_id: int, scope: tuple[str, ...] = ("logos:write",), expires_at: int | None = None) -> ServiceKey:
    return ServiceKey(key_id, f"key {key_id}", scope, 1_700_000_000, expires_at, None)


@pytest.mark.rule("contract C5")
def test_service_keys_are_found_with_what_their_user_may_do_now(signed_in: Storage) -> None:
    longest = ServiceKey(MAX_ID, "🂡" * 64, tuple(f"{number:064}" for number in range(64)), 0, 2**53 - 1, 2**53 - 1)
    write(
        signed_in,
        lambda uow: uow.keys.add(key(1), 1, "hash"),
        lambda uow: uow.keys.add(key(2, ()), 2, "Hash"),
        lambda uow: uow.keys.add(longest, 2, "h" * 128),
    )

    def found(key_hash: str) -> object:
        def find(uow: UnitOfWork) -> object:
            return uow.keys.find(key_hash)

        answer = signed_in.read(find)
        assert signed_in.snapshot(find) == signed_in.write(find) == answer
        return answer

    rights = frozenset(("logos:write", "a"))
    assert found("hash") == (key(1), Rights(1, rights))
    assert found("Hash") == (key(2, ()), Rights(2, rights))
    assert found("h" * 128) == (longest, Rights(2, rights))
    assert found("HASH") is None
    write(
        signed_in,
        lambda uow: uow.records(ROLES).add(role(2)),
        lambda uow: uow.records(USERS).update(user(1, "ann", role_id=2)),
    )
    assert found("hash") == (key(1), Rights(1, frozenset()))
    write(signed_in, lambda uow: uow.records(ROLES).update(role(2, "member", ("*",))))
    assert found("hash") == (key(1), Rights(1, frozenset("*")))


@pytest.mark.rule("contract C5")
def test_service_keys_of_a_user_come_by_id(signed_in: Storage) -> None:
    write(
        signed_in,
        *(lambda uow, i=i: uow.keys.add(key(i), 1, f"hash {i}") for i in (3, 1, 5)),
        lambda uow: uow.keys.add(key(4, expires_at=7), 2, "hash 4"),
    )
    assert signed_in.read(lambda uow: uow.keys.of_user(1)) == (key(1), key(3), key(5))
    assert signed_in.read(lambda uow: uow.keys.of_user(2)) == (key(4, expires_at=7),)
    assert signed_in.read(lambda uow: uow.keys.of_user(3)) == ()


@pytest.mark.rule("contract C5")
def test_a_service_key_remembers_when_it_was_used_and_may_get_other_times(signed_in: Storage) -> None:
    write(
        signed_in,
        *(lambda uow, i=i: uow.keys.add(key(i), 1, f"hash {i}") for i in (1, 2)),
        lambda uow: uow.keys.use(1, 1_800_000_000),
    )
    write(
        signed_in, lambda uow: uow.keys.update_times(2, 1_000, None), lambda uow: uow.keys.update_times(2, 2_000, 3_000)
    )
    used = replace(key(1), last_used_at=1_800_000_000)
    assert signed_in.read(lambda uow: uow.keys.of_user(1)) == (
        used,
        replace(key(2), created_at=2_000, expires_at=3_000),
    )
    found = signed_in.read(lambda uow: uow.keys.find("hash 1"))
    assert found is not None
    assert found[0] == used


@pytest.mark.rule("contract C5", "contract D")
def test_service_keys_go_with_their_user(signed_in: Storage) -> None:
    write(
        signed_in,
        *(lambda uow, i=i: uow.keys.add(key(i), i, f"hash {i}") for i in (1, 2)),
        lambda uow: uow.sessions.end_all(1),
    )
    assert signed_in.read(lambda uow: uow.keys.find("hash 1")) is not None
    with pytest.raises(ZeroDivisionError):
        write(signed_in, lambda uow: uow.records(USERS).remove(1), lambda _: 1 // 0)
    assert signed_in.read(lambda uow: uow.keys.of_user(1)) == (key(1),)
    write(signed_in, lambda uow: uow.records(USERS).remove(1), lambda uow: uow.records(USERS).add(user(1, "ann")))
    assert signed_in.read(lambda uow: uow.keys.find("hash 1")) is None
    assert signed_in.read(lambda uow: uow.keys.of_user(1)) == ()
    assert signed_in.read(lambda uow: uow.keys.of_user(2)) == (key(2),)


@pytest.mark.rule("contract C5")
def test_a_user_ends_no_service_key_of_another(signed_in: Storage) -> None:
    write(signed_in, *(lambda uow, i=i: uow.keys.add(key(i), i, f"hash {i}") for i in (1, 2)))
    assert write(signed_in, lambda uow: uow.keys.remove(2, 1)) is False
    assert write(signed_in, lambda uow: uow.keys.remove(9, 1)) is False
    assert signed_in.read(lambda uow: uow.keys.of_user(2)) == (key(2),)
    assert write(signed_in, lambda uow: uow.keys.remove(2, 2)) is True
    assert write(signed_in, lambda uow: uow.keys.remove(2, 2)) is False
    assert signed_in.read(lambda uow: uow.keys.find("hash 2")) is None
    assert signed_in.read(lambda uow: uow.keys.of_user(1)) == (key(1),)


@pytest.mark.rule("contract A2", "contract C5")
def test_ids_of_service_keys_are_not_given_twice(signed_in: Storage) -> None:
    def add(uow: UnitOfWork) -> int:
        key_id = uow.keys.next_id()
        uow.keys.add(key(key_id), 1, f"hash {key_id}")
        return key_id

    assert write(signed_in, add, add) == 2
    write(signed_in, lambda uow: uow.keys.remove(2, 1))
    with pytest.raises(ZeroDivisionError):
        write(signed_in, add, lambda _: 1 // 0)
    assert write(signed_in, add) == 3
    write(signed_in, lambda uow: uow.records(USERS).remove(1), lambda uow: uow.records(USERS).add(user(1, "ann")))
    assert write(signed_in, add) == 4


# Stored responses and attempts


@pytest.mark.rule("contract F3")
def test_stored_responses_are_kept_until_they_expire(storage: Storage) -> None:
    answers = [StoredResponse(f"hash {number}", "🂡" * 300_000 if number else "", 1_000 + number) for number in range(4)]
    write(storage, *(lambda uow, a=a: uow.stored_responses.add(a) for a in answers))

    def there() -> list[StoredResponse | None]:
        return [storage.read(lambda uow, a=a: uow.stored_responses.get(a.key_hash)) for a in answers]  # type: ignore[misc]  # has a default

    assert there() == answers
    assert storage.read(lambda uow: uow.stored_responses.get("HASH 1")) is None
    write(storage, lambda uow: uow.stored_responses.forget_expired(999, 99))
    assert there() == answers
    write(storage, lambda uow: uow.stored_responses.forget_expired(1_001, 99))
    assert there() == [None, None, *answers[2:]]
    with pytest.raises(ZeroDivisionError):
        write(storage, lambda uow: uow.stored_responses.forget_expired(9_999, 99), lambda _: 1 // 0)
    with pytest.raises(ZeroDivisionError):
        write(storage, lambda uow: uow.stored_responses.add(answers[0]), lambda _: 1 // 0)
    assert there() == [None, None, *answers[2:]]
    write(storage, lambda uow: uow.stored_responses.add(replace(answers[0], expires_at=2**53 - 1)))
    assert there()[0] == replace(answers[0], expires_at=2**53 - 1)
    with pytest.raises(ZeroDivisionError):
        write(storage, lambda uow: uow.stored_responses.forget("hash 2"), lambda _: 1 // 0)
    write(storage, *(lambda uow, name=name: uow.stored_responses.forget(name) for name in ("hash 0", "HASH 2", "none")))
    assert there() == [None, None, *answers[2:]]


@pytest.mark.rule("contract C1")
def test_sign_in_attempts_are_counted_and_forgotten(storage: Storage) -> None:
    def counts(uow: UnitOfWork) -> list[tuple[int, int]]:
        return [uow.sign_in_attempts.count(counted) for counted in ("ann", "Ann", "ann ", "🂡" * 64)]

    assert storage.read(counts) == [(0, 0)] * 4
    write(
        storage,
        lambda uow: uow.sign_in_attempts.set("ann", 1, 1_000),
        lambda uow: uow.sign_in_attempts.set("Ann", 2, 2_000),
        lambda uow: uow.sign_in_attempts.set("🂡" * 64, MAX_ID, 2**53 - 1),
        lambda uow: uow.sign_in_attempts.set("ann", 3, 1_000),
        lambda uow: uow.sign_in_attempts.set("ann", 3, 1_000),
    )
    assert storage.read(counts) == storage.write(counts) == [(3, 1_000), (2, 2_000), (0, 0), (MAX_ID, 2**53 - 1)]
    write(storage, lambda uow: uow.sign_in_attempts.forget_ended(999, 99))
    assert storage.read(counts)[0] == (3, 1_000)
    write(storage, lambda uow: uow.sign_in_attempts.forget_ended(1_000, 99))
    assert storage.read(counts) == [(0, 0), (2, 2_000), (0, 0), (MAX_ID, 2**53 - 1)]
    with pytest.raises(ZeroDivisionError):
        write(storage, lambda uow: uow.sign_in_attempts.forget("Ann"), lambda _: 1 // 0)
    write(storage, lambda uow: uow.sign_in_attempts.forget("🂡" * 64), lambda uow: uow.sign_in_attempts.forget("none"))
    assert storage.read(counts) == [(0, 0), (2, 2_000), (0, 0), (0, 0)]


@pytest.mark.rule("contract C1")
def test_no_attempt_made_at_once_is_lost(storage: Storage) -> None:
    def count(uow: UnitOfWork) -> None:
        attempts, _ = uow.sign_in_attempts.count("ann")
        dawdle()
        uow.sign_in_attempts.set("ann", attempts + 1, 1_000)

    assert at_once(*[lambda: storage.write(count)] * 6) == [None] * 6
    assert storage.read(lambda uow: uow.sign_in_attempts.count("ann")) == (6, 1_000)


# Secrets


@pytest.mark.rule("contract C2")
def test_secrets_are_kept(storage: Storage) -> None:
    assert storage.read(lambda uow: uow.secrets.get("token_key")) is None
    write(storage, lambda uow: uow.secrets.put("token_key", "🗝" * 1000), lambda uow: uow.secrets.put("Token_key", ""))
    assert storage.read(lambda uow: uow.secrets.get("token_key")) == "🗝" * 1000
    assert storage.read(lambda uow: uow.secrets.get("Token_key")) == ""


@pytest.mark.rule("contract C2")
def test_a_secret_is_replaced_and_no_other(storage: Storage) -> None:
    write(storage, lambda uow: uow.secrets.put("token_key", "a"), lambda uow: uow.secrets.put("Token_key", "b"))
    write(storage, lambda uow: uow.secrets.replace("token_key", "c"))
    write(storage, lambda uow: uow.secrets.replace("token_key", "c"))
    assert storage.read(lambda uow: uow.secrets.get("token_key")) == "c"
    assert storage.read(lambda uow: uow.secrets.get("Token_key")) == "b"
    with pytest.raises(ZeroDivisionError):
        write(storage, lambda uow: uow.secrets.replace("Token_key", "x"), lambda _: 1 // 0)
    assert storage.read(lambda uow: uow.secrets.get("Token_key")) == "b"


@pytest.mark.rule("contract C2")
def test_replacing_a_missing_secret_keeps_it(storage: Storage) -> None:
    write(storage, lambda uow: uow.secrets.replace("token_key", "a"))
    assert storage.read(lambda uow: uow.secrets.get("token_key")) == "a"


@pytest.mark.rule("contract C2")
def test_a_secret_that_was_read_for_a_change_is_nobody_elses_until_then(storage: Storage) -> None:
    write(storage, lambda uow: uow.secrets.put("token_key", "-"))

    def lengthen(uow: UnitOfWork) -> None:
        found = uow.secrets.get("token_key")
        dawdle()
        uow.secrets.replace("token_key", f"{found}x")

    assert at_once(*[lambda: storage.write(lengthen)] * 4) == [None] * 4
    assert storage.read(lambda uow: uow.secrets.get("token_key")) == "-xxxx"


# Transactions


@pytest.mark.rule("contract I2", "contract A15")
def test_work_that_raises_is_undone_and_its_error_passes(storage: Storage) -> None:
    before = write(
        storage,
        lambda uow: uow.records(AUTHORS).add(author(1)),
        lambda uow: uow.records(AUTHORS).add(author(2)),
        lambda uow: uow.records(LOGOS).add(logo(1)),
        lambda uow: link_all(uow, LOGOS, 1, (2, 1)),
        lambda uow: (uow.records(AUTHORS).page(-1, 9), uow.records(LOGOS).page(-1, 9)),
    )

    def fail(uow: UnitOfWork) -> None:
        uow.records(AUTHORS).remove(1)
        uow.records(AUTHORS).update(author(2, 77, "changed"))
        uow.records(LOGOS).update(logo(1, "changed"))
        uow.records(LOGOS).add(logo(2))
        uow.links(LOGOS).remove(1, 2)
        raise KeyError("as it is")

    with pytest.raises(KeyError, match="as it is"):
        storage.write(fail)
    assert storage.read(lambda uow: (uow.records(AUTHORS).page(-1, 9), uow.records(LOGOS).page(-1, 9))) == before


@pytest.mark.rule("contract A8", "contract I2")
def test_an_error_that_ends_the_work_after_a_duplicate_undoes_all(storage: Storage) -> None:
    write(storage, lambda uow: uow.records(AUTHORS).add(author(1)))
    with pytest.raises(DuplicateEntry):
        write(
            storage,
            lambda uow: uow.records(AUTHORS).add(author(2)),
            lambda uow: uow.records(AUTHORS).add(author(3, username="author 1")),
        )
    assert storage.read(lambda uow: uow.records(AUTHORS).page(-1, 9)) == (author(1),)


@pytest.mark.rule("contract B5")
def test_a_snapshot_sees_one_moment(sql_storage: Storage) -> None:
    write(sql_storage, lambda uow: uow.records(AUTHORS).add(author(1)))

    def change() -> None:
        write(
            sql_storage,
            lambda uow: uow.records(AUTHORS).update(author(1, username="changed")),
            lambda uow: uow.records(AUTHORS).add(author(2)),
        )

    def look(uow: UnitOfWork) -> object:
        first = uow.records(AUTHORS).page(-1, 9)
        at_once(change)
        assert uow.records(AUTHORS).page(-1, 9) == first
        assert uow.records(AUTHORS).get(2) is None
        return first

    assert sql_storage.snapshot(look) == (author(1),)
    assert sql_storage.read(lambda uow: uow.records(AUTHORS).page(-1, 9)) == (author(1, username="changed"), author(2))


@pytest.mark.rule("contract A6", "contract A8")
def test_of_many_who_create_the_same_name_at_once_one_wins(storage: Storage) -> None:
    def create(user_id: int) -> Callable[[], object]:
        def work(uow: UnitOfWork) -> int:
            id_ = uow.records(AUTHORS).next_id()
            uow.records(AUTHORS).add(author(id_, user_id, "ann"))
            return id_

        return lambda: storage.write(work)

    answers = at_once(*(create(user_id) for user_id in range(6)))
    assert [answer for answer in answers if isinstance(answer, int)] == [1]
    assert {str(answer) for answer in answers if answer != 1} == {"Duplicate entry 'ann' for key 'username'"}
    assert len(storage.read(lambda uow: uow.records(AUTHORS).page(-1, 9))) == 1


@pytest.mark.rule("contract A6", "contract A8")
def test_of_many_who_create_the_same_user_at_once_one_wins(storage: Storage) -> None:
    write(storage, lambda uow: uow.records(ROLES).add(role()))
    answers = at_once(*(lambda: storage.write(lambda uow: uow.records(USERS).add(user(7, "ann"))) for _ in range(6)))
    assert answers.count(None) == 1
    assert {str(answer) for answer in answers if answer} == {"Duplicate entry '7' for key 'user_id'"}


@pytest.mark.rule("contract A2")
def test_ids_given_at_once_are_distinct_and_without_gaps(storage: Storage) -> None:
    def create(number: int) -> Callable[[], object]:
        def work(uow: UnitOfWork) -> int:
            id_ = uow.records(AUTHORS).next_id()
            uow.records(AUTHORS).add(author(id_, number))
            return id_

        return lambda: [storage.write(work)][0]

    answers = at_once(*(create(number) for number in range(6)))
    assert sorted(answers, key=str) == [1, 2, 3, 4, 5, 6]


def dawdle() -> None:
    time.sleep(0.01)


@pytest.mark.rule("contract F1", "contract B5")
@pytest.mark.parametrize("kind", KINDS.values(), ids=list(KINDS))
def test_no_change_made_at_once_is_lost(storage: Storage, kind: AnyKind) -> None:
    write(
        storage,
        lambda uow: uow.records(ROLES).add(role(1, "")),
        lambda uow: uow.records(USERS).add(user(1, "")),
        lambda uow: uow.records(AUTHORS).add(Author(1, 1, "", 1)),
        lambda uow: uow.records(LOGOS).add(replace(logo(1), name="")),
        lambda uow: uow.records(THEMES).add(replace(theme(1), name="")),
    )

    def change(uow: UnitOfWork) -> None:
        found = uow.records(kind).get(1)
        dawdle()  # an update that read meanwhile would be lost
        assert found is not None
        uow.records(kind).update(replace(found, **{kind.name_field: getattr(found, kind.name_field) + "x"}))

    assert at_once(*[lambda: storage.write(change)] * 6) == [None] * 6
    (found,) = storage.read(lambda uow: uow.records(kind).page(-1, 9))
    assert getattr(found, kind.name_field) == "x" * 6


@pytest.mark.rule("contract F1", "contract B5", "contract C1")
@pytest.mark.parametrize(
    "other",
    [
        lambda uow: uow.links(LOGOS).remove(1, 1),
        lambda uow: uow.records(LOGOS).touch([1], 7),
        lambda uow: link_author(uow, LOGOS, 1, 2),
        lambda uow: uow.records(LOGOS).remove(1),
        lambda uow: uow.records(AUTHORS).add(author(3)),
        lambda uow: uow.passwords.set(1, PasswordHash("another")),
        lambda uow: uow.records(USERS).remove(1),
        lambda uow: uow.sessions.end_all(1),
        lambda uow: uow.secrets.put("another", "secret"),
    ],
    ids=["unlink", "touch", "link", "remove", "add", "set_password", "remove_user", "end_all", "put"],
)
def test_a_second_write_waits_for_the_first_and_sees_what_it_left(
    storage: Storage, other: Callable[[UnitOfWork], object]
) -> None:
    write(
        storage,
        *(lambda uow, i=i: uow.records(AUTHORS).add(author(i)) for i in (1, 2)),
        lambda uow: uow.records(LOGOS).add(logo(1)),
        lambda uow: link_author(uow, LOGOS, 1, 1),
        lambda uow: uow.records(ROLES).add(role(1, "member")),
        lambda uow: add_user(uow, user(1, "ann"), PasswordHash("one")),
        lambda uow: uow.sessions.add(session("s", 1)),
    )
    looked = threading.Event()

    def seen(uow: UnitOfWork) -> object:
        return (
            (uow.records(LOGOS).get(1), uow.links(LOGOS).of_artwork(1), uow.records(AUTHORS).page(-1, 9)),
            (uow.passwords.credentials("ann"), uow.sessions.rights("s", 1), uow.secrets.get("another")),
        )

    def second(uow: UnitOfWork) -> object:
        left = uow.records(THEMES).get(1)
        looked.set()
        other(uow)
        return left

    with ThreadPoolExecutor(1) as executor:
        waiting: list[Future[object]] = []

        def first(uow: UnitOfWork) -> None:
            before = seen(uow)
            waiting.append(executor.submit(storage.write, second))
            assert not looked.wait(0.1)
            assert seen(uow) == before
            uow.records(THEMES).add(theme(1))

        storage.write(first)
        assert waiting[0].result() == theme(1)
    assert looked.is_set()


@pytest.mark.rule("contract C3")
def test_a_refresh_token_can_be_used_once_however_many_try(signed_in: Storage) -> None:
    def use(uow: UnitOfWork) -> bool:
        found = uow.sessions.refresh_token("token one")
        dawdle()
        assert found is not None
        if not found[1]:
            uow.sessions.use_refresh_token("token one")
        return not found[1]

    answers = at_once(*[lambda: signed_in.write(use)] * 6)
    assert sorted(map(str, answers)) == ["False"] * 5 + ["True"]


@pytest.mark.rule("contract A16")
def test_of_many_who_link_an_author_at_once_one_makes_the_link(storage: Storage) -> None:
    write(storage, lambda uow: uow.records(AUTHORS).add(author(1)), lambda uow: uow.records(LOGOS).add(logo(1)))

    def link(uow: UnitOfWork) -> int:
        uow.records(LOGOS).get(1)
        return link_id_of(uow, LOGOS, 1, 1) or link_author(uow, LOGOS, 1, 1)

    assert at_once(*[lambda: storage.write(link)] * 6) == [1] * 6


@pytest.mark.rule("contract A16")
def test_who_looks_for_a_link_at_once_with_others_finds_theirs(storage: Storage) -> None:
    write(storage, lambda uow: uow.records(AUTHORS).add(author(1)), lambda uow: uow.records(LOGOS).add(logo(1)))
    answers = at_once(
        *[lambda: storage.write(lambda uow: link_id_of(uow, LOGOS, 1, 1) or link_author(uow, LOGOS, 1, 1))] * 3
    )
    assert answers == [1] * 3


@pytest.mark.rule("contract A20")
def test_a_storage_describes_its_location_without_secrets(storage: Storage) -> None:
    assert "/" not in storage.server
    assert "@" not in storage.server
    assert isinstance(storage.waits, bool)


@pytest.mark.rule("contract C5")
def test_a_write_that_is_tried_waits_for_nobody(storage: Storage) -> None:
    def add_one(uow: UnitOfWork) -> None:
        uow.records(AUTHORS).add(author(uow.records(AUTHORS).next_id()))

    def add_slowly(uow: UnitOfWork) -> None:
        time.sleep(0.1)
        add_one(uow)

    with ThreadPoolExecutor(1) as executor:

        def first(uow: UnitOfWork) -> None:
            begun = time.monotonic()
            assert executor.submit(storage.try_write, add_one).result() is False
            assert time.monotonic() - begun < 0.3
            add_one(uow)

        storage.write(first)
    assert storage.try_write(add_one) is True
    assert atomic(storage, lambda open_: open_.try_write(add_one)) is True
    assert [one.author_id for one in storage.read(lambda uow: uow.records(AUTHORS).page(-1, 9))] == [1, 2, 3]
    # One that waits, waits as before.
    both = at_once(*(lambda: storage.write(add_slowly) for _ in range(2)))
    assert not any(isinstance(answer, Exception) for answer in both)


@pytest.mark.rule("contract C5")
def test_a_read_with_a_service_key_does_not_wait_for_who_writes(sql_storage: Storage) -> None:
    gallery = gallery_on(sql_storage, FrozenClock())
    admin = gallery.sessions.caller(
        gallery.sessions.sign_in(SignIn(username="admin", password=ADMIN_PASSWORD)).access_token
    )
    made = gallery.keys.create(CreateKey(name="script", scope=("*",)), admin)
    key = gallery.sessions.caller(made.key)
    with ThreadPoolExecutor(1) as executor:

        def sign_in_of_another(_: UnitOfWork) -> None:
            begun = time.monotonic()
            executor.submit(gallery.users.list, ListUsers(), key).result()
            assert time.monotonic() - begun < 0.3

        sql_storage.write(sign_in_of_another, "sessions")
    assert gallery.keys.list(ListKeys(), admin)[0].last_used_at is None
    gallery.users.list(ListUsers(), key)
    assert gallery.keys.list(ListKeys(), admin)[0].last_used_at == NOW
