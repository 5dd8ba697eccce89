"""The published gallery on every storage."""

import hashlib
import json
from concurrent.futures import ThreadPoolExecutor
from threading import Barrier
from typing import Any, Final

import pytest

from logoadmin.adapters.memory_gallery_files import MemoryGalleryFiles
from logoadmin.domain.gallery.artworks import AmendTheme, BlockLogo, CreateLogo
from logoadmin.domain.kernel.records import Kind
from logoadmin.domain.publication.files.gallery_keys import raise_epoch
from logoadmin.domain.publication.files.pointer import Pointer, parsed
from logoadmin.domain.publication.publication_records import POINTER
from logoadmin.ports.publication.publication_storage import Pin
from logoadmin.ports.storage import Storage, UnitOfWork
from tests.gallery import ARTWORK, NOW, FrozenClock, gallery_on, stock

URL: Final = "https://i.example/a.css"
SHEET: Final = "a { color: red }"


def pin(uow: UnitOfWork) -> None:
    sha256 = hashlib.sha256(SHEET.encode()).hexdigest()
    uow.publication.pins.add_sheet(sha256, SHEET)
    uow.publication.pins.put(Pin(Kind.THEME, 1, URL, sha256, None, None, NOW))


@pytest.mark.rule("contract L1", "contract L2", "contract L3", "contract L5", "contract L7")
def test_a_gallery_is_published_from_every_storage(storage: Storage) -> None:
    clock, files = FrozenClock(), MemoryGalleryFiles()
    gallery = gallery_on(storage, clock)
    stock(gallery)
    for number in range(20):
        gallery.logos.create(CreateLogo(**ARTWORK | {"name": f"Logo {number}"}))
    gallery.themes.amend(AmendTheme(theme_id=1, custom_css=f"@import url({URL})"))

    def publish() -> tuple[Pointer, Any, bool]:
        published = gallery.publication.publish(files)
        pointer = parsed(files.files[POINTER])
        assert pointer == parsed(published.pointer)
        return pointer, json.loads(files.files[pointer.index["path"]]), published.changed

    first, index, _ = publish()
    assert (len(index["logos"]), index["themes"]) == (21, [])
    storage.write(pin)
    gallery.logos.block(BlockLogo(logo_id=1, reason="tracks readers"))
    gallery.publication.rotate_key()
    clock.pass_by(60)
    second, index, changed = publish()
    assert changed
    assert (len(index["logos"]), len(index["themes"]), index["authors"][0]["username"]) == (20, 1, "Ann")
    assert [entry["id"] for entry in second.blocked] == [1]
    assert len(second.next_keys) == 1
    assert first.paths <= files.files.keys()
    assert not publish()[2]
    storage.write(lambda uow: raise_epoch(uow, clock.now()))
    third, _, changed = publish()
    assert changed
    assert not publish()[2]
    assert (third.gallery, third.epoch, third.index) == (first.gallery, clock.now(), second.index)


@pytest.mark.rule("contract L7")
def test_concurrent_first_readers_get_one_key(storage: Storage) -> None:
    gallery = gallery_on(storage, FrozenClock())
    together = Barrier(4)

    def keys(_: int) -> str:
        together.wait(10)
        return gallery.publication.public_keys()[0]["kid"]

    with ThreadPoolExecutor(4) as pool:
        assert len(set(pool.map(keys, range(4)))) == 1
    assert len(gallery.publication.public_keys()) == 1
