"""The console's letters that look alike are those of the service (contract O7)."""

import re
from importlib.resources import files
from json import loads

import pytest

from logoadmin.domain.identity.issuer_users import LIKE


@pytest.mark.rule("contract O7")
def test_the_console_knows_the_letters_that_look_like_plain_ones() -> None:
    script = files("logoadmin.entrypoints.console").joinpath("parts/people/person.js").read_text(encoding="utf-8")
    rows = re.findall(r'^  (\w): ("[^"]+"),$', script, re.MULTILINE)
    assert {plain: loads(letters) for plain, letters in rows} == LIKE
