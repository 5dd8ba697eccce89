"""The composition root: the one place that chooses adapters."""

import logging
from collections.abc import Iterator, Sequence
from contextlib import AbstractContextManager, closing, nullcontext
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Final, Literal

from logoadmin.adapters.argon2_passwords import Argon2Passwords
from logoadmin.adapters.fernet_encryption import FernetEncryption
from logoadmin.adapters.jwt_tokens import JwtTokens, Key, hs256_key, key_from_file
from logoadmin.adapters.memory_storage import MemoryStorage
from logoadmin.adapters.system_clock import SystemClock
from logoadmin.adapters.system_randomness import SystemRandomness
from logoadmin.domain.logo_admin import LogoAdmin, Ports, Rules
from logoadmin.domain.model.access import DOCTOR_SESSION_ID, DOCTOR_USER_ID, Policy
from logoadmin.domain.model.checks import Result, warning
from logoadmin.domain.model.errors import SettingsError, TablesMissing
from logoadmin.domain.open_sessions import Lifetimes
from logoadmin.domain.services.setup import first_start, is_started, rotate_token_keys, stored_token_keys
from logoadmin.ports.metrics import Metrics, NoMetrics
from logoadmin.ports.storage import Storage
from logoadmin.ports.tokens import Grant
from logoadmin.settings import Settings

if TYPE_CHECKING:
    from logoadmin.adapters.sql_storage import SqlStorage

    AnyStorage = MemoryStorage | SqlStorage

MEMORY: Final = "memory:"

_DOCTOR_SECONDS: Final = 60

# A library says nothing unless its host asks for it.
logging.getLogger("logoadmin").addHandler(logging.NullHandler())

# When tables and the first administrator are made where they are missing: never; in an embedded database that is
# empty; in any that is empty; always, which also brings older tables up to date (contract H3).
Create = Literal["never", "embedded", "empty", "always"]


def open_gallery(
    settings: Settings,
    *,
    create: Create = "embedded",
    administrator: bool = True,
    interactive: bool = True,
    counted: bool = False,
) -> LogoAdmin:
    """Put a service together on the database that the settings name.

    Args:
        settings: everything that can be chosen.
        create: when to make what is missing.
        administrator: whether that includes the first administrator.
        interactive: whether to give up on a database that does not answer within 2 s; long work waits for it.
        counted: whether events are counted (contract K2).

    Raises:
        SettingsError: the settings cannot be used.
        StartError: the database cannot be made, or what is named is none; SchemaMismatch: it is missing, older or newer
            than this program.
        StorageUnavailable: the database is out of reach.
    """
    # First: what is made in a new database is made for a service that can start.
    given = _given_keys(settings)
    metrics = _metrics() if counted else NoMetrics()
    storage = _storage(settings, interactive, metrics)
    try:
        with _starting(storage, settings, interactive) as starting:
            made_up = _start(starting, settings, create, administrator)
            # Before the other storage closes its file: who opens one that others close may have to wait.
            return _on(storage, settings, given, made_up, metrics)
    except BaseException:
        storage.close()
        raise


def rotate_keys(settings: Settings) -> bool:
    """Rotate the keys for tokens in the database that the settings name, see :func:`rotate_token_keys`.

    Raises:
        SettingsError: the settings say that those keys are not in use.
        SchemaMismatch: the database is not ready; StorageUnavailable: it is out of reach.
    """
    if not _wants_stored_keys(settings):
        raise SettingsError(
            "The keys in the database are not in use, because LOGOADMIN_TOKEN_KEY is set: "
            "to rotate that, put a new key before the old one there"
        )
    with closing(_storage(settings, interactive=False)) as storage:
        _start(storage, settings, "never", administrator=False)
        return rotate_token_keys(storage, SystemRandomness())


def files_of_database(settings: Settings) -> frozenset[Path]:
    """Return the files that are the database's own, which nothing else may replace; a server's are not ours.

    Raises:
        SettingsError: the database's URL cannot be used.
    """
    url = settings.database.get_secret_value()
    if url == MEMORY:
        return frozenset()
    # Imported here as for storage, below.
    from logoadmin.adapters.sql_storage import files_of

    return files_of(url)


def back_up(settings: Settings, target: Path) -> None:
    """Make a file that is a whole copy of the database, see :mod:`logoadmin.adapters.sql_storage.backups`."""
    from logoadmin.adapters.sql_storage import backups

    backups.back_up(settings.database.get_secret_value(), target)


def back_up_into(settings: Settings, directory: Path, keep: int | None) -> Path:
    """Make such a file in a directory, see :mod:`logoadmin.adapters.sql_storage.backups`."""
    from logoadmin.adapters.sql_storage import backups

    return backups.back_up_into(settings.database.get_secret_value(), directory, keep)


def restore(settings: Settings, source: Path) -> None:
    """Make the database of such a file, see :mod:`logoadmin.adapters.sql_storage.backups`."""
    from logoadmin.adapters.sql_storage import backups

    backups.restore(settings.database.get_secret_value(), source)


