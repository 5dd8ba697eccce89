"""The form lists every host that CSS would contact, in any spelling (contract J2)."""

import time

import pytest

from tests.console.conftest import Module

pytestmark = [pytest.mark.slow("a browser"), pytest.mark.rule("contract J2")]

MODULE = "parts/css/css_hosts.js"
A, B = "https://a.example", "https://b.example:8080"

CONTACTS = {
    "background: url(https://a.example/x.png) center": [A],
    "background: url( 'https://a.example' ), url(//b.example:8080/)": [A, B],
    "a{b:u\\72l('https://a.example')}": [A],
    "a{b:url('h\\\nttps://a.example')}": [A],
    f"a{{b:url({' ' * 200}'https://a.example')}}": [A],
    "a{b:url(https:\\\\\\\\a.example)}": [A],
    "b: image-set('https://a.example' 1x, url(https://b.example:8080) 2x type('image/png'))": [A, B],
    "--x: 'https://a.example'; b: image-set(var(--x))": [A],
    "b: src('https://a.example')": [A],
    "x{cursor:url(//a.example),auto;mask:image('https://b.example:8080')}": [A, B],
    "x{border-image:url(https://a.example) 1; content: url(https://b.example:8080)}": [A, B],
    "@font-face{font-family:x;src:local('no'),url(https://a.example/f.woff2) format('woff2')}": [A],
    "@IMPORT/**/url(https://a.example)": [A],
    "@supports (a:url(https://a.example)) { b { c: url(https://b.example:8080) } }": [A, B],
    "b:url(https://a.example": [A],
    "b:url(HTTP://A.Example:80/)": ["http://a.example"],
    "b:url(https://\u00e4.example)": ["https://xn--4ca.example"],
    "b:url(http://[0:0::1]:8000/x), url(https://[2001:DB8::1])": ["http://[::1]:8000", "https://[2001:db8::1]"],
    "a{b:(;url(https://a.example)": [A],
    'a{b:url(no"t) ; c:url(https://a.example)}': [A],
    # These contact nobody.
    "content: 'https://no.example'; font-family: url": [],
    "a[href^='https://no.example']{}": [],
    "/* url(https://no.example) */": [],
    "a{b:url(data:image/png;base64,xx), url(javascript:alert(1)), url(#mark)}": [],
    "b:10url(https://no.example); c: #url(https://no.example)": [],
    "@namespace svg url(https://no.example);": [],
    "@-moz-document url(https://no.example), url-prefix('https://no.example') {}": [],
}


def test_every_host_is_listed_once(module: Module) -> None:
    for end in ("\n", "\r\n"):
        found = {css: module(MODULE, "contactsOf", [css.replace("\n", end)])["origins"] for css in CONTACTS}
        assert found == CONTACTS


@pytest.mark.parametrize("css", ["a{b:url(x.png)}", "a{b:url(/api/logos)}", "@import '../x.css';", "b:url(?x)"])
def test_requests_to_the_site_itself_are_reported(module: Module, css: str) -> None:
    found = module(MODULE, "contactsOf", [css])
    assert (found["origins"], found["imports"], found["own"]) == ([], [], True)


@pytest.mark.parametrize(
    ("css", "fonts"),
    [
        (f"@font-face {{ font-family: x; src: local('no'), url({A}/f.woff2) }} a {{ b: url({B}) }}", [A]),
        (f"@font-face {{ SRC:url('{A}'), url({B}) format('woff2') }}", [A, B]),
        (f"src: url({A})", [A]),
        (f"a {{ background: url({A}) }} src {{ b: url({A}) }}", []),
    ],
)
def test_the_sources_of_fonts_are_recognised(module: Module, css: str, fonts: list[str]) -> None:
    assert module(MODULE, "contactsOf", [css])["fonts"] == fonts


@pytest.mark.parametrize(
    ("css", "imports", "rest"),
    [
        ("@import 'https://a.example/x'; a{}", [("/x", "")], " a{}"),
        ("/**/@charset 'x';@layer a, b;@import url(https://a.example/x) print;b{}", [("/x", "print")], None),
        (
            "@import url('https://a.example/x') layer(a.b) supports(display: grid) (width > 3px)",
            [("/x", "(width > 3px)")],
            "",
        ),
        ("@import 'https://a.example/x' layer;@import 'https://a.example/y';", [("/x", ""), ("/y", "")], ""),
        ("<!-- @import 'https://a.example/x'; -->", [("/x", "")], None),
        ("a{} @import 'https://a.example/x';", [], None),
        ("@import 'https://a.example/x' {} a{}", [], None),
        ("@namespace x 'y'; @import 'https://a.example/x';", [], None),
        ("@import url(https://a.example/x); a{b:c}\n@import 'https://a.example/y';", [("/x", "")], None),
    ],
)
def test_imports_that_browsers_follow_are_extracted(
    module: Module, css: str, imports: list[tuple[str, str]], rest: str | None
) -> None:
    found = module(MODULE, "contactsOf", [css])
    assert [(each["url"], each["media"]) for each in found["imports"]] == [(A + path, media) for path, media in imports]
    assert all(f"{A}{path}" not in found["rest"] for path, _ in imports)
    if rest is not None:
        assert found["rest"] == rest


@pytest.mark.parametrize(
    ("head", "piece", "tail"),
    [
        *(("a{b:url(", "\\aaaaaa", "("), ("a{b:url(", "\\a", "("), ("a{b:url(", " ", "(}"), ("a{b:url(", "x ", "(}")),
        ("@import 'https://a.example' ", "/* ", ""),
        ("@import 'https://a.example' layer(", "(", ";"),
        *(
            ("", "@document ", ""),
            ("", "@document'@document\"", ""),
            ("", '@document"\\', ""),
            ("", '@document\\"', ""),
        ),
    ],
)
def test_css_crafted_for_backtracking_is_read_quickly(module: Module, head: str, piece: str, tail: str) -> None:
    css = head + piece * ((524_288 - len(head) - len(tail)) // len(piece)) + tail
    began = time.monotonic()
    rest = module(MODULE, "contactsOf", [css])["rest"]
    assert "a.example" not in module(MODULE, "onAllPages", [rest])
    assert time.monotonic() - began < 5  # as above
