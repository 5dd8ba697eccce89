"""The composition root of a gallery: chooses its adapters."""

import logging
from collections.abc import Sequence
from contextlib import closing, nullcontext
from dataclasses import replace
from functools import lru_cache, partial
from importlib.resources import files
from importlib.util import find_spec
from pathlib import Path
from typing import Final, Literal

from logoadmin.adapters.argon2_passwords import Argon2Passwords
from logoadmin.adapters.ed25519_signing import Ed25519Signing, keys_of_file
from logoadmin.adapters.fernet_encryption import FernetEncryption
from logoadmin.adapters.folder_gallery_files import FolderGalleryFiles
from logoadmin.adapters.html_gallery_page import HtmlGalleryPage
from logoadmin.adapters.httpcore_outgoing import GuardedOutgoing
from logoadmin.adapters.jwt_tokens import JwtTokens, Key, derived_keys, hs256_key, keys_of
from logoadmin.adapters.memory_gallery_files import MemoryGalleryFiles
from logoadmin.adapters.memory_storage import MemoryStorage
from logoadmin.adapters.oidc_issuer import OidcIssuer
from logoadmin.adapters.system_environment import SystemClock, SystemRandomness
from logoadmin.domain.gallery.pictures import NOT_INSTALLED as NO_PICTURES
from logoadmin.domain.identity.factors.records import NO_NAME, NOT_INSTALLED
from logoadmin.domain.identity.first_start import first_start, is_started, start_with_key_files, stored_token_keys
from logoadmin.domain.identity.new_passwords import NewPasswords
from logoadmin.domain.identity.sessions.callers import Lifetimes
from logoadmin.domain.identity.sign_in_rules import SignInRules, SingleSignOnRules, Ways
from logoadmin.domain.kernel.access import Policy
from logoadmin.domain.kernel.errors import InvalidInput, StartError, TablesMissing
from logoadmin.domain.logo_admin import LogoAdmin, Rules
from logoadmin.domain.public_url import PublicUrl
from logoadmin.domain.publication.css.targets import Targets
from logoadmin.domain.publication.files.publishing import ASSET_NAME
from logoadmin.domain.publication.publication_records import NO_LINKS, PAGE, READER, Links, Page, PublishingRules
from logoadmin.extras import install_extra
from logoadmin.ports.all_ports import Ports
from logoadmin.ports.gallery.pictures import PictureCodec
from logoadmin.ports.identity.issuer import Issuer
from logoadmin.ports.identity.passkeys import OpenPasskeys, Passkeys
from logoadmin.ports.kernel.environment import Clock
from logoadmin.ports.kernel.metrics import Metrics, NoMetrics
from logoadmin.ports.publication.gallery_files import GalleryFiles
from logoadmin.ports.publication.gallery_page import GalleryPage
from logoadmin.ports.publication.signing import SigningKey
from logoadmin.ports.storage import Storage, StorageLifecycle
from logoadmin.settings import Settings, wrong_settings
from logoadmin.settings.gallery_page import targets_of
from logoadmin.settings.single_sign_on import host_of, roles_of
from logoadmin.settings.values import keys_in, urls_in

MEMORY: Final = "memory:"
# `iss` and `aud` of access tokens.
_TOKEN_NAME: Final = "logoadmin"

# A library logs nothing unless its host asks for it.
logging.getLogger("logoadmin").addHandler(logging.NullHandler())

# When missing tables and the first administrator are created: never, also where they are known to have existed; in an
# empty embedded database; in any empty one; always, which also brings older tables up to date (contract H3). Memory
# always gets them.
Create = Literal["never", "existing", "embedded", "empty", "always"]


def open_gallery(
    settings: Settings,
    *,
    create: Create = "embedded",
    administrator: bool = True,
    interactive: bool = True,
    counted: bool = False,
    demo_clock: Clock | None = None,
) -> LogoAdmin:
    """Open a gallery on the database that the settings name.

    Args:
        create: when to create what is missing.
        administrator: whether that includes the first administrator.
        interactive: whether to give up on a database that does not respond within 2 s; long work waits longer.
        counted: whether events are counted (contract K2).
        demo_clock: the time of a demo, whose pages say that it is one (contract Q4).

    Raises:
        SettingsError: the settings cannot be used.
        StartError: the database cannot be created, or is not a database; SchemaMismatch: it is missing, older or newer
            than this program.
        StorageUnavailable: the database is out of reach.
    """
    # First, so that nothing is created for a service that cannot start.
    keys, signing_keys, issuer = given_keys(settings), gallery_keys(settings), issuer_of(settings)
    metrics = _metrics() if counted else NoMetrics()
    storage = open_storage(settings, interactive=interactive, metrics=metrics)
    try:
        # Others may start or import in the same file, which takes longer than interactive callers wait.
        is_slow = interactive and storage.embedded
        with closing(open_storage(settings, interactive=False)) if is_slow else nullcontext(storage) as starting:
            generated_password = start(
                starting, settings, create, demo_clock or SystemClock(), administrator=administrator
            )
            keys = _token_keys(keys, storage, settings, create)
        return _gallery(storage, settings, keys, signing_keys, issuer, metrics, demo_clock, generated_password)
    except BaseException:
        storage.close()
        raise


