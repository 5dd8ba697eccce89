"""The targets that administrators describe (contract J8, Q3)."""

from typing import Any, Final

import pytest

from logoadmin.domain.kernel.errors import InvalidInput, Problem
from logoadmin.domain.logo_admin import LogoAdmin
from logoadmin.domain.publication.shared_settings import AmendSettings, GetSettings

pytestmark = [pytest.mark.rule("contract J8"), pytest.mark.rule("contract Q3")]

FORUM: dict[str, Any] = {"name": "The forum", "documents": ['domain("forum.example")'], "logo": ".site-logo, #x"}
ALL_SITES = {"name": "All sites", "own": True}


def refused(targets: Any) -> list[Problem]:
    with pytest.raises(InvalidInput) as raised:
        AmendSettings(gallery_targets=targets)
    return [*raised.value.problems]


def refused_target(target: Any) -> Problem:
    (problem,) = refused({"forum": target})
    return problem


def test_targets_are_stored_in_canonical_form(stocked: LogoAdmin) -> None:
    wiki = {"name": "Wiki", "documents": ["url-prefix( 'https://wiki.example/' )"]}
    given: Any = {"forum": FORUM, "wiki": wiki, "all": ALL_SITES}
    amended = stocked.settings.amend(AmendSettings(gallery_targets=given))
    assert amended.gallery_targets == {
        "forum": FORUM,
        "wiki": wiki | {"documents": ['url-prefix("https://wiki.example/")']},
        "all": ALL_SITES,
    }
    assert stocked.settings.get(GetSettings()) == amended


def test_the_number_of_targets_is_limited(stocked: LogoAdmin) -> None:
    documents = [f'domain("s{number}.forum.example")' for number in range(100)]
    targets: Any = {f"{number}": FORUM for number in range(199)} | {"last": FORUM | {"documents": documents}}
    amended = stocked.settings.amend(AmendSettings(gallery_targets=targets))
    assert amended.gallery_targets == targets
    assert [each.type for each in refused(targets | {"more": FORUM})] == ["too_long"]
    assert refused_target(FORUM | {"documents": [*documents, documents[0]]}).type == "too_long"


NO_DOCUMENTS: Final = (
    *("", "forum.example", "domain()", 'domain("")', 'domain("a"', 'domain("a'),
    *('domain("a") {', 'domain("a")}', 'domain("a"), domain("b")', 'media("a")', "*", 'domain("a"; "b")'),
    *('domain("a\\a b")', 'domain("a")/*', '"a"', "url(a", "url(a b)", 'regexp("a" "b")', 'domain("a\nb")'),
)
NO_SELECTORS: Final = (
    *("", " ", "a {", "a }", "a { color: red }", "a; b", "@media", "a /* b", "/* a */", "a )", ":is(a", '[x="a'),
    *("<!-- a", "a -->", ":is(a { })", "[x='a\nb']"),
)


@pytest.mark.parametrize(
    ("target", "place", "problem"),
    [
        ({"name": "a"}, (), "value_error"),
        (FORUM | {"own": True}, (), "value_error"),
        (ALL_SITES | {"logo": ".a"}, (), "value_error"),
        (ALL_SITES | {"own": False}, ("own",), "literal_error"),
        (FORUM | {"documents": []}, ("documents",), "too_short"),
        (FORUM | {"documents": "a"}, ("documents",), "list_type"),
        (FORUM | {"colour": "red"}, ("colour",), "extra_forbidden"),
        (FORUM | {"name": " "}, ("name",), "string_pattern_mismatch"),
        (7, (), "dict_type"),
        *(
            (
                FORUM | {"documents": [each]},
                ("documents", 0),
                "Input should be url(), url-prefix(), domain() or regexp()",
            )
            for each in NO_DOCUMENTS
        ),
        *(
            (FORUM | {"logo": each}, ("logo",), "Input should be a selector, such as .site-logo")
            for each in NO_SELECTORS
        ),
    ],
)
def test_an_invalid_target_is_refused(target: Any, place: tuple[str | int, ...], problem: str) -> None:
    found = refused_target(target)
    assert found.loc == ("gallery_targets", "forum", *place)
    assert problem == found.type or found.msg.startswith(problem)


@pytest.mark.parametrize("id_", ["", "x" * 65, "a\0"])
def test_an_invalid_target_id_is_refused(id_: str) -> None:
    (problem,) = refused({id_: FORUM})
    assert problem.loc[0] == "gallery_targets"


@pytest.mark.parametrize(
    ("document", "canonical"),
    [
        ("url(https://a.example/x)", 'url("https://a.example/x")'),
        ('URL("https://a.example/x")', 'url("https://a.example/x")'),
        ("domain(a.example)", 'domain("a.example")'),
        (r'regexp("https://a\\.example/.*")', r'regexp("https://a\\.example/.*")'),
        (r'domain( "a\22 ) { } b" )', r'domain("a\") { } b")'),
    ],
)
def test_a_document_is_canonical(document: str, canonical: str) -> None:
    given = AmendSettings(gallery_targets={"forum": FORUM | {"documents": [document]}}).gallery_targets
    assert given["forum"]["documents"] == [canonical]
