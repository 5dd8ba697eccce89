"""The pictures in the docs show the views as they are (contract Q4)."""

import json

import pytest

from tests.console.guide import FOLDER, PICTURES, TAKEN, digest


@pytest.mark.lint
@pytest.mark.rule("contract Q4")
@pytest.mark.parametrize("name", PICTURES)
def test_every_picture_is_up_to_date_with_its_view(name: str) -> None:
    assert FOLDER.joinpath(f"{name}.png").exists()
    assert json.loads(TAKEN.read_text(encoding="utf-8"))[name] == digest(PICTURES[name]), "run make pictures"
