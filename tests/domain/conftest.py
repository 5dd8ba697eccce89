"""The core is tested on memory storage."""

import pytest

from logoadmin.adapters.memory_storage import MemoryStorage


@pytest.fixture
def storage(memory_storage: MemoryStorage) -> MemoryStorage:
    return memory_storage
