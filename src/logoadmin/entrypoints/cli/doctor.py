"""The command ``doctor``, which finds problems and suggests remedies (contract K4)."""

import os
import stat
import sys
import time
from collections import Counter
from collections.abc import Iterator
from contextlib import suppress
from datetime import UTC, datetime
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final

import click

from logoadmin.domain.kernel.access import Policy, is_loopback
from logoadmin.domain.kernel.checks import Result, Verdict, ok, warning, wrong
from logoadmin.domain.kernel.errors import SettingsError, StartError, StorageUnavailable
from logoadmin.entrypoints.cli.config import without_password
from logoadmin.entrypoints.cli.gallery import LET_IN, NO_ADMINISTRATOR
from logoadmin.entrypoints.cli.machine_checks import (
    check_gallery_dir,
    check_packages,
    check_ports,
    check_temporary_directory,
)
from logoadmin.entrypoints.cli.serve import check_address, serve_options
from logoadmin.entrypoints.cli.url_checks import check_url
from logoadmin.entrypoints.one_line import on_one_line

if TYPE_CHECKING:
    from logoadmin.settings import Settings

_COLOURS: Final = {Verdict.OK: "green", Verdict.WARNING: "yellow", Verdict.WRONG: "red"}
# A wider network is not a set of proxies.
_WIDEST: Final = {4: 8, 6: 16}
# How many days proposals may wait.
_MOST_DAYS: Final = 14
# The share of picture_space, in percent, at which pictures may soon be refused.
_ALMOST_FULL: Final = 80


@click.command()
@serve_options
@click.option(
    "--url",
    metavar="URL",
    help="Public URL of the service, as https://gallery.example/gallery: also check that this gallery answers there.",
)
def doctor(url: str | None, **flags: Any) -> None:
    """Check settings, keys, port, database, disk and clock, and suggest remedies.

    Prints one line per check: ok, warning or wrong. Exits with 1 if anything is wrong. Changes no record. Accepts the
    options of serve. Run it as the user of the service, in its directory and with its environment, before or while the
    service runs.
    """
    counted: Counter[Verdict] = Counter()
    for result in _results(flags, url):
        counted[result.verdict] += 1
        click.echo(_line(result))
    failed, warnings, passed = (counted[verdict] for verdict in (Verdict.WRONG, Verdict.WARNING, Verdict.OK))
    click.echo(f"{failed} wrong, {warnings} warning{'' if warnings == 1 else 's'}, {passed} ok")
    if failed:
        sys.exit(1)


def _line(result: Result) -> str:
    verdict = click.style(f"{result.verdict.value:<8}", fg=_COLOURS[result.verdict])
    text = f"{result.text}; {result.cure}" if result.cure else result.text
    # A path may contain control characters, which must not reach the terminal.
    return f"{verdict} {result.check:<17} {on_one_line(text)}"


def _results(flags: dict[str, Any], url: str | None) -> Iterator[Result]:
    from logoadmin.maintenance import check_database
    from logoadmin.settings import load_settings

    try:
        settings = load_settings(**flags)
    except SettingsError as error:
        yield wrong("settings", str(error), "correct them; logoadmin config shows where each comes from")
        return
    yield ok("settings", f"{len(settings.sources)} set")
    yield from _secrets(settings)
    yield from _keys(settings)
    yield _access(settings)
    yield _proxies(settings)
    yield _public_url(settings, url)
    yield from check_packages(settings)
    yield check_temporary_directory(settings)
    yield from check_gallery_dir(settings)
    yield from check_ports(settings)
    is_sound = True
    try:
        for result in check_database(settings):
            is_sound = is_sound and result.verdict is not Verdict.WRONG
            yield result
    except SettingsError as error:
        is_sound = False
        yield wrong("database", str(error), "correct the setting database")
    if is_sound:
        yield from _stored_keys(settings)
        yield from _administrators(settings)
        yield from _proposals(settings)
        yield from _pictures(settings)
        yield from _factor_key(settings)
    yield from _issuer(settings)
    if url is not None:
        yield from check_url(settings, url)


