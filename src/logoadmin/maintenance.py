"""The composition root of maintenance: keys, backups and checks of the database that the settings name."""

from collections.abc import Iterator
from contextlib import closing, contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Final

from logoadmin.adapters.fernet_encryption import FernetEncryption
from logoadmin.adapters.system_environment import SystemClock, SystemRandomness
from logoadmin.bootstrap import gallery_keys
from logoadmin.checks import Result, warning
from logoadmin.domain.identity.escalation import somebody_holds_all
from logoadmin.domain.identity.first_start import rotate_token_keys
from logoadmin.domain.identity.roles import role_named
from logoadmin.domain.identity.totp import TotpFactors
from logoadmin.domain.kernel.access import Scope
from logoadmin.domain.kernel.errors import SettingsError, TablesMissing
from logoadmin.domain.kernel.kinds import ROLES, USERS
from logoadmin.domain.kernel.limits import MAX_ID
from logoadmin.domain.opened_gallery import record_milestone
from logoadmin.ports.storage import UnitOfWork
from logoadmin.ports.tokens import Grant
from logoadmin.settings import Settings
from logoadmin.settings.rules import sign_in_rules
from logoadmin.settings.sign_in import GITHUB
from logoadmin.settings.values import keys_in
from logoadmin.starting import MEMORY, access_tokens, given_keys, open_storage, start, stored_keys

_PAGE: Final = 500  # users

if TYPE_CHECKING:
    from logoadmin.adapters.sql_storage.copies import Progress


