"""CSS in the console: the editor, and the preview in a frame that contacts only allowed hosts (contract J2, J3)."""

from collections.abc import Iterator
from typing import Any

import pytest
from playwright.sync_api import Browser, Frame, Locator, Page, expect

from tests.answering import Answering
from tests.console.parts import Shown, counting, shown

pytestmark = [pytest.mark.slow("a browser"), pytest.mark.rule("contract J2", "contract J3")]


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
    # Tab indents, and after Escape moves the focus.
    page.page.keyboard.press("ControlOrMeta+Home")
    page.page.keyboard.press("Tab")
    assert value(page) == "  (x)"
    page.page.keyboard.press("Escape")
    page.page.keyboard.press("Tab")
    expect(page.page.get_by_role("button", name="Next")).to_be_focused()
    assert page.complaints == []


def complete(page: Page, typed: str, whole: str) -> None:
    """Type, and accept a suggestion."""
    page.keyboard.type(typed)
    page.get_by_role("option", name=whole).wait_for()
    page.wait_for_timeout(100)  # the delay before CodeMirror accepts Enter for a completion
    page.keyboard.press("Enter")


# Too long for the parser to reach the end before suggestions are requested.
LONG = "a { color: red }\n" * 15_000 + "a { "


@pytest.mark.parametrize(
    ("kind", "before"),
    [("declarations", ""), ("declarations", "width: 1px;"), ("sheet", "a { "), pytest.param("sheet", LONG, id="long")],
)
def test_properties_and_values_are_suggested(page: Shown, kind: str, before: str) -> None:
    field = edit(page, before, kind=kind)
    field.focus()
    page.page.keyboard.press("ControlOrMeta+End")
    complete(page.page, "background-col", "background-color")
    complete(page.page, "transpar", "transparent")
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
    expect(page.page.locator(".cm-lintRange").first).to_be_visible()
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


def test_without_the_right_to_write_the_editor_is_read_only(page: Shown) -> None:
    field = edit(page, "a { color: red }", disabled=True)
    expect(field).to_have_attribute("aria-readonly", "true")
    field.press("x")
    field.press("Backspace")
    assert value(page) == "a { color: red }"


@pytest.fixture
def seen(chromium: Browser) -> Iterator[Shown]:
    with shown(chromium) as found:
        yield found


def test_without_the_editor_there_is_a_text_area(seen: Shown) -> None:
    seen.page.route("**/css_code.js", lambda route: route.abort())
    seen.show(EDITOR, {"value": "a {}"})
    field = seen.page.get_by_role("textbox", name="CSS")
    field.fill("b {}")
    assert value(seen) == "b {}"
    expect(field).to_have_js_property("tagName", "TEXTAREA")


PREVIEW = """
const { Preview } = await load("parts/css/css_preview.js");
const sheet = Object.assign(document.createElement("link"), { rel: "stylesheet", href: `${files}style/artwork.css` });
await new Promise((done) => { sheet.onload = done; document.head.append(sheet); });
globalThis.props = signal(given);
const everything = { includes: () => true };
function View() { return h("div", { class: "view" }, h(Preview, { listed: everything, ...props.value })); }
render(h(View, {}), root);
"""


@pytest.fixture
def elsewhere() -> Iterator[Answering]:
    """A foreign server."""
    with counting() as server:
        yield server


# The server that the setting ``picture_hosts`` names.
pictures = elsewhere


def preview(seen: Shown, kind: str, css: str, target: str = "forum") -> Frame:
    """Show CSS; return the frame when it shows something."""
    seen.show(PREVIEW, {"kind": kind, "css": css, "target": target})
    return settled(seen)


def settled(seen: Shown) -> Frame:
    frame = seen.page.locator("iframe").element_handle().content_frame()
    assert frame is not None
    frame.locator(".logo").first.wait_for()
    # Long enough for an unwanted request to arrive.
    seen.page.wait_for_timeout(300)
    return frame


def looks(frame: Frame, selector: str, name: str) -> list[str]:
    found: list[str] = frame.locator(selector).evaluate_all(
        "(all, name) => all.map((each) => getComputedStyle(each)[name])", name
    )
    return found


