"""Tests for the adapters of other programs. They need pytest, which the extra ``testing`` installs."""

import pytest

# Before the module is imported, so that a failure shows the compared values.
pytest.register_assert_rewrite("logoadmin.testing.storage_tests")

from logoadmin.testing.storage_tests import StorageTests as StorageTests  # noqa: E402 (see above)
