"""How many statements SQLite gets for the publication of one change (contract L1)."""

from pathlib import Path
from typing import Final

import pytest

import logoadmin
from logoadmin import AmendLogo, CreateLogo, CreateTheme
from logoadmin.adapters.folder_gallery_files import FolderGalleryFiles
from tests.adapters.test_sql_searches import sent_statements
from tests.gallery import ARTWORK

MOST: Final = 25


@pytest.mark.rule("contract L1")
def test_publishing_one_change_costs_no_more_statements_than_this(tmp_path: Path) -> None:
    files = FolderGalleryFiles(tmp_path / "published")
    with logoadmin.connect(f"sqlite:///{tmp_path}/gallery.db") as gallery:
        gallery.logos.create(CreateLogo(**ARTWORK))
        gallery.themes.create(CreateTheme(**ARTWORK))
        gallery.publication.publish(files)
        gallery.logos.amend(AmendLogo(logo_id=1, name="Elk"))
        with sent_statements() as statements:
            assert gallery.publication.publish(files).changed
    assert len(statements) <= MOST, statements
