"""Checks that this gallery answers at a URL, over a valid certificate (contract K4)."""

import ssl
from collections.abc import Iterator
from typing import TYPE_CHECKING, Final
from urllib.parse import SplitResult, urlsplit

from logoadmin.checks import Result, Verdict, ok, warning, wrong
from logoadmin.domain.kernel.access import is_loopback
from logoadmin.domain.kernel.errors import LogoAdminError
from logoadmin.entrypoints.cli.http_get import http_get

if TYPE_CHECKING:
    from logoadmin.settings import Settings

_TIMEOUT: Final = 5.0
# An operation that needs a token, in a form that is refused with 422 after the token was verified.
_INVALID: Final = "/api/changes?limit=none"


def check_url(settings: "Settings", url: str) -> Iterator[Result]:
    """Check that a URL leads to this gallery."""
    try:
        parts = urlsplit(url.rstrip("/"))
    except ValueError:
        parts = urlsplit("")
    reached = _reached(parts)
    yield reached
    if reached.verdict is Verdict.OK:
        found = check_gallery(settings, parts.geturl(), "gallery")
        yield found or ok("gallery", "the service has the keys of these settings")


def check_gallery(settings: "Settings", base: str, check: str) -> Result | None:
    """Return None if the service at a URL has the keys of these settings, and what is wrong otherwise."""
    from logoadmin.maintenance import token_of_nobody

    try:
        token = token_of_nobody(settings)
    except LogoAdminError as error:
        text = f"logoadmin runs at {base}; whether it serves this gallery is unknown: {error}"
        return warning(check, text, "make the database reachable, and run doctor again")
    if urlsplit(base).scheme == "http" and not is_loopback(urlsplit(base).hostname or ""):
        return warning(check, "not checked: the URL is not encrypted", "set up TLS in the proxy")
    try:
        status = http_get(f"{base}{_INVALID}", {"Authorization": f"Bearer {token}"}, timeout=_TIMEOUT).status
    except OSError as error:
        return warning(check, f"not checked: {error}", "check the log of the proxy")
    if status == 422:
        return None
    if status == 401:
        cure = "run doctor with the settings of that service, or choose another port or URL for this one"
        return wrong(check, f"another gallery is served at {base}: it does not know the keys of these settings", cure)
    return wrong(check, f"a request with a token gets status {status}", "check hosts, and the headers of the proxy")


def _reached(parts: SplitResult) -> Result:
    """Whether the URL leads to a logoadmin service."""
    url = parts.geturl()
    if parts.scheme not in ("http", "https") or not parts.hostname or parts.query or parts.username:
        return wrong("url", "it is not a URL such as https://gallery.example/gallery", "correct --url")
    try:
        response = http_get(f"{url}/livez", timeout=_TIMEOUT)
    except ssl.SSLCertVerificationError as error:
        text = f"the certificate of {parts.netloc} is refused: {error.verify_message}"
        cure = "renew it with all intermediate certificates; if it is your own, name its authority in SSL_CERT_FILE"
        return wrong("url", text, cure)
    except OSError as error:
        text = f"no response from {parts.netloc}: {error.strerror or error}"
        return wrong("url", text, "check the name, and that the proxy is running")
    if response.is_well:
        return ok("url", f"{url} leads to logoadmin")
    text = f"the response is not from logoadmin, status {response.status}"
    return wrong("url", text, "check that the service runs, and that the proxy leads there and strips the prefix")
