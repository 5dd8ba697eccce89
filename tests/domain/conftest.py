"""The core on memory storage, with a clock that stands still."""

import pytest

from logoadmin.adapters.memory_storage import MemoryStorage
from logoadmin.domain.logo_admin import LogoAdmin
from tests.gallery import FrozenClock, gallery_on, stock


@pytest.fixture
def clock() -> FrozenClock:
    return FrozenClock()


@pytest.fixture
def storage() -> MemoryStorage:
    return MemoryStorage()


@pytest.fixture
def gallery(storage: MemoryStorage, clock: FrozenClock) -> LogoAdmin:
    """An empty gallery after its first start."""
    return gallery_on(storage, clock)


@pytest.fixture
def stocked(gallery: LogoAdmin) -> LogoAdmin:
    """The same gallery with a little of everything, see :func:`tests.gallery.stock`."""
    stock(gallery)
    return gallery
