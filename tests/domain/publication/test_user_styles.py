"""Artworks as UserCSS: the content of an artwork affects only its own text (contract Q3)."""

from typing import Any, Final

import pytest
import tinycss2
from hypothesis import example, given
from hypothesis import strategies as st

from logoadmin.domain.kernel.records import Kind
from logoadmin.domain.publication.css import judge
from logoadmin.domain.publication.css.targets import Target
from logoadmin.domain.publication.css.tokens import tokenize, unclosed
from logoadmin.domain.publication.files.user_styles import StyledArtwork, user_style
from tests.strategies import css_texts

pytestmark = pytest.mark.rule("contract Q3")

FORUM: Final = Target("forum", "The forum", ('domain("forum.example")',), '.logo, [x="}"]')
GALLERY: Final = "0c5a2f9e-0000-4000-8000-000000000000"
URL: Final = "https://gallery.example/gallery/"
TEXTS: Final = st.text(st.characters(exclude_categories=["Cs"])) | st.lists(
    st.sampled_from(
        [
            *("*/", "/*", "\n", "\r", "\u2028", "\x85", "==/UserStyle==", "==UserStyle==", "@name x", "@updateURL"),
            *('"', "'", "\\", "`", "{", "}", "a", " ", "\0", "==", "/userstyle", "<<<EOT", "EOT;", "@var text a 'b' c"),
        ]
    )
).map("".join)


def style(kind: Kind, css: str, **given: Any) -> str | None:
    values: dict[str, Any] = {"name": "Aurora", "authors": ("Ann", "Bob"), "url": URL, "target": FORUM} | given
    artwork = StyledArtwork(kind, 12, 57, values["name"], values["authors"], css, values.get("details", {}))
    return user_style(artwork, values["target"], GALLERY, values["url"], has_page=True)


def theme(css: str) -> str | None:
    """Return the body of a theme in one line, without ``@-moz-document`` around it."""
    found = style(Kind.THEME, css)
    return None if found is None else " ".join(found.partition("==/UserStyle== */\n")[2].split())


def head_and_rules(text: str) -> tuple[str, list[Any]]:
    """Return the head and the rules of a file, which has nothing else and nothing that is open."""
    assert text.count("*/") >= 1
    end = text.index("*/") + 2
    assert not [*unclosed(tokenize(text))]
    rules = tinycss2.parse_stylesheet(text[end:], skip_comments=True, skip_whitespace=True)
    assert {rule.type for rule in rules} == {"at-rule"}
    return text[:end], rules


def values_of(head: str) -> list[list[str]]:
    lines = head.split("\n")
    assert (lines[0], lines[-1]) == ("/* ==UserStyle==", "==/UserStyle== */")
    return [line.split(maxsplit=1) for line in lines[1:-1]]


def test_the_head_and_the_rule_of_a_theme() -> None:
    assert style(Kind.THEME, "@charset 'utf-8'; a { color: red }\n\nb { top: 0 }") == (
        "/* ==UserStyle==\n"
        "@name        Aurora\n"
        f"@namespace   {GALLERY}/themes/12\n"
        "@version     1.0.57\n"
        "@author      Ann, Bob\n"
        f"@homepageURL {URL}themes/12/\n"
        f"@updateURL   {URL}themes/12.user.css\n"
        "==/UserStyle== */\n"
        '@-moz-document domain("forum.example") {\n'
        "a { color: red }\n\nb { top: 0 }\n"
        "}\n"
    )


@pytest.mark.rule("contract Q3", "contract S2")
def test_the_head_has_the_details_of_an_artwork() -> None:
    details = {"description": "Dark */ and cold", "licence": "CC0-1.0", "text": "More of it."}
    details |= {"homepage": "https://example.org/*/aurora", "support": "https://example.org/help"}
    head, _ = head_and_rules(style(Kind.THEME, "a { top: 0 }", details=details) or "")
    assert dict(values_of(head)).items() >= {
        ("@description", r"Dark *\/ and cold"),
        ("@license", "CC0-1.0"),
        ("@homepageURL", "https://example.org/%2A/aurora"),
        ("@supportURL", "https://example.org/help"),
    }
    assert "More of it" not in head


