# ruff: noqa: RUF001
"""Every sentence of :mod:`logoadmin.ports.storage`, over every adapter."""

import threading
import time
from collections.abc import Callable
from concurrent.futures import Future, ThreadPoolExecutor
from dataclasses import replace
from typing import Any

import pytest

from logoadmin.domain.access import rights
from logoadmin.domain.errors import Conflict, DuplicateEntry, DuplicateUpdate
from logoadmin.domain.limits import MAX_CUSTOM_CSS, MAX_ID
from logoadmin.domain.records import Author, Logo, PasswordHash, Role, Theme, User
from logoadmin.ports.storage import Credentials, Session, Storage, UnitOfWork

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
        uow.roles.add(role())
        for number, name in enumerate(LOOK_ALIKES):
            uow.users.add(user(number, name), PasswordHash(f"hash {number}"))
            uow.authors.add(author(number, username=name))
            uow.roles.add(role(number + 2, f"{name}"))

    storage.write(keep)
    for number, name in enumerate(LOOK_ALIKES):
        found = write(storage, lambda uow, name=name: uow.users.credentials(name))  # type: ignore[misc]
        assert found == Credentials(number, PasswordHash(f"hash {number}"))
    assert [user.username for user in storage.read(lambda uow: uow.users.page(-1, 1000))] == list(LOOK_ALIKES)
    assert [author.username for author in storage.read(lambda uow: uow.authors.page(-1, 1000))] == list(LOOK_ALIKES)
    assert [role.name for role in storage.read(lambda uow: uow.roles.page(1, 1000))] == list(LOOK_ALIKES)


@pytest.mark.rule("contract A6")
@pytest.mark.parametrize("name", LOOK_ALIKES)
def test_each_name_is_a_duplicate_of_itself(storage: Storage, name: str) -> None:
    write(storage, lambda uow: uow.authors.add(author(1, username=name)))
    with pytest.raises(DuplicateEntry) as caught:
        write(storage, lambda uow: uow.authors.add(author(2, username=name)))
    assert (caught.value.value, caught.value.key) == (name, "username")
    assert str(caught.value) == f"Duplicate entry '{name}' for key 'username'"


@pytest.mark.rule("spec §Limits", "contract A3", "contract D")
def test_the_longest_texts_of_the_largest_characters_are_kept(storage: Storage) -> None:
    big = Logo(MAX_ID, "🂡" * 128, "https://" + "🂡" * 2040, "🂡" * 64, "🂡" * MAX_CUSTOM_CSS, True, (), 2**53 - 1)
    someone = User(MAX_ID, "🂡" * 64, "🂡" * 4096, MAX_ID, 2**53 - 1)
    scope = tuple(f"{number:064}" for number in range(64))
    write(
        storage,
        lambda uow: uow.logos.add(big),
        lambda uow: uow.roles.add(Role(MAX_ID, "🂡" * 64, scope, 2**53 - 1)),
        lambda uow: uow.users.add(someone, PasswordHash("h" * 255)),
    )
    assert storage.read(lambda uow: uow.logos.get(MAX_ID)) == big
    assert storage.read(lambda uow: uow.logos.page(-1, 10)) == (big,)
    assert storage.read(lambda uow: uow.users.get(MAX_ID)) == someone
    assert storage.read(lambda uow: uow.roles.get(MAX_ID)) == Role(MAX_ID, "🂡" * 64, scope, 2**53 - 1)
    assert storage.read(lambda uow: uow.users.password(MAX_ID)) == PasswordHash("h" * 255)


@pytest.mark.rule("spec §Limits")
def test_the_smallest_values_are_kept(storage: Storage) -> None:
    nothing = Theme(0, "", "", "", "", False, (), 0)
    write(
        storage,
        lambda uow: uow.themes.add(nothing),
        lambda uow: uow.roles.add(Role(0, "r", (), 0)),
        lambda uow: uow.users.add(User(0, "u", "", 0, 0), None),
        lambda uow: uow.authors.add(Author(0, 0, "a", 0)),
    )
    assert storage.read(lambda uow: uow.themes.get(0)) == nothing
    assert storage.read(lambda uow: uow.users.page(-1, 1)) == (User(0, "u", "", 0, 0),)
    assert storage.read(lambda uow: uow.authors.get(0)) == Author(0, 0, "a", 0)
    assert storage.read(lambda uow: uow.roles.get(0)) == Role(0, "r", (), 0)


