"""The files of the page that visitors see (contract Q2)."""

import re
from typing import Final

import brotli
import pytest

from tests.gallery_page.folder import SOURCE

PAGES: Final = SOURCE / "gallery_page"
FIRST: Final = PAGES / "templates/index.html"
# The list of works; those of one work are loaded by the other pages.
FILES: Final = [each for each in PAGES.glob("page*") if each.stem != "page-work"]


@pytest.mark.rule("contract Q2")
def test_page_style_and_script_are_at_most_20_kb_in_brotli() -> None:
    assert len(FILES) > 3
    assert sum(len(brotli.compress(file.read_bytes())) for file in [*FILES, FIRST]) <= 20_000


@pytest.mark.rule("contract Q2")
def test_the_page_loads_every_module_at_once_and_keeps_every_file_for_offline() -> None:
    files = {file.name for file in FILES if file.name != "page-offline.js"}
    linked = set(re.findall(r'(?:href|src)="([\w-]+\.(?:js|css))"', FIRST.read_text("utf-8")))
    kept = set(re.findall(r'"([\w-]+\.(?:js|css))"', (PAGES / "page-offline.js").read_text("utf-8")))
    assert files | {"reader.js"} == linked == kept
