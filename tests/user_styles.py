"""User styles like published ones, for testing parsers (contract S3)."""

from itertools import cycle
from typing import Final

KEYS: Final = {
    "name": "Quiet \u00e9 forum",
    "namespace": "github.com/ann",
    "version": "2.1.0-beta.1",
    "description": "Calm colours, \"quoted\" and 'so'",
    "author": "Ann Berg (https://ann.example)",
    "homepageURL": "https://ann.example/quiet",
    "supportURL": "https://ann.example/quiet/issues",
    "updateURL": "https://ann.example/quiet.user.css",
    "license": "CC-BY-SA-4.0",
    "preprocessor": "default",
}
# The default value of each variable, as CSS.
VARIABLES: Final = {
    'text size "Size of text" 14px': "14px",
    "text font 'Font' \"Fira Sans\", sans-serif": '"Fira Sans", sans-serif',
    'color accent "Accent" #a1b2c3': "#a1b2c3",
    'color veil "Veil" rgba(0, 0, 0, .5)': "rgba(0, 0, 0, .5)",
    'checkbox dense "Dense" 1': "1",
    'checkbox wide "Wide" 0': "0",
    "select edge \"Edge\" ['none', 'solid*', 'dotted']": "solid",
    'select face "Face" {"Serif": "Georgia, serif", "Sans*": "Arial, sans-serif"}': "Arial, sans-serif",
    'select side "Side" ["l:Left", "r:Right*"]': "r",
    'select many "Many" {\n  "a:One": "1px",\n  "b:Two": "2px"\n}': "1px",
    'image ground "Ground" {"None*": "none", "Stars": "url(https://i.example/s.png)"}': "none",
    'image sky "Sky" {"Stars": "url(data:image/png;base64,AAAA)", "None": "none"}': "url(data:image/png;base64,AAAA)",
    'number gap "Gap" 3': "3",
    "number ratio \"Ratio\" [1.5, 0, 3, .5, 'em']": "1.5em",
    'range hue "Hue" [180, 0, 360, 1, "deg"]': "180deg",
    'range low "Low" [-.5, -1, null, 0.1]': "-0.5",
}
BODIES: Final = (
    '@-moz-document domain("forum.example") {\n  .a { color: red; top: 3px }\n}',
    '@-moz-document domain("forum.example"), domain("www.forum.example") { .b { color: blue } }',
    '@-moz-document url-prefix("https://forum.example/") { @media screen { .c { color: green } } }\n'
    "@-moz-document domain(forum.example) { @supports (top: 0) { .a { left: 1px } } }",
    '@namespace url(http://www.w3.org/1999/xhtml);\n@-moz-document url("https://forum.example/") { .a { top: 1px } }',
    "/* note */\n.a { color: purple }\n@layer x { .b { color: red } }\n"
    '@-moz-document domain("forum.example") { .c { bottom: 2px } }',
)


def user_styles() -> list[tuple[str, dict[str, str]]]:
    """Return a hundred user styles, each with its variables and their default values."""
    found = []
    bodies, left_out = cycle(BODIES), cycle([*KEYS][2:])
    variables = [*VARIABLES.items()]
    for number in range(100):
        missing = next(left_out) if number % 3 else ""
        own = variables[number % len(variables) :][: number % 5]
        lines = [f"@{key:<12} {value}" for key, value in KEYS.items() if key != missing]
        lines += [f"@var {each}" for each, _ in own]
        used = "".join(f" --used-{each.split()[1]}: var(--{each.split()[1]});" for each, _ in own)
        text = f"/* ==UserStyle==\n{chr(10).join(lines)}\n==/UserStyle== */\n\n{next(bodies)}\n"
        text = text.replace(".a {", f".a {{{used}").replace(".b {", f".b {{{used}")
        text = text.replace("\n", "\r\n") if number % 7 == 3 else text
        text = f"\ufeff{text}" if number % 5 == 4 else text
        found.append((text, {each.split()[1]: value for each, value in own}))
    return found
