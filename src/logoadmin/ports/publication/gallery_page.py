"""The page of the published gallery for visitors (contract Q1, Q2)."""

from collections.abc import Mapping
from typing import Protocol


class GalleryPage(Protocol):
    """Makes the page. Safe to use from several threads."""

    def files(self, title: str, data: Mapping[str, object]) -> Mapping[str, bytes]:
        """Return ``index.html`` and the files that it loads from beside it, by name.

        Args:
            title: its title.
            data: what its program knows of the gallery, as JSON.
        """

    def is_page(self, content: bytes) -> bool:
        """Return whether a file is the page of some gallery."""


class NoPage:
    """Makes none."""

    def files(self, title: str, data: Mapping[str, object]) -> Mapping[str, bytes]:
        """Return nothing."""
        del title, data
        return {}

    def is_page(self, content: bytes) -> bool:
        """Return False."""
        del content
        return False
