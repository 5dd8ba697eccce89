"""The pages of the published gallery, rendered from templates (contract Q1, Q2, Q5)."""

import html
import json
import re
from importlib.resources import files
from typing import Any, Final

import pytest
from hypothesis import given
from hypothesis import strategies as st
from jinja2 import Environment

from logoadmin.bootstrap import gallery_page
from logoadmin.domain.publication.files.file_names import ASSET_NAME
from logoadmin.domain.publication.publication_records import PAGE
from logoadmin.entrypoints.http_api.gallery import PAGE_POLICY

pytestmark = pytest.mark.rule("contract Q2")

FOLDER: Final = files("logoadmin").joinpath("gallery_page")
PAGES: Final = gallery_page()
LOOK: Final = {"mark": None, "accent": None}
SHARED: Final = {"home": "/", "submit": "", "demo": True, "report": "", "url": "", "path": "", "root": "", **LOOK}
FIRST: Final = PAGES.files({**SHARED, "title": ""}, {})[PAGE].decode()
TEXTS: Final = st.text(st.characters(exclude_categories=["Cs"])) | st.sampled_from(
    ["</script><script>alert(1)</script>", "<!--<script>", "</title>", "\u2028", '"', "&lt;", "\\u003c"]
)


def data_of(page: bytes) -> Any:
    (found,) = re.findall(rb'<script type="application/json" id="gallery">(.*?)</script>', page, re.DOTALL)
    assert b"<" not in found
    return json.loads(found)


@given(TEXTS, TEXTS)
def test_texts_are_escaped(title: str, text: str) -> None:
    data = {"title": title, "home": text, "targets": [{"id": "a", "name": text}]}
    page = PAGES.files({**SHARED, "title": title, "home": f"/{text}"}, data)[PAGE]
    assert data_of(page) == data
    assert f"<title>{Environment().call_filter('escape', title)}</title>".encode() in page
    assert page.count(b"<") == FIRST.count("<")
    assert PAGES.is_page(page)


def test_the_policy_in_the_page_matches_that_of_the_service() -> None:
    (policy,) = re.findall(r'http-equiv="Content-Security-Policy"\s+content="([^"]+)"', FIRST)
    directives = {each.strip() for each in html.unescape(policy).split(";")}
    # Browsers do not read this one there.
    assert directives == {each.strip() for each in PAGE_POLICY.split(";")} - {"frame-ancestors 'none'"}
    assert "unsafe-" not in PAGE_POLICY


def test_the_page_loads_only_files_of_its_folder() -> None:
    loaded = set(re.findall(r'<(?:script|link)\b[^>]*?\b(?:src|href)="([^"]+)"', FIRST))
    beside = {each.name for each in FOLDER.iterdir() if ASSET_NAME.fullmatch(each.name)}
    assert {name for name in loaded if not name.startswith("data:")} <= {*beside, "reader.js", "feed.xml"}
    assert {"page.js", "page.css"} <= loaded
    for name in beside:
        imported = re.findall(r'(?:from|import)\s*\(?"\./([^"]+)"', FOLDER.joinpath(name).read_text())
        assert {*imported} <= {*beside, "reader.js", "page-sample.js"}
