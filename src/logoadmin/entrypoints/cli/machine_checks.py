"""Checks of the machine: packages, temporary directory and ports (contract K4)."""

import os
import shutil
import tempfile
from collections.abc import Iterator
from contextlib import suppress
from importlib.util import find_spec
from types import ModuleType
from typing import TYPE_CHECKING, Final

from logoadmin.domain.kernel.checks import Result, Verdict, ok, warning, wrong
from logoadmin.domain.kernel.errors import SettingsError, StartError
from logoadmin.domain.kernel.extras import install_extra
from logoadmin.entrypoints.cli.http_get import http_get, local_url
from logoadmin.entrypoints.cli.serve import load_server
from logoadmin.entrypoints.cli.url_checks import check_gallery

if TYPE_CHECKING:
    from logoadmin.settings import Settings

_TIMEOUT: Final = 5.0
_MIB: Final = 2**20
# The bytes written to test for free space.
_TRIAL: Final = 256 * 1024


def check_packages(settings: "Settings") -> Iterator[Result]:
    """Check that the optional packages are installed that the settings need."""
    missing = []
    try:
        load_server()
    except StartError as error:
        missing.append(wrong("packages", error.text, error.cure))
    if settings.metrics_port is not None and find_spec("prometheus_client") is None:
        text = "metrics_port needs prometheus-client, which is not installed"
        missing.append(wrong("packages", text, install_extra("metrics")))
    if settings.pin_imports and find_spec("httpx2") is None:
        text = "style sheets that CSS imports are not fetched: httpx2 is not installed"
        missing.append(warning("packages", text, f"{install_extra('client')}, or set pin_imports = false"))
    if find_spec("fido2") is None:
        text = "nobody can sign in with a passkey: fido2 is not installed"
        missing.append(warning("packages", text, install_extra("passkeys")))
    yield from missing or [ok("packages", "everything that the settings need is installed")]


def check_temporary_directory(settings: "Settings") -> Result:
    """Check that there is room for imports and long responses (contract E1, I4)."""
    check = "temporary files"
    named = os.environ.get("TMPDIR")
    if named and not os.path.isdir(named):
        return wrong(check, f"TMPDIR names {named}, which is not a directory", "create it, or correct TMPDIR")
    try:
        directory = tempfile.gettempdir()
        with tempfile.TemporaryFile(dir=directory) as trial:
            trial.write(bytes(_TRIAL))
            trial.flush()
            os.fsync(trial.fileno())
        free = shutil.disk_usage(directory).free
    except OSError as error:
        text = f"imports and long lists fail: no file can be written there ({error.strerror})"
        return wrong(check, text, "create the directory, make it writable, free space, or set TMPDIR to another one")
    needed = settings.workers * settings.spool_space
    text = f"{free // _MIB} MiB are free in {directory}"
    if free < needed:
        cure = "free some space, set TMPDIR to another directory, or lower spool_space or workers"
        return warning(check, f"{text}, but the service may need {needed // _MIB} MiB", cure)
    return ok(check, text)


def check_gallery_dir(settings: "Settings") -> Iterator[Result]:
    """Check that the service can publish into its folder (contract L1)."""
    from logoadmin.bootstrap import gallery_dir

    check = "gallery_dir"
    try:
        folder = gallery_dir(settings) if settings.gallery else None
    except SettingsError:  # reported as that of the database
        return
    if folder is None:
        return
    needed = folder if os.path.exists(folder) else folder.parent
    is_usable = os.path.isdir(needed) and os.access(needed, os.W_OK | os.X_OK, effective_ids=True)
    if needed != folder and settings.gallery_dir is None and not is_usable:  # reported as that of the database
        return
    if not os.path.isdir(needed):
        cure = "create it, or let the user of the service enter the directories above it"
        yield wrong(check, f"this user finds no directory {needed}: the gallery cannot be published", cure)
    elif not is_usable:
        cure = "let its user write there, or set gallery_dir to another folder"
        yield wrong(check, f"{needed} is not writable: the gallery cannot be published", cure)
    else:
        yield ok(check, f"the gallery is published into {folder}")


def check_ports(settings: "Settings") -> Iterator[Result]:
    """Check that the ports are free, or that this gallery is served there."""
    with suppress(StartError):  # reported by check_packages
        server = load_server()
        main = _port(server, settings)
        yield main
        if settings.metrics_port is not None:
            is_served = main.verdict is Verdict.OK and "runs at" in main.text
            yield _metrics_port(server, settings.metrics_host, settings.metrics_port, is_served=is_served)


def _port(server: ModuleType, settings: "Settings") -> Result:
    try:
        server.listen(settings.host, settings.port).close()
    except StartError as error:
        url = local_url(settings.host, settings.port)
        with suppress(OSError):
            if http_get(f"{url}/livez", timeout=_TIMEOUT).is_well:
                found = check_gallery(settings, url, "port")
                return found or ok("port", f"logoadmin runs at {url}")
        return wrong("port", error.text, error.cure)
    return ok("port", f"{settings.port or 'any'} on {settings.host} is free")


def _metrics_port(server: ModuleType, host: str, port: int, *, is_served: bool) -> Result:
    try:
        server.listen(host, port).close()
    except StartError as error:
        url = local_url(host, port)
        with suppress(OSError):
            if is_served and "logoadmin_build_info" in http_get(f"{url}/metrics", timeout=_TIMEOUT).text:
                return ok("metrics_port", f"metrics are at {url}/metrics")
        return wrong("metrics_port", error.text, "set metrics_port to a free port, and have Prometheus ask there")
    return ok("metrics_port", f"{port or 'any'} on {host} is free")