# Users


@pytest.mark.rule("spec §Endpoints 1", "spec §Endpoints 3", "contract A18")
def test_users_come_by_id_and_page_by_page(storage: Storage) -> None:
    three = [user(30, "c"), user(10, "b", avatar="https://example.org/a.png"), user(20, "a")]
    write(storage, lambda uow: uow.roles.add(role()), *(lambda uow, u=u: uow.users.add(u, None) for u in three))
    assert storage.read(lambda uow: uow.users.page(-1, 2)) == (three[1], three[2])
    assert storage.read(lambda uow: uow.users.page(20, 2)) == (three[0],)
    assert storage.read(lambda uow: uow.users.page(30, 2)) == ()
    assert storage.read(lambda uow: uow.users.get(10)) == three[1]
    assert storage.read(lambda uow: uow.users.get(11)) is None


@pytest.mark.rule("spec §Endpoints 2", "contract A6", "contract A8")
def test_a_taken_user_id_is_found_before_a_taken_name(storage: Storage) -> None:
    def work(uow: UnitOfWork) -> None:
        uow.roles.add(role())
        uow.users.add(user(1, "ann"), PasswordHash("one"))
        for again, value, key in ((user(1, "ann"), 1, "user_id"), (user(2, "ann"), "ann", "username")):
            with pytest.raises(DuplicateEntry) as caught:
                uow.users.add(again, PasswordHash("two"))
            assert type(caught.value) is DuplicateEntry
            assert (caught.value.value, caught.value.key) == (value, key)
        uow.users.add(user(2, "ben"), None)

    storage.write(work)
    assert storage.read(lambda uow: uow.users.page(-1, 10)) == (user(1, "ann"), user(2, "ben"))
    assert storage.read(lambda uow: uow.users.password(1)) == PasswordHash("one")


@pytest.mark.rule("contract A7", "contract D")
def test_a_user_gets_new_values_but_no_taken_name(storage: Storage) -> None:
    write(
        storage,
        lambda uow: uow.roles.add(role()),
        lambda uow: uow.roles.add(role(2, "admin")),
        lambda uow: uow.users.add(user(1, "ann", "old"), PasswordHash("one")),
        lambda uow: uow.users.add(user(2, "ben"), None),
        lambda uow: uow.sessions.add(session("s", 1)),
    )

    def work(uow: UnitOfWork) -> None:
        with pytest.raises(DuplicateUpdate) as caught:
            uow.users.update(user(1, "ben"))
        assert (caught.value.value, caught.value.key) == ("ben", "username")
        assert uow.users.get(1) == user(1, "ann", "old")
        uow.users.update(user(1, "Ann", None, role_id=2))
        uow.users.update(user(1, "Ann", None, role_id=2))

    storage.write(work)
    assert storage.read(lambda uow: uow.users.get(1)) == user(1, "Ann", None, role_id=2)
    assert storage.read(lambda uow: uow.users.password(1)) == PasswordHash("one")
    assert storage.read(lambda uow: uow.sessions.rights("s", 1)) == rights(())


@pytest.mark.rule("contract C4")
def test_passwords_are_kept_and_replaced(storage: Storage) -> None:
    write(storage, lambda uow: uow.roles.add(role()), lambda uow: uow.users.add(user(1, "ann"), None))
    assert storage.read(lambda uow: uow.users.credentials("ann")) == Credentials(1, None)
    assert storage.read(lambda uow: uow.users.password(1)) is None
    write(storage, lambda uow: uow.users.set_password(1, PasswordHash("new")))
    assert storage.read(lambda uow: uow.users.credentials("ann")) == Credentials(1, PasswordHash("new"))
    assert storage.read(lambda uow: uow.users.password(1)) == PasswordHash("new")
    assert storage.read(lambda uow: uow.users.password(2)) is None
    assert storage.read(lambda uow: uow.users.credentials("Ann")) is None


@pytest.mark.rule("contract D")
def test_a_removed_user_takes_the_sessions_along(storage: Storage) -> None:
    write(
        storage,
        lambda uow: uow.roles.add(role()),
        lambda uow: uow.users.add(user(1, "ann"), None),
        lambda uow: uow.sessions.add(session("s", 1)),
        lambda uow: uow.sessions.add_refresh_token("t", "s"),
    )
    assert write(storage, lambda uow: uow.users.remove(1)) is True
    assert write(storage, lambda uow: uow.users.remove(1)) is False
    assert storage.read(lambda uow: uow.sessions.rights("s", 1)) is None
    assert storage.read(lambda uow: uow.sessions.refresh_token("t")) is None
    write(storage, lambda uow: uow.users.add(user(1, "ann"), None))


