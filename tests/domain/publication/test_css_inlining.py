"""Copies of imported style sheets in place of their imports, whose URLs are made absolute (contract L5)."""

from hashlib import sha256
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from tinycss2.ast import FunctionBlock, StringToken, URLToken

from logoadmin import ANONYMOUS, ActingAs, CreateTheme, GetTheme, Owner, RevertRequest
from logoadmin.adapters.memory_storage import MemoryStorage
from logoadmin.domain.kernel.errors import Conflict, NotAuthenticated, NotPermitted, OutgoingError
from logoadmin.domain.kernel.limits import MAX_CUSTOM_CSS
from logoadmin.domain.kernel.records import FIRST_ADMIN_ID
from logoadmin.domain.publication.css import judge
from logoadmin.domain.publication.css.css_service import ArtworkImports, InlineCss, UseCopies
from logoadmin.domain.publication.css.inlining import CopiedSheet, InlinedCss, inline
from logoadmin.domain.publication.css.sheets import MAX_SHEET, SECONDS, with_absolute_urls
from logoadmin.domain.publication.css.tokens import tokenize, walk
from logoadmin.ports.outgoing import Fetched
from tests.gallery import ARTWORK, FrozenClock, gallery_on
from tests.origins import Origins
from tests.published_files import RecordedFiles
from tests.strategies import css_texts

pytestmark = pytest.mark.rule("contract L5")

HOST = "https://s.example/"
URL = f"{HOST}a"
LONG_FOLDER = "d" * 1_000
SHEET = "u{b:c}"


def inlined(css: str, **sheets: Any) -> InlinedCss:
    return inline(css, "sheet", Origins({HOST + name: sheet for name, sheet in sheets.items()}), FrozenClock())


def copy_of(sheet: str | bytes, name: str = "a", text: str | None = None) -> str:
    content = sheet if isinstance(sheet, bytes) else sheet.encode()
    shown = text if text is not None else content.decode()
    return f"/*! from {HOST}{name} sha256-{sha256(content).hexdigest()} */\n{shown}\n/*! end */"


def refused(css: str, **sheets: Any) -> str:
    """Return why an import is not copied, after which the CSS is unchanged."""
    found = inlined(css, **sheets)
    assert (found.custom_css, found.sheets, len(found.failed)) == (css, (), 1)
    return found.failed[0].reason


A = copy_of(SHEET)


@pytest.mark.parametrize(
    ("css", "expected"),
    [
        ("@import url(U);", "A"),
        ("@import 'U';i{}", "Ai{}"),
        ("/* x */ @import url('U') ;\r\n\ti { b : c }", "/* x */ A\r\n\ti { b : c }"),
        ("@import src('U')", "A"),
        ("@charset 'utf-8';@import 'U'", "@charset 'utf-8';A"),
        ("@\\69mport 'https\\3a //s.example/\\61'", "A"),
        ("@layer x;@import 'U';", "@layer x;A"),
        ("@import 'U' layer;", "@layer {\nA\n}"),
        ("@import 'U' LAYER(x.y);", "@layer x.y {\nA\n}"),
        ("@import 'U' supports(display: grid);", "@supports (display: grid) {\nA\n}"),
        ("@import 'U' supports(not (display: grid));", "@supports (not (display: grid)) {\nA\n}"),
        ("@import 'U' screen and (width > 1px), print;", "@media screen and (width > 1px), print {\nA\n}"),
        (
            "@import/**/'U'/**/layer(x)/**/supports(a:b) print;i{}",
            "@supports (a:b) {\n@media print {\n@layer x {\nA\n}\n}\n}i{}",
        ),
        ("@import 'U';@import 'U';", "AA"),
        ("<!-- @import 'U'; -->", "<!-- A -->"),
    ],
)
def test_a_copy_replaces_its_import_and_keeps_layer_and_conditions(css: str, expected: str) -> None:
    assert inlined(css.replace("U", URL), a=SHEET) == InlinedCss(
        expected.replace("A", A), (CopiedSheet(URL, sha256(SHEET.encode()).hexdigest(), len(SHEET)),), ()
    )


