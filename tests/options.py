"""The environment variables of the tests: LOGOADMIN_REQUIRE_*, LOGOADMIN_TEST_* and LOGOADMIN_GALLERY.

They are read only here and removed from the environment before a test runs, because the service would reject them as
misspelt settings (contract K4).
"""

import os
from pathlib import Path
from typing import Final, NoReturn

import pytest

OPTIONS: Final = {
    name: value
    for name, value in os.environ.items()
    if name.startswith(("LOGOADMIN_REQUIRE_", "LOGOADMIN_TEST_")) or name == "LOGOADMIN_GALLERY"
}
# For releases: more repetitions of the same tests, but no other rules.
LONG: Final = OPTIONS.get("LOGOADMIN_TEST_LONG") == "1"
# A gallery to import and export.
GALLERY: Final = Path(OPTIONS.get("LOGOADMIN_GALLERY") or Path(__file__).with_name("gallery.jsonl"))


def skip_without(program: str, reason: str) -> NoReturn:
    """Skip the test, or fail it if ``LOGOADMIN_REQUIRE_<PROGRAM>`` requires the program."""
    if OPTIONS.get(f"LOGOADMIN_REQUIRE_{program}") == "1":
        pytest.fail(reason)
    pytest.skip(reason)
