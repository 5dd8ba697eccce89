"""Users (spec §Endpoints 1 to 4, contract A6 to A13, D)."""

from dataclasses import fields

import pytest

from logoadmin.adapters.memory_storage import MemoryStorage
from logoadmin.domain.logo_admin import LogoAdmin
from logoadmin.domain.model.errors import DuplicateEntry, DuplicateUpdate, NotFound
from logoadmin.domain.model.records import RemovedAvatar, RemovedUser, User
from logoadmin.domain.services.sessions import SignIn
from logoadmin.domain.services.users import (
    AmendUser,
    CreateUser,
    FindUser,
    GetUser,
    ListUsers,
    RemoveAvatar,
    RemoveUser,
    SetPassword,
)
from tests.gallery import ADMIN_ID, ANN_PASSWORD, CHEAP_PASSWORDS, NOW, FrozenClock, add_user


def create(gallery: LogoAdmin, user_id: int, username: str, avatar: str | None = None) -> User:
    return gallery.users.create(CreateUser(user_id=user_id, username=username, avatar=avatar, password="pw"))


@pytest.mark.rule("spec §Resources", "spec §Endpoints 2", "contract A12", "contract A10")
def test_a_new_user_has_the_default_role_and_is_dated_now(gallery: LogoAdmin) -> None:
    assert create(gallery, 7, "ann", "a.png") == User(7, "ann", "a.png", 1, NOW)
    assert create(gallery, 0, "ben") == User(0, "ben", None, 1, NOW)
    assert gallery.users.create(CreateUser(user_id=8, username="cyd", password="pw")).avatar is None


@pytest.mark.rule("spec §Resources", "contract C4")
def test_a_user_has_no_field_for_a_password() -> None:
    expected = ["user_id", "username", "avatar", "role_id", "created_at", "version"]
    assert [field.name for field in fields(User)] == expected


@pytest.mark.rule("contract C4")
def test_storage_gets_a_password_only_as_a_hash(gallery: LogoAdmin, storage: MemoryStorage) -> None:
    gallery.users.create(CreateUser(user_id=7, username="ann", password="hunter2"))
    hash_ = storage.read(lambda uow: uow.passwords.get(7))
    assert hash_ is not None
    assert "hunter2" not in hash_.hash
    assert hash_.hash not in repr(hash_)
    assert CHEAP_PASSWORDS.verify(hash_, "hunter2")


@pytest.mark.rule("contract A6", "contract A8")
def test_a_taken_user_id_is_refused(gallery: LogoAdmin) -> None:
    create(gallery, 7, "ann")
    with pytest.raises(DuplicateEntry, match=r"^Duplicate entry '7' for key 'user_id'$") as caught:
        create(gallery, 7, "ben")
    assert (caught.value.value, caught.value.key) == (7, "user_id")
    assert not isinstance(caught.value, DuplicateUpdate)


@pytest.mark.rule("contract A6", "contract A8")
def test_a_taken_username_is_refused(gallery: LogoAdmin) -> None:
    create(gallery, 7, "ann")
    with pytest.raises(DuplicateEntry, match=r"^Duplicate entry 'ann' for key 'username'$"):
        create(gallery, 8, "ann")
    assert [user.user_id for user in gallery.users.list(ListUsers())] == [7, ADMIN_ID]


@pytest.mark.rule("contract A6")
def test_names_are_compared_exactly(gallery: LogoAdmin) -> None:
    names = ["ann", "Ann", "ánn", "ann ", " ann", "a\u0301nn", "ann\n", "😀", "😁", "ß", "ss", "SS"]
    for number, name in enumerate(names):
        create(gallery, number, name)
    assert [user.username for user in gallery.users.list(ListUsers())] == [*names, "admin"]
    for name in names:
        with pytest.raises(DuplicateEntry):
            create(gallery, 999, name)


@pytest.mark.rule("spec §Endpoints 1", "contract A18")
def test_users_are_listed_by_id(gallery: LogoAdmin) -> None:
    for user_id in (9, 0, 2_147_483_647, 7):
        create(gallery, user_id, f"user {user_id}")
    listed = list(gallery.users.list(ListUsers()))
    assert [user.user_id for user in listed] == [0, 7, 9, ADMIN_ID, 2_147_483_647]
    assert all(isinstance(user, User) for user in listed)


@pytest.mark.rule("spec §Endpoints 3")
def test_a_user_is_found_by_id(gallery: LogoAdmin) -> None:
    ann = create(gallery, 7, "ann")
    assert gallery.users.get(GetUser(user_id=7)) == ann


@pytest.mark.rule("contract A9", "contract D users")
def test_a_missing_user_is_not_found(gallery: LogoAdmin) -> None:
    for ask in (
        lambda: gallery.users.get(GetUser(user_id=12)),
        lambda: gallery.users.amend(AmendUser(user_id=12)),
        lambda: gallery.users.amend(AmendUser(user_id=12, username="x")),
        lambda: gallery.users.remove(RemoveUser(user_id=12)),
        lambda: gallery.users.remove_avatar(RemoveAvatar(user_id=12)),
        lambda: gallery.users.set_password(SetPassword(user_id=12, password="x")),
    ):
        with pytest.raises(NotFound, match=r"^User 12 not found$") as caught:
            ask()
        assert (caught.value.what, caught.value.id) == ("User", 12)


