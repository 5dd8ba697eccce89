"""No published user style applies outside the pages of its target, however style managers read it (contract Q3, L4)."""

from pathlib import Path
from typing import Final

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from logoadmin.domain.kernel.kinds import CssForm
from logoadmin.domain.kernel.records import Kind
from logoadmin.domain.publication.css import judge
from logoadmin.domain.publication.css.targets import Target, Targets
from logoadmin.domain.publication.css.verdict import CssRisk
from logoadmin.domain.publication.files.user_styles import StyledArtwork, user_style
from tests.strategies import css_texts
from tests.user_styles import Conditions, searched, sections

pytestmark = [pytest.mark.rule("contract Q3"), pytest.mark.rule("contract L4")]

FORUM: Final = Target("forum", "The forum", ('domain("forum.example")',), ".logo")
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


def style(css: str, kind: Kind = Kind.THEME) -> str | None:
    return user_style(StyledArtwork(kind, 1, 1, "Aurora", [], css), FORUM, "a", "https://a.example/", has_page=True)


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
    assert style(css) is None


@given(rules(FOREIGN))
@example('a { b: c } @-moz-docu\\6d ent domain("bank.example") { a { color: red } }')
def test_a_rule_for_other_pages_is_recognised_in_any_spelling_at_any_depth(css: str) -> None:
    assert risks(css)
    assert style(css) is None
    assert risks(css, "declarations")
    assert style(css, Kind.LOGO) is None


@given(rules(OWN))
def test_rules_for_the_target_are_published(css: str) -> None:
    assert not risks(css)
    found = style(css)
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
        found = style(css, kind)
        if found is not None:
            assert_stays(found)


@given(css_texts() | st.text(st.characters(exclude_categories=["Cs"])))
@example("#a { color: #6c6f85\\1; content: '\\80 \\202e\\7f'; b: url(\\1 ) }")
def test_no_control_characters_are_added(css: str) -> None:
    controls = {each for each in style(css) or "" if not each.isprintable()}
    assert controls <= {*css, "\n"}


def test_sections_for_the_target_are_kept_and_the_rest_is_wrapped() -> None:
    css = (
        "/*! licence */ a { b: c }\n"
        '@-moz-document domain("www.forum.example"), url-prefix("https://forum.example/x/") '
        "{\n  h1 { d: e } /* kept */\n}\n"
        "i { //f: g;\n h: j }"
    )
    assert (style(css) or "").partition("==/UserStyle== */\n")[2] == (
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