# Roles


@pytest.mark.rule("spec §Endpoints 5", "contract A7", "contract A8", "contract A11")
def test_roles_are_kept_with_their_scope_in_order(storage: Storage) -> None:
    admin = role(2, "admin", ("users:read", "*", "a"))

    def work(uow: UnitOfWork) -> None:
        uow.roles.add(role())
        uow.roles.add(admin)
        with pytest.raises(DuplicateEntry) as caught:
            uow.roles.add(role(3, "admin"))
        assert (caught.value.value, caught.value.key) == ("admin", "name")
        with pytest.raises(DuplicateUpdate) as caught:
            uow.roles.update(role(1, "admin"))
        assert (caught.value.value, caught.value.key) == ("admin", "name")
        uow.roles.update(role(1, "Admin", ("b", "a")))

    storage.write(work)
    assert storage.read(lambda uow: uow.roles.page(-1, 10)) == (role(1, "Admin", ("b", "a")), admin)
    assert storage.read(lambda uow: uow.roles.page(1, 1)) == (admin,)
    assert storage.read(lambda uow: uow.roles.get(2)) == admin
    assert storage.read(lambda uow: uow.roles.get(3)) is None


@pytest.mark.rule("contract D")
def test_roles_know_whether_they_are_in_use(storage: Storage) -> None:
    write(
        storage,
        lambda uow: uow.roles.add(role()),
        lambda uow: uow.roles.add(role(2, "admin")),
        lambda uow: uow.users.add(user(1, "ann"), None),
    )
    assert storage.read(lambda uow: uow.roles.in_use(1)) is True
    assert storage.read(lambda uow: uow.roles.in_use(2)) is False
    assert write(storage, lambda uow: uow.roles.remove(2)) is True
    assert write(storage, lambda uow: uow.roles.remove(2)) is False
    write(storage, lambda uow: uow.roles.add(role(3, "admin")))


# Authors


@pytest.mark.rule("spec §Endpoints 6", "spec §Endpoints 7", "spec §Rules 2", "contract A7", "contract A8")
def test_a_taken_user_id_of_an_author_is_found_before_a_taken_name(storage: Storage) -> None:
    def work(uow: UnitOfWork) -> None:
        uow.authors.add(author(1, 7, "ann"))
        uow.authors.add(author(2, 8, "ben"))
        for again, value, key in ((author(3, 7, "ben"), 7, "user_id"), (author(3, 9, "ben"), "ben", "username")):
            with pytest.raises(DuplicateEntry) as caught:
                uow.authors.add(again)
            assert type(caught.value) is DuplicateEntry
            assert (caught.value.value, caught.value.key) == (value, key)
        for again, value, key in ((author(2, 7, "ann"), 7, "user_id"), (author(2, 8, "ann"), "ann", "username")):
            with pytest.raises(DuplicateUpdate) as caught:
                uow.authors.update(again)
            assert (caught.value.value, caught.value.key) == (value, key)
        uow.authors.update(author(2, 8, "ben"))
        uow.authors.update(author(1, 9, "Ben"))

    storage.write(work)
    assert storage.read(lambda uow: uow.authors.page(-1, 10)) == (author(1, 9, "Ben"), author(2, 8, "ben"))
    assert storage.read(lambda uow: uow.authors.page(1, 10)) == (author(2, 8, "ben"),)
    assert storage.read(lambda uow: uow.authors.get(3)) is None


@pytest.mark.rule("contract A7", "contract A8")
def test_no_text_of_the_driver_is_behind_a_duplicate(storage: Storage) -> None:
    write(storage, lambda uow: uow.authors.add(author(1, 7, "a'n\"n😀")))
    with pytest.raises(DuplicateEntry) as caught:
        write(storage, lambda uow: uow.authors.add(author(2, 8, "a'n\"n😀")))
    assert str(caught.value) == "Duplicate entry 'a'n\"n😀' for key 'username'"
    assert caught.value.__cause__ is None
    assert caught.value.__context__ is None


