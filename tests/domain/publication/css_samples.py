"""CSS that names hosts, in all spellings that browsers read."""

from collections.abc import Iterable
from typing import Final
from urllib.parse import quote

PAGE: Final = '<!doctype html><meta charset="utf-8"><title>CSS</title><b>b</b><input value="a">'
A, B = "a.example", "b.example:8080"
# CSS with the hosts that browsers contact for it.
HOSTS: Final[dict[tuple[str, ...], tuple[str, ...]]] = {
    (A,): (
        *("a{background: url(https://a.example/x.png) center}", 'a { b: URL("https://a.example") }'),
        *("a{b:u\\72l('https://a.example')}", "a{b:\\75 RL(  https://a.example/\\29 )}"),
        *("a{b:url(\\68 ttps://a.example)}", "a{b:url('h\\\nttps://a.example')}"),
        *("a{b:-webkit-image-set('https://a.example' 1x)}", "a{--x:'https://a.example';b:image-set(var(--x))}"),
        *("a{--x:url(https://a.example)}", "} } b{c:url(https://a.example)}", "a{b:(;url(https://a.example)"),
        "@font-face{font-family:x;src:local('no'),url(https://a.example/f.woff2) format('woff2')}",
        *("a{b:url(https://a.example", "a{b:url('https://a.example", 'a{b:url(no"t) ; c:url(https://a.example)}'),
        *('a{b:url(x"\\\\)}c{d:url(https://a.example)}', f"a{{b:{'1' * 5000} url(https://a.example)}}"),
        *("@namespace x [;] ; a{b:url(https://a.example)}", "@namespace x {} a{b:url(https://a.example)}"),
        "a{--x:@namespace url(https://a.example)}",
    ),
    (A, B): (
        "a{background: url( 'https://a.example' ), url(//b.example:8080/)}",
        "a{b:image-set('https://a.example' 1x, url(https://b.example:8080) 2x type('image/png'))}",
        "a{b:src('https://a.example');c:image('//b.example:8080')}",
        "a{b:-webkit-cross-fade(url(https://a.example), url(https://b.example:8080), 50%)}",
        "a{b{&:hover{c:url(https://a.example)}}@media print{d:url(https://b.example:8080)}}",
    ),
    (): (
        *("a{content:'https://no.example';font-family:url}", "a[href^='https://no.example']{}"),
        *("/* url(https://no.example) */", "a{b:url(https://no .example)}"),
        *("a{b:10url(https://no.example);c:#url(https://no.example)}", "@namespace svg url(https://no.example);"),
        "@-moz-document url(https://no.example), url-prefix('https://no.example') {}",
        "a{b:url(x.png) url(/x) url(?x) url(#x) url() url('')}",
    ),
}
URLS: Final = (
    *("https://a.example", "//a.example", "///a.example", "\\5c\\5c a.example", "/\\5c a.example", "\\5c/a.example"),
    *("https:a.example", "http:a.example", "https:/a.example", "https:\\5c\\5c a.example", "HTTPS://A.EXAMPLE"),
    *("https://a.example:443", "https://a.example:444/", "http://a.example:80", "//a.example:80", "//a.example:443"),
    *("https://u@b.example@a.example", "https://b.example\\5c @a.example", "https://b.example#@a.example"),
    *("https://a.example.", "https://a%2eexample", "https://%61.example", "https://ex%C3%A4mple.test"),
    *("https://\u00e4.example", "https://fa\u00df.example", "https://\uff41.example", "https://a\u3002example"),
    *("https://a\u00ad.example", "https://a\u200b.example", "https://\U0001f600.example", "https://\u3164a.example"),
    *("https://0x7f.1", "https://127.1", "https://2130706433", "https://0300.0250.1.1", "https://[1:0:0:2::3]"),
    *("https://[::ffff:1.2.3.4]", "https://a_b.example", "https://a..example", "https://a b.example", "https://a%20.b"),
    *("ht\\9 tps://a.example", "ht\\a tps://a.example", "https:/\\9 /a.example", "\\1 https://a.example"),
    *("https://a.exa\\\nmple", "\\68ttps://a.example", "https:\\2f\\2f a.example", "wss://a.example"),
    "ftp://a.example",
)
IMPORTS: Final = (
    *("@import 'A';", '@import "A"', "@import url(A);", "@import url('A');", "@import/**/url( A );", "@IMPORT 'A';"),
    *("@\\69mport 'A';", "@import 'A' layer;", "@import 'A' layer(x);", "@import 'A' supports(display:grid);"),
    *("@import 'A' print;", "@import 'A' screen and (min-width:1px), print;", "@import 'A' foo(bar) ;"),
    *("@import 'A", "@import url(A", "@import url('A'", "@charset 'utf-8';@import 'A';", "@layer a,b;@import 'A';"),
    *("%%%{}@import 'A';", "::foo{}@import 'A';", "@foo;@import 'A';", "@foo{}@import 'A';", "<!--@import 'A';-->"),
    *("@import 'x\n;@import 'A';", "@import url(x y);@import 'A';", "@import url(x\\\\);@import 'A';", "@import'A';"),
    *("b{}@import 'A';", "@media all{@import 'A';}", "b{@import 'A';}", "}@import 'A';", "@import url('A' foo);"),
    *("\ufeff@import 'A';", "@import \\22 A\\22;", "@import 'A' {}", "@namespace x 'y';@import 'A';"),
)
INNER: Final = "@import url(//b.example);@import 'https://a.example';b{background:url(//d.example)}"
DATA: Final = tuple(
    f"@import '{start}{quote(content)}';"
    for start, content in (
        *(("data:text/css,", INNER), (" da\\9 ta:text/css,", INNER), ("DATA:text/css;x=y,", INNER)),
        *(("data:text/css;charset=utf-16le,", INNER.encode("utf-16-le")), ("data:text/css,", INNER.encode("utf-16"))),
        ("data:text/css,@import 'data:text/css,".replace("'", "\\27 "), quote(INNER) + "'"),
        ("data:text/html,", INNER),
    )
)
RULES: Final = (
    *("b{background:url(A)}", "b{background:\\75 RL(A)}", "b{background:url('A", "b{background:url(A", "} b{c:url(A)}"),
    'b{background:url(x"\\\\)} b{background:url(A)}',
    *("b{background:image-set('A' 1x)}", "b{background:-webkit-image-set('A' 1x)}", "b{background:src('A')}"),
    *("b{--x:'A';background:image-set(var(--x) 1x)}", "b{--x:url(A);background:var(--x)}"),
    *("b{background:image-set(var(--q,'A') 1x)}", "b{--a:'A';--b:image-set(var(--a) 1x);background:var(--b)}"),
    "b{background:-webkit-cross-fade(url(A),url(//b.example),50%)}",
    "@property --z{syntax:'*';inherits:false;initial-value:'A'}b{background:image-set(var(--z) 1x)}",
    "@function --f(){result:'A'}b{background:image-set(--f() 1x)}",
    "@function --f(--u){result:image-set(var(--u) 1x)}b{background:--f('A')}",
    "@function --f(--u:'A'){result:image-set(var(--u) 1x)}b{background:--f()}",
    "b{background:if(style(--a:b):url(//b.example);else:url(A))}",
    "b{background:image-set(if(else:'A') 1x)}",
    "@font-face{font-family:q;src:local(x),url(A) format('woff2')}b{font-family:q}",
    *("b{cursor:url(A),auto}", "b{filter:url(A#f)}", "b{mask:url(A#m)}", "b{clip-path:url(A#c)}", "b{content:url(A)}"),
    *("b::before{content:url(A)}", "b{list-style:url(A);display:list-item}", "b{shape-outside:url(A);float:left}"),
    *("b{-webkit-mask-box-image:url(A)}", "b{-webkit-box-reflect:below 0 url(A)}", "b{fill:url(A#p)}"),
    *("b{&{background:url(A)}}", "@media all{b{background:url(A)}}", "@layer x{b{background:url(A)}}"),
    *("@scope(html){b{background:url(A)}}", "@keyframes k{from,to{background:url(A)}}b{animation:k 9s}"),
    *("@namespace url(A);", "@namespace x 'A';", "@namespace [;] ;b{background:url(A)}", "@x y;b{background:url(A)}"),
    *("/*\\*/b{background:url(A)}/**/", "<!--b{background:url(A)}-->", "b{background:'\\\n';background:url(A)}"),
    *("b{background:\n';background:url(A)}", "b{background:red\u2003url(A)}", "b{background:u+f,url(A)}"),
    *("b{color:" + "1" * 5000 + ";background:url(A)}", "b{background:url(A)\0}", "b{background:ur/**/l(A)}"),
    *("b{content:'A'}", "b[title='A']{}", "b{background:url(data:image/svg+xml,<svg/>)}", "b{b:c;{background:url(A)}}"),
)
# Style sheets that name hosts.
SHEETS: Final = (
    *(f'b{{background:url("{url}")}}' for url in URLS),
    *DATA,
    *(css.replace("A", "https://a.example") for css in (*IMPORTS, *RULES)),
)


def using(document: str, uses: Iterable[str]) -> str:
    escaped = "".join(f"\\{ord(each):x} " if each in '"\\\n\t' else each for each in document)
    return ";".join(f'{use}:url("{escaped}")' for use in uses)
