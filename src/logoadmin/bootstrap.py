"""The composition root: the one place that chooses adapters."""

from logoadmin.adapters.argon2_passwords import Argon2Passwords
from logoadmin.adapters.jwt_tokens import JwtTokens
from logoadmin.adapters.memory_sign_in_limits import MemorySignInLimits
from logoadmin.adapters.memory_storage import MemoryStorage
from logoadmin.adapters.system_clock import SystemClock
from logoadmin.adapters.system_randomness import SystemRandomness
from logoadmin.domain.access import Policy
from logoadmin.domain.errors import SchemaMismatch
from logoadmin.domain.logo_admin import LogoAdmin, Ports, Rules
from logoadmin.domain.services.sessions import Lifetimes
from logoadmin.domain.services.setup import first_start, stored_token_key
from logoadmin.ports.storage import Storage
from logoadmin.settings import Settings

MEMORY = "memory:"

# Seconds that a connection or an answer of the database may take. A service answers within 2 s whatever happens
# (contract A20), of which a new connection and a statement may each take their part; a command can wait.
_PATIENCE_OF_A_SERVICE = 0.8
_PATIENCE_OF_A_COMMAND = 60.0


def open_gallery(settings: Settings, *, create: bool | None = None, patient: bool = False) -> LogoAdmin:
    """Put a service together on the database that the settings name.

    Args:
        settings: everything that can be chosen.
        create: whether to make tables and the first administrator where they are missing, and to bring older tables
            up to date (contract H3); None for only where an embedded database is empty.
        patient: whether to give the database the time that long work takes, rather than an answer within 2 s.

    Raises:
        SettingsError: the settings cannot be used.
        SchemaMismatch: the tables are missing, older or newer than this program.
        StorageUnavailable: the database is out of reach.
    """
    storage = _storage(settings, create, patient)
    try:
        return _on(storage, settings)
    except BaseException:
        storage.close()
        raise


def _storage(settings: Settings, create: bool | None, patient: bool) -> Storage:
    url = settings.database.get_secret_value()
    if url == MEMORY:
        return MemoryStorage()
    # Imported here so that memory needs no database code (contract H6).
    from logoadmin.adapters.sql_storage import SqlStorage

    storage = SqlStorage(url, patience=_PATIENCE_OF_A_COMMAND if patient else _PATIENCE_OF_A_SERVICE)
    try:
        if create or (create is None and storage.embedded and storage.is_empty()):
            storage.prepare()
        storage.check_schema()
    except BaseException:
        storage.close()
        raise
    return storage


def _on(storage: Storage, settings: Settings) -> LogoAdmin:
    hasher = Argon2Passwords(settings.argon2_memory_kib, settings.argon2_passes)
    clock, randomness = SystemClock(), SystemRandomness()
    given = settings.admin_password.get_secret_value() if settings.admin_password else None
    made_up = first_start(storage, hasher, randomness, clock, given)
    key = settings.token_key.get_secret_value() if settings.token_key else stored_token_key(storage)
    if key is None:
        raise SchemaMismatch("The database has no key for tokens; run: logoadmin init")
    tokens = JwtTokens(key, settings.token_issuer, settings.token_audience)
    ports = Ports(storage, hasher, tokens, tokens, MemorySignInLimits(), randomness, clock)
    lifetimes = Lifetimes(settings.access_token_seconds, settings.session_seconds)
    return LogoAdmin(ports, Rules(settings.access or Policy.OPEN, lifetimes), made_up)
