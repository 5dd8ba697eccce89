"""Checks of the machine: packages, temporary directory, published folder and ports (contract K4)."""

import os
import shutil
import tempfile
from collections.abc import Iterator
from contextlib import suppress
from importlib.util import find_spec
from types import ModuleType
from typing import TYPE_CHECKING, Final

from logoadmin.checks import Result, ok, warning, wrong
from logoadmin.domain.kernel.errors import SettingsError, StartError
from logoadmin.entrypoints.cli.http_get import http_get, local_url
from logoadmin.entrypoints.cli.serve import load_server
from logoadmin.entrypoints.cli.url_checks import check_gallery
from logoadmin.extras import install_extra

if TYPE_CHECKING:
    from logoadmin.settings import Settings

_MIB: Final = 2**20
# The bytes written to test for free space.
_TRIAL: Final = 256 * 1024


def check_packages(settings: "Settings") -> Result:
    """Check that the optional packages are installed that the settings need."""
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
    return ok("packages", "everything that the settings need is installed")


def check_temporary_directory() -> Result:
    """Check that there is room for imports (contract I4)."""
    try:
        with tempfile.TemporaryFile() as trial:
            trial.write(bytes(_TRIAL))
            trial.flush()
            os.fsync(trial.fileno())
        directory = tempfile.gettempdir()
        free = shutil.disk_usage(directory).free
    except OSError as error:
        text = f"imports fail: no temporary file can be written ({error.strerror})"
        return wrong("temporary files", text, "free space, or set TMPDIR to another directory")
    return ok("temporary files", f"{free // _MIB} MiB are free in {directory}")


def check_gallery_dir(settings: "Settings") -> Iterator[Result]:
    """Check that the service can publish into its folder (contract L1)."""
    from logoadmin.bootstrap import gallery_dir

    try:
        folder = gallery_dir(settings) if settings.gallery else None
    except SettingsError:  # reported as that of the database
        return
    if folder is None:
        return
    needed = folder if os.path.exists(folder) else folder.parent
    is_usable = os.path.isdir(needed) and os.access(needed, os.W_OK | os.X_OK, effective_ids=True)
    if is_usable:
        yield ok("gallery_dir", f"the gallery is published into {folder}")
    elif needed == folder or settings.gallery_dir is not None:  # otherwise reported as that of the database
        cure = "create it, let the user of the service write there, or set gallery_dir to another folder"
        yield wrong("gallery_dir", f"{needed} is not a folder with write access: nothing can be published", cure)


def check_ports(settings: "Settings", *, timeout: float = 5.0) -> Iterator[Result]:
    """Check that the ports are free, or that this gallery is served there, which responds within some seconds."""
    try:
        server = load_server()
    except StartError:  # reported by check_packages
        return
    yield _port(server, settings, timeout)
    if settings.metrics_port is not None:
        yield _metrics_port(server, settings.metrics_host, settings.metrics_port, timeout)


def _port(server: ModuleType, settings: "Settings", timeout: float) -> Result:
    try:
        server.listen(settings.host, settings.port).close()
    except StartError as error:
        url = local_url(settings.host, settings.port)
        with suppress(OSError):
            if http_get(f"{url}/livez", timeout=timeout).is_well:
                return check_gallery(settings, url, "port") or ok("port", f"logoadmin runs at {url}")
        return wrong("port", error.text, error.cure)
    return ok("port", f"{settings.port or 'any'} on {settings.host} is free")


def _metrics_port(server: ModuleType, host: str, port: int, timeout: float) -> Result:
    try:
        server.listen(host, port).close()
    except StartError as error:
        url = local_url(host, port)
        with suppress(OSError):
            if "logoadmin_build_info" in http_get(f"{url}/metrics", timeout=timeout).text:
                return ok("metrics_port", f"metrics are at {url}/metrics")
        return wrong("metrics_port", error.text, "set metrics_port to a free port, and have Prometheus ask there")
    return ok("metrics_port", f"{port or 'any'} on {host} is free")
