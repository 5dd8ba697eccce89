"""The publisher of a service, with its metrics and its log (contract L1, K2)."""

import logging
from collections import Counter

from logoadmin.domain.kernel.errors import LogoAdminError, StorageUnavailable
from logoadmin.domain.logo_admin import LogoAdmin
from logoadmin.domain.publication.publication_records import Published
from logoadmin.domain.publication.publication_service import ShowPublication
from logoadmin.entrypoints.http_api.dispatch import Dispatch
from logoadmin.entrypoints.publisher import Publisher
from logoadmin.ports.publication.gallery_files import GalleryFiles

log = logging.getLogger("logoadmin.http")


def background_publisher(gallery: LogoAdmin, files: GalleryFiles, dispatch: Dispatch) -> Publisher:
    """Return a publisher that logs each failure once, and counts."""
    reports = _Reports(gallery, files)
    return Publisher(
        gallery, files, published=reports.published, failed=reports.failed, leased=True, holding=dispatch.long_call
    )


class _Reports:
    def __init__(self, gallery: LogoAdmin, files: GalleryFiles) -> None:
        self._gallery, self._files = gallery, files
        self._failure = ""
        self._is_known = False

    def published(self, found: Published) -> None:
        """Count a publication; at the start, one that an earlier process left counts as well."""
        if found.changed or not self._is_known:
            left_out = found.left_out
            if not found.changed and not found.is_complete:
                left_out = self._gallery.publication.status(ShowPublication()).left_out
            self._gallery.metrics.gallery_generated(Counter(each.code for each in left_out))
        self._is_known = True
        if self._failure:
            log.warning("The gallery is published again")
            self._failure = ""

    def failed(self, error: Exception) -> None:
        """Log and count a failure; storage itself logs that the database is out of reach."""
        if isinstance(error, StorageUnavailable):
            return
        self._gallery.metrics.gallery_failed()
        failure = f"{type(error).__name__}: {error}"
        if failure != self._failure:
            unexpected = None if isinstance(error, LogoAdminError | OSError) else error
            log.error("The gallery cannot be published into %s: %s", self._files, error, exc_info=unexpected)
        self._failure = failure