def test_a_logo_is_previewed_on_its_link_in_light_and_dark_next_to_an_unstyled_one(
    chromium: Browser, pictures: Answering
) -> None:
    with shown(chromium, pictures.host) as seen:
        css = f"background: url(http://{pictures.host}/logo.png) center / contain no-repeat; color: #009999"
        frame = preview(seen, "logo", css)
        assert looks(frame, ".with .logo", "color") == ["rgb(0, 153, 153)"] * 2
        assert "rgb(0, 153, 153)" not in looks(frame, ".without .logo", "color")
        assert len(set(looks(frame, ".with .site-header", "backgroundColor"))) == 2
        assert pictures.asked == ["/logo.png"]
        expect(seen.page.get_by_text("among the picture hosts")).to_be_visible()
        # Each target has its header.
        expect(frame.get_by_text("Basket (2)").first).to_be_hidden()
        seen.page.get_by_role("button", name="market").click()
        expect(frame.get_by_text("Basket (2)").first).to_be_visible()
        for width in (1120, 400, 320):
            seen.page.set_viewport_size({"width": width, "height": 800})
            assert frame.evaluate(
                "[...document.querySelectorAll('.site-search')].every((s) => s.scrollWidth <= s.clientWidth)"
            )
        seen.page.evaluate("props.value = { ...props.value, target: 'W'.repeat(64) }")
        expect(seen.page.get_by_role("button", name="W" * 64)).to_be_visible()
        assert seen.page.evaluate("document.documentElement.scrollWidth") <= 320
        seen.page.set_viewport_size({"width": 1280, "height": 800})
        expect(frame.get_by_text("Basket (2)").first).to_be_visible()
        # It follows the typing.
        seen.page.evaluate("props.value = { ...props.value, css: 'color: rgb(1, 2, 3)' }")
        expect(frame.locator(".with .logo").first).to_have_css("color", "rgb(1, 2, 3)")
        assert seen.complaints == []


def test_a_theme_is_previewed_on_a_page_of_the_site(chromium: Browser) -> None:
    with shown(chromium, locale="ru-RU", color_scheme="null") as seen:  # which nothing emulates
        frame = preview(
            seen,
            "theme",
            "body { background: rgb(1, 2, 3) }@media (prefers-color-scheme: dark) { h1 { color: rgb(4, 5, 6) } }",
        )
        assert looks(frame, "body", "backgroundColor") == ["rgb(1, 2, 3)"]
        assert frame.locator("html").get_attribute("lang") == "ru"
        expect(frame.get_by_role("heading", name="Новые темы")).to_be_visible()
        assert looks(frame, "h1", "color") != ["rgb(4, 5, 6)"]
        seen.page.get_by_role("button", name="Тёмный").click()
        expect(frame.locator("h1")).to_have_css("color", "rgb(4, 5, 6)")
        assert seen.complaints == []


def test_hosts_that_no_policy_can_name_are_listed_but_not_offered(seen: Shown) -> None:
    never = "http://[::1]:8000", "https://[2001:db8::1]", "https://under_score.example", "ftp://files.example"
    css = "color: red; background: " + ", ".join(f"url({each}/x.png)" for each in never)
    words = "always blocked: browsers have no way to allow an address like this one"
    frame = preview(seen, "logo", css)
    hosts = seen.page.locator(".host")
    expect(hosts).to_contain_text([each.removeprefix("https://") for each in never])
    expect(hosts.locator(".hint")).to_contain_text([words] * len(never))
    expect(hosts.get_by_role("button")).to_have_count(0)
    assert looks(frame, ".with .logo", "color") == ["rgb(255, 0, 0)"] * 2


def test_pictures_of_other_hosts_are_loaded_by_a_click_below_the_host_names(seen: Shown, elsewhere: Answering) -> None:
    let = "Show with pictures"
    frame = preview(seen, "logo", f"background: url(http://{elsewhere.host}/a.png); color: red")
    assert looks(frame, ".with .logo", "color") == ["rgb(255, 0, 0)"] * 2
    assert elsewhere.asked == []
    hosts = seen.page.locator(".hosts")
    expect(hosts).to_contain_text(elsewhere.host)
    hosts.get_by_role("button", name=let).press("Enter")
    settled(seen)
    expect(hosts.get_by_role("button", name=let)).to_have_count(0)
    expect(hosts).to_be_focused()
    assert (elsewhere.asked, seen.complaints) == (["/a.png"], [])


