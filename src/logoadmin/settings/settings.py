"""The settings (contract H1)."""

import re
from collections.abc import Iterable, Mapping
from ipaddress import IPv4Network, IPv6Network, ip_network
from typing import Any, Literal, Self

from pydantic import (
    ByteSize,
    ConfigDict,
    Field,
    PrivateAttr,
    SecretStr,
    ValidationError,
    ValidationInfo,
    field_validator,
    model_validator,
)
from pydantic_core import PydanticCustomError

from logoadmin.domain.kernel.access import Policy
from logoadmin.domain.kernel.errors import SettingsError
from logoadmin.domain.kernel.hosts import canonical_host
from logoadmin.domain.kernel.limits import MAX_PASSWORD, MAX_PORT, MAX_WORKERS, PICTURE_HOST
from logoadmin.domain.kernel.public_url import PREFIX, PublicUrl, local_public_url, public_url
from logoadmin.settings.gallery_page import GalleryPageSettings
from logoadmin.settings.plain_words import plain_words
from logoadmin.settings.sign_in import SignInSettings
from logoadmin.settings.single_sign_on import is_encrypted

# A colon belongs to an IPv6 address: ports are not compared (contract A22).
_HOST = re.compile(r"\*|[A-Za-z0-9._-]+|[0-9A-Fa-f:.]*:[0-9A-Fa-f:.]*:[0-9A-Fa-f:.]*|\[[0-9A-Fa-f:.]+\]", re.ASCII)
_ORIGIN = re.compile(r"https?://[a-z0-9.:\[\]-]+", re.ASCII)
_PICTURE_HOST = re.compile(PICTURE_HOST, re.ASCII)
_NOTIFY_URL = re.compile(r"https?://(?![^/?#]*@)[^\s/?#\\]+([/?][^\s#\\]*)?", re.I)
_MAX_NOTIFY_URL = 2_048
# The largest file to import fits.
_MIN_SPOOL_SPACE = 64 * 1024 * 1024


