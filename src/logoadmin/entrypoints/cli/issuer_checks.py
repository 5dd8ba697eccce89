"""Checks of the issuer of single sign-on (contract O7)."""

import time
from collections.abc import Iterator
from contextlib import suppress
from typing import TYPE_CHECKING, Final

from logoadmin.domain.kernel.checks import Result, ok, warning, wrong
from logoadmin.domain.kernel.errors import IssuerUnavailable, SettingsError, StartError, StorageUnavailable

if TYPE_CHECKING:
    from logoadmin.settings import Settings

# ID tokens are accepted if the clocks differ by up to a minute.
_CLOCK_WARNING: Final = 20  # seconds
_CLOCK_WRONG: Final = 60  # seconds


def check_issuer(settings: "Settings") -> Iterator[Result]:
    """Check that the issuer is reachable and consistent, its clock, and that the roles of its users exist."""
    from logoadmin.bootstrap import issuer_of

    try:
        issuer = issuer_of(settings)
    except StartError as error:
        yield wrong("issuer", error.text, error.cure)
        return
    if issuer is None:
        return
    try:
        report = issuer.check(f"{settings.effective_public_url.base}/console/")
    except IssuerUnavailable as error:
        yield wrong("issuer", error.explained, f"{error.cure}; see single-sign-on.md")
    else:
        if report.knows_pkce:
            yield ok("issuer", f"{issuer.url} has usable metadata and keys")
        else:
            text = "the metadata do not announce PKCE with S256, which protects codes"
            yield warning("issuer", text, "upgrade the issuer, or allow S256 there")
        if not report.accepts_client:
            text = "the issuer refuses oidc_client_id or oidc_client_secret, so that nobody can sign in with it"
            yield wrong("client of issuer", text, "copy both again from the client's page at the issuer")
        else:
            yield ok("client of issuer", "its id and secret are accepted")
        yield _clock(report.date)
    yield from _roles(settings)


def _clock(date: int | None) -> Result:
    """Whether ID tokens look fresh here."""
    if date is None:
        return warning("clock of issuer", "unknown: its responses have no Date", "compare the clocks yourself")
    seconds = date - int(time.time())
    text = f"the issuer is {abs(seconds)} s {'ahead' if seconds > 0 else 'behind'}"
    cure = "have both machines set their clocks by NTP"
    if abs(seconds) >= _CLOCK_WRONG:
        return wrong("clock of issuer", f"{text}, so that its ID tokens are refused", cure)
    if abs(seconds) >= _CLOCK_WARNING:
        return warning("clock of issuer", text, cure)
    return ok("clock of issuer", text if seconds else "the same time")


def _roles(settings: "Settings") -> Iterator[Result]:
    """Whether all roles exist that the settings give to users of the issuer."""
    from logoadmin.maintenance import missing_roles

    with suppress(SettingsError, StartError, StorageUnavailable):  # the other checks report why
        missing = missing_roles(settings)
        if missing:
            text = f"{', '.join(missing)} in oidc_roles or oidc_default_role does not exist, so that it lets nobody in"
            yield wrong("roles of issuer", text, "correct the name, or create the role")
        else:
            yield ok("roles of issuer", "all exist")
