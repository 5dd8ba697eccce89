"""The request by which doctor asks a service what it receives (contract K4)."""

import time
from collections.abc import Mapping
from typing import TYPE_CHECKING, Final

from logoadmin.entrypoints.cli.http_get import HttpResponse, http_get
from logoadmin.entrypoints.doctor_proof import proof

if TYPE_CHECKING:
    from logoadmin.settings import Settings

_TIMEOUT: Final = 5.0


def ask_doctor(settings: "Settings", url: str, headers: Mapping[str, str]) -> HttpResponse:
    """Return the response of the service at a URL, 404 if it holds none of the keys of these settings.

    Raises:
        LogoAdminError: the keys cannot be read; OSError: no response.
    """
    from logoadmin.maintenance import doctor_keys

    authorization = proof(doctor_keys(settings), int(time.time()))
    return http_get(f"{url}/doctor", {**headers, "Authorization": authorization}, timeout=_TIMEOUT)