IGNORED = (
    "i{}@import 'U';",
    "@media print{}@import 'U';",
    "@media print{@import 'U';}",
    "@import 'U' {}",
    "i{b:@import 'U'}",
)


@pytest.mark.parametrize("css", IGNORED)
def test_an_import_that_browsers_ignore_is_kept(css: str) -> None:
    assert refused(css.replace("U", URL), a=SHEET).startswith("browsers ignore an @import there")


def test_one_failure_does_not_prevent_copying_other_imports() -> None:
    css = f"@import '{URL}' print;@import '{HOST}b';i{{}}"
    first = inlined(css, a=SHEET)
    assert first.custom_css == f"@media print {{\n{A}\n}}@import '{HOST}b';i{{}}"
    assert [(each.url, each.reason) for each in first.failed] == [(f"{HOST}b", "s.example: status 404")]
    second = inlined(first.custom_css, b="v{b:c}")
    assert second.custom_css == f"@media print {{\n{A}\n}}{copy_of('v{b:c}', 'b')}i{{}}"


def test_nested_sheets_are_copied_and_their_urls_made_absolute() -> None:
    outer = "@charset 'utf-8';<!--@import 'd/b?c' layer;u{b:url(i.png) url(#f)}-->w{}@import 'ignored';"
    found = inlined("@import 'https://S.example:443/x/../a#f' print;", a=outer, **{"d/b?c": "v{b:url(../i.png)}"})
    inner = copy_of("v{b:url(../i.png)}", "d/b?c", "v{b:url(https://s.example/i.png)}")
    text = f"@layer {{\n{inner}\n}}u{{b:url(https://s.example/i.png) url(#f)}}w{{}}"
    assert found.custom_css == f"@media print {{\n{copy_of(outer, text=text)}\n}}"
    assert [each.url for each in found.sheets] == [f"{HOST}d/b?c", URL]
    assert (judge(found.custom_css, "sheet").imports, found.failed) == ((), ())
    # A nested sheet without an encoding inherits that of its parent.
    parent = Fetched(URL, "text/css", b"@import 'b';", "windows-1251")
    assert "я{}" in inlined(f"@import '{URL}';", a=parent, b="я{}".encode("cp1251")).custom_css
    moved = Fetched("https://other.example/d/a.css", "text/css", b"u{b:url(i)}")
    assert "url(https://other.example/d/i)" in inlined(f"@import '{URL}';", a=moved).custom_css


@pytest.mark.parametrize(
    ("url", "body"),
    [
        ("data:text/css,u%7Bb:c}", b"u{b:c}"),
        ("data:text/css;base64,dXtiOmN9", b"u{b:c}"),
        ("DATA:text/css;charset=latin1,u%7Bb:'%e9'}", b"u{b:'\xe9'}"),
    ],
)
def test_sheets_in_data_urls_are_copied(url: str, body: bytes) -> None:
    found = inlined(f'@import "{url}";')
    head = f"/*! from {url.partition(',')[0].partition(';')[0]} sha256-{sha256(body).hexdigest()} */"
    assert found.custom_css == f"{head}\n{body.decode('latin1')}\n/*! end */"
    assert found.failed == ()


@pytest.mark.parametrize(
    ("body", "charset", "text"),
    [
        ("é".encode(), "", "é"),
        ("é".encode("latin-1"), "latin1", "é"),
        (b'@charset "windows-1251";/*' + "я".encode("cp1251") + b"*/", "", "/*я*/"),
        # The charset of the response outranks that of the sheet, a byte order mark both.
        (b'@charset "windows-1251";/*' + "é".encode() + b"*/", "utf-8", "/*é*/"),
        (b"\xef\xbb\xbf" + "é".encode(), "windows-1251", "é"),
        ("é".encode("utf-16"), "windows-1251", "é"),
        (b"a{}\r\nb{}\r\0", "", "a{}\nb{}\n\ufffd"),
    ],
)
def test_a_sheet_is_decoded_as_in_browsers(body: bytes, charset: str, text: str) -> None:
    found = inlined(f"@import '{URL}';", a=Fetched(URL, "text/css", body, charset))
    assert found.custom_css == copy_of(body, text=text)