def test_an_import_is_followed_only_when_allowed(seen: Shown, elsewhere: Answering) -> None:
    css = f"@import url(http://{elsewhere.host}/x.css); h1 {{ color: rgb(1, 2, 3) }}"
    frame = preview(seen, "theme", css)
    assert looks(frame, "h1", "color") == ["rgb(1, 2, 3)"]
    assert (elsewhere.asked, looks(frame, "body", "letterSpacing"), seen.complaints) == ([], ["normal"], [])
    expect(seen.page.locator(".hosts")).to_contain_text(f"{elsewhere.host}stylesheetnot loaded")
    seen.page.locator(".hosts .primary").click()
    frame = settled(seen)
    expect(frame.locator("body")).to_have_css("letter-spacing", "3px")
    assert looks(frame, "h1", "color") == ["rgb(1, 2, 3)"]
    assert (elsewhere.asked, seen.complaints) == (["/x.css"], [])


def test_animations_are_paused_until_started(seen: Shown, elsewhere: Answering) -> None:
    moving = "@keyframes m { to { opacity: 0 } } h1, h1::before { animation: m 9s infinite !important; content: 'x' }"
    running = "document.getAnimations().length"
    # Layers of an imported sheet come before ours.
    layered = f"@import url(http://{elsewhere.host}/x.css); {moving} @layer calm {{ {moving} }}"
    for css in (moving, layered):
        frame = preview(seen, "theme", css)
        assert frame.evaluate(running) == 0
    for button, count in (("Play animations", 2), ("Stop animations", 0)):
        seen.page.get_by_role("button", name=button).click()
        for _ in range(100):
            if frame.evaluate(running) == count:
                break
            seen.page.wait_for_timeout(50)
        assert frame.evaluate(running) == count


_SHADOWS = ", ".join(["0 0 500px 200px red"] * 15_000)
_TOO_LONG, _TOO_DEEP = "would take a browser too long to draw", "200 blocks"


@pytest.mark.parametrize(
    ("kind", "css", "words"),
    [
        ("logo", f"box-shadow: {_SHADOWS}", _TOO_LONG),
        ("theme", f"h1 {{ box-shadow: {_SHADOWS}; color: red }}", _TOO_LONG),
        ("theme", "a{" * 131_000, _TOO_DEEP),
        ("theme", "a{b:(}" * 40_000, _TOO_DEEP),
    ],
)
def test_css_that_would_block_the_browser_is_not_shown(seen: Shown, kind: str, css: str, words: str) -> None:
    frame = preview(seen, kind, css)
    expect(seen.page.get_by_text(words)).to_be_visible()
    assert looks(frame, ".with .logo" if kind == "logo" else "h1", "boxShadow")[0] == "none"
    assert frame.evaluate("document.adoptedStyleSheets.every((sheet) => sheet.cssRules.length < 100)")
    assert seen.complaints == []


def test_scripts_in_the_frame_have_no_access(seen: Shown, elsewhere: Answering) -> None:
    frame = preview(seen, "theme", "h1 { color: red }")
    tried = frame.evaluate(
        """async ([place, elsewhere]) => {
            const refused = async (act) => { try { await act(); return false; } catch { return true; } };
            return {
                origin: origin,
                storage: await refused(() => localStorage.length),
                session: await refused(() => sessionStorage.length),
                cookie: await refused(() => document.cookie),
                parent: await refused(() => parent.document.title),
                service: await refused(() => fetch(place + "/api/logos")),
                elsewhere: await refused(() => fetch(elsewhere)),
                top: await refused(() => { top.location.href = elsewhere; }),
                popup: open(elsewhere) === null,
                markup: await refused(() => { document.body.innerHTML = "<b>x</b>"; }),
            };
        }""",
        [seen.place, f"http://{elsewhere.host}/"],
    )
    assert tried.pop("origin") == "null"
    assert set(tried.values()) == {True}, tried
    assert (elsewhere.asked, seen.page.url) == ([], f"{seen.place}/console/")


@pytest.mark.rule("contract L4")
def test_an_allowed_host_is_not_contacted_before_the_service_lists_it(seen: Shown, elsewhere: Answering) -> None:
    css = f"h1 {{ background: url(http://{elsewhere.host}/a.png) }}"
    seen.show(PREVIEW, {"kind": "theme", "css": css, "target": "forum", "listed": []})
    settled(seen)
    seen.page.locator(".hosts .primary").click()
    expect(seen.page.locator(".hosts")).to_contain_text("has not listed all of the allowed hosts")
    settled(seen)
    assert (elsewhere.asked, "reach" in (seen.page.locator("iframe").get_attribute("src") or "")) == ([], False)
    seen.page.evaluate("host => { props.value = { ...props.value, listed: [host] } }", elsewhere.host)
    expect(seen.page.locator(".hosts")).not_to_contain_text("has not listed")
    settled(seen)
    assert elsewhere.asked == ["/a.png"]


