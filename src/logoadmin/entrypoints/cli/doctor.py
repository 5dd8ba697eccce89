"""The commands ``doctor``, which finds problems and suggests remedies, and ``healthcheck`` (contract K1, K4)."""

import os
import stat
import sys
from collections import Counter
from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final

import click

from logoadmin.checks import Result, Verdict, ok, warning, wrong
from logoadmin.domain.kernel.access import MAX_PORT, Policy, is_loopback
from logoadmin.domain.kernel.errors import SettingsError, StartError
from logoadmin.entrypoints.cli.serve import check_address, serve_options, without_password
from logoadmin.text_files import on_one_line

if TYPE_CHECKING:
    from logoadmin.settings import Settings

TIMEOUT: Final = 2.0
_MOST_SHOWN: Final = 300


@click.command()
@serve_options
@click.option(
    "--url",
    metavar="URL",
    help="Public URL of the service, such as https://gallery.example/gallery: also check that it serves this gallery.",
)
def doctor(url: str | None, **flags: Any) -> None:
    """Check settings, keys, ports, database and disk.

    Prints one line per check: ok, warning or wrong, and the remedy. Exits with 1 if anything is wrong. Changes no
    record. Accepts the options of serve. Run it as the user of the service, in its directory and with its environment,
    before or while the service runs.
    """
    counted: Counter[Verdict] = Counter()
    for result in _results(flags, url):
        counted[result.verdict] += 1
        text = f"{result.text}; {result.cure}" if result.cure else result.text
        # A path may contain control characters, which must not reach the terminal.
        click.echo(f"{result.verdict.value:<8} {result.check:<17} {on_one_line(text)}")
    failed, warnings, passed = (counted[verdict] for verdict in (Verdict.WRONG, Verdict.WARNING, Verdict.OK))
    click.echo(f"{failed} wrong, {warnings} warning{'' if warnings == 1 else 's'}, {passed} ok")
    if failed:
        sys.exit(1)


def _results(flags: dict[str, Any], url: str | None) -> Iterator[Result]:
    from logoadmin.entrypoints.cli import checks
    from logoadmin.maintenance import check_database, check_people
    from logoadmin.settings import load_settings
    from logoadmin.starting import MEMORY

    try:
        settings = load_settings(**flags)
    except SettingsError as error:
        yield wrong("settings", str(error), "correct them; logoadmin config shows where each comes from")
        return
    yield ok("settings", f"{len(settings.sources)} set")
    yield from _secrets(settings)
    yield from _keys(settings)
    yield _access(settings)
    yield _public_url(settings)
    yield checks.check_packages(settings)
    yield checks.check_temporary_directory()
    yield from checks.check_gallery_dir(settings)
    yield from checks.check_ports(settings)
    found = []
    try:
        for result in check_database(settings):
            found.append(result.verdict)
            yield result
    except SettingsError as error:
        found.append(Verdict.WRONG)
        yield wrong("database", str(error), "correct the setting database")
    if Verdict.WRONG not in found and settings.database.get_secret_value() != MEMORY:
        yield from check_people(settings)
    if url is not None:
        yield from checks.check_url(settings, url)


def _secrets(settings: "Settings") -> Iterator[Result]:
    """Whether other users can read files with secrets."""
    named = {
        settings.sources[name]
        for name, value in settings
        if os.sep in settings.sources.get(name, "") and _is_secret(name, value)
    }
    for file in sorted(named):
        yield _for_its_owner("secrets", Path(file))


def _is_secret(name: str, value: object) -> bool:
    """Whether a value is secret; a database URL is if it may contain a password."""
    from pydantic import SecretStr

    if not isinstance(value, SecretStr):
        return False
    secret = value.get_secret_value()
    return name != "database" or without_password(secret) != secret


