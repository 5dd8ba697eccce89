"""The page of the published gallery is made from its template (contract Q2)."""

import html
import json
import re
from importlib.resources import files
from typing import Any, Final

import pytest
from hypothesis import given
from hypothesis import strategies as st

from logoadmin.adapters.html_gallery_page import HtmlGalleryPage
from logoadmin.domain.publication.files.publishing import ASSET_NAME
from logoadmin.domain.publication.publication_records import PAGE
from logoadmin.entrypoints.http_api.gallery_files import PAGE_POLICY

pytestmark = pytest.mark.rule("contract Q2")

FOLDER: Final = files("logoadmin").joinpath("gallery_page")
TEMPLATE: Final = FOLDER.joinpath(PAGE).read_text()
TEXTS: Final = st.text(st.characters(exclude_categories=["Cs"])) | st.sampled_from(
    ["</script><script>alert(1)</script>", "<!--<script>", "</title>", "\u2028", '"', "&lt;", "\\u003c"]
)


def data_of(page: bytes) -> Any:
    (found,) = re.findall(rb'<script type="application/json" id="gallery">(.*?)</script>', page, re.DOTALL)
    assert b"<" not in found
    return json.loads(found)


@given(TEXTS, TEXTS)
def test_texts_stay_data(title: str, text: str) -> None:
    data = {"title": title, "home": text, "targets": [{"id": "a", "name": text}]}
    page = HtmlGalleryPage(TEMPLATE, {"page.js": b"a"})
    made = page.files(title, data)
    assert made.keys() == {PAGE, "page.js"}
    assert data_of(made[PAGE]) == data
    assert f"<title>{html.escape(title)}</title>".encode() in made[PAGE]
    assert made[PAGE].count(b"<") == page.files("", {})[PAGE].count(b"<")
    assert page.is_page(made[PAGE])


@pytest.mark.parametrize("template", ["", TEMPLATE * 2, TEMPLATE.replace('id="gallery"', ""), "<title></title>"])
def test_a_template_has_one_place_for_data(template: str) -> None:
    with pytest.raises(ValueError, match="once"):
        HtmlGalleryPage(template, {}).files("", {})


def test_the_policy_in_the_file_is_that_of_the_service() -> None:
    (policy,) = re.findall(r'http-equiv="Content-Security-Policy"\s+content="([^"]+)"', TEMPLATE)
    directives = {each.strip() for each in policy.split(";")}
    # Browsers do not read this one there.
    assert directives == {each.strip() for each in PAGE_POLICY.split(";")} - {"frame-ancestors 'none'"}
    assert "unsafe-" not in PAGE_POLICY


def test_the_page_loads_files_beside_it_alone() -> None:
    loaded = set(re.findall(r'<(?:script|link)\b[^>]*?\b(?:src|href)="([^"]+)"', TEMPLATE))
    beside = {each.name for each in FOLDER.iterdir() if ASSET_NAME.fullmatch(each.name)}
    assert {name for name in loaded if not name.startswith("data:")} <= {*beside, "reader.js"}
    assert {"page.js", "page.css"} <= loaded
    for name in beside:
        imported = re.findall(r'(?:from|import)\s*\(?"\./([^"]+)"', FOLDER.joinpath(name).read_text())
        assert {*imported} <= {*beside, "reader.js"}