HOSTILE = {
    "an overlay": "body::after { content: ''; position: fixed; inset: 0; z-index: 2147483647; background: url(X) }",
    "image-set": "h1 { background: image-set('X' 1x, url(X) 2x) }",
    "font": "@font-face { font-family: f; src: url(X) } * { font-family: f }",
    "a cursor": "* { cursor: url(X), auto }",
    "a mask": "* { mask: url(X#m); clip-path: url(X#c); filter: url(X#f) }",
    "a border": "* { border: 9px solid; border-image: url(X) 9 }",
    "content": "h1::before { content: url(X) } h1::after { content: image-set(url(X) 1x) }",
    "a list": "li { list-style: square url(X) }",
    "a signal of typing": "form:has(input:checked) { background: url(X?checked) }",
    "a signal of attributes": "button[type^='b'] { background: url(X?b) } :root:lang(en) { background: url(X?en) }",
    "an import": "@import url(X); @import 'X' screen; @import url('X') layer(x) supports(display: grid);",
    "an import within": "h1 { color: red } @import url(X);",
    "a variable": "* { --u: url(X); background: var(--u); --s: 'X'; mask: image-set(var(--s) 1x) }",
    "escapes": "h1 { background: u\\72l(X); background-image: \\75 RL('X') }",
    "a break-out of text": "</style><img src=X><script>fetch('X')</script><link rel=stylesheet href=X>",
    "a break-out of braces": "color: red } body { background: url(X) } a {",
    "a break-out of attributes": "color: red\"><img src='X'>",
    "animations": "@keyframes k { to { background: url(X) } } * { animation: k 1ms infinite !important }",
    "a layer of ours": "@layer calm { * { background: url(X) !important } }",
    "conditions": "@page { background: url(X) } @media all { @supports (a: b) or (top: 0) { * { mask: url(X) } } }",
    "a property": "@property --p { syntax: '<image>'; inherits: true; initial-value: url(X) } * { mask: var(--p) }",
    "the service itself": "* { background: url(/api/logos); mask: url(../../api/authors) } @import '/api/users';",
    "a name space": "@namespace url(X); * { background: url(X) }",
    "declarations": "background: url(X); cursor: url(X), auto; mask: url(X); border-image: url(X); content: url(X)",
    "behaviour": "* { behavior: url(X); -moz-binding: url(X#x); shape-outside: url(X); offset-path: url(X#p) }",
}  # fmt: skip


@pytest.mark.parametrize("kind", ["logo", "theme"])
def test_hostile_css_contacts_nobody_and_stays_in_the_frame(
    chromium: Browser, kind: str, elsewhere: Answering, pictures: Answering
) -> None:
    with shown(chromium, pictures.host) as seen:
        frame = preview(seen, kind, "color: red" if kind == "logo" else "h1 { color: red }")
        before = appearance(seen)
        seen.paths.clear()
        for name, css in HOSTILE.items():
            # With and without a scheme, in turns.
            scheme = "" if (len(name) + len(kind)) % 2 else "http:"
            hostile = css.replace("X", f"{scheme}//{elsewhere.host}/{kind}")
            seen.page.evaluate("css => { props.value = { ...props.value, css } }", hostile)
            expect(seen.page.locator(".hosts, .hint").first).to_be_attached()
            seen.page.wait_for_timeout(250)
            assert appearance(seen) == before, name
            assert frame.evaluate("document.scripts.length + document.images.length") == 1, name
        # The page goes on, and the frame shows the next one.
        seen.page.evaluate("css => { props.value = { ...props.value, css } }", "color: rgb(1, 2, 3)")
        if kind == "logo":
            expect(frame.locator(".with .logo").first).to_have_css("color", "rgb(1, 2, 3)")
        assert (elsewhere.asked, pictures.asked, seen.elsewhere, seen.paths) == ([], [], [], [])
        # Neither policy was violated: forbidden requests are not even tried.
        assert (seen.violations(), seen.complaints) == ([], [])


def appearance(seen: Shown) -> Any:
    """Return where the parts of the page around the frame are, and what they look like."""
    return seen.page.evaluate("""() => [...document.querySelectorAll(".preview-bar, .segmented button, iframe")]
        .map((each) => [JSON.stringify(each.getBoundingClientRect()), getComputedStyle(each).backgroundImage])""")
