"""Checks of what is set, and whether it goes together."""

import os
import stat
from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING, Final

from pydantic import SecretStr

from logoadmin.domain.model.access import Policy, is_loopback
from logoadmin.domain.model.checks import Result, ok, warning, wrong
from logoadmin.domain.model.errors import SettingsError
from logoadmin.entrypoints.cli.config import without_password
from logoadmin.entrypoints.cli.serve import check_address

if TYPE_CHECKING:
    from logoadmin.settings import Settings, SettingsInForce

# A network of more addresses than these is no set of proxies.
_WIDEST: Final = {4: 8, 6: 16}


def check_settings(in_force: "SettingsInForce") -> Iterator[Result]:
    """Check the settings that are in force, each of which is right for itself."""
    settings = in_force.settings
    places = sorted({_place(origin) for origin in in_force.origins.values()})
    yield ok("settings", f"{len(in_force.origins)} are set" + (f", in {', '.join(places)}" if places else ""))
    yield from _secrets(in_force)
    yield from _keys(settings)
    yield _access(settings)
    yield _names(settings)
    yield _proxies(settings)


def _place(origin: str) -> str:
    return "flags" if origin.startswith("--") else origin if os.sep in origin else "the environment"


def _secrets(in_force: "SettingsInForce") -> Iterator[Result]:
    """Whether nobody but the user of the service may read the files in which secrets are."""
    named = {
        in_force.origins[name]
        for name, value in in_force.settings
        if os.sep in in_force.origins.get(name, "") and _is_secret(name, value)
    }
    for file in sorted(named):
        yield _for_its_owner("secrets", Path(file))


def _is_secret(name: str, value: object) -> bool:
    """Tell whether a value is one that others may not know; a database's URL is if it may have a password."""
    if not isinstance(value, SecretStr):
        return False
    secret = value.get_secret_value()
    return name != "database" or without_password(secret) != secret


def _keys(settings: "Settings") -> Iterator[Result]:
    """Whether the keys for tokens can be used, and only by the service."""
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
        text = "token_key signs nothing beside token_key_files, and whoever knows it can still make tokens"
        yield warning("keys", text, "take it out of the settings when the last token that it signed has expired")
    elif files:
        yield ok("keys", f"tokens are signed by {files[0]}; those of the {len(files)} files and the database are taken")
    else:
        yield ok("keys", "of the database" if settings.token_key is None else "of token_key")


def _for_its_owner(check: str, file: Path) -> Result:
    found = file.stat()
    if os.name == "posix" and found.st_mode & stat.S_IRWXO:
        return wrong(check, f"every user of this machine may read or write {file}", _access_cure(file, found))
    readers = "its owner and its group" if found.st_mode & stat.S_IRWXG else "its owner"
    return ok(check, f"only {readers} may read {file}")


def _access_cure(file: Path, found: os.stat_result) -> str:
    """Return how to close a file to others so that the user of the service can still read it."""
    groups = {os.getegid(), *os.getgroups()}
    keeps = os.geteuid() in (0, found.st_uid) or (found.st_gid in groups and found.st_mode & stat.S_IRGRP)
    return f"chmod o-rwx {file}" if keeps else f"chgrp {os.getegid()} {file} && chmod u=rw,g=r,o= {file}"


def _access(settings: "Settings") -> Result:
    """Whether somebody said who may do what, where others than those on this machine come in."""
    try:
        check_address(settings)
    except SettingsError as error:
        return wrong("access", error.text, error.cure)
    policy = settings.access or Policy.OPEN
    if policy is Policy.OPEN and not is_loopback(settings.host):
        cure = "serve with --access guarded, unless everybody who reaches it may do that"
        return warning("access", f"everybody who reaches {settings.host} may change the gallery", cure)
    if policy is Policy.OPEN and (settings.trusted_proxies or settings.root_path):
        text = "a proxy lets others in, who need no token to change the gallery"
        return wrong("access", text, "serve with --access guarded")
    return ok("access", f"{policy.value}, on {settings.host}")


def _names(settings: "Settings") -> Result:
    """Whether pages of other sites can lead here under names of their own."""
    if settings.access is not Policy.GUARDED and "*" in settings.hosts:
        text = "under open, pages elsewhere may lead any name here and change the gallery"
        return warning("hosts", text, "name those that the service has in hosts, unless its proxy judges them")
    if settings.hosts:
        return ok("hosts", f"{', '.join(settings.hosts)}, and loopback")
    return ok("hosts", "any name, since all but reading takes a token" if _is_guarded(settings) else "loopback alone")


def _proxies(settings: "Settings") -> Result:
    """Whether the proxies that are before the service are trusted, and nobody else."""
    trusted = settings.trusted_proxies
    wide = [str(network) for network in trusted if network.prefixlen < _WIDEST[network.version]]
    if wide:
        text = f"everybody in {', '.join(wide)} may say that they are anybody, and guess passwords without end"
        return wrong("trusted_proxies", text, "name the proxies alone")
    if is_loopback(settings.host) and trusted and not any(network.is_loopback for network in trusted):
        text = f"{settings.host} is reached from this machine alone, of which none is trusted"
        return warning("trusted_proxies", text, "name the address by which the proxy comes, 127.0.0.1 or ::1")
    if trusted:
        return ok("trusted_proxies", ", ".join(map(str, trusted)))
    if settings.root_path or (_is_guarded(settings) and is_loopback(settings.host)):
        text = "a proxy seems to be before the service, and none is trusted: all callers count as one at signing in"
        return warning("trusted_proxies", text, "name its address, such as 127.0.0.1,::1, if there is one")
    if not is_loopback(settings.host):
        text = f"whoever listens between a caller and {settings.host} reads passwords and tokens"
        return warning("trusted_proxies", text, "put a proxy with TLS before the service, and name it here")
    return ok("trusted_proxies", "none")


def _is_guarded(settings: "Settings") -> bool:
    return settings.access is Policy.GUARDED
