"""Names in other texts."""

import pytest

from logoadmin.domain.publication.files.names import isolated


@pytest.mark.rule("contract Q3", "contract R6")
@pytest.mark.parametrize(
    ("name", "shown"),
    [
        ("Ann", "Ann"),
        ("\u202eMoshi", "Moshi"),
        ("\u2069\u202eMoshi", "Moshi"),
        ("\u05de\u05e9\u05d4", "\u2068\u05de\u05e9\u05d4\u2069"),
        ("\u05de\u2069\u202e", "\u2068\u05de\u2069"),
    ],
)
def test_no_name_turns_the_direction_of_its_neighbours(name: str, shown: str) -> None:
    assert isolated(name) == shown