def restore_loaded(settings: Settings) -> None:
    """Finish a restore into the database, see :mod:`logoadmin.adapters.sql_storage.backups`."""
    from logoadmin.adapters.sql_storage import backups

    backups.restore_loaded(settings.database.get_secret_value())


def check_keys(settings: Settings) -> None:
    """Make sure that the keys for tokens that the settings give can be used.

    Raises:
        SettingsError: saying of which key what is wrong.
    """
    _given_keys(settings)


def check_database(settings: Settings) -> Iterator[Result]:
    """Check the database that the settings name, as ``logoadmin doctor`` does; nothing is changed (contract K4).

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

    # Beside several workers there is the one that looks after them, which opens the database, too.
    yield from checks.check_database(url, settings.workers + (settings.workers > 1))


def doctor_token(settings: Settings) -> str:
    """Return a token that is good for a minute, by which ``logoadmin doctor`` proves to hold a key of the service.

    Raises:
        SettingsError: the keys cannot be used; TablesMissing: there are none; StorageUnavailable: the database that
            has them is out of reach.
    """
    with closing(_storage(settings, interactive=True)) as storage:
        keys = [*_given_keys(settings), *_stored_keys(storage, settings)]
    if not keys:
        raise TablesMissing
    now = SystemClock().now()
    tokens = JwtTokens(keys, settings.token_issuer, settings.token_audience)
    return tokens.sign(Grant(DOCTOR_USER_ID, DOCTOR_SESSION_ID, now, now + _DOCTOR_SECONDS, ()))


def _metrics() -> Metrics:
    """Return what counts, where the package for it is installed."""
    try:
        from logoadmin.adapters.prometheus_metrics import PrometheusMetrics
    except ModuleNotFoundError:
        return NoMetrics()
    return PrometheusMetrics()


def _storage(settings: Settings, interactive: bool, metrics: Metrics | None = None) -> "AnyStorage":
    url = settings.database.get_secret_value()
    if url == MEMORY:
        return MemoryStorage()
    # Imported here so that memory needs no database code (contract H6).
    from logoadmin.adapters.sql_storage import STEP_TIMEOUT, open_sql_storage

    return open_sql_storage(url, timeout=STEP_TIMEOUT if interactive else None, metrics=metrics)


def _starting(storage: "AnyStorage", settings: Settings, interactive: bool) -> "AbstractContextManager[AnyStorage]":
    """Return the storage for the start: of a file, one that waits while others start or import."""
    if not interactive or isinstance(storage, MemoryStorage) or not storage.embedded:
        return nullcontext(storage)
    return closing(_storage(settings, interactive=False))


def _start(storage: "AnyStorage", settings: Settings, create: Create, administrator: bool) -> str | None:
    """Make what is missing, if that is wanted; return the first administrator's password if it was made up."""
    hasher = _hasher(settings)
    given = settings.admin_password.get_secret_value() if settings.admin_password is not None else None
    first = partial(
        first_start,
        hasher=hasher,
        randomness=SystemRandomness(),
        clock=SystemClock(),
        admin_password=given,
        administrator=administrator,
    )
    if isinstance(storage, MemoryStorage):
        return storage.write(first)
    empty = create in {"embedded", "empty"} and storage.is_empty()
    if create != "always" and not (empty and (create == "empty" or storage.embedded)):
        storage.check()
        if create == "never" or storage.read(partial(is_started, administrator=administrator)):
            return None
    return storage.prepare(first)


def _on(
    storage: Storage, settings: Settings, given_keys: Sequence[Key], made_up: str | None, metrics: Metrics
) -> LogoAdmin:
    keys = [*given_keys, *_stored_keys(storage, settings)]
    if not keys:
        raise TablesMissing
    tokens = JwtTokens(keys, settings.token_issuer, settings.token_audience)
    ports = Ports(
        storage, _hasher(settings), tokens, tokens, FernetEncryption(), SystemRandomness(), SystemClock(), metrics
    )
    lifetimes = Lifetimes(settings.access_token_seconds, settings.session_seconds, settings.session_days)
    return LogoAdmin(ports, Rules(settings.access or Policy.OPEN, lifetimes), made_up)


def _hasher(settings: Settings) -> Argon2Passwords:
    return Argon2Passwords(settings.argon2_memory_kib, settings.argon2_passes)


def _given_keys(settings: Settings) -> list[Key]:
    """Return the keys for tokens that the settings give, of which the first signs (contract C2)."""
    keys = [key_from_file(path, signs=number == 0) for number, path in enumerate(settings.token_key_files or ())]
    if settings.token_key is not None:
        text = settings.token_key.get_secret_value()
        keys += [hs256_key(secret) for secret in text.split() or [text]]
    return keys


def _stored_keys(storage: Storage, settings: Settings) -> list[Key]:
    return [hs256_key(secret) for secret in stored_token_keys(storage)] if _wants_stored_keys(settings) else []


def _wants_stored_keys(settings: Settings) -> bool:
    """Tell whether the keys in the database are in use: with files too, so that moving to these signs nobody out."""
    return settings.token_key is None or bool(settings.token_key_files)