@pytest.mark.parametrize(
    ("imported", "reason"),
    [
        ("i.css", "an import has a relative address"),
        ("", "an import has a relative address"),
        ("ftp://s.example/a", "only sheets with an http or https address can be copied"),
        ("https://u:p@s.example/a", "s.example: an import has a username or a password in its address"),
        (f"{HOST}{'a' * 2048}", "s.example: an import has an address of more than 2,048 characters"),
        ("https://[", "an import has an address that cannot be read"),
        (f"{HOST}none", "s.example: status 404"),
        (f"{HOST}text", "s.example: the media type of the response is not text/css"),
        ("data:,a{}", "the media type of the response is not text/css"),
        (f"{HOST}huge", f"s.example: more than {MAX_SHEET} bytes"),
        (f"{HOST}long", f"s.example: the CSS would have more than {MAX_CUSTOM_CSS:,} characters"),
        (f"{HOST}{LONG_FOLDER}/urls", f"s.example: the CSS would have more than {MAX_CUSTOM_CSS:,} characters"),
        (f"{HOST}open", "s.example: its CSS is invalid in line 2"),
        (f"{HOST}closed", "s.example: its CSS is invalid in line 1"),
        (f"{HOST}names", "s.example: @namespace applies to a whole file, and cannot be copied"),
        (f"{HOST}inside", "s.example: browsers ignore an @import there: it has to stand before all rules"),
        (f"{HOST}self", "s.example: sheets import each other in a circle"),
        (f"{HOST}circle", "s.example: sheets import each other in a circle"),
        (f"{HOST}deep", "s.example: sheets import each other over more than 3 levels"),
        (f"{HOST}many", "s.example: the CSS imports more than 20 sheets, directly or not"),
    ],
)
def test_imports_that_cannot_be_copied_are_kept_with_the_reason(imported: str, reason: str) -> None:
    found = refused(
        f"@import '{imported}';",
        text=Fetched(f"{HOST}text", "text/plain", b"a{}"),
        huge="x" * (MAX_SHEET + 1),
        long="a" * (MAX_CUSTOM_CSS + 1),
        open="a{}\nb{",
        closed="a{}} b{}",
        names="@namespace x url(y);",
        inside="a{@import 'b'}",
        self="@import 'self';",
        circle="@import 'other';",
        other="@import 'circle';",
        deep="@import 'deeper';",
        deeper="@import 'deepest';",
        deepest="@import 'bottom';",
        bottom="a{}",
        many="".join(f"@import 'many{number}';" for number in range(20)),
        **{f"many{number}": "a{}" for number in range(20)},
        **{f"{LONG_FOLDER}/urls": "a{b:url(i)}" * 600},
    )
    assert found.startswith(reason)


def test_a_sheet_is_fetched_once_and_counts_as_often_as_it_is_copied() -> None:
    origins = Origins({URL: "@import 'b';@import 'b';", f"{HOST}b": "u{b:c}"})
    found = inline(f"@import '{URL}';@import '{URL}' print;", "sheet", origins, FrozenClock())
    assert (origins.asked, found.custom_css.count("u{b:c}")) == ([URL, f"{HOST}b"], 4)
    bomb = Origins(
        {URL: "@import 'b';" * 3_000, f"{HOST}b": "@import 'c';" * 3_000, f"{HOST}c": f"u{{b:{'c' * 60_000}}}"}
    )
    (failed,) = inline(f"@import '{URL}';", "sheet", bomb, FrozenClock()).failed
    assert "would have more than" in failed.reason


