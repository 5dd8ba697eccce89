"""Rewriting makes the URLs of a style sheet absolute and changes nothing else (contract L5)."""

import pytest
from hypothesis import given
from tinycss2.ast import FunctionBlock, StringToken, URLToken

from logoadmin.domain.publication.css.sheets import with_absolute_urls
from logoadmin.domain.publication.css.tokens import tokenize, walk
from tests.strategies import css_texts

pytestmark = pytest.mark.rule("contract L5")

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