@pytest.mark.rule("contract D")
def test_a_removed_author_takes_the_links_along(storage: Storage) -> None:
    write(
        storage,
        *(lambda uow, i=i: uow.authors.add(author(i)) for i in (1, 2)),
        lambda uow: uow.logos.add(logo(1)),
        lambda uow: uow.themes.add(theme(1)),
        lambda uow: uow.logos.set_authors(1, (1, 2)),
        lambda uow: uow.themes.set_authors(1, (1,)),
    )
    assert write(storage, lambda uow: uow.authors.remove(1)) is True
    assert write(storage, lambda uow: uow.authors.remove(1)) is False
    assert storage.read(lambda uow: uow.logos.get(1)) == replace(logo(1), authors=(author(2),))
    assert storage.read(lambda uow: uow.themes.get(1)) == theme(1)
    assert storage.read(lambda uow: uow.logos.link_of(1, 1)) is None


# Pieces


@pytest.mark.rule("spec §Endpoints 9", "spec §Endpoints 11", "spec §Rules 6", "contract A18")
def test_authors_of_a_piece_come_in_link_order(storage: Storage) -> None:
    write(
        storage,
        *(lambda uow, i=i: uow.authors.add(author(i)) for i in (1, 2, 3)),
        lambda uow: uow.logos.add(logo(4)),
        lambda uow: uow.logos.add(logo(5, active=False)),
    )
    links = [write(storage, lambda uow, i=i: uow.logos.link(4, i)) for i in (3, 1, 2)]  # type: ignore[misc]
    assert links == [1, 2, 3]
    expected = replace(logo(4), authors=(author(3), author(1), author(2)))
    assert storage.read(lambda uow: uow.logos.get(4)) == expected
    assert write(storage, lambda uow: uow.logos.get(4)) == expected
    assert storage.snapshot(lambda uow: uow.logos.page(-1, 10)) == (expected, logo(5, active=False))
    assert storage.read(lambda uow: uow.logos.get(5)) == logo(5, active=False)
    assert storage.read(lambda uow: uow.logos.get(6)) is None
    assert write(storage, lambda uow: uow.logos.get(6)) is None


@pytest.mark.rule("spec §Endpoints 8", "spec §Endpoints 12", "spec §Rules 5", "contract A16", "contract A17")
def test_links_are_made_found_and_undone(storage: Storage) -> None:
    write(
        storage,
        *(lambda uow, i=i: uow.authors.add(author(i)) for i in (1, 2)),
        lambda uow: uow.themes.add(theme(1)),
        lambda uow: uow.logos.add(logo(1)),
    )
    assert write(storage, lambda uow: uow.themes.link(1, 2)) == 1
    assert write(storage, lambda uow: uow.logos.link(1, 2)) == 1
    assert write(storage, lambda uow: uow.themes.link(1, 1)) == 2
    assert storage.read(lambda uow: uow.themes.link_of(1, 2)) == 1
    assert storage.read(lambda uow: uow.logos.link_of(1, 1)) is None
    assert write(storage, lambda uow: uow.themes.unlink(1, 2)) is True
    assert write(storage, lambda uow: uow.themes.unlink(1, 2)) is False
    assert write(storage, lambda uow: uow.themes.unlink(9, 9)) is False
    assert storage.read(lambda uow: uow.themes.link_of(1, 2)) is None
    assert write(storage, lambda uow: uow.themes.link(1, 2)) == 3
    assert storage.read(lambda uow: uow.themes.get(1)) == replace(theme(1), authors=(author(1), author(2)))


@pytest.mark.rule("contract I1", "contract A18")
def test_the_authors_of_a_piece_are_replaced_with_new_links(storage: Storage) -> None:
    write(
        storage,
        *(lambda uow, i=i: uow.authors.add(author(i)) for i in (1, 2, 3)),
        lambda uow: uow.logos.add(logo(1)),
        lambda uow: uow.logos.set_authors(1, (1, 2)),
    )
    write(storage, lambda uow: uow.logos.set_authors(1, [2, 3]))
    assert storage.read(lambda uow: uow.logos.get(1)) == replace(logo(1), authors=(author(2), author(3)))
    assert storage.read(lambda uow: uow.logos.link_of(1, 2)) == 3
    write(storage, lambda uow: uow.logos.set_authors(1, ()))
    assert storage.read(lambda uow: uow.logos.get(1)) == logo(1)


