"""Starting a gallery: its storage, its published files and the keys of its tokens (contract C2, H3, L1)."""

from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path
from typing import Final, Literal

from logoadmin.adapters.argon2_passwords import Argon2Passwords
from logoadmin.adapters.folder_gallery_files import FolderGalleryFiles
from logoadmin.adapters.jwt_tokens import JwtTokens, Key, hs256_key, keys_of
from logoadmin.adapters.memory_gallery_files import MemoryGalleryFiles
from logoadmin.adapters.memory_storage import MemoryStorage
from logoadmin.adapters.system_environment import SystemClock, SystemRandomness
from logoadmin.domain.identity.first_start import first_start, is_started, start_with_key_files, stored_token_keys
from logoadmin.domain.identity.new_passwords import NewPasswords
from logoadmin.domain.identity.sign_in_rules import ACCESS_TOKEN_SECONDS
from logoadmin.domain.kernel.errors import InvalidInput, TablesMissing
from logoadmin.ports.environment import Clock
from logoadmin.ports.gallery_files import GalleryFiles
from logoadmin.ports.metrics import Metrics
from logoadmin.ports.storage import Storage, StorageLifecycle
from logoadmin.settings import Settings, wrong_settings
from logoadmin.settings.rules import sign_in_rules

MEMORY: Final = "memory:"
# `iss` and `aud` of access tokens.
_TOKEN_NAME: Final = "logoadmin"

# When missing tables and the first administrator are created: never, with "existing" if they are known to have existed;
# in an empty embedded database; in any empty database; always, which also migrates older tables (contract H3). Memory
# always gets them.
Create = Literal["never", "existing", "embedded", "empty", "always"]


def open_storage(settings: Settings, *, interactive: bool, metrics: Metrics | None = None) -> StorageLifecycle:
    """Return the storage that the settings name."""
    url = settings.database.get_secret_value()
    if url == MEMORY:
        return MemoryStorage()
    # Imported here, because memory needs no database code (contract H6).
    from logoadmin.adapters.sql_storage import STEP_TIMEOUT, open_sql_storage

    return open_sql_storage(url, timeout=STEP_TIMEOUT if interactive else None, metrics=metrics)


def folder(path: Path) -> GalleryFiles:
    """Return the files of a folder, for the published gallery."""
    return FolderGalleryFiles(path)


def gallery_dir(settings: Settings) -> Path | None:
    """Return the folder into which the service publishes; None for memory (contract L1)."""
    url = settings.database.get_secret_value()
    if settings.gallery_dir is not None:
        return Path(settings.gallery_dir).absolute()
    if url == MEMORY:
        return None
    from logoadmin.adapters.sql_storage import path_of

    path = path_of(url).absolute()
    return path.with_name(f"{path.name}-gallery")


def published_files(settings: Settings) -> GalleryFiles:
    """Return the files that the service publishes, in a folder or in memory."""
    path = gallery_dir(settings)
    return MemoryGalleryFiles() if path is None else folder(path)


def start(
    storage: StorageLifecycle, settings: Settings, create: Create, clock: Clock, *, administrator: bool
) -> str | None:
    """Create missing tables and the first administrator, as ``create`` says; return a generated password.

    Raises:
        TablesMissing: tables are missing and may not be created (contract K9).
    """
    if create != "always" and settings.database.get_secret_value() != MEMORY:
        may_create = settings.create and (create == "empty" or (create == "embedded" and storage.embedded))
        if not (may_create and storage.is_empty()):
            try:
                storage.check()
            except TablesMissing as error:
                existed = error.existed or create == "existing" or not settings.create
                raise TablesMissing(error.file, existed=existed) from None
            if create in ("never", "existing") or storage.read(
                lambda uow: is_started(uow, administrator=administrator)
            ):
                return None
    password = None if settings.admin_password is None else settings.admin_password.get_secret_value()
    min_length = sign_in_rules(settings).min_password_length
    new_passwords = NewPasswords(hasher_of(settings), min_length, title=lambda: settings.gallery_title)
    arguments = new_passwords, SystemRandomness(), clock, password
    try:
        if password is not None and storage.is_empty():  # before a file is created
            new_passwords.check(password)
        return storage.prepare(lambda uow: first_start(uow, *arguments, administrator=administrator))
    except InvalidInput as error:
        problems = error.problems
    raise wrong_settings(f"admin_password: {problem.msg}" for problem in problems)


def access_tokens(keys: Sequence[Key]) -> JwtTokens:
    """Return the adapter that signs and verifies access tokens with these keys (contract C2)."""
    return JwtTokens(keys, _TOKEN_NAME, _TOKEN_NAME, ACCESS_TOKEN_SECONDS)


def given_keys(settings: Settings) -> list[Key]:
    """Return the token keys in the settings; the first one signs (contract C2)."""
    text = None if settings.token_key is None else settings.token_key.get_secret_value()
    return keys_of(settings.token_key_files, text)


def stored_keys(storage: Storage) -> list[Key]:
    """Return the token keys in the database."""
    return [hs256_key(key) for key in stored_token_keys(storage)]


def token_keys(given: Sequence[Key], storage: Storage, settings: Settings, create: Create) -> list[Key]:
    """Return the given token keys, and the other accepted ones."""
    keys = [*given, *_accepted_keys(storage, settings)]
    if not keys:
        raise TablesMissing(existed=create == "existing" or not settings.create)
    return keys


def _accepted_keys(storage: Storage, settings: Settings) -> list[Key]:
    """Return the accepted token keys in the database; with key files, they are accepted for a while (contract C2).

    In this way, a change to key files signs nobody out: earlier tokens stay valid until they expire and are refreshed.
    """
    if not settings.token_key_files:
        return stored_keys(storage) if settings.token_key is None else []
    now = SystemClock().now()
    since = start_with_key_files(storage, now)
    is_over = now - since >= ACCESS_TOKEN_SECONDS
    return [] if is_over else [replace(key, trusted_since=since) for key in stored_keys(storage)]


def hasher_of(settings: Settings) -> Argon2Passwords:
    """Return the hasher of passwords, with the parameters that the settings choose (contract C4)."""
    return Argon2Passwords(settings.argon2_memory_kib, settings.argon2_passes)
