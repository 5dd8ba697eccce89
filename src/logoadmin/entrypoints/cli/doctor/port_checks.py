"""Checks of the ports: whether they are free, or which service has them."""

from collections.abc import Iterator
from contextlib import suppress
from typing import TYPE_CHECKING, Final

from logoadmin.domain.model.checks import Result, ok, warning, wrong
from logoadmin.domain.model.errors import LogoAdminError, StartError
from logoadmin.entrypoints.cli.http_get import ask_doctor, http_get, local_url

if TYPE_CHECKING:
    from logoadmin.settings import Settings

_TIMEOUT: Final = 5.0


def check_ports(settings: "Settings") -> Iterator[Result]:
    """Check the addresses that the service is to listen on."""
    try:
        from logoadmin.entrypoints.server import listen
    except ModuleNotFoundError as error:
        yield wrong("port", f"{error.name} is not installed", "pip install 'logoadmin[server]'")
        return
    for check, host, port in (
        ("port", settings.host, settings.port),
        ("metrics_port", settings.metrics_host, settings.metrics_port),
    ):
        if port is None:
            continue
        try:
            listen(host, port).close()
        except StartError as error:
            yield _running(check, settings, local_url(host, port)) or wrong(check, error.text, error.cure)
        else:
            yield ok(check, f"{port or 'any'} on {host} is free")


def _running(check: str, settings: "Settings", url: str) -> Result | None:
    """Return the state of the logoadmin service at a URL, None if another program has the port."""
    with suppress(OSError):
        return _service(settings, url) if check == "port" else _metrics(url)
    return None


def _service(settings: "Settings", url: str) -> Result | None:
    if not http_get(f"{url}/livez", timeout=_TIMEOUT).is_well:
        return None
    ready = http_get(f"{url}/readyz", timeout=_TIMEOUT)
    if not ready.is_well:
        detail = ready.json.get("detail") if isinstance(ready.json, dict) else ready.status
        return wrong("port", f"logoadmin runs at {url} but is not ready: {detail}", "follow its message")
    try:
        response = ask_doctor(settings, url, {"Host": "localhost"})
    except LogoAdminError as error:
        return warning("port", f"logoadmin runs at {url}, perhaps for another gallery: {error}", "see the other checks")
    if response.status == 200:
        return ok("port", f"this gallery is served at {url} and ready")
    return wrong("port", f"{url} serves another gallery, or uses other keys", "stop that service, or use another port")


def _metrics(url: str) -> Result | None:
    is_ours = "logoadmin_build_info" in http_get(f"{url}/metrics", timeout=_TIMEOUT).text
    return ok("metrics_port", f"metrics of logoadmin are at {url}") if is_ours else None
