"""The composition root of maintenance: keys, backups and checks of the database that the settings name.

Backups and moves are those of :mod:`logoadmin.adapters.sql_storage.copies`.
"""

from collections.abc import Iterator
from contextlib import closing, contextmanager, suppress
from pathlib import Path
from typing import Final

from logoadmin.adapters.fernet_encryption import FernetEncryption
from logoadmin.adapters.sql_storage import checks, copies, files_of
from logoadmin.adapters.system_environment import SystemClock, SystemRandomness
from logoadmin.bootstrap import gallery_keys
from logoadmin.checks import LET_IN, NO_ADMINISTRATOR, Result, ok, warning, wrong
from logoadmin.domain.identity.escalation import somebody_holds_all
from logoadmin.domain.identity.first_start import rotate_token_keys
from logoadmin.domain.identity.roles import role_named
from logoadmin.domain.identity.totp import TotpFactors
from logoadmin.domain.kernel.access import Scope
from logoadmin.domain.kernel.errors import SettingsError, StorageUnavailable, TablesMissing
from logoadmin.domain.kernel.kinds import ROLES, USERS
from logoadmin.domain.kernel.limits import MAX_ID
from logoadmin.domain.opened_gallery import record_milestone
from logoadmin.ports.storage import UnitOfWork
from logoadmin.ports.tokens import Grant
from logoadmin.settings import Settings
from logoadmin.settings.rules import sign_in_rules
from logoadmin.settings.values import GITHUB, keys_in
from logoadmin.starting import MEMORY, access_tokens, given_keys, open_storage, start, stored_keys

_PAGE: Final = 500  # users


def rotate_keys(settings: Settings) -> int | None:
    """Rotate the token keys in the database; see :func:`~logoadmin.domain.identity.first_start.rotate_token_keys`.

    Returns:
        The seconds since the last rotation; None for the first.

    Raises:
        SettingsError: these keys are not in use.
        SchemaMismatch: the database is not ready; StorageUnavailable: it is out of reach.
    """
    if settings.token_key is not None and not settings.token_key_files:
        raise SettingsError(
            "The keys in the database are not in use, because LOGOADMIN_TOKEN_KEY is set: "
            "to rotate that, put a new key before the old one there"
        )
    with closing(open_storage(settings, interactive=False)) as storage:
        start(storage, settings, "never", SystemClock(), administrator=False)
        return rotate_token_keys(storage, SystemRandomness(), SystemClock())


def check_keys(settings: Settings) -> None:
    """Require that the token keys and the gallery keys in the settings can be used."""
    given_keys(settings)
    gallery_keys(settings)


def token_of_nobody(settings: Settings) -> str:
    """Return an access token without rights, which only services with the keys of these settings can verify.

    Its session does not exist, so every request that is otherwise well-formed gets 401. It expires after a minute.

    Raises:
        SettingsError: the keys cannot be used; TablesMissing: there are none; StorageUnavailable: the database with the
            keys is out of reach.
    """
    with closing(open_storage(settings, interactive=True)) as storage:
        keys = given_keys(settings) or stored_keys(storage)
    if not keys:
        raise TablesMissing
    now = SystemClock().now()
    grant = Grant(MAX_ID, "doctor", now, now + 60, ())
    return access_tokens(keys).sign(grant)


def files_of_database(settings: Settings) -> frozenset[Path]:
    """Return the files of the database, which no other file may replace; empty for a server."""
    url = settings.database.get_secret_value()
    return frozenset() if url == MEMORY else files_of(url)


def check_database(settings: Settings) -> Iterator[Result]:
    """Check the database for ``logoadmin doctor``, without changing it (contract K4)."""
    url = settings.database.get_secret_value()
    if url == MEMORY:
        yield warning(
            "database", "records are in memory and lost when the service stops", "set database to the URL of a database"
        )
        return
    # The supervisor of several workers also opens the database.
    yield from checks.check_database(url, settings.workers + (settings.workers > 1), may_create=settings.create)


