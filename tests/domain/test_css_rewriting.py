"""The rewriting of URLs in CSS (contract L5)."""

from logoadmin.domain.css import rewrite

BASE = "https://i.example/css/a.css"


def test_only_urls_are_rewritten() -> None:
    css = "@import\turl( 'x' )print;/* url(x) */\r\na { b: URL(i.png) url(#f) url(data:,x) ; c: \\75rl( '/i' "
    pinned = rewrite(css, "sheet", BASE, {"x": "css/1.css"})
    assert pinned == css.replace("'x'", "'css/1.css'").replace("i.png", "https://i.example/css/i.png").replace(
        "/i'", "https://i.example/i'"
    )
    assert rewrite(pinned, "sheet", BASE, {"x": "css/1.css"}) == pinned


def test_without_a_base_relative_urls_stay() -> None:
    assert rewrite("@import 'x'; a{b:url(i)}", "sheet", None, {"x": "y"}) == "@import 'y'; a{b:url(i)}"
