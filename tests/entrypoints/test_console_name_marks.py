"""The console's letters that look alike are those of the service (contract O7)."""

import re
import unicodedata
from importlib.resources import files
from json import loads

import pytest

from logoadmin.domain.identity.lookalikes import _prototypes


@pytest.mark.rule("contract O7")
def test_the_console_knows_the_letters_that_look_like_plain_ones() -> None:
    script = files("logoadmin.entrypoints.console").joinpath("parts/people/name_mark.js").read_text(encoding="utf-8")
    rows = re.findall(r'^  (\w): ("[^"]+"),$', script, re.MULTILINE)
    listed = {letter: plain for plain, letters in rows for letter in loads(letters)}
    assert listed == {
        chr(code): plain
        for code, plain in _prototypes().items()
        if code < 0x10000
        and chr(code).isalpha()
        and not chr(code).isascii()
        and unicodedata.normalize("NFKD", chr(code)) == chr(code)
        and len(plain) == 1
        and plain.isascii()
        and plain.isalnum()
    }