class Settings(SignInSettings, GalleryPageSettings):
    """All settings; creating an instance reads nothing but its arguments.

    The descriptions are those of docs/settings.md (``make tables``), with links relative to that page.
    """

    model_config = ConfigDict(frozen=True, extra="forbid", hide_input_in_errors=True)

    host: str = Field("127.0.0.1", description="the address to listen on")
    port: int = Field(8000, ge=0, le=MAX_PORT, description="the port; 0 chooses a free one")
    database: SecretStr = Field(
        SecretStr("sqlite:///logoadmin.db"), description="the [URL of the database](install.md#databases)"
    )
    create: bool = Field(
        True,
        description=(
            "whether a missing database may be created by a start; `false`, once there is a gallery, makes it an error "
            "(only `logoadmin init`, `restore` and `move` still create one)"
        ),
    )
    access: Policy | None = Field(
        None,
        description=(
            "the [access policy](secure.md#access-policies), `open` or `guarded`; by default `open` on loopback, and "
            "required elsewhere"
        ),
    )
    workers: int = Field(1, ge=1, le=MAX_WORKERS, description="the number of worker processes, up to 64")
    trusted_proxies: tuple[IPv4Network | IPv6Network, ...] = Field(
        (), description="addresses and networks of trusted [proxies](proxy.md#who-the-client-is)"
    )
    root_path: str = Field(
        "", description="the prefix that a [proxy](proxy.md#under-a-prefix) strips from the paths, such as `/gallery`"
    )
    token_key: SecretStr | None = Field(
        None,
        description=(
            "the key that signs access tokens, at least 32 bytes; more keys may follow, see [keys for "
            "tokens](secure.md#keys-for-tokens); by default the keys in the database"
        ),
    )
    token_key_files: tuple[str, ...] | None = Field(
        None, description="PEM files with private and public keys; the first signs access tokens"
    )
    token_issuer: str = Field("logoadmin", min_length=1, description="`iss` of access tokens")
    token_audience: str = Field("logoadmin", min_length=1, description="`aud` of access tokens")
    gallery: bool = Field(True, description="whether the [published gallery](publish.md) is served at `/gallery/`")
    gallery_dir: str | None = Field(
        None,
        min_length=1,
        description=(
            "the [folder into which the service publishes](publish.md#the-folder-of-the-service); by default the "
            "database file with `-gallery` behind its name, or `NAME-gallery` in the working directory for a database "
            "`NAME` on a server"
        ),
    )
    gallery_days: int = Field(
        30, ge=1, le=366, description="how long readers accept a published gallery that is not renewed; 1 to 366"
    )
    gallery_key_file: str | None = Field(
        None,
        description=(
            "PEM file (PKCS #8) with the Ed25519 key that signs the [published gallery](publish.md#the-gallery-key), "
            "by default a key in the database; after a rotation, former keys follow the new one"
        ),
    )
    access_token_seconds: int = Field(900, ge=1, le=86_400, description="the lifetime of an access token")
    session_seconds: int = Field(
        2_592_000, ge=60, le=31_536_000, description="how long a session lasts without a refresh"
    )
    session_days: int = Field(90, ge=1, le=3_660, description="how long a session lasts in any case; 1 to 3660")
    hosts: tuple[str, ...] = Field(
        (),
        description=(
            "the [host names](secure.md#names) of the service besides those of loopback, such as `gallery.example`; "
            "`*` for any"
        ),
    )
    origins: tuple[str, ...] = Field(
        (), description="the origins whose pages may use the whole interface, such as `https://admin.example`"
    )
    cache_seconds: int = Field(
        60,
        ge=0,
        le=31_536_000,
        description=(
            "how long browsers and CDNs may keep [public reads](interface.md#caches-and-pages-of-other-sites) without "
            "revalidation"
        ),
    )
    console: bool = Field(True, description="whether the console is served at `/console/`, and `/` redirects to it")
    picture_hosts: tuple[str, ...] = Field(
        (),
        description=(
            "the hosts from which [previews of CSS](extend-console.md#other-peoples-css) in the console may load "
            "pictures, such as `i.example` or `*.example`"
        ),
    )
    picture_space: ByteSize = Field(
        ByteSize(1024**3),
        ge=0,
        description=(
            "the space of all [pictures](pictures.md) together in the database, such as `4 GiB`, or bytes; with 0, no "
            "picture is accepted"
        ),
    )
    pin_imports: bool = Field(
        True,
        description=(
            "whether style sheets that CSS imports are fetched, and published as copies; this needs `logoadmin[client]`"
        ),
    )
    outgoing_hosts: tuple[str, ...] = Field(
        (),
        description=(
            "names and addresses of hosts that [outgoing requests](secure.md#outgoing-requests) may reach although "
            "they are not public, such as `styles.internal`"
        ),
    )
    proposal_days: int = Field(
        90,
        ge=1,
        le=3_660,
        description=(
            "how long texts of [submissions](members.md) are kept that were declined, withdrawn or changed by a "
            "reviewer; 1 to 3660"
        ),
    )
    notify_urls: SecretStr | None = Field(
        None,
        description=(
            "the URLs of webhooks in Discord, Slack, Mattermost and others that get [notices](notices.md) of "
            "submissions and blocks, separated by commas; this needs `logoadmin[client]`"
        ),
    )
    admin_password: SecretStr | None = Field(
        None, description="the password of the first administrator; by default a generated one"
    )
    argon2_memory_kib: int = Field(19_456, ge=8, le=4_194_304, description="memory of each password hash, in KiB")
    argon2_passes: int = Field(2, ge=1, le=100, description="the number of passes of each password hash")
    log_level: Literal["debug", "info", "warning", "error"] = Field(
        "warning", description="`debug`, `info`, `warning` or `error`"
    )
    log_format: Literal["text", "json"] = Field("text", description="`text`, or [`json`](watch.md#the-log-as-json)")
    drain_seconds: int = Field(
        5,
        ge=0,
        le=3_600,
        description="how long requests in flight are finished [after SIGTERM](upgrade.md#stopping); up to 3600",
    )
    metrics_port: int | None = Field(
        None,
        ge=0,
        le=MAX_PORT,
        description="the port for [metrics](watch.md#metrics), 0 for a free one; by default no metrics",
    )
    metrics_host: str = Field("127.0.0.1", description="the address for metrics")
    spool_space: ByteSize = Field(
        ByteSize(256 * 1024 * 1024),
        ge=_MIN_SPOOL_SPACE,
        description=(
            "the [temporary disk space](install.md#temporary-files) of each worker process, such as `512 MiB`, or "
            "bytes; at least 64 MiB"
        ),
    )

    # No setting itself: the flag, variable or file of each one that was given.
    _sources: Mapping[str, str] = PrivateAttr(default_factory=dict)

    @property
    def sources(self) -> Mapping[str, str]:
        """The flag, variable or file of each setting that does not have its default."""
        return self._sources

    def given_by(self, sources: Mapping[str, str]) -> Self:
        """Return these settings with their sources."""
        copied = self.model_copy()
        copied._sources = sources
        return copied

    @property
    def effective_public_url(self) -> PublicUrl:
        """The URL that browsers open, set or by default."""
        return public_url(self.public_url) if self.public_url else local_public_url(self.port, self.root_path)

    @field_validator("*", mode="before")
    @classmethod
    def _is_whole(cls, value: Any, info: ValidationInfo) -> Any:
        # In TOML, true would be 1 and 2.0 would be 2.
        is_number = cls.model_fields[info.field_name or ""].annotation in (int, int | None, ByteSize)
        if is_number and isinstance(value, bool | float):
            raise PydanticCustomError("int_type", "Input should be a valid integer")
        return value

    @field_validator("token_key_files", mode="before")
    @classmethod
    def _listed(cls, value: Any) -> Any:
        return _split(value) or None if isinstance(value, str) else value

    @field_validator("trusted_proxies", mode="before")
    @classmethod
    def _are_networks(cls, value: Any) -> Any:
        listed = _split(value) if isinstance(value, str) else value
        try:
            return tuple(_network(entry) for entry in listed)
        except (TypeError, ValueError):
            raise PydanticCustomError(
                "trusted_proxies",
                "should be IP addresses and networks, separated by commas, such as 127.0.0.1,10.0.0.0/8,fd00::/8",
            ) from None

    @field_validator("hosts", mode="before")
    @classmethod
    def _are_hosts(cls, value: Any) -> Any:
        msg = "should be names or addresses without ports, separated by commas, such as gallery.example, or * for any"
        return _texts(value, _HOST, PydanticCustomError("hosts", msg))

    @field_validator("origins", mode="before")
    @classmethod
    def _are_origins(cls, value: Any) -> Any:
        msg = "should be origins as browsers write them, separated by commas, such as https://admin.example"
        return _texts(value, _ORIGIN, PydanticCustomError("origins", msg))

    @field_validator("picture_hosts", mode="before")
    @classmethod
    def _are_picture_hosts(cls, value: Any) -> Any:
        msg = "should be names of hosts, separated by commas, such as i.example or *.example"
        return _texts(value, _PICTURE_HOST, PydanticCustomError("picture_hosts", msg))

    @field_validator("outgoing_hosts", mode="before")
    @classmethod
    def _are_outgoing_hosts(cls, value: Any) -> Any:
        listed = _split(value) if isinstance(value, str) else value
        texts = listed if isinstance(listed, list | tuple) and all(isinstance(entry, str) for entry in listed) else [""]
        hosts = [canonical_host(text) for text in texts]
        if None in hosts:
            msg = "should be names or addresses without ports, separated by commas, such as styles.internal,10.0.0.5"
            raise PydanticCustomError("outgoing_hosts", msg)
        return hosts

    @field_validator("notify_urls", mode="before")
    @classmethod
    def _joined(cls, value: Any) -> Any:
        return ",".join(value) if isinstance(value, list | tuple) and all(isinstance(e, str) for e in value) else value

    @field_validator("notify_urls")
    @classmethod
    def _are_urls(cls, value: SecretStr | None) -> SecretStr | None:
        if any(len(url) > _MAX_NOTIFY_URL or _NOTIFY_URL.fullmatch(url) is None for url in urls_in(value)):
            msg = "should be URLs that begin with https://, or with http:// for a host in outgoing_hosts"
            raise PydanticCustomError("notify_urls", msg)
        return value

    @field_validator("access", "log_level", "log_format", mode="before")
    @classmethod
    def _in_lower_case(cls, value: Any) -> Any:
        return value.lower() if isinstance(value, str) else value

    @field_validator("host", "metrics_host")
    @classmethod
    def _is_address(cls, value: str) -> str:
        if not value or any(character in value for character in "[]/"):
            raise PydanticCustomError("host", "should be a name or an address alone, such as 127.0.0.1 or ::1")
        return value

    @field_validator("root_path")
    @classmethod
    def _is_prefix(cls, value: str) -> str:
        if PREFIX.fullmatch(value) is None:
            raise PydanticCustomError(
                "root_path",
                "should begin with / and not end with it, such as /gallery; "
                "between them are letters, digits and the characters - . _ ~",
            )
        return value

    @field_validator("admin_password")
    @classmethod
    def _is_password(cls, value: SecretStr | None) -> SecretStr | None:
        # A declared length would make pydantic's message speak of items.
        if value is not None and not value:
            raise PydanticCustomError("admin_password", "must not be empty; without it, a password is generated")
        if value is not None and len(value) > MAX_PASSWORD:
            raise PydanticCustomError("admin_password", f"must not be longer than {MAX_PASSWORD} characters")
        return value

    @model_validator(mode="after")
    def _has_two_ports(self) -> "Settings":
        if self.port and self.metrics_port == self.port:
            raise ValueError("metrics_port must not be port: metrics have a listener of their own")
        return self

    @model_validator(mode="after")
    def _asks_in_confidence(self) -> "Settings":
        if self.oidc_issuer is not None and not is_encrypted(self.oidc_issuer, self.outgoing_hosts):
            raise ValueError("oidc_issuer should begin with https://, or its host should be in outgoing_hosts")
        return self

    @model_validator(mode="after")
    def _is_text(self) -> "Settings":
        for name in type(self).model_fields:
            value = getattr(self, name)
            text = value.get_secret_value() if isinstance(value, SecretStr) else value
            text = "".join(map(str, text)) if isinstance(text, tuple) else text
            if isinstance(text, str) and ("\0" in text or _is_broken(text)):
                raise ValueError(f"{name} must be UTF-8 text without the character U+0000")
        return self