@pytest.mark.rule("spec §Endpoints 10", "contract A15", "contract D")
def test_a_removed_piece_takes_its_links_along(storage: Storage) -> None:
    write(
        storage,
        lambda uow: uow.authors.add(author(1)),
        lambda uow: uow.logos.add(logo(1)),
        lambda uow: uow.logos.link(1, 1),
    )
    assert write(storage, lambda uow: uow.logos.remove(1)) is True
    assert write(storage, lambda uow: uow.logos.remove(1)) is False
    assert storage.read(lambda uow: uow.logos.link_of(1, 1)) is None
    assert write(storage, lambda uow: uow.logos.add(logo(1)), lambda uow: uow.logos.get(1)) == logo(1)


@pytest.mark.rule("contract D")
def test_a_piece_gets_new_values_and_keeps_its_authors(storage: Storage) -> None:
    write(
        storage,
        lambda uow: uow.authors.add(author(1)),
        lambda uow: uow.logos.add(replace(logo(1), authors=(author(9),))),
        lambda uow: uow.logos.link(1, 1),
        lambda uow: uow.logos.update(logo(1, "b { }", active=False)),
    )
    expected = replace(logo(1, "b { }", active=False), authors=(author(1),))
    assert storage.read(lambda uow: uow.logos.get(1)) == expected


@pytest.mark.rule("contract A18", "contract D", "contract E2")
def test_pieces_come_by_id_and_page_by_page_also_those_of_an_author(storage: Storage) -> None:
    write(
        storage,
        *(lambda uow, i=i: uow.authors.add(author(i)) for i in (1, 2)),
        *(lambda uow, i=i: uow.logos.add(logo(i)) for i in (5, 3, 1, 4, 2)),
        *(lambda uow, i=i: uow.logos.set_authors(i, (2, 1)) for i in (4, 1)),
        lambda uow: uow.logos.set_authors(2, (2,)),
        lambda uow: uow.logos.set_authors(5, (1,)),
    )
    authors = {1: (author(2), author(1)), 2: (author(2),), 4: (author(2), author(1)), 5: (author(1),)}
    all_ = tuple(replace(logo(i), authors=authors.get(i, ())) for i in range(1, 6))
    assert storage.read(lambda uow: uow.logos.page(-1, 10)) == all_
    assert storage.read(lambda uow: uow.logos.page(1, 3)) == all_[1:4]
    assert storage.read(lambda uow: uow.logos.page(5, 3)) == ()
    assert storage.read(lambda uow: uow.logos.page(-1, 10, author_id=1)) == (all_[0], all_[3], all_[4])
    assert storage.read(lambda uow: uow.logos.page(1, 1, author_id=1)) == (all_[3],)
    assert storage.read(lambda uow: uow.logos.page(-1, 10, author_id=3)) == ()
    assert storage.read(lambda uow: uow.themes.page(-1, 10, author_id=1)) == ()


# Ids