def test_all_sheets_share_one_deadline() -> None:
    clock = FrozenClock()
    origins = Origins({URL: SHEET}, before=lambda _: clock.pass_by(int(SECONDS)))
    found = inline(f"@import '{URL}';@import '{HOST}b';", "sheet", origins, clock)
    assert [each.reason for each in found.failed] == ["s.example: the imported sheets did not arrive within 20 s"]


def test_a_logo_and_a_sheet_with_namespaces_keep_their_imports() -> None:
    (failed,) = inline(f"@import '{URL}';", "declarations", Origins({URL: SHEET}), FrozenClock()).failed
    assert failed.reason == "a list of declarations cannot import a style sheet"
    reason = refused(f"@import '{URL}';@namespace x url(y);", a=SHEET)
    assert reason == "@namespace applies to a whole file, and cannot be copied"


def test_copies_are_refreshed_if_no_import_is_left() -> None:
    css = inlined(f"@import '{URL}' print;@import '{HOST}b';i{{}}", a="@import 'b';u{}", b="v{}").custom_css
    again = inlined(css, a="x{}", b="v{}").custom_css
    assert again == f"@media print {{\n{copy_of('x{}')}\n}}{copy_of('v{}', 'b')}i{{}}"
    kept = inlined(css, b="w{}")
    assert [each.url for each in kept.failed] == [URL]
    assert kept.custom_css.endswith(f"{copy_of('w{}', 'b')}i{{}}")
    assert kept.custom_css.startswith("@media print {\n/*! from")


def test_no_sheet_can_forge_the_comments_of_copies() -> None:
    sheet = f"a{{}}/*! end */b{{}}/*! from {HOST}b sha256-{'0' * 64} */c{{}}"
    css = inlined(f"@import '{URL}?*/x{{}}/*';", **{"a?*/x{}/*": sheet}).custom_css
    assert css.count("/*!") == 2
    assert css.startswith(f"/*! from {URL}?%2A/x{{}}/%2A sha256-")


@given(css_texts(), st.lists(css_texts(), max_size=2))
def test_no_unlisted_import_is_left_after_copying(css: str, sheets: list[str]) -> None:
    urls = judge(css, "sheet").import_urls
    text = "".join(f"@import '{HOST}{place}';" for place in range(len(sheets))) + css
    found = inlined(text, **{str(place): sheet.encode("utf-8", "replace") for place, sheet in enumerate(sheets)})
    assert {*judge(found.custom_css, "sheet").import_urls} <= {each.url for each in found.failed} | {*urls}


def test_the_service_copies_imports_and_reports_failures() -> None:
    command = InlineCss(kind="theme", custom_css=f"@import '{URL}';")
    gallery = gallery_on(MemoryStorage(), FrozenClock(), outgoing=Origins({URL: SHEET}))
    assert gallery.css.inline(command).custom_css == A
    with pytest.raises(Conflict, match=r"needs logoadmin\[client\], which is not installed"):
        gallery_on(MemoryStorage(), FrozenClock()).css.inline(command)
    origins = Origins({URL: OutgoingError("s.example", "no public address")})
    refused = gallery_on(MemoryStorage(), FrozenClock(), outgoing=origins)
    assert [each.reason for each in refused.css.inline(command).failed] == ["s.example: no public address"]


