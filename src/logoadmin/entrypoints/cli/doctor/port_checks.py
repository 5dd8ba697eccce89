"""Checks of the ports: whether they can be had, or who has them."""

import os
import re
from collections.abc import Callable, Iterator
from contextlib import suppress
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Final

from logoadmin.domain.model.checks import Result, ok, warning, wrong
from logoadmin.domain.model.errors import LogoAdminError, StartError
from logoadmin.entrypoints.cli.http_client import http_get, local_url

if TYPE_CHECKING:
    from logoadmin.settings import Settings

_TIMEOUT: Final = 5.0
_TABLES: Final = ("/proc/net/tcp", "/proc/net/tcp6")
_LISTENING: Final = "0A"


def check_ports(settings: "Settings") -> Iterator[Result]:
    """Check the addresses that the service is to listen on."""
    yield _check_port("port", settings.host, settings.port, partial(_service, settings))
    if settings.metrics_port is not None:
        yield _check_port("metrics_port", settings.metrics_host, settings.metrics_port, _metrics)


def _check_port(check: str, host: str, port: int, running: Callable[[str], Result | None]) -> Result:
    """Whether a port can be had; one that a logoadmin has is its own, as far as that can be seen from outside."""
    try:
        from logoadmin.entrypoints.server import listen
    except ModuleNotFoundError as error:
        return wrong(check, f"serving takes {error.name}", "pip install 'logoadmin[server]'")
    try:
        listen(host, port).close()
    except StartError as error:
        text, cure = error.text, error.cure
    else:
        return ok(check, f"{port or 'any'} on {host} is free")
    with suppress(OSError):
        ours = running(local_url(host, port))
        if ours is not None:
            return ours
    owner = _owner(port)
    return wrong(check, f"{text} ({owner})" if owner else text, cure)


def _service(settings: "Settings", url: str) -> Result | None:
    """Return the state of the logoadmin service at a URL, None if another program has the port."""
    if not http_get(f"{url}/livez", timeout=_TIMEOUT).is_well:
        return None
    ready = http_get(f"{url}/readyz", timeout=_TIMEOUT)
    if not ready.is_well:
        detail = ready.json.get("detail") if isinstance(ready.json, dict) else ready.status
        return wrong("port", f"logoadmin runs at {url} but is not ready: {detail}", "follow its message")
    try:
        if _serves_this_gallery(settings, url):
            return ok("port", f"this gallery is served at {url} and ready")
    except LogoAdminError as error:
        return warning("port", f"logoadmin runs at {url}, perhaps for another gallery: {error}", "see above or below")
    return wrong("port", f"{url} serves another gallery, or uses other keys", "stop that service, or use another port")


def _serves_this_gallery(settings: "Settings", url: str) -> bool:
    """Whether the service holds the same keys as these settings."""
    from logoadmin.maintenance import doctor_token

    headers = {"Host": "localhost", "Authorization": f"Bearer {doctor_token(settings)}"}
    return http_get(f"{url}/doctor", headers, timeout=_TIMEOUT).status == 200


def _metrics(url: str) -> Result | None:
    is_ours = "logoadmin_build_info" in http_get(f"{url}/metrics", timeout=_TIMEOUT).text
    return ok("metrics_port", f"logoadmin is at {url}") if is_ours else None


def _owner(port: int) -> str | None:
    """Return the name and the number of the process that listens on a port, where the system tells."""
    sockets = {f"socket:[{inode}]" for inode in _inodes(port)}
    if not sockets:
        return None
    for process in Path("/proc").glob("[0-9]*"):
        with suppress(OSError):
            if any(os.readlink(handle) in sockets for handle in (process / "fd").iterdir()):
                return f"{(process / 'comm').read_text(encoding='utf-8', errors='replace').strip()}, {process.name}"
    return None


def _inodes(port: int) -> Iterator[str]:
    """Yield the numbers of the sockets that listen on a port, as Linux lists them."""
    for table in _TABLES:
        with suppress(OSError):
            for line in Path(table).read_text(encoding="ascii").splitlines()[1:]:
                _, local, _, state, *others = line.split()
                if state == _LISTENING and re.fullmatch(rf"[0-9A-F]+:{port:04X}", local):
                    yield others[5]
