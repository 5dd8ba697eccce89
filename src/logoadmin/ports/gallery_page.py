"""The pages of the published gallery for visitors (contract Q1, Q2, Q5)."""

from collections.abc import Mapping
from typing import Final, Protocol

# What a page may load: the files of its gallery, and pictures.
POLICY: Final = (
    "default-src 'none'; script-src 'self'; style-src 'self'; font-src 'self'; connect-src 'self'; "
    "img-src https: http: data: 'self'; base-uri 'none'; form-action 'none'"
)


class GalleryPage(Protocol):
    """Makes the pages. Safe to use from several threads."""

    @property
    def form(self) -> str:
        """Another value once other pages or files would be made of the same values."""

    def files(self, values: Mapping[str, object], data: Mapping[str, object]) -> Mapping[str, bytes]:
        """Return ``index.html`` and the files that all pages load, by name.

        Args:
            values: what it shows, as in :meth:`render`.
            data: what its program knows of the gallery, as JSON.
        """

    def render(self, name: str, values: Mapping[str, object]) -> bytes:
        """Return another page, the feed or the sitemap.

        Args:
            name: the name of its template.
            values: what it shows; texts are never markup.
        """

    def is_page(self, content: bytes) -> bool:
        """Return whether a file is the first page of some gallery."""


class NoPage:
    """Makes none."""

    form = ""

    def files(self, values: Mapping[str, object], data: Mapping[str, object]) -> Mapping[str, bytes]:
        """Return nothing."""
        del values, data
        return {}

    def render(self, name: str, values: Mapping[str, object]) -> bytes:
        """Return nothing."""
        del name, values
        return b""

    def is_page(self, content: bytes) -> bool:
        """Return False."""
        del content
        return False
