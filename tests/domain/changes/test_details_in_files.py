"""Details of artworks in files: found by origin, kept, replaced and refused (contract I1, I4, S2)."""

from collections.abc import Callable
from typing import Any

import pytest

from logoadmin import AmendTheme, BlockTheme, GetTheme, ImportedCounts, InvalidLines, Kind, ListThemes, LogoAdmin, Theme
from tests.gallery import ARTWORK, exported, imported

HEAD = "name,preview_url,target,custom_css,active,authors"
ROW = "Aurora,https://example.org/aurora.png,forum,color: #123,true,"
DETAILS = {
    "description": "Northern lights",
    "licence": "CC0-1.0",
    "tags": ["dark", "two words"],
    "screenshots": [{"url": "https://example.org/1.png", "alt": " A, thread "}, {"url": "https://example.org/2.png"}],
    "origin": "aurora-17",
}


def load(gallery: LogoAdmin, *lines: dict[str, Any]) -> ImportedCounts:
    given = ({"kind": "theme", **ARTWORK, "author_ids": [], **line} for line in lines)
    return imported(gallery, *given).counts[Kind.THEME]


def load_csv(gallery: LogoAdmin, text: str) -> ImportedCounts:
    return imported(gallery, *text.splitlines(keepends=True), kind=Kind.THEME).counts[Kind.THEME]


def refused(call: Callable[..., object], *given: Any) -> list[tuple[int, tuple[str | int, ...]]]:
    with pytest.raises(InvalidLines) as caught:
        call(*given)
    return [(bad.number, problem.loc) for bad in caught.value.lines for problem in bad.problems]


def theme(gallery: LogoAdmin) -> Theme:
    return gallery.themes.get(GetTheme(theme_id=1))


@pytest.mark.rule("contract I1", "contract L3")
def test_an_artwork_without_an_id_is_identified_by_its_origin(gallery: LogoAdmin) -> None:
    lines: list[dict[str, Any]] = [{"details": DETAILS}, {"details": {"origin": "other"}}, {}]
    assert load(gallery, *lines) == ImportedCounts(3, 0, 0)
    again = load(gallery, {"details": DETAILS}, {"name": "Changed", "details": {"origin": "other"}}, {})
    assert again == ImportedCounts(1, 1, 1)
    found = [(each.theme_id, each.name, each.details.origin) for each in gallery.themes.list(ListThemes())]
    assert found == [(1, "Aurora", "aurora-17"), (2, "Changed", "other"), (3, "Aurora", None), (4, "Aurora", None)]
    gallery.themes.block(BlockTheme(theme_id=1, reason="It covers the sign-in form"))
    assert refused(load, gallery, {"details": DETAILS}) == [(1, ("active",))]


@pytest.mark.rule("contract S1", "contract I2")
def test_details_that_a_line_may_not_have_are_reported_by_member(gallery: LogoAdmin) -> None:
    load(gallery, {"details": DETAILS})
    taken = {"theme_id": 7, "details": {"origin": "aurora-17"}}
    assert refused(load, gallery, {}, taken) == [(2, ("details", "origin"))]
    assert refused(load, gallery, {"details": {"tags": ["a", "b,c"]}}) == [(1, ("details", "tags", 1))]


@pytest.mark.rule("contract I2", "contract S2")
def test_a_line_replaces_all_details_unless_it_asks_for_a_merge(gallery: LogoAdmin) -> None:
    load(gallery, {"details": DETAILS})
    load(gallery, {"theme_id": 1, "details": {"licence": "MIT", "tags": None}, "merge_details": True})
    kept = {name: value for name, value in DETAILS.items() if name != "tags"}
    assert theme(gallery).details.members() == {**kept, "licence": "MIT"}
    load(gallery, {"theme_id": 1})
    assert theme(gallery).details.members() == {}


@pytest.mark.rule("contract I4", "contract S2")
def test_a_table_has_a_column_for_each_member(gallery: LogoAdmin) -> None:
    load(gallery, {"details": DETAILS})
    lines = exported(gallery, kind=(Kind.THEME,), format="csv")
    assert lines[0].split(",")[5:16] == [
        *("details.description", "details.text", "details.homepage", "details.source", "details.support"),
        *("details.licence", "details.version", "details.tags", "details.screenshots", "details.origin", "active"),
    ]
    assert '"dark, two words","https://example.org/1.png  A, thread \nhttps://example.org/2.png",aurora-17' in lines[1]
    gallery.themes.amend(AmendTheme(theme_id=1, details=None))
    assert load_csv(gallery, "".join(lines)) == ImportedCounts(0, 1, 0)
    assert theme(gallery).details.members() == DETAILS


@pytest.mark.rule("contract I4", "contract S2")
def test_a_table_changes_the_members_that_it_has_columns_for(gallery: LogoAdmin) -> None:
    load(gallery, {"details": DETAILS})
    load_csv(gallery, f"theme_id,{HEAD}\n1,{ROW}\n")
    assert theme(gallery).details.members() == DETAILS
    load_csv(gallery, f'{HEAD},details.origin,details.tags,details.licence\n{ROW},aurora-17,"Light,,light",\n')
    changed = {name: value for name, value in DETAILS.items() if name != "licence"}
    assert theme(gallery).details.members() == {**changed, "tags": ["light"]}
    bad = f"{HEAD},details.homepage\n{ROW},nowhere\n"
    assert refused(load_csv, gallery, bad) == [(2, ("details", "homepage"))]