def _keys(settings: "Settings") -> Iterator[Result]:
    """Whether the service, and nobody else, can use the token keys and the gallery keys."""
    from logoadmin.maintenance import check_keys

    try:
        check_keys(settings)
    except SettingsError as error:
        yield wrong("keys", error.text, error.cure or "see the settings token_key and token_key_files")
        return
    for file in settings.token_key_files:
        if b"PRIVATE KEY-----" in Path(file).read_bytes():
            yield _for_its_owner("keys", Path(file))
    if not settings.token_key_files:
        yield ok("keys", "in the database" if settings.token_key is None else "in token_key")


def _for_its_owner(check: str, file: Path) -> Result:
    if os.name == "posix" and file.stat().st_mode & stat.S_IRWXO:
        cure = f"chmod o-rwx {file}, once its owner or its group is that of the service"
        return wrong(check, f"every user of this machine may read or write {file}", cure)
    return ok(check, f"other users cannot read {file}")


def _access(settings: "Settings") -> Result:
    """Whether others may change the gallery, over the network or through browsers on this machine."""
    try:
        check_address(settings)
    except SettingsError as error:
        return wrong("access", error.text, error.cure)
    if settings.access is not Policy.GUARDED:
        cure = "use --access guarded"
        if settings.trusted_proxies or settings.root_path:
            return wrong("access", "clients of the proxy need no token to change the gallery", cure)
        if "*" in settings.hosts:
            return warning("access", "any web page can lead browsers here and change the gallery", cure)
        if not is_loopback(settings.host):
            text = f"everyone who can reach {settings.host} may change the gallery"
            return warning("access", text, f"{cure}, unless that is intended")
    return ok("access", f"{settings.access or Policy.OPEN}, on {settings.host}")


def _public_url(settings: "Settings") -> Result:
    """Whether the service knows the URL that browsers open, and passkeys work there (contract O8)."""
    known, cure = settings.effective_public_url, "set public_url to the URL that browsers open"
    if settings.public_url is None:
        if settings.trusted_proxies or settings.root_path or not is_loopback(settings.host):
            return warning("public_url", f"not set: passkeys and links work at {known.base} alone", cure)
        return ok("public_url", f"{known.base}, by default")
    if known.path != settings.root_path:
        text = f"its prefix is {known.path or 'none'}, that of root_path is {settings.root_path or 'none'}"
        return wrong("public_url", text, f'set root_path = "{known.path}", or correct public_url')
    if known.is_address:
        return warning("public_url", f"{known.base} is an IP address: passkeys are refused", f"{cure}, with a name")
    return ok("public_url", known.base)


@click.command()
@click.option("--live", is_flag=True, help="Check only that the process responds, not the database.")
@click.option("--host", help="The address that serve listens on.  [default: 127.0.0.1]")
@click.option("--port", type=click.IntRange(0, MAX_PORT), help="The port that serve listens on.  [default: 8000]")
def healthcheck(live: bool, host: str | None, port: int | None) -> None:
    """Check the service with these settings on this machine. Exits with 0 if it is healthy, otherwise with 1."""
    from logoadmin.entrypoints.cli.checks import local_url
    from logoadmin.settings import load_settings

    try:
        settings = load_settings(host=host, port=port)
    except SettingsError as error:
        raise StartError(str(error)) from None  # container platforms reserve exit code 2
    if settings.port == 0:
        raise StartError("Port 0 is any free port: give the port of the service with --port")
    where = f"{local_url(settings.host, settings.port)}{'/livez' if live else '/readyz'}"
    fault = _fault_at(where)
    if fault is not None:
        raise StartError(f"{where}: {fault}")
    click.echo(f"{where}: ok")


def _fault_at(url: str) -> str | None:
    """Return the fault, such as a response from another program, or None if the service is healthy."""
    from logoadmin.entrypoints.cli.checks import http_get

    try:
        answer = http_get(url, timeout=TIMEOUT)
    except OSError as error:
        return error.strerror or str(error)
    if answer.is_well:
        return None
    detail = str(answer.json.get("detail", "")) if isinstance(answer.json, dict) else ""
    return f"{answer.status} {detail[:_MOST_SHOWN] or 'from something that is not logoadmin'}"