def test_copied_themes_do_not_change_with_their_origin() -> None:
    outer = f"@import '{HOST}base';b {{ background: url(i.png) }}"
    sheets: dict[str, Any] = {f"{HOST}theme{number}": outer for number in range(3)}
    origins = Origins(sheets | {f"{HOST}base": "a { --is: first }"})
    gallery, files = gallery_on(MemoryStorage(), FrozenClock(), outgoing=origins), RecordedFiles()
    for name in ("theme0", "theme1", "theme2", "gone"):
        css = f"@import url({HOST}{name});"
        gallery.themes.create(CreateTheme(**ARTWORK | {"name": name, "custom_css": css}))

    def published() -> dict[str, str]:
        gallery.publication.publish(files)
        return {each["name"]: each["custom_css"] for each in files.index["themes"]}

    assert published() == {}
    imports = ArtworkImports(gallery.css)
    # The copies are not user input: nothing verifies their stated origin.
    for caller, error in ((ANONYMOUS, NotAuthenticated), (ActingAs(FIRST_ADMIN_ID), NotPermitted)):
        with pytest.raises(error):
            imports.use(UseCopies(artworks=()), caller)
    found = tuple(imports.copies())
    assert [(each.name, each.failed[0].reason) for each in found if each.failed] == [("gone", "s.example: status 404")]
    assert imports.use(UseCopies(artworks=found), Owner("copies")) == 3
    before = published()
    assert len(before) == 3
    assert all(f"url({HOST}i.png)" in css and "--is: first" in css for css in before.values())
    origins.sheets[f"{HOST}base"] = "a { --is: second }"
    assert published() == before
    # One request is one entry in the history, and one undo.
    assert len(tuple(gallery.changes.revert_request(RevertRequest(request_id="copies")))) == 3
    assert gallery.themes.get(GetTheme(theme_id=1)).custom_css.startswith("@import")


BASE = "https://i.example/css/a.css?b"

REWRITTEN = {
    "@import\turl( 'x' )print;": "@import\turl( 'https://i.example/css/x' )print;",
    "@import x url(x);@IMPORT/**/'\\78'": "@import x url(https://i.example/css/x);@IMPORT/**/'https://i.example/css/x'",
    "a{@import url(x)}": "a{@import url(https://i.example/css/x)}",
    "a { b: URL(i.png) url(#f) url(data:,x) ; c: \\75rl( '/i' ": (
        "a { b: URL(https://i.example/css/i.png) url(#f) url(data:,x) ; c: \\75rl( 'https://i.example/i' "
    ),
    "a{b:\\75 r\\6c(\\61)}": "a{b:\\75 r\\6c(https://i.example/css/a)}",
    "a{b:image-set('i' 1x type('image/png'))}": "a{b:image-set('https://i.example/css/i' 1x type('image/png'))}",
    'a{b:src("i\\"\'(")}': 'a{b:src("https://i.example/css/i%22\\27 \\28 ")}',
    "a{b:url(//c.example/x)url(https:d)url(http:e.example)}": (
        "a{b:url(https://c.example/x)url(https://i.example/css/d)url(http://e.example/)}"
    ),
    "a{b:url(?c)url(../d//e)url(\\5c g)}": (
        "a{b:url(https://i.example/css/a.css?c)url(https://i.example/d//e)url(https://i.example/g)}"
    ),
    "\r\n\f@namespace url(x);/* url(x) */a[b='x']{c:'x';--d:'x'}\r": None,
    "a{b:url(x y) url(x\\\n) url(https://c.example) url()}": None,
    "@import 'https://i.example/x';@-moz-document url(x){}": None,
}


@pytest.mark.parametrize("css", REWRITTEN)
def test_only_urls_are_rewritten(css: str) -> None:
    assert with_absolute_urls(css, BASE) == (REWRITTEN[css] or css)


@given(css_texts())
def test_rewriting_is_idempotent_and_changes_only_urls(css: str) -> None:
    rewritten = with_absolute_urls(css, BASE)
    assert with_absolute_urls(rewritten, BASE) == rewritten
    assert _shape(rewritten) == _shape(css)


def _shape(css: str) -> list[object]:
    """Return the tokens of CSS without the content of URLs and strings."""
    return [
        type(node) if isinstance(node, URLToken | StringToken) else (node.type, getattr(node, "value", _name(node)))
        for node in walk(tokenize(css).nodes)
    ]


def _name(node: object) -> str:
    return node.name if isinstance(node, FunctionBlock) else ""