# How to read the next id of each kind, and to use one.
COUNTED: dict[str, tuple[Callable[[UnitOfWork], int], Callable[[UnitOfWork, int], object]]] = {
    "role_id": (lambda uow: uow.roles.next_id(), lambda uow, id_: uow.roles.add(role(id_, f"role {id_}"))),
    "author_id": (lambda uow: uow.authors.next_id(), lambda uow, id_: uow.authors.add(author(id_, id_))),
    "logo_id": (lambda uow: uow.logos.next_id(), lambda uow, id_: uow.logos.add(logo(id_))),
    "theme_id": (lambda uow: uow.themes.next_id(), lambda uow, id_: uow.themes.add(theme(id_))),
}
REMOVED: dict[str, Callable[[UnitOfWork, int], bool]] = {
    "role_id": lambda uow, id_: uow.roles.remove(id_),
    "author_id": lambda uow, id_: uow.authors.remove(id_),
    "logo_id": lambda uow, id_: uow.logos.remove(id_),
    "theme_id": lambda uow, id_: uow.themes.remove(id_),
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
        uow.logos.link(1, 1)
        raise KeyError

    write(storage, lambda uow: uow.authors.add(author(1)), lambda uow: uow.logos.add(logo(1)))
    with pytest.raises(KeyError):
        storage.write(fail)
    assert write(storage, lambda uow: uow.logos.link(1, 1)) == 1
    write(storage, lambda uow: uow.logos.unlink(1, 1))
    assert write(storage, lambda uow: uow.logos.link(1, 1)) == 2


# Sessions and secrets


@pytest.fixture
def signed_in(storage: Storage) -> Storage:
    write(
        storage,
        lambda uow: uow.roles.add(role(1, "editor", ("logos:write", "a"))),
        lambda uow: uow.users.add(user(1, "ann"), None),
        lambda uow: uow.users.add(user(2, "ben"), None),
        *(lambda uow, s=s: uow.sessions.add(session(s, 1)) for s in ("one", "two", "three")),
        lambda uow: uow.sessions.add(session("bens", 2)),
        *(lambda uow, s=s: uow.sessions.add_refresh_token(f"token {s}", s) for s in ("one", "two", "three", "bens")),
    )
    return storage


def alive(storage: Storage) -> list[str]:
    owners = {"one": 1, "two": 1, "three": 1, "bens": 2}
    rightful = [s for s, u in owners.items() if storage.read(lambda uow, s=s, u=u: uow.sessions.rights(s, u))]  # type: ignore[misc]
    tokens = [s for s in owners if storage.read(lambda uow, s=s: uow.sessions.refresh_token(f"token {s}"))]  # type: ignore[misc]
    assert rightful == tokens
    return rightful


@pytest.mark.rule("contract B5")
def test_rights_are_those_of_the_role_right_now(signed_in: Storage) -> None:
    def held(uow: UnitOfWork) -> object:
        return uow.sessions.rights("one", 1)

    assert signed_in.read(held) == signed_in.snapshot(held) == signed_in.write(held) == rights(("a", "logos:write"))
    write(signed_in, lambda uow: uow.roles.update(role(1, "editor", ("*",))))
    assert signed_in.read(held) == rights(("*",))
    for session_id, user_id in (("one", 2), ("ONE", 1), ("none", 1), ("one", 3)):
        assert signed_in.read(lambda uow, s=session_id, u=user_id: uow.sessions.rights(s, u)) is None  # type: ignore[misc]


@pytest.mark.rule("contract C3")
def test_sessions_end_with_their_refresh_tokens(signed_in: Storage) -> None:
    write(signed_in, lambda uow: uow.sessions.end("one"), lambda uow: uow.sessions.end("nowhere"))
    assert alive(signed_in) == ["two", "three", "bens"]
    write(signed_in, lambda uow: uow.sessions.end_all(1, keep="two"))
    assert alive(signed_in) == ["two", "bens"]
    write(signed_in, lambda uow: uow.sessions.end_all(1))
    assert alive(signed_in) == ["bens"]


@pytest.mark.rule("contract C3")
def test_expired_sessions_end_and_prolonged_ones_do_not(signed_in: Storage) -> None:
    write(signed_in, lambda uow: uow.sessions.prolong("two", 2_001), lambda uow: uow.sessions.end_expired(1, 2_000))
    assert alive(signed_in) == ["one", "two", "three", "bens"]
    write(signed_in, lambda uow: uow.sessions.end_expired(1, 2_001))
    assert alive(signed_in) == ["two", "bens"]
    assert signed_in.read(lambda uow: uow.sessions.refresh_token("token two")) == (session("two", 1, 2_001), False)


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
def test_replacing_a_secret_that_is_not_there_keeps_it(storage: Storage) -> None:
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
        lambda uow: uow.authors.add(author(1)),
        lambda uow: uow.authors.add(author(2)),
        lambda uow: uow.logos.add(logo(1)),
        lambda uow: uow.logos.set_authors(1, (2, 1)),
        lambda uow: (uow.authors.page(-1, 9), uow.logos.page(-1, 9)),
    )

    def fail(uow: UnitOfWork) -> None:
        uow.authors.remove(1)
        uow.authors.update(author(2, 77, "changed"))
        uow.logos.update(logo(1, "changed"))
        uow.logos.add(logo(2))
        uow.logos.unlink(1, 2)
        raise KeyError("as it is")

    with pytest.raises(KeyError, match="as it is"):
        storage.write(fail)
    assert storage.read(lambda uow: (uow.authors.page(-1, 9), uow.logos.page(-1, 9))) == before


@pytest.mark.rule("contract A8", "contract I2")
def test_an_error_that_ends_the_work_after_a_duplicate_undoes_all(storage: Storage) -> None:
    write(storage, lambda uow: uow.authors.add(author(1)))
    with pytest.raises(DuplicateEntry):
        write(
            storage, lambda uow: uow.authors.add(author(2)), lambda uow: uow.authors.add(author(3, username="author 1"))
        )
    assert storage.read(lambda uow: uow.authors.page(-1, 9)) == (author(1),)


