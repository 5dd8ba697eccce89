"""Users (spec §Endpoints 1 to 4, contract A6 to A13, D); other rules are proved for all kinds in ``kernel``."""

from typing import Any

import pytest

from logoadmin import AmendUser, CreateUser, FindUser, GetPreferences, GetUser, ListUsers, RemoveAvatar, SetPreferences
from logoadmin.adapters.memory_storage import MemoryStorage
from logoadmin.domain.identity.sessions import SignIn
from logoadmin.domain.kernel.errors import NotFound, NotPermitted
from logoadmin.domain.kernel.records import RemovedAvatar, User
from logoadmin.domain.logo_admin import LogoAdmin
from tests.gallery import ANN_PASSWORD, CHEAP_PASSWORDS, NOW, add_user, failure, history, problems, signed_in


def create(gallery: LogoAdmin, user_id: int, username: str, avatar: str | None = None) -> User:
    return gallery.users.create(CreateUser(user_id=user_id, username=username, avatar=avatar, password="pw"))


@pytest.mark.rule("spec §Resources", "spec §Endpoints 2", "contract A12", "contract A10")
def test_a_new_user_has_the_default_role_and_the_current_time(gallery: LogoAdmin) -> None:
    assert create(gallery, 7, "ann", "a.png") == User(7, "ann", "a.png", 1, NOW)
    assert create(gallery, 0, "ben") == User(0, "ben", None, 1, NOW)
    assert gallery.users.create(CreateUser(user_id=8, username="cyd", password="pw")).avatar is None


@pytest.mark.rule("contract B4", "contract D users", "contract G5")
def test_a_new_user_gets_their_role_in_the_same_change(stocked: LogoAdmin, storage: MemoryStorage) -> None:
    nine = CreateUser(user_id=9, username="nine", role_id=2, password="a password")
    with pytest.raises(NotFound, match=r"^Role 99 not found$"):
        stocked.users.create(nine.model_copy(update={"role_id": 99}))
    assert failure(stocked.users.create, nine, signed_in(storage, "users:write")) is NotPermitted
    assert [user.user_id for user in stocked.users.list(ListUsers()) if user.user_id == 9] == []
    assert stocked.users.create(nine).role_id == 2
    created = history(stocked)[-1]
    assert created.action == "user.created"
    assert created.after is not None
    assert created.after["role_id"] == 2


@pytest.mark.rule("spec §Endpoints 4", "contract A13")
@pytest.mark.parametrize("avatar", ["a.png", ""])
def test_removing_an_avatar_returns_the_removed_avatar(gallery: LogoAdmin, avatar: str) -> None:
    create(gallery, 7, "ann", avatar)
    assert gallery.users.get(GetUser(user_id=7)).avatar == avatar
    for removed in (avatar, ""):
        assert gallery.users.remove_avatar(RemoveAvatar(user_id=7)) == RemovedAvatar(removed)
        assert gallery.users.get(GetUser(user_id=7)).avatar is None


@pytest.mark.rule("contract A3")
@pytest.mark.parametrize("name", ["\u3164", "An\u200bn"])
def test_a_user_with_a_name_from_before_the_rules_is_readable_and_can_sign_in(
    gallery: LogoAdmin, storage: MemoryStorage, name: str
) -> None:
    storage.write(lambda uow: add_user(uow, User(70, name, None, 1, NOW), CHEAP_PASSWORDS.hash(ANN_PASSWORD)))
    assert gallery.users.get(GetUser(user_id=70)).username == name
    assert gallery.users.find(FindUser(username=name)).user_id == 70
    assert gallery.sessions.sign_in(SignIn(username=name, password=ANN_PASSWORD)).access_token
    assert gallery.users.amend(AmendUser(user_id=70, avatar="b.png")).avatar == "b.png"


CHOSEN: dict[str, Any] = {"look": [{"name": "Таблица", "q": None, "ratio": 0.5}], "\0": {"z": 1, "a": 2}}


@pytest.mark.rule("contract J8")
def test_preferences_belong_to_one_user_and_are_not_changes(gallery: LogoAdmin, storage: MemoryStorage) -> None:
    ann, ben = signed_in(storage, user_id=500), signed_in(storage, user_id=501)
    before = gallery.changes.version()
    assert gallery.preferences.get(GetPreferences(), ann) == {}
    assert gallery.preferences.set(SetPreferences(preferences=CHOSEN), ann) == CHOSEN
    gallery.preferences.set(SetPreferences(preferences={}), ben)
    assert gallery.preferences.get(GetPreferences(), ann) == CHOSEN
    assert list(gallery.preferences.get(GetPreferences(), ann)) == list(CHOSEN)
    assert gallery.preferences.get(GetPreferences(), ben) == {}
    assert gallery.changes.version() == before


@pytest.mark.rule("contract J8")
@pytest.mark.parametrize(("letter", "most"), [("a", 4_088), ("я", 2_044)])
def test_preferences_have_at_most_4_kib(letter: str, most: int) -> None:
    SetPreferences(preferences={"x": letter * most})
    assert problems(SetPreferences, preferences={"x": letter * (most + 1)}) == {("preferences",): "too_long"}


@pytest.mark.rule("contract J8")
@pytest.mark.parametrize("value", ["\ud800", float("nan"), object(), {1, 2}])
def test_preferences_are_json_in_utf_8(value: object) -> None:
    assert problems(SetPreferences, preferences={"x": value}) == {("preferences",): "json_invalid"}