def _administrators(settings: "Settings") -> Iterator[Result]:
    """Whether somebody could still repair everything in the console (contract B4, O4)."""
    from logoadmin.bootstrap import MEMORY
    from logoadmin.maintenance import locks_out_administrators

    if settings.database.get_secret_value() == MEMORY:
        return
    with suppress(StorageUnavailable):  # there may be no tables yet
        if locks_out_administrators(settings):
            yield wrong("administrators", NO_ADMINISTRATOR, LET_IN)
        else:
            yield ok("administrators", "not all are locked out")


def _proposals(settings: "Settings") -> Iterator[Result]:
    """Whether somebody decides about proposals."""
    from logoadmin.bootstrap import MEMORY
    from logoadmin.maintenance import waiting_proposals

    if settings.database.get_secret_value() == MEMORY:
        return
    with suppress(StorageUnavailable):
        count, since = waiting_proposals(settings)
        days = 0 if since is None else int(time.time() - since) // 86_400
        if days > _MOST_DAYS:
            text = f"{count} wait for a decision, the first of them for {days} days"
            yield warning("proposals", text, "apply or decline them in the console")
        else:
            yield ok("proposals", f"{count} wait for a decision")


def _pictures(settings: "Settings") -> Iterator[Result]:
    """Whether there is space for more pictures (contract P1)."""
    from logoadmin.bootstrap import MEMORY
    from logoadmin.maintenance import picture_space

    if settings.database.get_secret_value() == MEMORY:
        return
    with suppress(StorageUnavailable):
        percent = 100 * picture_space(settings) // max(1, settings.picture_space)
        text = f"they take {percent} % of picture_space"
        if percent < _ALMOST_FULL:
            yield ok("pictures", text)
        else:
            yield warning("pictures", text, "raise picture_space, or remove pictures in the settings of the console")


def _factor_key(settings: "Settings") -> Iterator[Result]:
    """Whether the codes of authenticator apps can be checked (contract O1)."""
    from logoadmin.bootstrap import MEMORY
    from logoadmin.maintenance import unreadable_factors

    if settings.database.get_secret_value() == MEMORY:
        return
    with suppress(StorageUnavailable):
        found, unreadable = unreadable_factors(settings)
        if unreadable:
            which = "not set" if settings.factor_key is None else "another one"
            text = f"{which}: the secrets of {unreadable} of {found} authenticator apps cannot be decrypted"
            yield wrong("factor_key", text, "add the key that encrypted them to factor_key, behind a comma")
        else:
            yield ok("factor_key", f"the secrets of {found} authenticator apps can be decrypted")


def _issuer(settings: "Settings") -> Iterator[Result]:
    """Whether single sign-on lets the service start, and the roles exist that it gives (contract O7)."""
    from logoadmin.bootstrap import issuer_of
    from logoadmin.maintenance import missing_roles

    try:
        if issuer_of(settings) is None:
            return
    except StartError as error:
        yield wrong("issuer", error.text, error.cure)
        return
    with suppress(SettingsError, StartError, StorageUnavailable):  # the other checks report why
        missing = missing_roles(settings)
        if missing:
            text = f"{', '.join(missing)} in oidc_roles or oidc_default_role does not exist, so that it lets nobody in"
            yield wrong("issuer", text, "correct the name, or create the role")
        else:
            yield ok("issuer", "all roles exist that oidc_roles and oidc_default_role name")


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
    """Whether a value is secret; the URL of a database is if it may contain a password."""
    from pydantic import SecretStr

    if not isinstance(value, SecretStr):
        return False
    secret = value.get_secret_value()
    return name != "database" or without_password(secret) != secret


