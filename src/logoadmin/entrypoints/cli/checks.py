"""Checks of the machine, and of the service at a port or a URL (contract K1, K4)."""

import json
import os
import ssl
import tempfile
from collections.abc import Callable, Iterator, Mapping
from contextlib import closing, suppress
from dataclasses import dataclass
from http.client import HTTPConnection, HTTPException, HTTPSConnection, InvalidURL
from importlib.util import find_spec
from ipaddress import ip_address
from pathlib import Path
from types import ModuleType
from typing import TYPE_CHECKING, Any, Final
from urllib.parse import SplitResult, urlsplit

from logoadmin.checks import Result, Verdict, free_space, ok, warning, wrong
from logoadmin.domain.kernel.access import is_loopback
from logoadmin.domain.kernel.errors import LogoAdminError, SettingsError, StartError
from logoadmin.entrypoints.cli.serve import load_server
from logoadmin.extras import install_extra

if TYPE_CHECKING:
    from logoadmin.settings import Settings

_MAX_BODY: Final = 2**20  # bytes
_TIMEOUT: Final = 5.0  # seconds
_MIB: Final = 2**20
# A request that is rejected with 422 after its token is verified.
_INVALID: Final = "/api/changes?limit=none"


@dataclass(frozen=True, slots=True)
class HttpResponse:
    """A response: its status, and its body as text."""

    status: int
    text: str

    @property
    def json(self) -> Any:
        """The body as JSON, None if it is not JSON."""
        with suppress(ValueError):
            return json.loads(self.text)
        return None

    @property
    def is_well(self) -> bool:
        """Whether it is the response of ``/livez`` or ``/readyz`` from a healthy service."""
        return self.status == 200 and self.json == {"status": "ok"}


def http_get(url: str, headers: Mapping[str, str] | None = None, *, timeout: float) -> HttpResponse:
    """Return the response to a GET, even if it is a redirect; each wait may take ``timeout`` seconds.

    Raises:
        OSError: no response, or not HTTP; TimeoutError: not in time; ssl.SSLError: TLS failed.
    """
    if not url.isprintable() or not url.startswith(("http://", "https://")):  # urlsplit drops line breaks
        raise OSError("the URL is not valid")
    try:
        parts = urlsplit(url)
        connect = HTTPSConnection if parts.scheme == "https" else HTTPConnection
        with closing(connect(parts.netloc, timeout=timeout)) as connection:
            target = f"{parts.path}?{parts.query}" if parts.query else parts.path
            connection.request("GET", target, headers=dict(headers or {}))
            response = connection.getresponse()
            return HttpResponse(response.status, response.read(_MAX_BODY).decode("utf-8", "replace"))
    except TimeoutError:
        raise TimeoutError(f"no response within {timeout:g} seconds") from None
    except ssl.SSLError:  # one for a certificate is also a ValueError
        raise
    except (ValueError, InvalidURL):
        raise OSError("the URL is not valid") from None
    except HTTPException:
        raise OSError("the response is not HTTP") from None


def local_url(host: str, port: int) -> str:
    """Return the local URL of a service that listens on ``host``; loopback if it listens on all addresses."""
    with suppress(ValueError):
        address = ip_address(host)
        if address.is_unspecified:
            host = "127.0.0.1" if address.version == 4 else "::1"
    return f"http://[{host}]:{port}" if ":" in host else f"http://{host}:{port}"


def check_packages(settings: "Settings") -> Result:
    """Check that the optional packages that the settings need are installed."""
    try:
        load_server()
    except StartError as error:
        return wrong("packages", error.text, error.cure)
    needed = {
        "metrics_port": (settings.metrics_port, "prometheus_client", "metrics"),
        "oidc_issuer": (settings.oidc_issuer, "httpx2", "client"),
        "notify_urls": (settings.notify_urls, "httpx2", "client"),
    }
    for setting, (value, package, extra) in needed.items():
        if value is not None and find_spec(package) is None:
            name = package.replace("_", "-")
            return wrong("packages", f"{setting} needs {name}, which is not installed", install_extra(extra))
    if find_spec("fido2") is None:
        text = "nobody can sign in with a passkey: fido2 is not installed"
        return warning("packages", text, install_extra("passkeys"))
    return ok("packages", "all required packages are installed")


def check_temporary_directory() -> Result:
    """Check that there is room for imports (contract I4)."""
    try:
        directory = Path(tempfile.gettempdir())
        free = free_space(directory)
    except OSError as error:
        text = f"imports fail: no temporary file can be written ({error.strerror})"
        return wrong("temporary files", text, "free space, or set TMPDIR to another directory")
    return ok("temporary files", f"{free // _MIB} MiB are free in {directory}")


def check_gallery_dir(settings: "Settings") -> Iterator[Result]:
    """Check that the service can publish into its folder (contract L1)."""
    from logoadmin.starting import gallery_dir

    try:
        folder = gallery_dir(settings) if settings.gallery else None
    except SettingsError:  # reported with the database
        return
    if folder is None:
        return
    needed = folder if os.path.exists(folder) else folder.parent
    is_usable = os.path.isdir(needed) and os.access(needed, os.W_OK | os.X_OK, effective_ids=True)
    if is_usable:
        yield ok("gallery_dir", f"the gallery is published into {folder}")
    elif needed == folder or settings.gallery_dir is not None:  # otherwise reported with the database
        cure = "create it, let the user of the service write there, or set gallery_dir to another folder"
        yield wrong("gallery_dir", f"{needed} is not a folder with write access: nothing can be published", cure)


def check_ports(settings: "Settings", *, timeout: float = _TIMEOUT) -> Iterator[Result]:
    """Check that the ports are free, or that this gallery is served there and responds within ``timeout`` seconds."""
    try:
        server = load_server()
    except StartError:  # reported by check_packages
        return

    def served(url: str) -> Result | None:
        if not http_get(f"{url}/livez", timeout=timeout).is_well:
            return None
        return check_gallery(settings, url, "port") or ok("port", f"logoadmin runs at {url}")

    def measured(url: str) -> Result | None:
        is_own = "logoadmin_build_info" in http_get(f"{url}/metrics", timeout=timeout).text
        return ok("metrics_port", f"metrics are at {url}/metrics") if is_own else None

    yield _port(server, "port", settings.host, settings.port, served)
    if settings.metrics_port is not None:
        cure = "set metrics_port to a free port, and have Prometheus ask there"
        yield _port(server, "metrics_port", settings.metrics_host, settings.metrics_port, measured, cure)


def _port(
    server: ModuleType, check: str, host: str, port: int, known_at: Callable[[str], Result | None], cure: str = ""
) -> Result:
    try:
        server.listen(host, port).close()
    except StartError as error:
        with suppress(OSError):
            if found := known_at(local_url(host, port)):
                return found
        return wrong(check, error.text, cure or error.cure)
    return ok(check, f"{port or 'any'} on {host} is free")


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
    """Return None if the service at a URL has the keys of these settings, otherwise the problem."""
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
