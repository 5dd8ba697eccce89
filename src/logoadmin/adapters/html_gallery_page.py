"""The page of the published gallery, made from a file of HTML with a place for its title and one for data."""

import html
from collections.abc import Mapping
from typing import Final

from logoadmin.domain.publication.files.index import canonical
from logoadmin.domain.publication.publication_records import PAGE

# The one place for data in the template.
_DATA: Final = '<script type="application/json" id="gallery">'


class HtmlGalleryPage:
    """Implements :class:`~logoadmin.ports.publication.gallery_page.GalleryPage`."""

    def __init__(self, template: str, beside: Mapping[str, bytes]) -> None:
        """Use a template.

        Args:
            template: the content of ``index.html``, with an empty title and one empty place for data.
            beside: the files that it loads, by name.
        """
        self._template, self._beside = template, beside

    def files(self, title: str, data: Mapping[str, object]) -> Mapping[str, bytes]:
        """Return the page and the files beside it.

        Raises:
            ValueError: the template has no place for data, or more than one.
        """
        # In JSON, this character stands in strings alone; in HTML it could end the element.
        written = canonical(data).decode().replace("<", "\\u003c")
        page = _replaced(self._template, "<title>", html.escape(title), "</title>")
        return {**self._beside, PAGE: _replaced(page, _DATA, written, "</script>").encode()}

    def is_page(self, content: bytes) -> bool:
        """Return whether a file has the place for data."""
        return _DATA.encode() in content


def _replaced(text: str, start: str, content: str, end: str) -> str:
    """Return a text with other content in the only element that starts like this."""
    before, found, rest = text.partition(start)
    _, closed, after = rest.partition(end)
    if not found or not closed or start in after:
        raise ValueError(f"{PAGE} should have {start} once")
    return "".join((before, start, content, end, after))
