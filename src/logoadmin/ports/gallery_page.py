"""The pages of the published gallery for visitors (contract Q1, Q2, Q5)."""

from collections.abc import Mapping
from typing import Final, Literal, Protocol

# A page may load the files of its gallery, and pictures.
POLICY: Final = (
    "default-src 'none'; script-src 'self'; style-src 'self'; font-src 'self'; connect-src 'self'; "
    "img-src https: http: data: 'self'; base-uri 'none'; form-action 'none'"
)
# The subject of a page; `moved` is the page at an earlier address of an artwork.
PageKind = Literal["artwork", "author", "blocked", "moved", "checks", "feed", "sitemap"]


class GalleryPage(Protocol):
    """Renders the pages. Safe to use from several threads."""

    @property
    def form(self) -> str:
        """A value that changes once the same values would give other pages or files."""

    def files(self, values: Mapping[str, object], data: Mapping[str, object]) -> Mapping[str, bytes]:
        """Return the first page and the files that all pages load, by name.

        ``values`` are its content, as in :meth:`render`, and ``data`` is the gallery for its script, as JSON.
        """

    def render(self, kind: PageKind, values: Mapping[str, object]) -> bytes:
        """Return another page, the feed or the sitemap. Texts in ``values`` are never markup."""

    def is_page(self, content: bytes) -> bool:
        """Return whether a file is the first page of some gallery."""
