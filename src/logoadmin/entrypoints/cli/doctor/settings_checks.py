"""Checks of the settings, alone and together."""

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

# A wider network is not a set of proxies.
_WIDEST: Final = {4: 8, 6: 16}


def check_settings(in_force: "SettingsInForce") -> Iterator[Result]:
    """Check the settings in force, each of which is valid."""
    settings = in_force.settings
    places = sorted({_place(origin) for origin in in_force.origins.values()})
    yield ok("settings", f"{len(in_force.origins)} set" + (f", in {', '.join(places)}" if places else ""))
    yield from _secrets(in_force)
    yield from _keys(settings)
    yield _access(settings)
    yield _names(settings)
    yield _proxies(settings)


def _place(origin: str) -> str:
    return "flags" if origin.startswith("--") else origin if os.sep in origin else "the environment"


def _secrets(in_force: "SettingsInForce") -> Iterator[Result]:
    """Whether other users can read files with secrets."""
    named = {
        in_force.origins[name]
        for name, value in in_force.settings
        if os.sep in in_force.origins.get(name, "") and _is_secret(name, value)
    }
    for file in sorted(named):
        yield _for_its_owner("secrets", Path(file))


def _is_secret(name: str, value: object) -> bool:
    """Whether a value is secret; the URL of a database is if it may contain a password."""
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
    elif files:
        yield ok("keys", f"{files[0]} signs tokens; those of all {len(files)} files and of the database are accepted")
    else:
        yield ok("keys", "in the database" if settings.token_key is None else "in token_key")


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
    """Whether a policy is chosen where other machines can reach the service."""
    try:
        check_address(settings)
    except SettingsError as error:
        return wrong("access", error.text, error.cure)
    policy = settings.access or Policy.OPEN
    if policy is Policy.OPEN and not is_loopback(settings.host):
        cure = "use --access guarded, unless that is intended"
        return warning("access", f"everyone who can reach {settings.host} may change the gallery", cure)
    if policy is Policy.OPEN and (settings.trusted_proxies or settings.root_path):
        text = "clients of the proxy need no token to change the gallery"
        return wrong("access", text, "use --access guarded")
    return ok("access", f"{policy.value}, on {settings.host}")


def _names(settings: "Settings") -> Result:
    """Whether web pages under foreign names can reach the service."""
    if settings.access is not Policy.GUARDED and "*" in settings.hosts:
        text = "with --access open, any web page can lead browsers here and change the gallery"
        return warning("hosts", text, "list the names of the service in hosts, unless its proxy checks them")
    if settings.hosts:
        return ok("hosts", f"{', '.join(settings.hosts)}, and loopback")
    return ok(
        "hosts", "any name, since everything but reading needs a token" if _is_guarded(settings) else "loopback only"
    )


def _proxies(settings: "Settings") -> Result:
    """Whether the proxies of the service are trusted, and nothing else."""
    trusted = settings.trusted_proxies
    wide = [str(network) for network in trusted if network.prefixlen < _WIDEST[network.version]]
    if wide:
        text = f"clients in {', '.join(wide)} can claim any address, and guess passwords without limit"
        return wrong("trusted_proxies", text, "list only the proxies")
    if is_loopback(settings.host) and trusted and not any(network.is_loopback for network in trusted):
        text = f"only this machine can reach {settings.host}, and none of its addresses is trusted"
        return warning("trusted_proxies", text, "add the address of the proxy, 127.0.0.1 or ::1")
    if trusted:
        return ok("trusted_proxies", ", ".join(map(str, trusted)))
    if settings.root_path or (_is_guarded(settings) and is_loopback(settings.host)):
        text = "there seems to be a proxy that is not trusted: all clients then count as one when they sign in"
        return warning("trusted_proxies", text, "if so, add its address, such as 127.0.0.1,::1")
    if not is_loopback(settings.host):
        text = f"anyone between a client and {settings.host} can read passwords and tokens"
        return warning("trusted_proxies", text, "put a proxy with TLS in front of the service, and add it here")
    return ok("trusted_proxies", "none")


def _is_guarded(settings: "Settings") -> bool:
    return settings.access is Policy.GUARDED
