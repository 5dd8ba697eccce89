"""The published gallery, on every storage (contract L1, L7)."""

import json
from concurrent.futures import ThreadPoolExecutor
from threading import Barrier
from typing import Any

import pytest

from logoadmin.adapters.memory_gallery_files import MemoryGalleryFiles
from logoadmin.domain.gallery.artworks import AmendTheme, BlockLogo, CreateLogo
from logoadmin.domain.publication.files.gallery_keys import raise_epoch
from logoadmin.domain.publication.files.pointer import Pointer, parsed
from logoadmin.domain.publication.publication_records import POINTER
from logoadmin.ports.storage import Storage
from tests.gallery import ARTWORK, FrozenClock, gallery_on, stock


@pytest.mark.rule("contract L1", "contract L2", "contract L3", "contract L7")
def test_a_gallery_is_published_from_every_storage(storage: Storage) -> None:
    clock, files = FrozenClock(), MemoryGalleryFiles()
    gallery = stock(gallery_on(storage, clock))
    for number in range(20):
        gallery.logos.create(CreateLogo(**ARTWORK | {"name": f"Logo {number}"}))
    gallery.themes.amend(AmendTheme(theme_id=1, custom_css="@import url(https://i.example/a.css)"))

    def publish() -> tuple[Pointer, Any, bool]:
        published = gallery.publication.publish(files)
        pointer = parsed(files.files[POINTER])
        assert pointer == parsed(published.pointer)
        return pointer, json.loads(files.files[pointer.index["path"]]), published.changed

    first, index, _ = publish()
    assert (len(index["logos"]), index["themes"]) == (21, [])
    gallery.themes.amend(AmendTheme(theme_id=1, custom_css="a { color: red }"))
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