def _gallery(
    storage: Storage,
    settings: Settings,
    keys: Sequence[Key],
    signing_keys: Sequence[SigningKey],
    issuer: Issuer | None,
    metrics: Metrics,
    demo_clock: Clock | None,
    generated_password: str | None,
) -> LogoAdmin:
    tokens = access_tokens(keys)
    outgoing = None if find_spec("httpx2") is None else GuardedOutgoing(settings.outgoing_hosts)  # an optional package
    ports = Ports(
        storage=storage,
        hasher=_hasher(settings),
        signer=tokens,
        verifier=tokens,
        encryption=FernetEncryption(),
        randomness=SystemRandomness(),
        clock=demo_clock or SystemClock(),
        signing=Ed25519Signing(),
        passkeys=_passkeys(settings),
        pictures=_pictures(),
        metrics=metrics,
        outgoing=outgoing,
        gallery_keys=signing_keys,
        factor_keys=keys_in(settings.factor_key),
        challenge_keys=derived_keys(keys, "challenge"),
        issuer=issuer,
        receivers=outgoing,
        published=_published(settings),
        page=_gallery_page(),
    )
    return LogoAdmin(ports, _rules(settings, outgoing, demo=demo_clock is not None), generated_password)


def _rules(settings: Settings, outgoing: GuardedOutgoing | None, *, demo: bool) -> Rules:
    """Return the choices of the operator."""
    urls = urls_in(settings.notify_urls)
    if urls and outgoing is None:
        raise StartError("Notices to notify_urls cannot be sent", install_extra("client"))
    return Rules(
        access=settings.access,
        lifetimes=Lifetimes(session_days=settings.session_days),
        publishing=_publishing(settings, demo=demo),
        sign_in=sign_in_rules(settings),
        public_url=settings.effective_public_url,
        picture_space=settings.picture_space,
        demo=demo,
        proposal_days=settings.proposal_days,
        console_url=f"{settings.effective_public_url.base}/console/",
        notify_urls=urls,
    )


def sign_in_rules(settings: Settings) -> SignInRules:
    """Return the rules about signing in that the settings choose (contract O)."""
    is_guarded = settings.access is Policy.GUARDED
    return SignInRules(
        second_factor=settings.second_factor,
        min_password_length=settings.min_password_length if is_guarded else None,
        event_days=settings.event_days,
        ways=Ways(settings.password_sign_in, not isinstance(_passkeys(settings), str), settings.oidc_issuer),
        single_sign_on=SingleSignOnRules(roles_of(settings), settings.oidc_default_role),
    )


def open_storage(settings: Settings, *, interactive: bool, metrics: Metrics | None = None) -> StorageLifecycle:
    """Return the storage that the settings name."""
    url = settings.database.get_secret_value()
    if url == MEMORY:
        return MemoryStorage()
    # Imported here, because memory needs no database code (contract H6).
    from logoadmin.adapters.sql_storage import STEP_TIMEOUT, open_sql_storage

    return open_sql_storage(url, timeout=STEP_TIMEOUT if interactive else None, metrics=metrics)