@pytest.mark.rule("contract D users")
def test_a_user_gets_new_values_and_keeps_the_others(gallery: LogoAdmin, clock: FrozenClock) -> None:
    create(gallery, 7, "ann", "a.png")
    clock.pass_by(60)
    assert gallery.users.amend(AmendUser(user_id=7)) == User(7, "ann", "a.png", 1, NOW)
    assert gallery.users.amend(AmendUser(user_id=7, username="Anna")) == User(7, "Anna", "a.png", 1, NOW)
    assert gallery.users.amend(AmendUser(user_id=7, avatar=None)) == User(7, "Anna", None, 1, NOW)
    assert gallery.users.amend(AmendUser(user_id=7, avatar="")) == User(7, "Anna", "", 1, NOW)
    assert gallery.users.amend(AmendUser(user_id=7, role_id=2)) == User(7, "Anna", "", 2, NOW)
    assert gallery.users.get(GetUser(user_id=7)) == User(7, "Anna", "", 2, NOW)


@pytest.mark.rule("contract D users", "contract A9")
def test_a_missing_role_cannot_be_assigned(gallery: LogoAdmin) -> None:
    create(gallery, 7, "ann")
    with pytest.raises(NotFound, match=r"^Role 99 not found$"):
        gallery.users.amend(AmendUser(user_id=7, username="x", role_id=99))
    assert gallery.users.get(GetUser(user_id=7)) == User(7, "ann", None, 1, NOW)


@pytest.mark.rule("contract A6", "contract A7", "contract D users")
def test_a_username_of_another_user_is_refused_on_a_change(gallery: LogoAdmin) -> None:
    create(gallery, 7, "ann")
    create(gallery, 8, "ben")
    with pytest.raises(DuplicateUpdate, match=r"^Duplicate entry 'ann' for key 'username'$"):
        gallery.users.amend(AmendUser(user_id=8, username="ann", avatar="b.png"))
    assert gallery.users.get(GetUser(user_id=8)) == User(8, "ben", None, 1, NOW)
    assert gallery.users.amend(AmendUser(user_id=8, username="ben")).username == "ben"


@pytest.mark.rule("contract D users")
def test_a_removed_user_is_gone_and_the_name_is_free(gallery: LogoAdmin) -> None:
    create(gallery, 7, "ann")
    assert gallery.users.remove(RemoveUser(user_id=7)) == RemovedUser(7)
    with pytest.raises(NotFound):
        gallery.users.get(GetUser(user_id=7))
    with pytest.raises(NotFound):
        gallery.users.remove(RemoveUser(user_id=7))
    assert create(gallery, 7, "ann").user_id == 7


@pytest.mark.rule("spec §Endpoints 4", "contract A13")
def test_removing_an_avatar_returns_the_removed_avatar(gallery: LogoAdmin) -> None:
    create(gallery, 7, "ann", "a.png")
    assert gallery.users.remove_avatar(RemoveAvatar(user_id=7)) == RemovedAvatar("a.png")
    assert gallery.users.get(GetUser(user_id=7)).avatar is None
    assert gallery.users.remove_avatar(RemoveAvatar(user_id=7)) == RemovedAvatar("")


@pytest.mark.rule("contract A13")
def test_removing_an_empty_avatar_leaves_none(gallery: LogoAdmin) -> None:
    create(gallery, 7, "ann", "")
    assert gallery.users.get(GetUser(user_id=7)).avatar == ""
    assert gallery.users.remove_avatar(RemoveAvatar(user_id=7)) == RemovedAvatar("")
    assert gallery.users.get(GetUser(user_id=7)).avatar is None


@pytest.mark.rule("contract D users", "contract C4")
def test_a_new_password_takes_the_place_of_the_old_one(gallery: LogoAdmin, storage: MemoryStorage) -> None:
    ann = create(gallery, 7, "ann")
    assert gallery.users.set_password(SetPassword(user_id=7, password="another")) == ann
    hash_ = storage.read(lambda uow: uow.passwords.get(7))
    assert CHEAP_PASSWORDS.verify(hash_, "another")
    assert not CHEAP_PASSWORDS.verify(hash_, "pw")


@pytest.mark.rule("contract A3")
def test_a_user_whose_name_shows_nothing_is_readable_and_signs_in(gallery: LogoAdmin, storage: MemoryStorage) -> None:
    blank, avatar = "\u3164", "b.png"
    storage.write(lambda uow: add_user(uow, User(70, blank, None, 1, NOW), CHEAP_PASSWORDS.hash(ANN_PASSWORD)))
    assert gallery.users.get(GetUser(user_id=70)).username == blank
    assert gallery.users.find(FindUser(username=blank)).user_id == 70
    assert gallery.sessions.sign_in(SignIn(username=blank, password=ANN_PASSWORD)).access_token
    assert gallery.users.amend(AmendUser(user_id=70, avatar=avatar)).avatar == avatar