@pytest.mark.rule("contract B5")
def test_a_snapshot_sees_one_moment(sql_storage: Storage) -> None:
    write(sql_storage, lambda uow: uow.authors.add(author(1)))

    def change() -> None:
        write(
            sql_storage,
            lambda uow: uow.authors.update(author(1, username="changed")),
            lambda uow: uow.authors.add(author(2)),
        )

    def look(uow: UnitOfWork) -> object:
        first = uow.authors.page(-1, 9)
        at_once(change)
        assert uow.authors.page(-1, 9) == first
        assert uow.authors.get(2) is None
        return first

    assert sql_storage.snapshot(look) == (author(1),)
    assert sql_storage.read(lambda uow: uow.authors.page(-1, 9)) == (author(1, username="changed"), author(2))


@pytest.mark.rule("contract A6", "contract A8")
def test_of_many_who_create_the_same_name_at_once_one_wins(storage: Storage) -> None:
    def create(user_id: int) -> Callable[[], object]:
        def work(uow: UnitOfWork) -> int:
            id_ = uow.authors.next_id()
            uow.authors.add(author(id_, user_id, "ann"))
            return id_

        return lambda: storage.write(work)

    answers = at_once(*(create(user_id) for user_id in range(6)))
    assert [answer for answer in answers if isinstance(answer, int)] == [1]
    assert {str(answer) for answer in answers if answer != 1} == {"Duplicate entry 'ann' for key 'username'"}
    assert len(storage.read(lambda uow: uow.authors.page(-1, 9))) == 1


@pytest.mark.rule("contract A6", "contract A8")
def test_of_many_who_create_the_same_user_at_once_one_wins(storage: Storage) -> None:
    write(storage, lambda uow: uow.roles.add(role()))
    answers = at_once(*(lambda: storage.write(lambda uow: uow.users.add(user(7, "ann"), None)) for _ in range(6)))
    assert answers.count(None) == 1
    assert {str(answer) for answer in answers if answer} == {"Duplicate entry '7' for key 'user_id'"}


@pytest.mark.rule("contract A2")
def test_ids_given_at_once_are_distinct_and_without_gaps(storage: Storage) -> None:
    def create(number: int) -> Callable[[], object]:
        def work(uow: UnitOfWork) -> int:
            id_ = uow.authors.next_id()
            uow.authors.add(author(id_, number))
            return id_

        return lambda: [storage.write(work)][0]

    answers = at_once(*(create(number) for number in range(6)))
    assert sorted(answers, key=str) == [1, 2, 3, 4, 5, 6]


# Each change reads, dawdles, and writes what it read and a bit more: whoever else had read meanwhile would be lost.
CHANGES: dict[str, Callable[[UnitOfWork], None]] = {}


def change(step: Callable[[UnitOfWork], None]) -> Callable[[UnitOfWork], None]:
    CHANGES[step.__name__] = step
    return step


def dawdle() -> None:
    time.sleep(0.01)


@change
def logo_change(uow: UnitOfWork) -> None:
    found = uow.logos.get(1)
    dawdle()
    assert found is not None
    uow.logos.update(replace(found, name=found.name + "x"))


@change
def theme_change(uow: UnitOfWork) -> None:
    found = uow.themes.get(1)
    dawdle()
    assert found is not None
    uow.themes.update(replace(found, name=found.name + "x"))


@change
def author_change(uow: UnitOfWork) -> None:
    found = uow.authors.get(1)
    dawdle()
    assert found is not None
    uow.authors.update(replace(found, username=found.username + "x"))


@change
def user_change(uow: UnitOfWork) -> None:
    found = uow.users.get(1)
    dawdle()
    assert found is not None
    uow.users.update(replace(found, username=found.username + "x"))


@change
def role_change(uow: UnitOfWork) -> None:
    found = uow.roles.get(1)
    dawdle()
    assert found is not None
    uow.roles.update(replace(found, name=found.name + "x"))


