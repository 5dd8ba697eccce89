"""Artworks as UserCSS: each affects only its own text, and only the pages of its target (contract Q3, L4)."""

from pathlib import Path
from typing import Any, Final

import pytest
import tinycss2
from hypothesis import example, given
from hypothesis import strategies as st

from logoadmin import CssRisk, Kind
from logoadmin.domain.kernel.kinds import CssForm
from logoadmin.domain.publication.css import judge
from logoadmin.domain.publication.css.targets import Target, Targets
from logoadmin.domain.publication.css.tokens import tokenize, unclosed
from logoadmin.domain.publication.files.user_styles import StyledArtwork, user_style
from tests.strategies import css_texts
from tests.user_styles import Conditions, searched, sections

pytestmark = pytest.mark.rule("contract Q3", "contract L4")

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
@example('"quoted"', [])
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


def test_declarations_that_would_escape_their_rule_and_imports_are_rejected() -> None:
    for css in ("color: red }", "} a { color: red", "color: red }} b { top: 0 }", "x: url(a b"):
        assert "invalid" in judge(css, "declarations").risk_names
        assert style(Kind.LOGO, css) is None
    for css in ("@import 'https://a.example';", "a {} @import 'b';", "@import 'data:text/css,a';"):
        assert style(Kind.THEME, css) is None


IN_FORUM: Final = '@-moz-document domain("forum.example") { %s }'


def test_namespaces_are_those_of_the_file_and_odd_texts_do_not_fail() -> None:
    svg = "@namespace svg url(http://www.w3.org/2000/svg);"
    assert theme(f"{svg} svg|a {{}}") == f"{svg} {IN_FORUM % 'svg|a {}'}"
    assert theme(f"@layer x; {svg} a {{}}") == f"{svg} {IN_FORUM % '@layer x; a {}'}"
    assert theme(f"a {{}} {svg}") == IN_FORUM % "a {}"  # browsers ignore it there
    assert style(Kind.LOGO, f"width: {'9' * 5000}px") is not None
    assert theme(f"a {{ width: {'9' * 5000}px }}") is not None


def test_css_that_repeats_its_pages_too_often_is_rejected() -> None:
    everywhere = Target("all", "All", ())
    parts = [f'a {{}} @-moz-document domain("{number}.example") {{ b {{}} }}\n' for number in range(1_000)]
    assert style(Kind.THEME, "".join(parts[:100]), target=everywhere) is not None
    assert style(Kind.THEME, "".join(parts), target=everywhere) is None


# No published user style applies outside the pages of its target, however style managers read it.

VARIANTS: Final = Path(__file__).with_name("foreign_documents.txt").read_text().splitlines()
# Managers know the rule only by name, and treat one without valid conditions as one for all pages.
FOREIGN: Final = (
    *('domain("bank.example")', "domain(bank.example)", 'url-prefix("")', "url-prefix()", 'regexp(".*")', ""),
    *('domain("forum.example"), domain("bank.example")', 'domain("notforum.example")', 'media-document("video")'),
    *("url(https://forum.example.bank.example/)", 'url-prefix("https://forum.example")', 'domain("example")'),
    *('url-prefix("https://forum.example@bank.example/")', 'domain("forum.example") domain("x")', "forum.example"),
    *('-moz-domain("forum.example")', "domain(/*)*/bank.example)", 'regexp("https://forum.example/.*")', 'domain("")'),
)
OWN: Final = (
    *('domain("forum.example")', "domain(forum.example)", 'domain("www.forum.example")', "domain('FORUM.example')"),
    *("url(https://forum.example/a)", 'url-prefix("http://www.forum.example:8080/a")', 'URL("https://forum.example/")'),
    'domain("forum.example"), /* or */ url-prefix(https://forum.example/)',
)
AROUND: Final = (
    *("%s", "@media all { %s }", "@layer x { %s }", "@supports (a: b) { %s }", "a { %s }", "a { b: c; %s }"),
    *("@x { %s }", "@scope { & { %s } }", "a { b: x(%s) }", "a { --b: %s }", "b %s", "@layer x %s", "[%s] {}"),
    *("/* { */ %s", "c{}%s"),
    '@-moz-document domain("forum.example") { %s }',
)


@st.composite
def spelled(draw: st.DrawFn, name: str) -> str:
    """Return a name in any spelling."""
    parts = []
    for character in name:
        code = f"{ord(draw(st.sampled_from((character, character.upper())))):x}"
        escaped = f"\\{code.zfill(draw(st.integers(len(code), 6)))}{draw(st.sampled_from((' ', chr(9), chr(10))))}"
        parts.append(draw(st.sampled_from((character, character, character.upper(), escaped))))
    return "".join(parts)


@st.composite
def rules(draw: st.DrawFn, conditions: tuple[str, ...]) -> str:
    """Return a rule `@-moz-document` in any spelling at any depth."""
    name = draw(spelled(draw(st.sampled_from(("document", "-moz-document", "-webkit-document", "-x-document")))))
    css = f"@{name} {draw(st.sampled_from(conditions))} {{ a {{ color: red }} }}"
    for around in draw(st.lists(st.sampled_from(AROUND), max_size=4)):
        css = around % css
    return css


