"""The rules of :mod:`logoadmin.ports.storage` that other programs can also test, over every adapter."""

import pytest

from logoadmin.testing import StorageTests

pytestmark = pytest.mark.rule(
    "contract A2", "contract A6", "contract A8", "contract A15", "contract A20", "contract B5", "contract G"
)


class TestStorages(StorageTests):
    """The tests on the storages of this program."""
