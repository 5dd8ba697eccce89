"""The composition root: the one place that chooses adapters."""

import logging
from typing import Final, Literal

from logoadmin.adapters.argon2_passwords import Argon2Passwords
from logoadmin.adapters.jwt_tokens import JwtTokens
from logoadmin.adapters.memory_sign_in_limits import MemorySignInLimits
from logoadmin.adapters.memory_storage import MemoryStorage
from logoadmin.adapters.system_clock import SystemClock
from logoadmin.adapters.system_randomness import SystemRandomness
from logoadmin.domain.access import Policy
from logoadmin.domain.errors import TablesMissing
from logoadmin.domain.logo_admin import LogoAdmin, Ports, Rules
from logoadmin.domain.services.sessions import Lifetimes
from logoadmin.domain.services.setup import first_start, stored_token_key
from logoadmin.ports.storage import Storage
from logoadmin.settings import Settings

MEMORY: Final = "memory:"

# Seconds that each step of reaching the database may take, so that all of them together stay below the 2 s within
# which a service answers (contract A20).
_PATIENCE: Final = 0.8

# A library says nothing unless its host asks for it.
logging.getLogger("logoadmin").addHandler(logging.NullHandler())

# When tables and the first administrator are made where they are missing: never; in an embedded database that is
# empty; in any that is empty; always, which also brings older tables up to date (contract H3).
Create = Literal["never", "embedded", "empty", "always"]


def open_gallery(
    settings: Settings, *, create: Create = "embedded", administrator: bool = True, patient: bool = False
) -> LogoAdmin:
    """Put a service together on the database that the settings name.

    Args:
        settings: everything that can be chosen.
        create: when to make what is missing.
        administrator: whether that includes the first administrator.
        patient: whether to give the database the time that long work takes, rather than an answer within 2 s.

    Raises:
        SettingsError: the settings cannot be used.
        StartError: the database cannot be made; SchemaMismatch: it is missing, older or newer than this program.
        StorageUnavailable: the database is out of reach.
    """
    url = settings.database.get_secret_value()
    storage = MemoryStorage() if url == MEMORY else _sql_storage(url, create, patient)
    try:
        return _on(storage, settings, start=create != "never", administrator=administrator)
    except BaseException:
        storage.close()
        raise


def _sql_storage(url: str, create: Create, patient: bool) -> Storage:
    # Imported here so that memory needs no database code (contract H6).
    from logoadmin.adapters.sql_storage import open_sql_storage

    storage = open_sql_storage(url, patience=None if patient else _PATIENCE)
    try:
        empty = create in {"embedded", "empty"} and storage.is_empty()
        if create == "always" or (empty and (create == "empty" or storage.embedded)):
            storage.prepare()
        storage.check_schema()
    except BaseException:
        storage.close()
        raise
    return storage


def _on(storage: Storage, settings: Settings, *, start: bool, administrator: bool) -> LogoAdmin:
    hasher = Argon2Passwords(settings.argon2_memory_kib, settings.argon2_passes)
    clock, randomness = SystemClock(), SystemRandomness()
    given = settings.admin_password.get_secret_value() if settings.admin_password is not None else None
    made_up = None
    if start:
        made_up = first_start(storage, hasher, randomness, clock, given, administrator=administrator)
    key = settings.token_key.get_secret_value() if settings.token_key is not None else stored_token_key(storage)
    if key is None:
        raise TablesMissing
    tokens = JwtTokens(key, settings.token_issuer, settings.token_audience)
    ports = Ports(storage, hasher, tokens, tokens, MemorySignInLimits(), randomness, clock)
    lifetimes = Lifetimes(settings.access_token_seconds, settings.session_seconds)
    return LogoAdmin(ports, Rules(settings.access or Policy.OPEN, lifetimes), made_up)
