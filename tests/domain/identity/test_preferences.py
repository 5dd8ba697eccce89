"""The preferences of users (contract J8)."""

from typing import Any

import pytest

from logoadmin.adapters.memory_storage import MemoryStorage
from logoadmin.domain.identity.users import GetPreferences, SetPreferences
from logoadmin.domain.kernel.errors import InvalidInput
from logoadmin.domain.logo_admin import LogoAdmin
from tests.gallery import signed_in

pytestmark = pytest.mark.rule("contract J8")

CHOSEN: dict[str, Any] = {"look": [{"name": "Таблица", "q": None, "ratio": 0.5}], "\0": {"z": 1, "a": 2}}


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


@pytest.mark.parametrize(("letter", "most"), [("a", 4_088), ("я", 2_044)])
def test_preferences_have_at_most_4_kib(letter: str, most: int) -> None:
    SetPreferences(preferences={"x": letter * most})
    with pytest.raises(InvalidInput) as raised:
        SetPreferences(preferences={"x": letter * (most + 1)})
    assert [(problem.loc, problem.type) for problem in raised.value.problems] == [(("preferences",), "too_long")]


@pytest.mark.parametrize("value", ["\ud800", float("nan"), object(), {1, 2}])
def test_preferences_are_json_in_utf_8(value: object) -> None:
    with pytest.raises(InvalidInput) as raised:
        SetPreferences(preferences={"x": value})
    assert [(problem.loc, problem.type) for problem in raised.value.problems] == [(("preferences",), "json_invalid")]
