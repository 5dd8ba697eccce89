"""The composition root of a gallery: chooses its adapters."""

import json
import logging
from collections.abc import Sequence
from contextlib import closing, nullcontext
from functools import lru_cache, partial
from importlib.resources import files
from importlib.util import find_spec

from logoadmin import starting
from logoadmin.adapters.commonmark_text import CommonmarkText
from logoadmin.adapters.ed25519_signing import Ed25519Signing, keys_of_file
from logoadmin.adapters.fernet_encryption import FernetEncryption
from logoadmin.adapters.httpcore_outgoing import GuardedOutgoing
from logoadmin.adapters.jinja_gallery_page import JinjaGalleryPage
from logoadmin.adapters.jwt_tokens import Key, derived_keys
from logoadmin.adapters.pillow_pictures import PillowPictures
from logoadmin.adapters.system_environment import SystemClock, SystemRandomness
from logoadmin.domain.gallery.pictures import NOT_INSTALLED as NO_PICTURES
from logoadmin.domain.kernel.errors import StartError
from logoadmin.domain.logo_admin import LogoAdmin
from logoadmin.domain.public_url import PublicUrl
from logoadmin.domain.publication.files.file_names import ASSET_NAME
from logoadmin.domain.publication.publication_records import READER
from logoadmin.extras import install_extra
from logoadmin.ports.all_ports import Ports
from logoadmin.ports.environment import Clock
from logoadmin.ports.gallery_page import GalleryPage
from logoadmin.ports.issuer import Issuer
from logoadmin.ports.metrics import Metrics
from logoadmin.ports.passkeys import OpenPasskeys, Passkeys
from logoadmin.ports.pictures import PictureCodec
from logoadmin.ports.signing import SigningKey
from logoadmin.ports.storage import Storage
from logoadmin.settings import Settings
from logoadmin.settings.rules import rules_of, why_no_passkeys
from logoadmin.settings.values import GITHUB, host_of, keys_in

# A library logs nothing unless its host configures logging.
logging.getLogger("logoadmin").addHandler(logging.NullHandler())


def open_gallery(
    settings: Settings,
    *,
    create: starting.Create = "embedded",
    administrator: bool = True,
    interactive: bool = True,
    counted: bool = False,
    demo_clock: Clock | None = None,
) -> LogoAdmin:
    """Open the gallery in the database that the settings name.

    Args:
        create: when to create what is missing.
        administrator: whether that includes the first administrator.
        interactive: whether to give up on a database that does not respond within 2 s; long work waits longer.
        counted: whether events are counted (contract K2).
        demo_clock: the clock of a demo, whose pages say that it is a demo (contract Q4).

    Raises:
        SettingsError: the settings cannot be used.
        StartError: the database cannot be created, or is not a database; SchemaMismatch: it is missing, older or newer
            than this program.
        StorageUnavailable: the database is out of reach.
    """
    # First, so that nothing is created for a service that cannot start.
    keys, signing_keys, issuer = starting.given_keys(settings), gallery_keys(settings), issuer_of(settings)
    metrics = _metrics() if counted else Metrics()
    storage = starting.open_storage(settings, interactive=interactive, metrics=metrics)
    try:
        # Another process may be starting or importing in the same file, for longer than interactive callers wait.
        is_slow = interactive and storage.embedded
        with closing(starting.open_storage(settings, interactive=False)) if is_slow else nullcontext(storage) as opened:
            clock = demo_clock or SystemClock()
            generated_password = starting.start(opened, settings, create, clock, administrator=administrator)
            keys = starting.token_keys(keys, storage, settings, create)
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
    tokens = starting.access_tokens(keys)
    outgoing = None if find_spec("httpx2") is None else GuardedOutgoing(settings.outgoing_hosts)  # an optional package
    ports = Ports(
        storage=storage,
        hasher=starting.hasher_of(settings),
        tokens=tokens,
        encryption=FernetEncryption(),
        randomness=SystemRandomness(),
        clock=demo_clock or SystemClock(),
        signing=Ed25519Signing(),
        text=CommonmarkText(),
        passkeys=_passkeys(settings),
        pictures=_pictures(),
        metrics=metrics,
        outgoing=outgoing,
        gallery_keys=signing_keys,
        factor_keys=keys_in(settings.factor_key),
        challenge_keys=derived_keys(keys, "challenge"),
        issuer=issuer,
        receivers=outgoing,
        published=starting.published_files(settings),
        page=gallery_page(),
    )
    if settings.notify_urls and outgoing is None:
        raise StartError("Notices to notify_urls cannot be sent", install_extra("client"))
    rules = rules_of(settings, _asset("reader", READER), demo=demo_clock is not None)
    return LogoAdmin(ports, rules, generated_password)