def risks(css: str, form: CssForm = "sheet") -> tuple[CssRisk, ...]:
    found = judge(css, form, pages=FORUM.pages).risks
    return tuple(each for each in found if each.risk == "foreign_document")


def assert_stays(text: str) -> None:
    """Require that no section is for other pages than those of the target."""
    found = [*sections(text), *searched(text)]
    assert found
    assert all(map(is_own, found)), text


def is_own(conditions: Conditions) -> bool:
    return bool(conditions) and all(
        (name == "domain" and f".{value}".lower().endswith(".forum.example"))
        or (name in ("url", "url-prefix") and value.split("/")[2].partition(":")[0].endswith("forum.example"))
        for name, value in conditions
    )


@pytest.mark.parametrize("css", VARIANTS)
def test_a_rule_for_other_pages_is_reported_and_no_style_is_published(css: str) -> None:
    (found,) = risks(css)
    assert (found.line, css[found.column - 1]) == (1, "@")
    assert style(Kind.THEME, css) is None


@given(rules(FOREIGN))
@example('a { b: c } @-moz-docu\\6d ent domain("bank.example") { a { color: red } }')
def test_a_rule_for_other_pages_is_recognised_in_any_spelling_at_any_depth(css: str) -> None:
    assert risks(css)
    assert style(Kind.THEME, css) is None
    assert risks(css, "declarations")
    assert style(Kind.LOGO, css) is None


@given(rules(OWN))
def test_rules_for_the_target_are_published(css: str) -> None:
    assert not risks(css)
    found = style(Kind.THEME, css)
    assert found is not None
    assert_stays(found)


TRICKS: Final = (
    *("@-moz-document", "@\\2d moz-document", "@-moz-docu\\m ent", "@document", "@-moz-d\\6f cument", "@x", " "),
    *('domain("bank.example")', 'domain("forum.example")', "domain(/*)", "url-prefix(", "url(}", "url({)", "url('/*')"),
    *("{", "}", "(", ")", "[", "]", "/*", "*/", '"', "'", "\\", "\n", "\u2028", "\\\u2028", ";", "a", "a{b:c}", "\r"),
    *("url(a\\)b)", "url(a b)", "url(a\\\n)", "url(/*)", "url(@-moz-document)", "<!--", "-->", "\u00a0", "\f", "\x01"),
    *("/* ==UserStyle==\n", "==/UserStyle== */", "@namespace x url(y)", "@charset", "--x:{", "doma\\i n(/*)", "\\1 "),
    *('"\\41\n', "@media all{", "'\\\r\n"),
)


@given(st.lists(st.sampled_from(TRICKS), max_size=14).map("".join) | css_texts())
@example("a{x:url(}) } @-moz-document domain(bank.example) {}")
@example("a { x: domain(/*) } } input { color: red } a { y: z(*/) }")
@example('a{b:"\\\u2028"}')
@example('a{b:"\\41\n} } @-moz-document domain(bank.example) { c{} "}')
@example("a{b:)}")
@example("@-moz-document\\")
@example("\\@-moz-document")
@example("@namespace x url(y)")
@example('a{b:"@-moz-document domain(bank.example) {"} /* @-moz-document domain(bank.example) { */')
def test_no_text_creates_a_section_for_other_pages(css: str) -> None:
    for kind in (Kind.THEME, Kind.LOGO):
        found = style(kind, css)
        if found is not None:
            assert_stays(found)


@given(css_texts() | st.text(st.characters(exclude_categories=["Cs"])))
@example("#a { color: #6c6f85\\1; content: '\\80 \\202e\\7f'; b: url(\\1 ) }")
def test_no_control_characters_are_added(css: str) -> None:
    controls = {each for each in style(Kind.THEME, css) or "" if not each.isprintable()}
    assert controls <= {*css, "\n"}


def test_sections_for_the_target_are_kept_and_the_rest_is_wrapped() -> None:
    css = (
        "/*! licence */ a { b: c }\n"
        '@-moz-document domain("www.forum.example"), url-prefix("https://forum.example/x/") '
        "{\n  h1 { d: e } /* kept */\n}\n"
        "i { //f: g;\n h: j }"
    )
    assert (style(Kind.THEME, css) or "").partition("==/UserStyle== */\n")[2] == (
        '@-moz-document domain("forum.example") {\n/*! licence */ a { b: c }\n}\n'
        '@-moz-document domain("www.forum.example"), url-prefix("https://forum.example/x/") '
        "{\n  h1 { d: e } /* kept */\n}\n"
        '@-moz-document domain("forum.example") {\ni { //f: g;\n h: j }\n}\n'
    )


def test_conditions_are_part_of_the_verdict() -> None:
    found = judge('@document domain(a.example), url("x") { b { } @-moz-document regexp("c") {} }', "sheet")
    assert found.documents == ('domain("a.example")', 'url("x")', 'regexp("c")')
    assert [each.column for each in found.risks if each.risk == "foreign_document"] == [1, 47]


def test_a_target_named_after_a_host_and_no_other_needs_no_description() -> None:
    targets = Targets({"forum": FORUM})
    for name in ("forum.example", "a-b.c3.example"):
        assert targets.get(name) == Target(name, name, (f'domain("{name}")',))
    others = ("forum2", "a..example", "127.0.0.1", 'a.example"', "A.example", "-a.example", "a.b\n")
    assert [targets.get(name) for name in others] == [None] * 7
