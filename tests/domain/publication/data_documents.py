"""Documents in `data:` URLs: harmless ones, and those that name other files (contract L4)."""

from base64 import b64encode
from typing import Final
from urllib.parse import quote

HOST: Final = "a.example"
ADDRESS: Final = f"https://{HOST}/x"
HEAD: Final = "<svg xmlns='http://www.w3.org/2000/svg' xmlns:xlink='http://www.w3.org/1999/xlink' width='9' height='9'>"
PNG: Final = "data:image/png;base64,iVBORw0KGgo="


def svg(inside: str, before: str = "") -> str:
    return f"{before}{HEAD}{inside}</svg>"


def url(document: str | bytes, media_type: str = "image/svg+xml") -> str:
    return f"data:{media_type},{quote(document)}"


_HARMLESS_INSIDE: Final = (
    *("<path d='M0 0h9v9'/>", "<path d='M0 0h9v9' fill='#f00' transform='rotate(45 4.5 4.5)'/>"),
    "<defs><linearGradient id='g'><stop stop-color='red'/></linearGradient></defs><rect fill='url(#g)'/>",
    "<linearGradient id='a'/><linearGradient id='b' href='#a'/><rect style='fill:url( \"#b\" )'/>",
    "<symbol id='s'><rect/></symbol><use href='#s'/><use xlink:href=' #s'/>",
    "<filter id='f'><feFlood/></filter><g filter='url(#f)' mask='url(#m)'/>",
    "<style>@media print{.a{fill:url(#g);font-family:'A b'}}</style><style><![CDATA[a>b{top:0}]]></style>",
    f"<image href='{PNG}'/><style>a{{background:url({PNG})}}</style>",
    "<style>@font-face{font-family:f;src:url(data:font/woff2;base64,d09GMg==) format('woff2')}</style>",
    "<animate attributeName='href' values='#a;#b'/><set attributeName='fill' to='url(#g)'/>",
    "<title>http://a.example &amp; &#65;</title><!-- http://a.example --><text>url(//a.example)</text>",
    "<metadata><r:RDF xmlns:r='http://www.w3.org/1999/02/22-rdf-syntax-ns#'>"
    f"<r:x r:resource='{ADDRESS}'/></r:RDF></metadata>",
    f'<image href="{url(svg("<rect/>"))}"/>'.replace("'", "&apos;"),
)
HARMLESS: Final = (
    *(url(svg(inside)) for inside in _HARMLESS_INSIDE),
    url(svg("", "<?xml version='1.0' encoding='UTF-8'?>")),
    url(svg("", '<!DOCTYPE svg PUBLIC "-//W3C//DTD SVG 1.1//EN" "http://www.w3.org/Graphics/SVG/1.1/DTD/svg11.dtd">')),
    f"data:image/svg+xml;base64,{b64encode(svg('<rect/>').encode()).decode()}",
    f"data:image/svg+xml;charset=utf-8;base64,{b64encode(svg('<rect/>').encode()).decode().rstrip('=')}",
    f"DATA:IMAGE/SVG+XML;UTF8,{svg('<rect/>')}",
    f" da\\9 ta:image/svg+xml,{quote(svg('<rect/>'))}#f".replace("\\9 ", "\t"),
    *(
        "data:,",
        "data:image/svg+xml,",
        "data:image/png,//a.example",
        "data:image/x-icon;a=b,<svg>",
        "data:font/woff2,x",
    ),
    *("data:application/octet-stream;base64,d09GMgAB", "data:;base64,iVBORw0KGgo="),
)
_RISKY_INSIDE: Final = (
    *(f"<image {name}='{ADDRESS}'/>" for name in ("href", "xlink:href", "HREF")),
    *(f"<{name}='{ADDRESS}#x'/>" for name in ("use href", "use xlink:href")),
    *(f"<feImage {name}='//{HOST}/x'/>" for name in ("href", "xlink:href")),
    *("<image href='relative.svg'/>", f"<use href='ht&#9;tps:/&#x2f;{HOST}'/>", "<image href='data:text/html,a'/>"),
    *(f"<style>@import '{ADDRESS}';</style>", "<style>@import url(data:text/css,a);</style>"),
    f"<style>@font-face{{font-family:f;src:url({ADDRESS})}}text{{font-family:f}}</style><text>t</text>",
    f"<style>*{{background:url({ADDRESS})}}</style><rect/>",
    f"<style>*{{background:u&#114;l({ADDRESS})}}</style><rect/>",
    f"<style><![CDATA[*{{fill:\\75rl({ADDRESS})}}]]></style><rect/>",
    f"<style>*{{--x:'{ADDRESS}';background:image-set(var(--x) 1x)}}</style><rect/>".replace("'", '"'),
    *(f"<g style='list-style-image:url({ADDRESS});display:list-item'/>", f"<rect fill='url({ADDRESS}#f)'/>"),
    f"<set attributeName='xlink:href' to='{ADDRESS}'/><animate attributeName='href' values='#a;{ADDRESS}'/>",
    *("<rect xml:base='https://a.example/' fill='url(#f)'/>", "<script>1</script>", "<rect onload='1'/>"),
    f"<foreignObject><img xmlns='http://www.w3.org/1999/xhtml' src='{ADDRESS}'/></foreignObject>",
    *("<foreignObject/>", f"<iframe xmlns='http://www.w3.org/1999/xhtml' src='{ADDRESS}'/>"),
    "<math xmlns='http://www.w3.org/1998/Math/MathML'/>",
    f'<image href="{url(svg(f"<image href={chr(34)}{ADDRESS}{chr(34)}/>"))}"/>'.replace("'", "&apos;"),
)
RISKY: Final = (
    *(url(svg(inside)) for inside in _RISKY_INSIDE),
    url(svg("", f"<?xml-stylesheet href='{ADDRESS}'?>")),
    url(svg("", "<!DOCTYPE svg [<!ENTITY a '&#38;#47;&#47;a.example'>]>")),
    url(svg("&a;", '<!DOCTYPE svg SYSTEM "http://a.example/x.dtd">')),
    url(svg("", f"<!DOCTYPE svg [<!ATTLIST svg xlink:href CDATA '{ADDRESS}'>]>")),
    # They cannot be read, or not in the one way in which all browsers read them.
    *(url("<svg>"), f"data:image/svg+xml,{HEAD}<rect fill='#fff'/></svg>", "data:image/svg+xml;base64,%%%"),
    url(svg("<rect/>").encode("utf-16"), "image/svg+xml;charset=utf-16"),
    url(svg("<rect/>"), "image/svg+xml;charset=iso-2022-jp"),
    url(svg("", "<?xml version='1.0' encoding='iso-2022-jp'?>")),
    url(svg("<text>\xe9</text>").encode("latin-1")),
    *("data:,x", "data:text/html,<b>", "data:text/xml,<a", url("<a href='//a.example'/>", "application/xhtml+xml")),
)
