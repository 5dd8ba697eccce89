"""The JSON that commands and lines may come from (contract A4, A21)."""

import json
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from logoadmin.domain.kernel import command
from logoadmin.domain.kernel.command import strict_json

pytestmark = pytest.mark.rule("contract A21")

# Strings are made of what could be taken for something else.
TEXTS = st.text(st.sampled_from('"\\\\[]{}:,u0041 n\U0001f600'), max_size=12)
VALUES = st.recursive(
    st.none() | st.booleans() | st.integers(-(2**63), 2**63) | TEXTS,
    lambda values: st.lists(values, max_size=4) | st.dictionaries(TEXTS, values, max_size=4),
    max_leaves=20,
)


def depth_of(value: object) -> int:
    inside = value.values() if isinstance(value, dict) else value if isinstance(value, list) else ()
    return isinstance(value, dict | list) + max(map(depth_of, inside), default=0)


def refusal(text: str | bytes, *most: int) -> str:
    with pytest.raises(ValueError) as refused:  # noqa: PT011 (the texts are compared)
        strict_json(text, *most)
    return str(refused.value)


@given(value=VALUES, around=st.integers(0, 18), ascii_=st.booleans())
def test_json_is_read_unless_it_is_nested_too_deeply(value: Any, around: int, ascii_: bool) -> None:
    for number in range(around):
        value = {"[": value} if number % 2 else [value, "]"]
    text = json.dumps(value, ensure_ascii=ascii_)
    if depth_of(value) <= 16:
        assert strict_json(text) == strict_json(text.encode()) == value
    else:
        assert refusal(text) == "it is nested deeper than 16"


@pytest.mark.rule("contract A4")
@given(fields=st.lists(st.tuples(TEXTS, VALUES), max_size=4), around=st.integers(0, 3))
def test_duplicate_fields_are_found_at_any_depth(fields: list[tuple[str, Any]], around: int) -> None:
    inner = ",".join(f"{json.dumps(name)}:{json.dumps(value)}" for name, value in fields)
    text = "[1," * around + "{" + inner + "}" + "]" * around
    if len(dict(fields)) == len(fields):
        assert strict_json(text) == json.loads(text)
    else:
        assert refusal(text) == "an object names a field twice"


@pytest.mark.parametrize("text", ["[" * 17, '{"":' * 17, "[{" * 9, '["a\\\\",' * 17, "[[],{}," * 17, '["\\"]",' * 17])
def test_excessive_nesting_is_found_before_parsing(text: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(command, "from_json", None)
    assert refusal(text) == "it is nested deeper than 16"


@pytest.mark.parametrize(
    "text", ['["' + "[" * 99 + '"]', '["\\"' + "{" * 99 + '"]', '["\\\\\\"' + "[[" * 99 + '"]', "[" * 16 + "]" * 16]
)
def test_brackets_in_strings_and_consecutive_brackets_are_not_nesting(text: str) -> None:
    assert strict_json(text) == json.loads(text)


def test_punctuation_outside_strings_is_counted() -> None:
    text = '{"a": [1, 2], ",,,": "{[,:]}"}'  # { : [ , ] , : }
    assert strict_json(text, 8) == json.loads(text)
    assert refusal(text, 7) == "it has more than 7 brackets, colons and commas"
