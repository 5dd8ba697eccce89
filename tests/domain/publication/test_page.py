"""The page of the published gallery, as a pure function."""

import html
import json
import re
from importlib.resources import files
from typing import Any, Final

import pytest
from hypothesis import given
from hypothesis import strategies as st

from logoadmin.domain.publication.css.targets import Target
from logoadmin.domain.publication.files.page import ASSET, PAGE, Links, Page, is_page, page_files
from logoadmin.entrypoints.http_api.gallery_files import PAGE_POLICY

pytestmark = pytest.mark.rule("contract Q2")

FOLDER: Final = files("logoadmin").joinpath("gallery_page")
TEMPLATE: Final = FOLDER.joinpath(PAGE).read_bytes()
KEY: Final = {"crv": "Ed25519", "kid": "a", "kty": "OKP", "x": "AA"}
TEXTS: Final = st.text(st.characters(exclude_categories=["Cs"])) | st.sampled_from(
    ["</script><script>alert(1)</script>", "<!--<script>", "</title>", "\u2028", '"', "&lt;", "\\u003c"]
)


def data_of(page: bytes) -> Any:
    (found,) = re.findall(rb'<script type="application/json" id="gallery">(.*?)</script>', page, re.DOTALL)
    assert b"<" not in found
    return json.loads(found)


@given(TEXTS, TEXTS, TEXTS)
def test_texts_stay_data(title: str, home: str, name: str) -> None:
    page = Page(title, home, TEMPLATE, {"page.js": b"a"})
    targets = [Target("a", name, 'domain("a")', ".logo"), Target("b", name, 'domain("b")')]
    written = page_files(page, targets, Links(console="https://a.example/console/"), [KEY])
    assert written.keys() == {PAGE, "page.js"}
    assert data_of(written[PAGE]) == {
        "title": title,
        "home": home or None,
        "submit": "https://a.example/console/",
        "targets": [{"id": "a", "name": name}, {"id": "b", "name": name, "logos": False}],
        "keys": [KEY],
    }
    assert f"<title>{html.escape(title)}</title>".encode() in written[PAGE]
    plain = page_files(Page("", "", TEMPLATE), [], Links(), [])[PAGE]
    assert written[PAGE].count(b"<") == plain.count(b"<")
    assert is_page(written[PAGE])


@pytest.mark.parametrize("template", [b"", TEMPLATE * 2, TEMPLATE.replace(b'id="gallery"', b""), b"<title></title>"])
def test_a_template_has_one_place_for_data(template: bytes) -> None:
    with pytest.raises(ValueError, match="once"):
        page_files(Page("", "", template), [], Links(), [])


def test_the_policy_in_the_file_is_that_of_the_service() -> None:
    (policy,) = re.findall(r'http-equiv="Content-Security-Policy"\s+content="([^"]+)"', TEMPLATE.decode())
    directives = {each.strip() for each in policy.split(";")}
    # Browsers do not read this one there.
    assert directives == {each.strip() for each in PAGE_POLICY.split(";")} - {"frame-ancestors 'none'"}
    assert "unsafe-" not in PAGE_POLICY


def test_the_page_loads_files_beside_it_alone() -> None:
    loaded = set(re.findall(r'<(?:script|link)\b[^>]*?\b(?:src|href)="([^"]+)"', TEMPLATE.decode()))
    beside = {each.name for each in FOLDER.iterdir() if re.fullmatch(ASSET, each.name)}
    assert {name for name in loaded if not name.startswith("data:")} <= {*beside, "reader.js"}
    assert {"page.js", "page.css"} <= loaded
    for name in beside:
        imported = re.findall(r'(?:from|import)\s*\(?"\./([^"]+)"', FOLDER.joinpath(name).read_text())
        assert {*imported} <= {*beside, "reader.js"}
