"""The details of an artwork: limits of the members, merging of patches, and storage."""

import json
import time
from typing import Any
from unicodedata import normalize

import pytest
from hypothesis import given

from logoadmin import AmendLogo, InvalidInput
from logoadmin.domain.kernel.details import DETAILS, NO_DETAILS, Details, Screenshot
from tests.gallery import failure
from tests.strategies import details

EMPTY: tuple[Any, ...] = (None, "", [], {})
URL = "https://example.org/"


def stating(**members: Any) -> Details:
    return Details(**members)


def problems(**members: Any) -> list[tuple[str, str]]:
    """Return the locations of refused members and the types of the errors."""
    with pytest.raises(InvalidInput) as refused:
        Details(**members)
    return [(".".join(map(str, each.loc)), each.type) for each in refused.value.problems]


# By hand, so that code and test cannot be wrong together.
@pytest.mark.rule("contract S1")
@pytest.mark.parametrize(
    ("name", "longest"), [("description", 500), ("text", 20_000), ("licence", 64), ("version", 32), ("origin", 128)]
)
def test_texts_have_their_limits(name: str, longest: int) -> None:
    assert getattr(stating(**{name: "x" * longest}), name) == "x" * longest
    assert problems(**{name: "x" * (longest + 1)}) == [(name, "string_too_long")]
    assert problems(**{name: 5}) == [(name, "string_type")]
    assert problems(**{name: "a\0"}) == [(name, "string_pattern_mismatch")]


@pytest.mark.rule("contract S1")
@pytest.mark.parametrize("name", ["homepage", "source", "support"])
def test_links_are_http_or_https(name: str) -> None:
    assert getattr(stating(**{name: URL}), name) == URL
    assert getattr(stating(**{name: URL + "x" * (2048 - len(URL))}), name)
    assert problems(**{name: URL + "x" * (2049 - len(URL))}) == [(name, "string_too_long")]
    assert problems(**{name: "javascript:alert(1)"}) == [(name, "url_parsing")]
    assert problems(**{name: "https://ann:secret@example.org/"}) == [(name, "url_parsing")]


@pytest.mark.rule("contract S1")
@pytest.mark.parametrize("name", ["description", "licence", "version"])
def test_lines_are_visible_and_one_paragraph(name: str) -> None:
    for text in ("a\nb", "a\rb", "a\u2028b", "a\x85b", " ", "\u3164"):
        assert problems(**{name: text}) == [(name, "string_pattern_mismatch")]
    assert Details(text="One.\n\nTwo.").text == "One.\n\nTwo."


@pytest.mark.rule("contract S1")
def test_tags_are_lower_case_nfc_and_distinct() -> None:
    tags = stating(tags=["Dark", " dark ", "E\u0301te\u0301", "two \n words"]).tags
    assert tags == ("dark", "\u00e9t\u00e9", "two words")
    assert stating(tags=[str(number) for number in range(10)]).tags
    assert problems(tags=[str(number) for number in range(11)]) == [("tags", "too_long")]
    assert problems(tags=["a", "b", "c", "x" * 33]) == [("tags.3", "string_too_long")]
    for tag in ("a,b", "  "):
        assert problems(tags=[tag]) == [("tags.0", "string_pattern_mismatch")]
    assert problems(tags=[7]) == [("tags.0", "string_type")]
    assert problems(tags="dark") == [("tags", "list_type")]


@pytest.mark.rule("contract S1")
def test_screenshots_have_a_url_and_an_optional_caption() -> None:
    shot = {"url": URL, "alt": "x" * 200}
    assert stating(screenshots=[shot, {"url": URL, "alt": ""}]).members() == {"screenshots": [shot, {"url": URL}]}
    assert problems(screenshots=[shot] * 9) == [("screenshots", "too_long")]
    assert problems(screenshots=[shot, {"alt": "x"}]) == [("screenshots.1.url", "missing")]
    assert problems(screenshots=[{"url": URL, "alt": "x" * 201}]) == [("screenshots.0.alt", "string_too_long")]
    assert problems(screenshots=[{"url": URL, "width": 7}]) == [("screenshots.0.width", "extra_forbidden")]


@pytest.mark.rule("contract S1")
def test_all_problems_are_reported_and_unknown_members_refused() -> None:
    for origin in ("a b", "a/b", "\u00e9", "a\n"):  # it can be in a path
        assert problems(description="a\nb", tags=["a,b"], origin=origin, license="MIT") == [
            *((name, "string_pattern_mismatch") for name in ("description", "tags.0", "origin")),
            ("license", "extra_forbidden"),
        ]


@pytest.mark.rule("contract H6", "contract S1")
@pytest.mark.parametrize(
    "unchecked",
    [
        Details.model_construct(description=5),
        Details(licence="MIT").model_copy(update={"description": "x" * 501}),
        Details.model_construct(screenshots=(Screenshot.model_construct(url=5),)),
    ],
)
def test_a_command_validates_details_that_were_copied(unchecked: Details) -> None:
    assert failure(AmendLogo, logo_id=1, details=unchecked) is InvalidInput
    details = AmendLogo(logo_id=1, details=Details(licence="MIT", text=None)).details or NO_DETAILS
    assert details == Details(licence="MIT")
    assert details.model_fields_set == {"licence", "text"}


@pytest.mark.rule("contract S1")
@given(details())
def test_empty_members_are_not_stored(members: dict[str, Any]) -> None:
    stored = Details(**members).members()
    assert set(stored) == {name for name, value in members.items() if value not in EMPTY}
    assert all(value not in EMPTY for value in stored.values())
    assert Details(**stored).members() == stored


@pytest.mark.rule("contract S1")
@given(details(), details())
def test_a_patch_is_merged_member_by_member(old: dict[str, Any], patch: dict[str, Any]) -> None:
    known, merged = Details(**old).members(), Details(**old).merged(Details(**patch)).members()
    given = Details(**patch).members()
    for name in DETAILS:
        assert merged.get(name) == (given.get(name) if name in patch else known.get(name))
    assert Details(**old).merged(None) == NO_DETAILS
    assert Details(**old).merged(Details()) == Details(**old)


@pytest.mark.rule("contract S2")
@given(details(), details())
def test_equal_details_are_stored_as_equal_texts(some: dict[str, Any], others: dict[str, Any]) -> None:
    one, other = Details(**some), Details(**others)
    text = one.canonical()
    assert (text == other.canonical()) == (one == other) == (one.members() == other.members())
    assert Details.parsed(text) == Details.stored(one.members()) == one
    assert Details.parsed(text).canonical() == Details(**dict(reversed(some.items()))).canonical() == text
    assert text is None or (text == text.strip() and json.loads(text) == one.members())


@pytest.mark.slow("it measures the time of the processor")
@pytest.mark.rule("contract S1")
def test_a_long_tag_is_refused_before_it_is_normalised_which_takes_quadratic_time() -> None:
    began = time.process_time()
    assert problems(tags=["a" + "\u0301\u0327" * 30_000]) == [("tags.0", "string_too_long")]
    assert time.process_time() - began < 2
    assert stating(tags=[normalize("NFD", "\u1f82" * 32)]).tags == ("\u1f82" * 32,)
