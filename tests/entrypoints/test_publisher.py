"""Publishing each change in the background, for the service and for ``publish --watch`` (contract L1, L5)."""

from collections.abc import Callable, Iterator
from contextlib import ExitStack
from typing import Any, Final

import pytest

from logoadmin.adapters.memory_gallery_files import MemoryGalleryFiles
from logoadmin.adapters.memory_storage import MemoryStorage
from logoadmin.domain.gallery.artworks import AmendLogo
from logoadmin.domain.kernel.errors import StartError, StorageUnavailable
from logoadmin.domain.logo_admin import LogoAdmin
from logoadmin.domain.publication.files.pointer import parsed
from logoadmin.domain.publication.publication_records import POINTER, Published
from logoadmin.entrypoints import publisher as module
from logoadmin.entrypoints.publisher import Publisher
from logoadmin.ports.gallery_files import GalleryFiles
from tests.gallery import FrozenClock, WatchedStorage, gallery_on
from tests.services import comes_true

pytestmark = pytest.mark.rule("contract L1")

URL: Final = "https://styles.example/a.css"


class Publishing:
    """A publisher that checks when a test tells it to, and its reports."""

    def __init__(self, gallery: LogoAdmin, files: GalleryFiles, *, leased: bool = True) -> None:
        self.files = files
        self.found: list[Published] = []
        self.errors: list[Exception] = []
        self.publisher = Publisher(
            gallery, files, published=self.found.append, failed=self.errors.append, leased=leased
        )

    @property
    def version(self) -> int:
        """The version in the pointer, -1 without one."""
        content = self.files.read(POINTER)
        return -1 if content is None else parsed(content).version

    def look(self, seconds: float = 0) -> float:
        """Look once, as if some time had passed; return the pause until the next look."""
        self.publisher._compare_at -= seconds
        return self.publisher._attempt(self._held)

    def __enter__(self) -> "Publishing":
        self._held = ExitStack()
        return self

    def __exit__(self, *_: object) -> None:
        self.publisher.close()
        self._held.close()


@pytest.fixture
def publishing(gallery: LogoAdmin) -> Iterator[Publishing]:
    with Publishing(gallery, MemoryGalleryFiles()) as made:
        yield made


def test_a_change_is_published_at_the_next_check_and_no_change_costs_one_read(
    gallery: LogoAdmin, watched: WatchedStorage, publishing: Publishing
) -> None:
    publishing.look()
    assert publishing.version == gallery.changes.version()
    gallery.logos.amend(AmendLogo(logo_id=1, name="Elk"))
    assert publishing.look() == module._LOOK_EVERY <= 0.5
    assert publishing.version == gallery.changes.version()
    watched.asked.clear()
    for _ in range(5):
        publishing.look()
    assert watched.asked == ["read"] * 5
    assert [found.changed for found in publishing.found] == [True, True]


def test_updates_outside_the_history_are_noticed_within_ten_seconds(gallery: LogoAdmin, publishing: Publishing) -> None:
    publishing.look()
    gallery.publication.rotate_key()
    publishing.look(9)
    assert len(publishing.found) == 1
    publishing.look(1)
    assert [found.changed for found in publishing.found] == [True, True]


def test_a_failure_is_reported_and_retried(
    gallery: LogoAdmin, publishing: Publishing, monkeypatch: pytest.MonkeyPatch
) -> None:
    publishing.look()
    gallery.logos.amend(AmendLogo(logo_id=1, name="Elk"))
    publish: Callable[..., Published] = gallery.publication.publish
    faults = [
        StorageUnavailable("db:3306"),
        StartError("The folder holds other files"),
        OSError(28, "No space left on device"),
        ZeroDivisionError("broken"),
    ]
    for fault, pause in zip(faults, (1, 1, 1, 10), strict=True):

        def fail(*_: Any, fault: Exception = fault, **__: Any) -> Published:
            raise fault

        monkeypatch.setattr(gallery.publication, "publish", fail)
        assert publishing.look() == pause
    assert publishing.errors == faults
    monkeypatch.setattr(gallery.publication, "publish", publish)
    publishing.look()
    assert publishing.version == gallery.changes.version()


def test_the_publisher_stops_with_the_gallery(clock: FrozenClock) -> None:
    gallery = gallery_on(MemoryStorage(), clock)
    publishing = Publishing(gallery, MemoryGalleryFiles())
    publishing.publisher.start()
    publishing.publisher.start()
    comes_true(lambda: publishing.version >= 0)
    gallery.close()
    thread = publishing.publisher._publishing_thread
    assert thread is not None
    thread.join(30)
    assert (thread.is_alive(), publishing.errors) == (False, [])
