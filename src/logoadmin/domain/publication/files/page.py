"""The page of the published gallery for visitors, and the files beside it (contract Q2)."""

import html
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Final
from urllib.parse import urlsplit

from logoadmin.domain.publication.css.targets import Target
from logoadmin.domain.publication.files.index import canonical

PAGE: Final = "index.html"
# The names of what it loads besides the reader, as a regular expression; these are published as they are.
ASSET: Final = r"page(?:-[a-z]{1,40})?\.(?:css|js)"
# The one place for data in its template.
_DATA: Final = '<script type="application/json" id="gallery">'


@dataclass(frozen=True, slots=True)
class Links:
    """Where visitors find the gallery.

    Attributes:
        gallery: the URL of ``/gallery/``; None if that is not known.
        console: the URL of the console; None if the page does not link to it.
    """

    gallery: str | None = None
    console: str | None = None


NO_LINKS: Final = Links()


@dataclass(frozen=True, slots=True)
class Page:
    """The page without the keys of the gallery.

    Attributes:
        title: its title.
        home: the URL of the site that it belongs to; empty for none.
        template: the content of ``index.html``, with one empty place for data.
        assets: the files that it loads besides the reader, by name.
        demo: whether it says that the gallery is a demo (contract Q4).
    """

    title: str
    home: str = ""
    template: bytes = b""
    assets: Mapping[str, bytes] = field(default_factory=dict)
    demo: bool = False


def page_files(
    page: Page, targets: Iterable[Target], links: Links, keys: Sequence[Mapping[str, str]]
) -> dict[str, bytes]:
    """Return the files of the page by name.

    Args:
        page: the page.
        targets: the described targets.
        links: where its links lead.
        keys: the public keys of the gallery as JWKs, the current one first.

    Raises:
        ValueError: the template has no place for data, or more than one.
    """
    data = {
        "title": page.title,
        "home": page.home or None,
        "submit": links.console,
        **({"host": urlsplit(links.gallery).netloc} if links.gallery else {}),
        "targets": [_described(target) for target in targets],
        "keys": [dict(key) for key in keys],
        **({"demo": True} if page.demo else {}),
    }
    # In JSON, this character stands in strings alone; in HTML it could end the element.
    written = canonical(data).decode().replace("<", "\\u003c")
    template = _replaced(page.template.decode(), "<title>", html.escape(page.title), "</title>")
    return {**page.assets, PAGE: _replaced(template, _DATA, written, "</script>").encode()}


def _described(target: Target) -> dict[str, object]:
    """Return what the page knows of a target; ``logos`` is False if logos have no user styles there."""
    known: dict[str, object] = {"id": target.id, "name": target.name}
    return known if target.logo is not None else {**known, "logos": False}


def is_page(content: bytes) -> bool:
    """Return whether a file is the page of some gallery."""
    return _DATA.encode() in content


def _replaced(text: str, start: str, content: str, end: str) -> str:
    """Return a text with other content in the only element that starts like this."""
    before, found, rest = text.partition(start)
    _, closed, after = rest.partition(end)
    if not found or not closed or start in after:
        raise ValueError(f"{PAGE} should have {start} once")
    return "".join((before, start, content, end, after))
