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


HARMLESS: Final = (
    url(svg("<path d='M0 0h9v9'/>")),
    url(svg("<path d='M0 0h9v9' fill='#f00' transform='rotate(45 4.5 4.5)'/>")),
    url(svg("<defs><linearGradient id='g'><stop stop-color='red'/></linearGradient></defs><rect fill='url(#g)'/>")),
    url(svg("<linearGradient id='a'/><linearGradient id='b' href='#a'/><rect style='fill:url( \"#b\" )'/>")),
    url(svg("<symbol id='s'><rect/></symbol><use href='#s'/><use xlink:href=' #s'/>")),
    url(svg("<filter id='f'><feFlood/></filter><g filter='url(#f)' mask='url(#m)'/>")),
    url(svg("<style>@media print{.a{fill:url(#g);font-family:'A b'}}</style><style><![CDATA[a>b{top:0}]]></style>")),
    url(svg(f"<image href='{PNG}'/><style>a{{background:url({PNG})}}</style>")),
    url(svg("<style>@font-face{font-family:f;src:url(data:font/woff2;base64,d09GMg==) format('woff2')}</style>")),
    url(svg("<animate attributeName='href' values='#a;#b'/><set attributeName='fill' to='url(#g)'/>")),
    url(svg("<title>http://a.example &amp; &#65;</title><!-- http://a.example --><text>url(//a.example)</text>")),
    url(
        svg(
            "<metadata><r:RDF xmlns:r='http://www.w3.org/1999/02/22-rdf-syntax-ns#'>"
            f"<r:x r:resource='{ADDRESS}'/></r:RDF></metadata>"
        )
    ),
    url(svg("", "<?xml version='1.0' encoding='UTF-8'?>")),
    url(svg("", '<!DOCTYPE svg PUBLIC "-//W3C//DTD SVG 1.1//EN" "http://www.w3.org/Graphics/SVG/1.1/DTD/svg11.dtd">')),
    url(svg(f'<image href="{url(svg("<rect/>"))}"/>'.replace("'", "&apos;"))),
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
    "data:application/octet-stream;base64,d09GMgAB",
    "data:;base64,iVBORw0KGgo=",
)
RISKY: Final = (
    *(url(svg(f"<image {name}='{ADDRESS}'/>")) for name in ("href", "xlink:href", "HREF")),
    *(url(svg(f"<use {name}='{ADDRESS}#x'/>")) for name in ("href", "xlink:href")),
    *(url(svg(f"<feImage {name}='//{HOST}/x'/>")) for name in ("href", "xlink:href")),
    url(svg("<image href='relative.svg'/>")),
    url(svg(f"<use href='ht&#9;tps:/&#x2f;{HOST}'/>")),
    url(svg(f"<style>@import '{ADDRESS}';</style>")),
    url(svg("<style>@import url(data:text/css,a);</style>")),
    url(svg(f"<style>@font-face{{font-family:f;src:url({ADDRESS})}}text{{font-family:f}}</style><text>t</text>")),
    url(svg(f"<style>*{{background:url({ADDRESS})}}</style><rect/>")),
    url(svg(f"<style>*{{background:u&#114;l({ADDRESS})}}</style><rect/>")),
    url(svg(f"<style><![CDATA[*{{fill:\\75rl({ADDRESS})}}]]></style><rect/>")),
    url(svg(f"<style>*{{--x:'{ADDRESS}';background:image-set(var(--x) 1x)}}</style><rect/>".replace("'", '"'))),
    url(svg(f"<g style='list-style-image:url({ADDRESS});display:list-item'/>")),
    url(svg(f"<rect fill='url({ADDRESS}#f)'/>")),
    url(svg(f"<set attributeName='xlink:href' to='{ADDRESS}'/><animate attributeName='href' values='#a;{ADDRESS}'/>")),
    url(svg("<rect xml:base='https://a.example/' fill='url(#f)'/>")),
    url(svg("<script>1</script>")),
    url(svg("<rect onload='1'/>")),
    url(svg(f"<foreignObject><img xmlns='http://www.w3.org/1999/xhtml' src='{ADDRESS}'/></foreignObject>")),
    url(svg("<foreignObject/>")),
    url(svg(f"<iframe xmlns='http://www.w3.org/1999/xhtml' src='{ADDRESS}'/>")),
    url(svg("<math xmlns='http://www.w3.org/1998/Math/MathML'/>")),
    url(svg("", f"<?xml-stylesheet href='{ADDRESS}'?>")),
    url(svg("", "<!DOCTYPE svg [<!ENTITY a '&#38;#47;&#47;a.example'>]>")),
    url(svg("&a;", '<!DOCTYPE svg SYSTEM "http://a.example/x.dtd">')),
    url(svg("", f"<!DOCTYPE svg [<!ATTLIST svg xlink:href CDATA '{ADDRESS}'>]>")),
    url(svg(f'<image href="{url(svg(f"<image href={chr(34)}{ADDRESS}{chr(34)}/>"))}"/>'.replace("'", "&apos;"))),
    url(svg("<image href='data:text/html,a'/>")),
    # They cannot be read, or not in the one way in which all browsers read them.
    url("<svg>"),
    f"data:image/svg+xml,{HEAD}<rect fill='#fff'/></svg>",
    url(svg("<rect/>").encode("utf-16"), "image/svg+xml;charset=utf-16"),
    url(svg("<rect/>"), "image/svg+xml;charset=iso-2022-jp"),
    url(svg("", "<?xml version='1.0' encoding='iso-2022-jp'?>")),
    url(svg("<text>\xe9</text>").encode("latin-1")),
    "data:image/svg+xml;base64,%%%",
    *("data:,x", "data:text/html,<b>", "data:text/xml,<a", url("<a href='//a.example'/>", "application/xhtml+xml")),
)