def rotate_keys(settings: Settings) -> int | None:
    """Rotate the token keys in the database, see :func:`~logoadmin.domain.identity.first_start.rotate_token_keys`.

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
    """Require that the token keys and the gallery keys in the settings can be used.

    Raises:
        SettingsError: one of them cannot; the text names it.
    """
    given_keys(settings)
    gallery_keys(settings)


def token_of_nobody(settings: Settings) -> str:
    """Return an access token that only services with the keys of these settings verify, and that has no rights.

    Its session does not exist, so that it gets 401 wherever a request is otherwise well-formed; it lasts a minute.

    Raises:
        SettingsError: the keys cannot be used; TablesMissing: there are none; StorageUnavailable: the database that
            has them is out of reach.
    """
    with closing(open_storage(settings, interactive=True)) as storage:
        keys = given_keys(settings) or stored_keys(storage)
    if not keys:
        raise TablesMissing
    now = SystemClock().now()
    grant = Grant(MAX_ID, "doctor", now, now + 60, ())
    return access_tokens(keys).sign(grant)


def unreadable_factors(settings: Settings) -> tuple[int, int]:
    """Return the number of authenticator apps, and of those whose secrets no key of ``factor_key`` decrypts.

    Raises:
        SettingsError: the URL cannot be used; StorageUnavailable: the database is out of reach, or has no tables.
    """
    secrets = TotpFactors(FernetEncryption(), keys_in(settings.factor_key))

    def counted(uow: UnitOfWork) -> tuple[int, int]:
        found, unreadable, last = 0, 0, -1
        while users := uow.records(USERS).page(last, _PAGE):
            last = users[-1].user_id
            for user in users:
                for factor in uow.identity.factors.of_user(user.user_id):
                    if factor.kind == "totp" and factor.confirmed:
                        found += 1
                        unreadable += secrets.decrypted(uow, user.user_id, factor.secret) is None
        return found, unreadable

    with closing(open_storage(settings, interactive=False)) as storage:
        return storage.snapshot(counted)


def files_of_database(settings: Settings) -> frozenset[Path]:
    """Return the files of the database, which no other file may replace; a server has none.

    Raises:
        SettingsError: the URL of the database cannot be used.
    """
    url = settings.database.get_secret_value()
    if url == MEMORY:
        return frozenset()
    # Imported here, because memory needs no database code (contract H6).
    from logoadmin.adapters.sql_storage import files_of

    return files_of(url)


def check_database(settings: Settings) -> Iterator[Result]:
    """Check the database for ``logoadmin doctor``, without changing it (contract K4).

    Raises:
        SettingsError: the URL cannot be used.
    """
    url = settings.database.get_secret_value()
    if url == MEMORY:
        yield warning(
            "database", "records are in memory and lost when the service stops", "set database to the URL of a database"
        )
        return
    from logoadmin.adapters.sql_storage import checks

    # The supervisor of several workers also opens the database.
    yield from checks.check_database(url, settings.workers + (settings.workers > 1), may_create=settings.create)


def locks_out_administrators(settings: Settings) -> bool:
    """Return whether there are users, and none who holds everything can sign in, in the ways that the settings leave.

    See contract B4 and O4.

    Raises:
        SettingsError: the URL cannot be used; StorageUnavailable: the database is out of reach, or has no tables.
    """
    ways = sign_in_rules(settings).ways
    with closing(open_storage(settings, interactive=True)) as storage:
        return storage.read(lambda uow: bool(uow.records(USERS).page(-1, 1)) and not somebody_holds_all(uow, ways))


def missing_roles(settings: Settings) -> tuple[str, ...]:
    """Return the roles that the settings give to users of the issuer, and that do not exist (contract O7).

    Raises:
        SettingsError: the URL cannot be used; StorageUnavailable: the database is out of reach, or has no tables.
    """
    named = sign_in_rules(settings).single_sign_on.named
    with closing(open_storage(settings, interactive=True)) as storage:
        return storage.read(lambda uow: tuple(name for name in named if role_named(uow, name) is None))


def rights_of_strangers(settings: Settings) -> tuple[str, ...]:
    """Return the rights that everybody with an account at GitHub gets, beyond submitting works (contract O7).

    Raises:
        SettingsError: the URL cannot be used; StorageUnavailable: the database is out of reach, or has no tables.
    """
    name = settings.oidc_default_role
    if settings.oidc_issuer != GITHUB or name is None:
        return ()
    with closing(open_storage(settings, interactive=True)) as storage:
        role = storage.read(lambda uow: uow.records(ROLES).get(role_named(uow, name) or 0))
    return () if role is None else tuple(scope for scope in role.scope if scope != Scope.PROPOSALS_WRITE)


@contextmanager
def _existing(settings: Settings) -> Iterator[None]:
    """Report a missing gallery as a loss where the settings say that there is one (contract K9)."""
    try:
        yield
    except TablesMissing as error:
        raise TablesMissing(error.file, existed=not settings.create) from None


def back_up(settings: Settings, target: Path) -> None:
    """Write a whole copy of the database into a file, see :mod:`logoadmin.adapters.sql_storage.copies`."""
    from logoadmin.adapters.sql_storage import copies

    with _existing(settings):
        copies.back_up(settings.database.get_secret_value(), target)


def back_up_into(settings: Settings, directory: Path, keep: int | None) -> Path:
    """Write a copy into a directory, with the time in its name, see :mod:`logoadmin.adapters.sql_storage.copies`."""
    from logoadmin.adapters.sql_storage import copies

    with _existing(settings):
        return copies.back_up_into(settings.database.get_secret_value(), directory, keep)


def record_backup(settings: Settings) -> None:
    """Record that a backup was made now, for metrics.

    Raises:
        StorageUnavailable: the database is out of reach, or cannot be written.
    """
    with closing(open_storage(settings, interactive=True)) as storage:
        record_milestone(storage, "last_backup", SystemClock().now())


def restore(settings: Settings, source: Path) -> None:
    """Create the database from a backup, see :mod:`logoadmin.adapters.sql_storage.copies`."""
    from logoadmin.adapters.sql_storage import copies

    copies.restore(settings.database.get_secret_value(), source)


def restore_loaded(settings: Settings) -> None:
    """Finish the restore of a dump that was loaded, see :mod:`logoadmin.adapters.sql_storage.copies`."""
    from logoadmin.adapters.sql_storage import copies

    copies.restore_loaded(settings.database.get_secret_value())


def move(settings: Settings, target: str, progress: "Progress") -> str:
    """Move the gallery into another database, see :func:`logoadmin.adapters.sql_storage.copies.move`."""
    from logoadmin.adapters.sql_storage import copies

    return copies.move(settings.database.get_secret_value(), target, progress)
