"""The files of the page that visitors see (contract Q2)."""

import json
import re
from typing import Final

import brotli
import pytest

from logoadmin.bootstrap import gallery_page
from logoadmin.domain.publication.publication_records import PAGE
from tests.gallery_page.folder import SOURCE

PAGES: Final = SOURCE / "gallery_page"
LOOK: Final = {"mark": None, "accent": None}
LINKS: Final = {"home": "/", "submit": "/", "report": "/"}
SHARED: Final = {**LINKS, "title": "Ours", "demo": False, "url": "", "path": "", "root": "", **LOOK}
PUBLISHED: Final = gallery_page().files(SHARED, {})
FIRST: Final = PUBLISHED[PAGE].decode()
# The list of works; those of one work are loaded by the other pages.
OTHERS: Final = {"page-work", "page-preview"}
FILES: Final = [each for each in PAGES.glob("page*") if each.stem not in OTHERS]


@pytest.mark.rule("contract Q2")
def test_page_style_and_script_are_at_most_20_kb_in_brotli() -> None:
    assert len(FILES) > 3
    contents = [PUBLISHED[name] for name in (PAGE, *(file.name for file in FILES))]
    assert sum(len(brotli.compress(content)) for content in contents) <= 20_000


@pytest.mark.rule("contract Q2")
def test_the_page_preloads_every_module_and_caches_every_file_for_offline_use() -> None:
    files = {file.name for file in FILES if file.name != "page-offline.js"} | {"reader.js"}
    others = {file.name for file in PAGES.glob("page*") if file.stem in OTHERS} | {"page-sample.js", "page-frame.js"}
    linked = set(re.findall(r'(?:href|src)="([\w-]+\.(?:js|css))"', FIRST))
    kept = set(re.findall(r'"([\w-]+\.(?:js|css))"', (PAGES / "page-offline.js").read_text("utf-8")))
    assert (linked, kept) == (files, files | others)


@pytest.mark.rule("contract Q2")
def test_the_list_has_every_text_in_both_languages() -> None:
    scripts = "".join(path.read_text("utf-8") for path in FILES if path.suffix == ".js")
    texts = json.loads((PAGES / "texts.json").read_text("utf-8"))["list"]
    assert {*re.findall(r'\btext\("(\w+)"', scripts)} <= texts.keys()
    assert all(len(both) == 2 and all(both) for both in texts.values())