def urls_in(setting: SecretStr | None) -> tuple[str, ...]:
    """Return the URLs in ``notify_urls``, each once."""
    return tuple(dict.fromkeys([] if setting is None else _split(setting.get_secret_value())))


def _split(text: str) -> list[str]:
    return [entry.strip() for entry in text.split(",") if entry.strip()]


def _texts(value: Any, pattern: re.Pattern[str], wrong: PydanticCustomError) -> list[str] | tuple[str, ...]:
    """Return texts that all match, given as a list or as one text with commas."""
    listed = _split(value) if isinstance(value, str) else value
    if not isinstance(listed, list | tuple) or not all(isinstance(e, str) and pattern.fullmatch(e) for e in listed):
        raise wrong
    return listed


def _network(entry: Any) -> IPv4Network | IPv6Network:
    """Return a network or a single address as text; ``ip_network`` would also accept numbers."""
    if isinstance(entry, IPv4Network | IPv6Network):
        return entry
    if not isinstance(entry, str):
        raise TypeError
    return ip_network(entry)


def _is_broken(text: str) -> bool:
    """Whether text came from bytes that are not UTF-8."""
    return not text.isascii() and any("\ud800" <= character <= "\udfff" for character in text)


def settings_of(**given: Any) -> Settings:
    """Return settings from arguments alone; None means not given.

    Raises:
        SettingsError: naming each wrong setting and the reason, never its value.
    """
    given = {name: value for name, value in given.items() if value is not None}
    try:
        return Settings(**given)
    except ValidationError as error:
        wrong = problems_of(error)
    raise wrong_settings(": ".join(filter(None, problem)) for problem in wrong)


def problems_of(error: ValidationError) -> list[tuple[str, str]]:
    """Return each wrong setting with the reason; the setting is "" where the message names it."""
    found = error.errors(include_url=False, include_context=False, include_input=False)
    return [(".".join(map(str, entry["loc"])), plain_words(entry["msg"])) for entry in found]


def wrong_settings(problems: Iterable[str]) -> SettingsError:
    """Return the error that lists all problems."""
    return SettingsError(f"Settings are wrong: {'; '.join(problems)}")
