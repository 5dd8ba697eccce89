"""The files of the page that visitors see (contract Q2)."""

import re

import brotli
import pytest

from tests.gallery_page.folder import SOURCE


@pytest.mark.rule("contract Q2")
def test_page_style_and_script_are_at_most_20_kb_in_brotli() -> None:
    files = [file for file in (SOURCE / "gallery_page").iterdir() if file.suffix in {".html", ".css", ".js"}]
    assert len(files) > 3
    assert sum(len(brotli.compress(file.read_bytes())) for file in files) <= 20_000


@pytest.mark.rule("contract Q2")
def test_the_page_loads_every_module_at_once_and_keeps_every_file_for_offline() -> None:
    files = {file.name for file in (SOURCE / "gallery_page").glob("page*") if file.name != "page-offline.js"}
    linked = set(
        re.findall(r'(?:href|src)="([\w-]+\.(?:js|css))"', (SOURCE / "gallery_page/index.html").read_text("utf-8"))
    )
    kept = set(re.findall(r'"([\w-]+\.(?:js|css))"', (SOURCE / "gallery_page/page-offline.js").read_text("utf-8")))
    assert files | {"reader.js"} == linked == kept