def _keys(settings: "Settings") -> Iterator[Result]:
    """Whether the token keys can be used, and only by the service."""
    from logoadmin.maintenance import check_keys

    try:
        check_keys(settings)
    except SettingsError as error:
        yield wrong("keys", error.text, error.cure or "see the settings token_key and token_key_files")
        return
    files = settings.token_key_files or ()
    for file in files:
        if b"PRIVATE KEY-----" in Path(file).read_bytes():
            yield _for_its_owner("keys", Path(file))
    if files and settings.token_key is not None:
        text = "token_key signs nothing besides token_key_files, but anyone who knows it can still create tokens"
        yield warning("keys", text, "remove it from the settings when the last token that it signed has expired")
    elif not files:
        yield ok("keys", "in the database" if settings.token_key is None else "in token_key")


def _stored_keys(settings: "Settings") -> Iterator[Result]:
    """Whether the keys in the database still create tokens beside key files (contract C2)."""
    from logoadmin.bootstrap import MEMORY
    from logoadmin.maintenance import stored_keys_end

    if not settings.token_key_files or settings.database.get_secret_value() == MEMORY:
        return
    with suppress(StorageUnavailable):  # there may be no tables yet
        end, seconds = stored_keys_end(settings), settings.access_token_seconds
        if end is None:
            text = f"the keys in the database create tokens until {seconds} s after the first start with key files"
            yield ok("stored keys", text)
        elif end > time.time():
            at = datetime.fromtimestamp(end, UTC)
            text = f"the keys in the database create tokens until {at:%Y-%m-%d %H:%M:%S} UTC"
            yield warning("stored keys", text, "no action is needed: tokens that they signed expire by then")
        else:
            yield ok("stored keys", "the keys in the database create no tokens any more")


def _for_its_owner(check: str, file: Path) -> Result:
    if os.name == "posix" and file.stat().st_mode & stat.S_IRWXO:
        cure = f"chmod o-rwx {file}, once its owner or its group is that of the service"
        return wrong(check, f"every user of this machine may read or write {file}", cure)
    return ok(check, f"other users cannot read {file}")


def _access(settings: "Settings") -> Result:
    """Whether others may change the gallery, through the network or through the browsers of this machine."""
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


def _proxies(settings: "Settings") -> Result:
    """Whether the proxies of the service are trusted, and nothing else."""
    trusted = settings.trusted_proxies
    wide = [str(network) for network in trusted if network.prefixlen < _WIDEST[network.version]]
    if wide:
        text = f"clients in {', '.join(wide)} can claim any address, and guess passwords without limit"
        return wrong("trusted_proxies", text, "list only the proxies")
    if not trusted and (settings.root_path or settings.access is Policy.GUARDED or not is_loopback(settings.host)):
        text = (
            "none: behind a proxy all clients count as one when they sign in, without one passwords are not encrypted"
        )
        return warning("trusted_proxies", text, "put a proxy with TLS in front, and add its address, as 127.0.0.1,::1")
    return ok("trusted_proxies", ", ".join(map(str, trusted)) or "none")


def _public_url(settings: "Settings", url: str | None) -> Result:
    """Whether the service knows the URL that browsers open, and passkeys are possible there (contract O8)."""
    known, check = settings.effective_public_url, "public_url"
    cure = "set public_url to the URL that browsers open"
    if settings.public_url is None:
        is_remote = bool(settings.trusted_proxies or settings.root_path) or not is_loopback(settings.host)
        if settings.oidc_issuer is not None and is_remote:
            text = f"not set: single sign-on leads browsers back to {known.base}/console/, which is not this service"
            return wrong(check, text, f"{cure}, and register it, followed by /console/, at the issuer")
        if is_remote:
            return warning(check, f"not set: passkeys work at {known.base} alone", cure)
        return ok(check, f"{known.base}, by default")
    if known.path != settings.root_path:
        text = f"its prefix is {known.path or 'none'}, that of root_path is {settings.root_path or 'none'}"
        return wrong(check, text, f'set root_path = "{known.path}", or correct public_url')
    if known.is_address:
        return warning(check, f"{known.base} is an IP address: passkeys are refused", f"{cure}, with a host name")
    if url is not None and url.rstrip("/") != known.base:
        return warning(check, f"{known.base} is not the URL to check", f"{cure}, or correct --url")
    return ok(check, known.base)
