"""The metrics as text, for programs that embed a gallery (contract K2)."""

from logoadmin.domain.logo_admin import LogoAdmin
from logoadmin.domain.model.errors import LogoAdminError


def metrics(gallery: LogoAdmin) -> str:
    """Return the metrics of a gallery in the text format of Prometheus (contract K2).

    Raises:
        StartError: nothing is counted, because prometheus-client is not installed.
    """
    try:
        last_change = gallery.changes.version()
    except LogoAdminError:  # the failure is counted and logged
        last_change = None
    return gallery.metrics.text(last_change, gallery.product)