def gallery_keys(settings: Settings) -> tuple[SigningKey, ...]:
    """Return the keys in the gallery key file, the current one first (contract L7)."""
    path = settings.gallery_key_file
    return () if path is None else keys_of_file(path)


@lru_cache(maxsize=1)
def gallery_page() -> GalleryPage:
    """Return the renderer of the published gallery's pages, cached so that its templates are compiled once."""
    folder = files("logoadmin").joinpath("gallery_page")
    assets = {each.name: each.read_bytes() for each in folder.iterdir() if ASSET_NAME.fullmatch(each.name)}
    templates = {each.name: each.read_text("utf-8") for each in folder.joinpath("templates").iterdir()}
    # The frame that previews CSS comes from the console.
    sample = _asset("entrypoints/console", "preview.html").decode()
    assets["page-frame.js"] = _asset("entrypoints/console", "preview.js")
    assets["page-sample.js"] = f"export default {json.dumps(sample, ensure_ascii=False)};\n".encode()
    # The page shares colours and fonts with the console.
    assets["page.css"] = _asset("entrypoints/console/style", "tokens.css") + assets["page.css"]
    for face in ("face.woff2", "face-accented.woff2"):
        assets[f"page-{face}"] = _asset("entrypoints/console/vendor", face)
    words = json.loads(_asset("gallery_page", "texts.json"))
    return JinjaGalleryPage(templates, words, dict(sorted(assets.items())), CommonmarkText())


def _asset(folder: str, name: str) -> bytes:
    return files("logoadmin").joinpath(folder, name).read_bytes()


def _metrics() -> Metrics:
    try:
        from logoadmin.adapters.prometheus_metrics import PrometheusMetrics
    except ModuleNotFoundError:  # an optional package
        return Metrics(install_extra("metrics"))
    return PrometheusMetrics()


@lru_cache(maxsize=1)
def _pictures() -> PictureCodec | str:
    """Return the codec of the process, which converts one picture at a time; or an error for clients (contract P1)."""
    return PillowPictures() if find_spec("PIL") else NO_PICTURES  # an optional package


def _passkeys(settings: Settings) -> OpenPasskeys | str:
    """Return a factory of the passkeys adapter, or the error for clients if it cannot be used (contract O1, O8)."""
    return why_no_passkeys(settings) or partial(_fido2, settings.effective_public_url)


@lru_cache(maxsize=4)
def _fido2(public_url: PublicUrl) -> Passkeys:
    # Imported here: few processes see a passkey, and the import is slow.
    from logoadmin.adapters.fido2_passkeys import Fido2Passkeys

    return Fido2Passkeys(public_url)


def issuer_of(settings: Settings) -> Issuer | None:
    """Return the issuer whose users may sign in, if any (contract O7)."""
    url, client_id, client_secret = settings.oidc_issuer, settings.oidc_client_id, settings.oidc_client_secret
    if url is None or client_id is None or client_secret is None:
        return None
    if find_spec("httpx2") is None:  # an optional package
        raise StartError("oidc_issuer needs httpx2", install_extra("client"))
    secret, return_url = client_secret.get_secret_value(), f"{settings.effective_public_url.base}/console/"
    # Imported here: few programs have an issuer, and the code that reads its tokens loads slowly.
    if url == GITHUB:
        from logoadmin.adapters.oauth_issuer.github import GitHubIssuer

        return GitHubIssuer(client_id, secret, return_url, GuardedOutgoing(settings.outgoing_hosts))
    from logoadmin.adapters.oauth_issuer.oidc import OidcIssuer

    # Not shared with style sheets: authors of CSS must not reach an issuer in the operator's network.
    outgoing = GuardedOutgoing({*settings.outgoing_hosts, host_of(url) or ""})
    return OidcIssuer(url, client_id, secret, return_url, outgoing)
