"""The CSS editor: declarations and sheets, keyboard, content security policy, speed, and fallback."""

from collections.abc import Iterator
from typing import Any

import pytest
from playwright.sync_api import Browser, Locator, expect

from tests.console.parts import Shown, shown

pytestmark = [pytest.mark.slow("a browser"), pytest.mark.rule("contract J3")]

EDITOR = """
const { cssWidget } = await load("parts/css/css_editor.js");
const widgets = { sheet: cssWidget("sheet"), declarations: cssWidget("declarations") };
globalThis.value = signal(given.value);
globalThis.options = signal(given);
globalThis.pressed = [];
addEventListener("keydown", (event) => pressed.push(event.key));
function Form() {
  const { kind = "sheet", disabled = false, problem } = options.value;
  const set = (_, text) => { value.value = text; };
  const form = { values: { value: { css: value.value } }, problems: { value: { css: problem } }, set };
  return h("form", null,
    h("label", { for: "css" }, "CSS"),
    h(widgets[kind], { form, field: { name: "css" }, id: "css", disabled }),
    h("button", { type: "button" }, "Next"));
}
render(h(Form, {}), root);
"""

DIAGNOSTICS = """async () => {
    const files = document.querySelector('script[src$="/app.js"]').src.replace(/app\\.js$/, "");
    const { EditorView, forEachDiagnostic } = await import(files + "vendor/codemirror.js");
    const root = document.querySelector(".css-editor-code").shadowRoot;
    const found = [];
    const { state } = EditorView.findFromDOM(root.querySelector(".cm-editor"));
    forEachDiagnostic(state, (each) => found.push(each.message));
    return found;
}"""


@pytest.fixture(scope="module")
def page(chromium: Browser) -> Iterator[Shown]:
    """The page in which editors are opened, one after the other."""
    with shown(chromium) as found:
        yield found


def edit(seen: Shown, value: str = "", **options: Any) -> Locator:
    """Open an editor in place of the one before; return its text field."""
    seen.complaints.clear()
    seen.show(EDITOR, {"value": value, **options})
    field = seen.page.get_by_role("textbox", name="CSS")
    expect(seen.page.locator(".cm-content")).to_be_visible()
    return field


def value(seen: Shown) -> str:
    found: str = seen.page.evaluate("value.value")
    return found


def complaints(seen: Shown) -> Locator:
    return seen.page.locator(".cm-lintRange")


def test_the_typed_text_is_the_value_and_violates_no_policy(page: Shown) -> None:
    field = edit(page, "a {}")
    page.page.locator("label").click()
    expect(field).to_be_focused()
    page.page.keyboard.press("ControlOrMeta+End")
    page.page.keyboard.type(" b { color: red }")
    assert value(page) == "a {} b { color: red }"
    # Typing over the selection, also with a bracket that surrounds it.
    for key in ("x", "(", "й"):
        page.page.keyboard.press("ControlOrMeta+a")
        page.page.keyboard.type(key)
    assert value(page) == "й"
    page.page.keyboard.press("ControlOrMeta+z")
    assert value(page) == "(x)"
    assert page.complaints == []


@pytest.mark.parametrize(("kind", "before"), [("declarations", ""), ("declarations", "width: 1px;"), ("sheet", "a { ")])
def test_properties_and_values_are_suggested(page: Shown, kind: str, before: str) -> None:
    field = edit(page, before, kind=kind)
    field.focus()
    page.page.keyboard.press("ControlOrMeta+End")
    page.page.keyboard.type("background-col")
    expect(page.page.get_by_role("option", name="background-color")).to_be_visible()
    page.page.wait_for_timeout(100)  # the delay before CodeMirror accepts Enter for a completion
    page.page.keyboard.press("Enter")
    page.page.keyboard.type("transpar")
    expect(page.page.get_by_role("option", name="transparent")).to_be_visible()
    page.page.wait_for_timeout(100)
    page.page.keyboard.press("Enter")
    assert value(page).startswith(f"{before}background-color: transparent")
    assert page.complaints == []


@pytest.mark.parametrize(
    ("kind", "css", "about"),
    [
        ("declarations", "colr: red", ["does not know the property"]),
        ("declarations", "color: banana", ["does not know this value"]),
        ("declarations", "a { color: red }", ["only declarations"]),
        ("declarations", "color: red } a {", ["only declarations"]),
        ("declarations", "@import 'x';", ["only declarations"]),
        ("sheet", "a { colr: red; width: banana }", ["the property", "this value"]),
        ("sheet", "a { color: red", ["} is missing"]),
        ("sheet", "@media (width > 3px) { a { foo: bar } }", ["the property"]),
    ],
)
def test_possible_mistakes_are_reported(page: Shown, kind: str, css: str, about: list[str]) -> None:
    edit(page, css, kind=kind)
    expect(complaints(page).first).to_be_visible()
    said = page.page.evaluate(DIAGNOSTICS)
    for text in about:
        assert any(text in each for each in said), said
    assert page.complaints == []


@pytest.mark.parametrize(
    ("kind", "css"),
    [
        (
            "declarations",
            "background: url(https://a.example/x) center / contain no-repeat; color: #009999;"
            "--x: { anything }; width: var(--x); -moz-user-select: none; color: RED !important;"
            "position: fixed; inset: 0 0 auto; height: 40px; width: 100%",
        ),
        (
            "sheet",
            "@import url(https://a.example/x.css);\n@font-face { src: url(f.woff2); font-display: swap }"
            "@property --x { syntax: '<length>'; inherits: false; initial-value: 0px }"
            "@media (width > 3px) { a:hover::before { content: 'x'; inset: 0 } }"
            "a { width: calc(1px + 2em); display: -webkit-box; color: oklch(50% 0.1 20 / 50%) }"
            ":root { --a: 1px } @keyframes k { from { opacity: 0 } 50% { opacity: .5 } to { opacity: 1 } }"
            "@supports (display: grid) { .a > .b ~ c + d[e='f' i]:not(.g) { gap: 1px } }",
        ),
    ],
)
def test_valid_css_has_no_complaints(page: Shown, kind: str, css: str) -> None:
    edit(page, css, kind=kind)
    page.page.wait_for_timeout(800)
    assert page.page.evaluate(DIAGNOSTICS) == []
    assert page.complaints == []


def test_tab_indents_and_after_escape_moves_the_focus(page: Shown) -> None:
    field = edit(page, "a")
    field.focus()
    page.page.keyboard.press("Tab")
    assert value(page) == "  a"
    page.page.keyboard.press("Escape")
    page.page.keyboard.press("Tab")
    expect(page.page.get_by_role("button", name="Next")).to_be_focused()


def test_without_the_right_to_write_the_editor_is_read_only(page: Shown) -> None:
    field = edit(page, "a { color: red }", disabled=True)
    expect(field).to_have_attribute("aria-readonly", "true")
    field.focus()
    page.page.keyboard.type("x")
    page.page.keyboard.press("Backspace")
    assert value(page) == "a { color: red }"


def test_without_the_editor_there_is_a_text_area(chromium: Browser) -> None:
    with shown(chromium) as seen:
        seen.page.route("**/css_code.js", lambda route: route.abort())
        seen.show(EDITOR, {"value": "a {}"})
        field = seen.page.get_by_role("textbox", name="CSS")
        field.fill("b {}")
        assert value(seen) == "b {}"
        expect(field).to_have_js_property("tagName", "TEXTAREA")