@pytest.mark.rule("contract F1", "contract B5")
@pytest.mark.parametrize("name", CHANGES)
def test_no_change_made_at_once_is_lost(storage: Storage, name: str) -> None:
    write(
        storage,
        lambda uow: uow.roles.add(role(1, "")),
        lambda uow: uow.users.add(user(1, ""), None),
        lambda uow: uow.authors.add(Author(1, 1, "", 1)),
        lambda uow: uow.logos.add(replace(logo(1), name="")),
        lambda uow: uow.themes.add(replace(theme(1), name="")),
    )
    assert at_once(*[lambda: storage.write(CHANGES[name])] * 6) == [None] * 6
    names = storage.read(
        lambda uow: {
            "logo_change": [logo.name for logo in uow.logos.page(-1, 9)],
            "theme_change": [theme.name for theme in uow.themes.page(-1, 9)],
            "author_change": [author.username for author in uow.authors.page(-1, 9)],
            "user_change": [user.username for user in uow.users.page(-1, 9)],
            "role_change": [role.name for role in uow.roles.page(-1, 9)],
        }
    )
    assert names[name] == ["x" * 6]


@pytest.mark.rule("contract F1")
@pytest.mark.parametrize(
    "other",
    [
        lambda uow: uow.logos.unlink(1, 1),
        lambda uow: uow.logos.set_authors(1, (2,)),
        lambda uow: uow.logos.link(1, 2),
        lambda uow: uow.logos.remove(1),
    ],
    ids=["unlink", "set_authors", "link", "remove"],
)
def test_nobody_changes_a_piece_that_a_write_has_got(storage: Storage, other: Callable[[UnitOfWork], object]) -> None:
    write(
        storage,
        *(lambda uow, i=i: uow.authors.add(author(i)) for i in (1, 2)),
        lambda uow: uow.logos.add(logo(1)),
        lambda uow: uow.logos.link(1, 1),
    )
    with ThreadPoolExecutor(1) as executor:
        waiting: list[Future[object]] = []

        def get_twice(uow: UnitOfWork) -> None:
            first = uow.logos.get(1)
            if not waiting:
                waiting.append(executor.submit(storage.write, other))
            time.sleep(0.1)
            assert uow.logos.get(1) == first
            assert not waiting[0].done()

        storage.write(get_twice)
        waiting[0].result()
    assert storage.read(lambda uow: uow.logos.get(1)) != replace(logo(1), authors=(author(1),))


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
    write(storage, lambda uow: uow.authors.add(author(1)), lambda uow: uow.logos.add(logo(1)))

    def link(uow: UnitOfWork) -> int:
        uow.logos.get(1)
        return uow.logos.link_of(1, 1) or uow.logos.link(1, 1)

    assert at_once(*[lambda: storage.write(link)] * 6) == [1] * 6


@pytest.mark.rule("contract A16")
def test_a_race_for_a_link_that_nobody_guards_ends_well_too(storage: Storage) -> None:
    write(storage, lambda uow: uow.authors.add(author(1)), lambda uow: uow.logos.add(logo(1)))
    answers = at_once(*[lambda: storage.write(lambda uow: uow.logos.link_of(1, 1) or uow.logos.link(1, 1))] * 3)
    assert answers == [1] * 3


@pytest.mark.rule("contract A20")
def test_a_storage_says_where_it_is_without_secrets(storage: Storage) -> None:
    assert "/" not in storage.server
    assert "@" not in storage.server
    assert isinstance(storage.waits, bool)


@pytest.mark.rule("contract B5", "contract C1")
@pytest.mark.parametrize(
    "other",
    [
        lambda uow: uow.users.set_password(1, PasswordHash("another")),
        lambda uow: uow.users.remove(1),
        lambda uow: uow.sessions.end_all(1),
    ],
    ids=["set_password", "remove", "end_all"],
)
def test_nobody_changes_who_signs_in_while_a_write_judges_them(
    storage: Storage, other: Callable[[UnitOfWork], object]
) -> None:
    write(
        storage,
        lambda uow: uow.roles.add(role(1, "member")),
        lambda uow: uow.users.add(user(1, "ann"), PasswordHash("one")),
        lambda uow: uow.sessions.add(Session("s", 1, 1, 9)),
    )
    with ThreadPoolExecutor(1) as executor:
        waiting: list[Future[object]] = []

        def judge_twice(uow: UnitOfWork) -> None:
            first = uow.users.credentials("ann"), uow.sessions.rights("s", 1)
            if not waiting:
                waiting.append(executor.submit(storage.write, other))
            time.sleep(0.1)
            assert (uow.users.credentials("ann"), uow.sessions.rights("s", 1)) == first
            assert not waiting[0].done()

        storage.write(judge_twice)
        waiting[0].result()
