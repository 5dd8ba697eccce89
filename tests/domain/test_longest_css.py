"""CSS of the maximum length in every format that carries it (contract D, L2, I4, J7)."""

import hashlib
import json
from typing import Any

import pytest

from logoadmin import ApplyChanges, ExportRecords, ImportRecords, InvalidLines, Kind, LogoAdmin
from logoadmin.adapters.memory_gallery_files import MemoryGalleryFiles
from logoadmin.adapters.memory_storage import MemoryStorage
from logoadmin.domain.kernel.limits import MAX_CUSTOM_CSS
from tests.gallery import ARTWORK, FrozenClock, gallery_on

_START = '/*"\n\N{ARTIST PALETTE}*/ a { top: 0 }\n'
LONGEST = _START + "/*" + "\N{ARTIST PALETTE}" * (MAX_CUSTOM_CSS - len(_START) - 4) + "*/"


@pytest.fixture
def gallery() -> LogoAdmin:
    return gallery_on(MemoryStorage(), FrozenClock())


@pytest.mark.rule("contract I4", "contract L2")
@pytest.mark.parametrize("form", ["csv", "jsonl"])
def test_files_have_css_of_the_maximum_length(gallery: LogoAdmin, form: str) -> None:
    create: Any = {"kind": "theme", "create": ARTWORK | {"custom_css": LONGEST}}
    gallery.bulk.apply(ApplyChanges(changes=(create,)))
    lines: list[str] = []
    gallery.import_export.dump(ExportRecords.model_validate({"kind": (Kind.THEME,), "format": form}), lines.append)
    command = ImportRecords.model_validate({"kind": Kind.THEME} if form == "csv" else {})
    text = "".join(lines)
    given = text.encode().splitlines(keepends=True)
    assert gallery.import_export.load(command, given).counts[Kind.THEME].unchanged == 1
    with pytest.raises(InvalidLines):
        gallery.import_export.load(command, text.replace("top: 0", "top:  0").encode().splitlines(keepends=True))
    files = MemoryGalleryFiles()
    gallery.publication.publish(files)
    hash_ = hashlib.sha256(LONGEST.encode()).hexdigest()
    assert len(files.files[f"css/{hash_}.css"]) == len(LONGEST.encode())
    (index,) = [json.loads(content) for name, content in files.files.items() if name[:1].isdigit()]
    assert index["themes"][0]["custom_css_file"] == {"sha256": hash_, "size": len(LONGEST.encode())}