def test_the_declarations_of_a_logo_are_in_its_selector() -> None:
    found = style(Kind.LOGO, "color: red; --x: { a: b }", url=None, authors=())
    assert found == (
        "/* ==UserStyle==\n"
        "@name        Aurora\n"
        f"@namespace   {GALLERY}/logos/12\n"
        "@version     1.0.57\n"
        "==/UserStyle== */\n"
        '@-moz-document domain("forum.example") {\n'
        '.logo, [x="}"] {\ncolor: red; --x: { a: b }\n}\n'
        "}\n"
    )
    assert style(Kind.LOGO, "color: red", target=Target("forum", "x", ("y",), None)) is None


@given(TEXTS, st.lists(TEXTS, max_size=2))
def test_texts_in_the_head_cannot_add_lines_or_rules(name: str, authors: list[str]) -> None:
    plain, rules = head_and_rules(style(Kind.THEME, "a{}", authors=("Ann",)) or "")
    text = style(Kind.THEME, "a{}", name=name, authors=authors) or ""
    head, found = head_and_rules(text)
    values = values_of(head)
    assert [rule.serialize() for rule in found] == [rule.serialize() for rule in rules]
    assert [key for key, *_ in values if key != "@author"] == [key for key, *_ in values_of(plain) if key != "@author"]
    assert text.lower().count("==userstyle==") == text.lower().count("==/userstyle==") == 1
    assert dict(values)["@version"] == "1.0.57"
    assert not {*text} & {"\r", "\0", "\x85", "\u2028"}


@given(css_texts())
@example("{@import url(")
def test_css_stays_in_its_rule(css: str) -> None:
    for kind, form in ((Kind.THEME, "sheet"), (Kind.LOGO, "declarations")):
        found = style(kind, css)
        if found is None:
            continue
        *namespaces, document = head_and_rules(found)[1]
        assert {rule.lower_at_keyword for rule in namespaces} <= {"namespace"}
        assert document.lower_at_keyword == "-moz-document"
        assert tinycss2.serialize(document.prelude).strip() == FORUM.documents[0]
        # This much holds even if the verdict were wrong.
        if any(risk.risk == "invalid" for risk in judge(css, form).risks):  # type: ignore[arg-type]  # one of both
            continue
        inside: list[Any] = tinycss2.parse_stylesheet(document.content, skip_comments=True, skip_whitespace=True)
        assert not [rule for rule in inside if rule.type == "error" and rule.kind != "invalid"]
        if kind is Kind.LOGO:
            (rule,) = inside
            assert tinycss2.serialize(rule.prelude).strip() == FORUM.logo
        assert not {rule.lower_at_keyword for rule in inside if rule.type == "at-rule"} & {"import", "charset"}


@pytest.mark.parametrize("css", ["color: red }", "} a { color: red", "color: red }} b { top: 0 }", "x: url(a b"])
def test_declarations_that_would_escape_their_rule_are_rejected(css: str) -> None:
    assert any(risk.risk == "invalid" for risk in judge(css, "declarations").risks)
    assert style(Kind.LOGO, css) is None


IN_FORUM: Final = '@-moz-document domain("forum.example") { %s }'


@pytest.mark.parametrize("css", ["@import 'https://a.example';", "a {} @import 'b';", "@import 'data:text/css,a';"])
def test_css_with_an_import_is_rejected(css: str) -> None:
    assert theme(css) is None


def test_namespaces_are_those_of_the_file() -> None:
    svg = "@namespace svg url(http://www.w3.org/2000/svg);"
    assert theme(f"{svg} svg|a {{}}") == f"{svg} {IN_FORUM % 'svg|a {}'}"
    assert theme(f"@layer x; {svg} a {{}}") == f"{svg} {IN_FORUM % '@layer x; a {}'}"
    assert theme(f"a {{}} {svg}") == IN_FORUM % "a {}"  # browsers ignore it there


def test_odd_texts_do_not_fail() -> None:
    assert style(Kind.LOGO, f"width: {'9' * 5000}px") is not None
    assert theme(f"a {{ width: {'9' * 5000}px }}") is not None


def test_css_that_repeats_its_pages_too_often_is_rejected() -> None:
    everywhere = Target("all", "All", ())
    parts = [f'a {{}} @-moz-document domain("{number}.example") {{ b {{}} }}\n' for number in range(1_000)]
    assert style(Kind.THEME, "".join(parts[:100]), target=everywhere) is not None
    assert style(Kind.THEME, "".join(parts), target=everywhere) is None