def start(
    storage: StorageLifecycle, settings: Settings, create: Create, clock: Clock, *, administrator: bool
) -> str | None:
    """Create what is missing, if wanted; return the first administrator's password if it was generated.

    Raises:
        TablesMissing: nothing may be created (contract K9).
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
    new_passwords = NewPasswords(_hasher(settings), min_length, title=lambda: settings.gallery_title)
    given = new_passwords, SystemRandomness(), clock, password
    try:
        if password is not None and storage.is_empty():  # before a file is created
            new_passwords.check(password)
        return storage.prepare(lambda uow: first_start(uow, *given, administrator=administrator))
    except InvalidInput as error:
        problems = error.problems
    raise wrong_settings(f"admin_password: {problem.msg}" for problem in problems)


def access_tokens(keys: Sequence[Key]) -> JwtTokens:
    """Return the access tokens that these keys sign and verify (contract C2)."""
    return JwtTokens(keys, _TOKEN_NAME, _TOKEN_NAME, Lifetimes().access_token)


def given_keys(settings: Settings) -> list[Key]:
    """Return the token keys in the settings, of which the first signs (contract C2)."""
    text = "" if settings.token_key is None else settings.token_key.get_secret_value()
    return keys_of(settings.token_key_files or (), text)


def signs_with_stored_keys(settings: Settings) -> bool:
    """Return whether the token keys in the database sign, because the settings have none."""
    return settings.token_key is None and not settings.token_key_files


def stored_keys(storage: Storage) -> list[Key]:
    """Return the token keys in the database."""
    return [hs256_key(key) for key in stored_token_keys(storage)]


def _token_keys(given: Sequence[Key], storage: Storage, settings: Settings, create: Create) -> list[Key]:
    """Return the token keys that are given and those that are accepted besides.

    Raises:
        TablesMissing: there is none.
    """
    keys = [*given, *_accepted_keys(storage, settings)]
    if not keys:
        raise TablesMissing(existed=create == "existing" or not settings.create)
    return keys


def _accepted_keys(storage: Storage, settings: Settings) -> list[Key]:
    """Return the token keys in the database that are accepted, those beside key files for a while (contract C2).

    A change to key files signs nobody out: tokens that were signed before expire, and are refreshed.
    """
    if signs_with_stored_keys(settings):
        return stored_keys(storage)
    if not settings.token_key_files:
        return []
    now = SystemClock().now()
    since = start_with_key_files(storage, now)
    is_over = now - since >= Lifetimes().access_token
    return [] if is_over else [replace(key, trusted_since=since) for key in stored_keys(storage)]


def gallery_keys(settings: Settings) -> tuple[SigningKey, ...]:
    """Return the keys in the gallery key file, of which the first is the current one (contract L7).

    Raises:
        SettingsError: it cannot be read, or a key in it cannot be used.
    """
    path = settings.gallery_key_file
    return () if path is None else keys_of_file(path)


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


def _published(settings: Settings) -> GalleryFiles:
    """Return where the service publishes: a folder, or memory."""
    path = gallery_dir(settings)
    return MemoryGalleryFiles() if path is None else folder(path)


def _publishing(settings: Settings, *, demo: bool) -> PublishingRules:
    return PublishingRules(
        settings.gallery_days,
        _asset("reader", READER),
        settings.publish_imports,
        settings.gallery_dir is None,
        Page(settings.gallery_title, settings.gallery_home, demo) if settings.gallery_page else None,
        Targets(targets_of(settings)),
        *_links(settings),
    )


def _gallery_page() -> GalleryPage:
    folder = files("logoadmin").joinpath("gallery_page")
    beside = {each.name: each.read_bytes() for each in folder.iterdir() if ASSET_NAME.fullmatch(each.name)}
    return HtmlGalleryPage(_asset("gallery_page", PAGE).decode(), dict(sorted(beside.items())))


def _asset(folder: str, name: str) -> bytes:
    return files("logoadmin").joinpath(folder, name).read_bytes()


def _links(settings: Settings) -> tuple[Links, Links]:
    """Return the links in what the service publishes, and in a folder that is served elsewhere.

    There, the URL that browsers on this machine open is of no use.
    """
    base = settings.effective_public_url.base
    console = f"{base}/console/" if settings.console and settings.gallery_submit else None
    own = Links(f"{base}/gallery/" if settings.gallery else None, console)
    return own, own if settings.public_url else NO_LINKS


def _hasher(settings: Settings) -> Argon2Passwords:
    return Argon2Passwords(settings.argon2_memory_kib, settings.argon2_passes)


def _metrics() -> Metrics:
    try:
        from logoadmin.adapters.prometheus_metrics import PrometheusMetrics
    except ModuleNotFoundError:  # an optional package
        return NoMetrics(install_extra("metrics"))
    return PrometheusMetrics()


@lru_cache(maxsize=1)
def _pictures() -> PictureCodec | str:
    """Return the one codec of the process, which takes turns; or why there is none, for clients (contract P1)."""
    try:
        # Imported here, because it is optional and takes a while.
        from logoadmin.adapters.pillow_pictures import PillowPictures
    except ModuleNotFoundError:
        return NO_PICTURES
    return PillowPictures()


def _passkeys(settings: Settings) -> OpenPasskeys | str:
    """Return how to get the adapter for passkeys; or why they cannot be used, for clients (contract O1, O8)."""
    public_url = settings.effective_public_url
    if public_url.is_address:
        return NO_NAME
    if find_spec("fido2") is None:  # an optional package
        return NOT_INSTALLED
    return partial(_fido2, public_url)


@lru_cache(maxsize=4)
def _fido2(public_url: PublicUrl) -> Passkeys:
    # Imported here: few processes see a passkey, and it takes a while.
    from logoadmin.adapters.fido2_passkeys import Fido2Passkeys

    return Fido2Passkeys(public_url)


def issuer_of(settings: Settings) -> Issuer | None:
    """Return the issuer whose users may sign in, if there is one (contract O7).

    Raises:
        StartError: the package that asks it is missing.
    """
    url, client_id, client_secret = settings.oidc_issuer, settings.oidc_client_id, settings.oidc_client_secret
    if url is None or client_id is None or client_secret is None:
        return None
    if find_spec("httpx2") is None:  # an optional package
        raise StartError("oidc_issuer needs httpx2", install_extra("client"))
    # Not the way out of style sheets: those who write CSS must not reach an issuer in the operator's network.
    outgoing = GuardedOutgoing({*settings.outgoing_hosts, host_of(url) or ""})
    return_url = f"{settings.effective_public_url.base}/console/"
    return OidcIssuer(url, client_id, client_secret.get_secret_value(), return_url, outgoing)