def check_people(settings: Settings) -> Iterator[Result]:
    """Check who can sign in, and with which rights, for ``logoadmin doctor``; yield nothing without tables."""
    with suppress(StorageUnavailable), closing(open_storage(settings, interactive=False)) as storage:
        yield storage.snapshot(lambda uow: _administrators(uow, settings))
        if issuer := settings.oidc_issuer:
            yield storage.snapshot(lambda uow: _issuer(uow, settings, issuer))
        yield storage.snapshot(lambda uow: _factor_key(uow, settings))


def _administrators(uow: UnitOfWork, settings: Settings) -> Result:
    """Check that somebody could still repair everything in the console (contract B4, O4, O7)."""
    if uow.records(USERS).page(-1, 1) and not somebody_holds_all(uow, sign_in_rules(settings).ways):
        return wrong("administrators", NO_ADMINISTRATOR, LET_IN)
    return ok("administrators", "at least one can sign in")


def _issuer(uow: UnitOfWork, settings: Settings, issuer: str) -> Result:
    """Check that the roles of the issuer's users exist, without contacting the issuer (contract O7)."""
    if missing := [name for name in sign_in_rules(settings).single_sign_on.named if role_named(uow, name) is None]:
        text = f"users of {issuer} cannot get the role {', '.join(missing)}, which does not exist"
        return wrong("issuer", text, "create it, or correct oidc_roles and oidc_default_role")
    if issuer == GITHUB and settings.oidc_default_role is not None:
        role = uow.records(ROLES).get(role_named(uow, settings.oidc_default_role) or 0)
        if rights := [scope for scope in role.scope if scope != Scope.PROPOSALS_WRITE] if role else []:
            text = f"everybody with an account at GitHub gets {', '.join(rights)}"
            return warning("issuer", text, "set oidc_default_role to a role that may only submit works, such as member")
    return ok("issuer", f"the roles for users of {issuer} exist")


def _factor_key(uow: UnitOfWork, settings: Settings) -> Result:
    """Check that the secrets of authenticator apps can be decrypted (contract O1)."""
    secrets = TotpFactors(FernetEncryption(), keys_in(settings.factor_key))
    found, unreadable, last = 0, 0, -1
    while users := uow.records(USERS).page(last, _PAGE):
        last = users[-1].user_id
        for user in users:
            for factor in uow.identity.factors.of_user(user.user_id):
                if factor.kind == "totp" and factor.confirmed:
                    found += 1
                    unreadable += secrets.decrypted(uow, user.user_id, factor.secret) is None
    if not unreadable:
        return ok("factor_key", f"the secrets of {found} authenticator apps can be decrypted")
    which = "not set" if settings.factor_key is None else "another one"
    text = f"{which}: the secrets of {unreadable} of {found} authenticator apps cannot be decrypted"
    return wrong("factor_key", text, "add the key that encrypted them to factor_key, behind a comma")


@contextmanager
def _existing(settings: Settings) -> Iterator[None]:
    """Report a missing gallery as lost if the settings say that one exists (contract K9)."""
    try:
        yield
    except TablesMissing as error:
        raise TablesMissing(error.file, existed=not settings.create) from None


def back_up(settings: Settings, target: Path) -> None:
    """Write a complete copy of the database to a file."""
    with _existing(settings):
        copies.back_up(settings.database.get_secret_value(), target)


def back_up_into(settings: Settings, directory: Path, keep: int | None) -> Path:
    """Write a copy with the time in its name to a directory, and return it."""
    with _existing(settings):
        return copies.back_up_into(settings.database.get_secret_value(), directory, keep)


def record_backup(settings: Settings) -> None:
    """Record that a backup was made now, for metrics."""
    with closing(open_storage(settings, interactive=True)) as storage:
        record_milestone(storage, "last_backup", SystemClock().now())


def restore(settings: Settings, source: Path) -> None:
    """Create the database from a backup."""
    copies.restore(settings.database.get_secret_value(), source)


def restore_loaded(settings: Settings) -> None:
    """Finish the restore of a loaded dump."""
    copies.restore_loaded(settings.database.get_secret_value())


def move(settings: Settings, target: str, progress: copies.Progress) -> str:
    """Move the gallery to another database."""
    return copies.move(settings.database.get_secret_value(), target, progress)
