"""Checks that this gallery answers at a URL, over a valid certificate (contract K4)."""

import ssl
import time
from collections.abc import Iterator
from typing import TYPE_CHECKING, Final
from urllib.parse import SplitResult, urlsplit

from logoadmin.domain.kernel.access import is_loopback
from logoadmin.domain.kernel.checks import Result, Verdict, ok, warning, wrong
from logoadmin.domain.kernel.errors import LogoAdminError
from logoadmin.entrypoints.cli.http_get import end_of_certificate, http_get, http_post

if TYPE_CHECKING:
    from logoadmin.settings import Settings

_TIMEOUT: Final = 5.0
_ENDS_SOON: Final = 14  # days
_DAY: Final = 86_400
# An operation that needs a token; the service refuses what doctor sends by its form, and changes nothing.
_PATH: Final = "/api/changes"
_INVALID: Final = b'{"changes":""}'


def check_url(settings: "Settings", url: str) -> Iterator[Result]:
    """Check that a URL leads to this gallery."""
    try:
        parts = urlsplit(url.rstrip("/"))
    except ValueError:
        parts = urlsplit("")
    reached = _reached(parts)
    yield reached
    if reached.verdict is Verdict.WRONG:
        return
    if parts.scheme == "https":
        yield _certificate(parts)
    strange = check_gallery(settings, parts.geturl(), "gallery")
    yield strange or ok("gallery", "the service has the keys of these settings")


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
        headers = {"Authorization": f"Bearer {token}", "Content-Type": "application/json"}
        status = http_post(f"{base}{_PATH}", headers, _INVALID, timeout=_TIMEOUT).status
    except OSError as error:
        return warning(check, f"not checked: {error}", "check the log of the proxy")
    if status == 422:
        return None
    if status == 401:
        cure = "run doctor with the settings of that service, or choose another port or URL for this one"
        return wrong(check, f"another gallery is served at {base}: it does not know the keys of these settings", cure)
    if status == 421:
        cure = "have the proxy pass Host on (proxy_set_header Host $host), and add the name to hosts"
        return wrong(check, "the service receives a name that is not its own", cure)
    if status == 403:
        return wrong(check, "the header Authorization does not arrive", "have the proxy pass it on")
    return warning(check, f"not checked: a request gets status {status}", "check the log of the service")


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
    if response.status in (502, 503, 504):
        text = f"the proxy responds with {response.status} and does not reach the service"
        return wrong("url", text, "check that the service runs at the address that the proxy uses")
    if 300 <= response.status < 400:
        return wrong("url", f"it redirects to {response.headers.get('location', 'nowhere')}", "use the final URL")
    cure = "have the proxy strip the prefix: in nginx, end proxy_pass with a slash, as location does"
    return wrong("url", f"the response is not from logoadmin, status {response.status}", cure)


def _certificate(parts: SplitResult) -> Result:
    """Whether the certificate remains valid for a while."""
    try:
        ends = end_of_certificate(parts.hostname or "", parts.port or 443, timeout=_TIMEOUT)
    except OSError as error:
        return warning("certificate", f"its end is unknown: {error}", "check the log of the proxy")
    days = int((ends - time.time()) // _DAY)
    text = f"it ends in {days} day{'' if days == 1 else 's'}"
    if days < _ENDS_SOON:
        return warning("certificate", text, "renew it, and check why it was not renewed automatically")
    return ok("certificate", text)
