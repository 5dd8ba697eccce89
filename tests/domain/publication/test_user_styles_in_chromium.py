"""User styles look in Chromium exactly as the published CSS does (contract Q3)."""

import re
from collections.abc import Iterator
from typing import Any, Final

import pytest
from playwright.sync_api import Page, Route

from logoadmin.domain.kernel.records import Kind
from logoadmin.domain.publication.css.pages import is_document
from logoadmin.domain.publication.css.structure import statements
from logoadmin.domain.publication.css.targets import Target, targets_in
from logoadmin.domain.publication.css.tokens import significant
from logoadmin.domain.publication.css.user_style_source import user_style_source
from logoadmin.domain.publication.files.user_styles import StyledArtwork, user_style
from tests import browser
from tests.user_styles import user_styles

pytestmark = [pytest.mark.slow("a browser"), pytest.mark.rule("contract Q3")]

FORUM: Final = Target("forum", "Forum", ('domain("forum.example")',), ".logo, #e7")
TAGS: Final = ("p", "a", "h1", "div", "span", "section", "code", "li", "em", "button")
ELEMENTS: Final = 50
HTML: Final = "<!doctype html><title>Forum</title>" + "".join(
    f'<{TAGS[n % 10]} id="e{n}" class="c{n % 3} {"logo" if n % 7 == 0 else ""}" data-n="{n}">x<i>y</i></{TAGS[n % 10]}>'
    for n in range(ELEMENTS)
)
COMPUTED: Final = """([css, count]) => {
  const style = document.head.appendChild(Object.assign(document.createElement("style"), { textContent: css }));
  const imported = (rule) => rule.styleSheet || !(rule instanceof CSSImportRule);
  const loaded = () => new Promise((done) => (style.onload = done));
  const read = (each, pseudo) => {
    const found = getComputedStyle(each, pseudo);
    return [...found, "--a", "--b"].map((name) => `${name}: ${found.getPropertyValue(name)}`).join("; ");
  };
  return loaded().then(() =>
    [...Array(count).keys()].flatMap((n) => {
      const each = document.querySelector(`#e${n}`);
      return [read(each), read(each, "::before"), read(each.firstElementChild)];
    }),
  );
}"""
THEMES: Final = (
    "p { color: rgb(1, 2, 3) } .c1 { margin-top: 3px; --a: { x } } @layer inner { a { top: 9px } }",
    "@namespace svg url(http://www.w3.org/2000/svg); svg|p { color: red } *|p { color: blue }",
    "@namespace url(http://www.w3.org/1999/xhtml); p, svg { top: 1px } ",
    "a { content: '\\\\'; } a::before { content: '\\201C }'; color: red } [data-n='7'] { --b: \"}\"; left: 4px }",
    "div { & > i { color: red } .c2 & { margin: 4px } @media screen { top: 1px } @supports (top: 1px) { left: 2px } }",
    "<!-- p { color: red } --> @media screen { @layer q { p { color: blue } } } @layer q { a { left: 3px } }",
    "@property --a { syntax: '<length>'; inherits: false; initial-value: 3px } em { margin: var(--a) }",
    "@keyframes k { from { top: 0 } to { top: 9px } } p { animation: k 9s paused; top: calc(1px+2px); left: +.5e1px }",
    "p{color:red/**/;left:1px}/* } */#e1,#\\65 2{top:2px}.c\\31{top:4px}u\\72l{}",
    "@font-face { font-family: f; src: local(x) } p { font-family: f; background: url( 'data:image/gif;base64,R0' ) }",
    "@container (min-width: 1px) { p { color: red } } @scope (.c1) to (i) { :scope { color: blue } i { left: 1px } }",
    "p { color: red !important; colour: red; : ; top: 1px} ; a {left: 2px} @odd x { a { left: 3px } } em { top: 3px }",
)  # fmt: skip
LOGOS: Final = (
    "color: red; margin: 3px !important",
    "--a: { x }; left: 1px;",
    "background: url(data:,a) , none; top: 2px",
)


@pytest.fixture(scope="module")
def page() -> Iterator[Page]:
    with browser.started() as found, found.new_context() as context:
        page = context.new_page()
        page.route("**/*", answer)
        yield page


def answer(route: Route) -> None:
    route.fulfill(content_type="text/html", body=HTML)


def computed(page: Page, css: str) -> Any:
    page.goto("https://forum.example/")
    return page.evaluate(COMPUTED, [css, ELEMENTS])


def unwrapped(text: str) -> str:
    """Return the rules for a page of the target, since Chromium does not support ``@-moz-document``."""
    found = re.fullmatch(
        r'/\*.*?\*/\n(?P<before>.*)@-moz-document domain\("forum\.example"\) \{\n(?P<css>.*)\n\}\n', text, re.DOTALL
    )
    assert found is not None
    return f"{found['before']}{found['css']}"


def style(kind: Kind, css: str) -> str:
    return user_style(StyledArtwork(kind, 1, 1, "a", [], css), FORUM, "a", None, has_page=False) or ""


@pytest.mark.parametrize("css", THEMES)
def test_a_theme_looks_like_the_published_one(page: Page, css: str) -> None:
    published = computed(page, css)
    assert published != computed(page, "x { }")  # it does something
    assert computed(page, unwrapped(style(Kind.THEME, css))) == published


@pytest.mark.parametrize("css", LOGOS)
def test_the_declarations_of_a_logo_apply_to_its_elements(page: Page, css: str) -> None:
    assert computed(page, unwrapped(style(Kind.LOGO, css))) == computed(page, f"{FORUM.logo} {{ {css} }}")


@pytest.mark.rule("contract S3")
@pytest.mark.parametrize("number", [0, 4, 16, 19, 23, 39, 99])
def test_a_user_style_looks_like_its_source_and_only_on_its_pages(page: Page, number: int) -> None:
    text, variables = user_styles()[number]
    found = user_style_source(text, targets_in({}))
    source = text.replace("\r\n", "\n").partition("==/UserStyle== */")[2]
    file = style(Kind.THEME, found.custom_css)
    given = f":root {{ {' '.join(f'--{name}: {value};' for name, value in variables.items())} }}"
    expected = of_classes(page, "https://forum.example/", f"{given}{on_page(source)}")
    assert of_classes(page, "https://forum.example/", on_page(file)) == expected
    assert expected != of_classes(page, "https://forum.example/", "")
    assert outside(file).strip() == ""


def of_classes(page: Page, url: str, css: str) -> Any:
    page.goto(url)
    return page.evaluate(
        """css => {
          document.head.innerHTML = document.body.innerHTML = "";
          document.head.append(Object.assign(document.createElement("style"), { textContent: css }));
          return ["a", "b", "c"].map((name) => {
            const element = Object.assign(document.createElement("p"), { className: name });
            document.body.append(element);
            const style = getComputedStyle(element);
            const custom = ["accent", "size", "edge", "gap", "hue"].map((each) => `--used-${each}`);
            return [...style, ...custom].map((each) => style.getPropertyValue(each));
          });
        }""",
        css,
    )


def on_page(css: str) -> str:
    """Return CSS without its rules @-moz-document, as on a page that all of them match."""
    return "".join(
        "".join(source for _, source in each) if not is_document(each[0][0]) else each[-1][1][1:-1]
        for each in statements(css)
    )


def outside(css: str) -> str:
    """Return what stands outside of rules @-moz-document, and is no namespace or comment."""
    kept = [each for each in statements(css) if not is_document(each[0][0]) and significant([each[0][0]])]
    return "".join(source for each in kept for _, source in each if each[0][1] != "@namespace")
