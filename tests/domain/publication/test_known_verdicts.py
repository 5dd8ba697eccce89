"""Verdicts of the last publication: which ones are reused, and that nobody else can choose them."""

import json
from collections.abc import Callable
from typing import Any, Final

import pytest
import tinycss2

from logoadmin import AmendSettings, AmendTheme, CreateTheme, Kind, LogoAdmin
from logoadmin.adapters.memory_storage import MemoryStorage
from logoadmin.domain.publication import css
from logoadmin.domain.publication.files.file_names import STATE
from logoadmin.domain.publication.files.index import sha256
from tests.gallery import ARTWORK, FrozenClock, gallery_on
from tests.published_files import RecordedFiles

pytestmark = pytest.mark.rule("contract L4")

RISKY: Final = "a { caret-color: red } /* long: " + 2_048 * "x" + " */"
OTHER: Final = "@-moz-document domain('other.example') { b { color: red } }"
HARMLESS: Final = {"form": "sheet"}


@pytest.fixture
def judged(monkeypatch: pytest.MonkeyPatch) -> list[str]:
    """Return a list of the texts judged from now on."""
    texts: list[str] = []
    judge = css.judge

    def judging(text: str, *arguments: Any, **options: Any) -> Any:
        texts.append(text)
        return judge(text, *arguments, **options)

    monkeypatch.setattr(css, "judge", judging)
    return texts


@pytest.fixture
def published(stocked: LogoAdmin, judged: list[str]) -> RecordedFiles:
    stocked.themes.amend(AmendTheme(theme_id=1, custom_css=RISKY, target="forum.example"))
    stocked.themes.create(CreateTheme(**ARTWORK | {"name": "Boreal", "custom_css": OTHER, "target": "forum.example"}))
    files = RecordedFiles()
    stocked.publication.publish(files)
    assert len(judged) == 3
    judged.clear()
    return files


def test_published_css_is_judged_once(stocked: LogoAdmin, published: RecordedFiles, judged: list[str]) -> None:
    stocked.themes.amend(AmendTheme(theme_id=1, name="Dawn"))
    stocked.themes.create(CreateTheme(**ARTWORK | {"name": "Cirrus", "custom_css": "i { color: red }"}))
    stocked.publication.rotate_key()
    stocked.publication.publish(published)
    assert judged == ["i { color: red }"]
    whole = RecordedFiles()
    stocked.publication.publish(whole)
    assert whole.index == published.index
    assert [each["risk"] for each in whole.index["themes"][0]["css"]["risks"]] == ["input_styling"]
    judged.clear()
    stocked.themes.amend(AmendTheme(theme_id=2, target="other.example"))
    stocked.publication.publish(published)
    assert judged == [OTHER]
    assert "risks" not in published.index["themes"][1]["css"]


def with_other_index(files: RecordedFiles, change: Callable[[Any], object]) -> None:
    """Write an index with other verdicts, and name it in the state."""
    index, state = files.index, json.loads(files.files[STATE])
    for theme in index["themes"]:
        theme["css"] = HARMLESS
    content = json.dumps(index, separators=(",", ":")).encode()
    state["verdicts"]["index"] = name = f"9-{sha256(content)[:16]}.json"
    change(state["verdicts"])
    files.files |= {name: content, STATE: json.dumps(state).encode()}


def of_another_gallery() -> str:
    """Return the signature in the files of another gallery."""
    files = RecordedFiles()
    gallery_on(MemoryStorage(), FrozenClock()).publication.publish(files)
    return str(json.loads(files.files[STATE])["verdicts"]["signature"])


# Changes by somebody who can write files, to the notes that name another index.
FORGED: Final[dict[str, Callable[[dict[str, Any]], object]]] = {
    "kept": lambda _: None,
    "none": lambda verdicts: verdicts.pop("signature"),
    "no text": lambda verdicts: verdicts.update(signature="\ud800"),
    "other key": lambda verdicts: verdicts.update(signature=of_another_gallery()),
    "no notes": dict.clear,
}


@pytest.mark.parametrize("way", FORGED)
def test_nobody_without_the_gallery_key_can_choose_a_verdict(
    stocked: LogoAdmin, published: RecordedFiles, judged: list[str], way: str
) -> None:
    with_other_index(published, FORGED[way])
    judged.clear()
    stocked.themes.amend(AmendTheme(theme_id=1, name="Dawn"))
    stocked.publication.publish(published)
    assert len(judged) == 3
    assert [len(each["css"].get("risks", ())) for each in published.index["themes"]] == [1, 1]


def test_all_css_is_judged_again_when_the_rules_change(
    stocked: LogoAdmin, published: RecordedFiles, judged: list[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    targets = {"forum.example": {"name": "Forum", "documents": ['domain("other.example")']}}
    stocked.settings.amend(AmendSettings(gallery_targets=targets))
    stocked.publication.publish(published)
    assert len(judged) == 3
    monkeypatch.setattr(tinycss2, "VERSION", "99")
    stocked.themes.amend(AmendTheme(theme_id=1, name="Dawn"))
    stocked.publication.publish(published)
    assert len(judged) == 6


@pytest.mark.rule("contract I5")
def test_an_import_judges_only_its_own_artworks(stocked: LogoAdmin, judged: list[str]) -> None:
    stocked.themes.create(CreateTheme(**ARTWORK | {"name": "Boreal", "custom_css": "a {"}))
    assert [each.id for each in stocked.publication.left_out({(Kind.THEME, 2)})] == [2]
    assert judged == ["a {"]
