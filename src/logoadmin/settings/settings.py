"""The settings (contract H1)."""

from collections.abc import Iterable, Mapping
from typing import Annotated, Any, Final, Self

from pydantic import (
    BaseModel,
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

from logoadmin.domain.identity.sign_in_rules import SecondFactorPolicy
from logoadmin.domain.kernel.access import MAX_PORT, Policy, is_loopback
from logoadmin.domain.kernel.errors import SettingsError
from logoadmin.domain.public_url import PublicUrl, local_public_url, public_url
from logoadmin.settings import values

_TOGETHER: Final = ("oidc_issuer", "oidc_client_id", "oidc_client_secret")


class Settings(BaseModel):
    """All settings; creating an instance reads nothing but its arguments.

    The descriptions appear in docs/settings.md (``make tables``), with links relative to that page.
    """

    model_config = ConfigDict(frozen=True, extra="forbid", hide_input_in_errors=True)

    gallery_page: bool = Field(True, description="publish a [page for visitors](publish.md#the-page)")
    gallery_title: values.Title = Field("Gallery", description="title of the page for visitors")
    gallery_home: values.Home = Field("", description="URL of your site, to which the page links")
    gallery_submit: values.WayToSubmit = Field(
        True,
        description="link to the console for people who want to submit works; or the URL of a page of your site that "
        "[signs members in](people.md#links)",
    )
    gallery_report: values.WayToReport = Field(
        "",
        description="URL or `mailto:` where visitors report a work; `{url}` stands for the URL of its page",
    )
    oidc_issuer: values.IssuerUrl | None = Field(
        None,
        description="URL of the issuer for [single sign-on](people.md#single-sign-on), exactly as in its metadata, or "
        "`https://github.com`; requires `logoadmin[client]`",
    )
    oidc_client_id: values.ClientId | None = Field(None, description="id of this service at the issuer")
    oidc_client_secret: values.ClientSecret | None = Field(None, description="secret of this service at the issuer")
    oidc_roles: values.RolesOfGroups = Field(
        (),
        description="[roles of groups](people.md#roles-of-groups), by name or id, such as `editors=editor,staff=2`; "
        "the user's first group counts",
    )
    oidc_default_role: values.RoleOfAll | None = Field(
        None, description="role of users whose groups have no role; by default they cannot sign in"
    )
    public_url: values.PublicUrlText | None = Field(
        None,
        description="[URL that browsers open](proxy.md#the-public-url); by default `http://localhost:PORT` and "
        "`root_path`",
    )
    password_sign_in: bool = Field(True, description="allow sign-in with passwords")
    min_password_length: int = Field(
        8,
        ge=1,
        le=64,
        description="minimum length of new passwords under `guarded`, 1 to 64; from 8 on, common passwords are refused",
    )
    second_factor: Annotated[SecondFactorPolicy, values.CaseInsensitive] = Field(
        "optional",
        description="`optional`, or `required` for users who can change something",
    )
    factor_key: values.FactorKey | None = Field(
        None,
        description="keys that encrypt [second factors](people.md#where-the-secrets-are), at least 32 characters "
        "each, separated by commas; by default in the database",
    )
    event_days: int = Field(
        180,
        ge=1,
        le=3_660,
        description="days for which [security events](people.md#security-events) are kept, 1 to 3660",
    )
    host: values.Address = Field("127.0.0.1", description="address to listen on")
    port: int = Field(8000, ge=0, le=MAX_PORT, description="port; 0 chooses a free one")
    database: SecretStr = Field(
        SecretStr("sqlite:///logoadmin.db"), description="[URL of the database](install.md#databases)"
    )
    create: bool = Field(
        True,
        description="create a missing database; set `false` once you have a gallery, so that a lost one is an error",
    )
    access: Annotated[Policy | None, values.CaseInsensitive] = Field(
        None,
        description="[access policy](people.md#access-policies), `open` or `guarded`; by default `open` on loopback, "
        "and required elsewhere",
    )
    workers: int = Field(1, ge=1, le=64, description="number of worker processes, up to 64")
    trusted_proxies: values.Networks = Field(
        (), description="addresses and networks of trusted [proxies](proxy.md#client-addresses)"
    )
    root_path: values.Prefix = Field(
        "", description="prefix that a [proxy](proxy.md) strips from paths, such as `/gallery`"
    )
    token_key: SecretStr | None = Field(
        None,
        description="[keys for tokens](people.md#keys-for-tokens) of at least 32 bytes, separated by white space; by "
        "default in the database",
    )
    token_key_files: values.Files = Field(
        (), description="PEM files with [keys for tokens](people.md#keys-for-tokens); the first signs"
    )
    gallery: bool = Field(True, description="serve the [published gallery](publish.md) at `/gallery/`")
    gallery_dir: str | None = Field(
        None,
        min_length=1,
        description="[folder of the published gallery](publish.md#the-folder-of-the-service); by default "
        "`DATABASE-gallery`, beside an SQLite file or in the working directory",
    )
    gallery_days: int = Field(
        30, ge=1, le=366, description="days for which readers accept a published gallery that is not renewed, 1 to 366"
    )
    gallery_key_file: str | None = Field(
        None,
        description="PEM file with the Ed25519 [key of the gallery](publish.md#the-gallery-key), followed by former "
        "keys; by default in the database",
    )
    session_days: int = Field(90, ge=1, le=3_660, description="maximum length of a session in days, 1 to 3660")
    hosts: values.Hosts = Field(
        (),
        description="[host names](proxy.md#host-names) of the service besides loopback names, such as "
        "`gallery.example`; `*` for any",
    )
    origins: values.Origins = Field(
        (), description="origins whose pages may use the whole interface, such as `https://admin.example`"
    )
    cache_seconds: int = Field(
        60,
        ge=0,
        le=31_536_000,
        description="seconds for which browsers and CDNs may cache [public "
        "reads](interface.md#caches-and-pages-of-other-sites)",
    )
    console: bool = Field(True, description="serve the console at `/console/`, and redirect `/` to it")
    picture_hosts: values.PictureHosts = Field(
        (),
        description="hosts whose pictures [previews of CSS](extend-console.md#other-peoples-css) in the console may "
        "load, such as `*.example`",
    )
    picture_space: ByteSize = Field(
        ByteSize(1024**3),
        ge=0,
        description="space for all [pictures](works.md#pictures) in the database; 0 accepts none",
    )
    publish_imports: bool = Field(
        False,
        description="publish works whose CSS [imports a style sheet](works.md#imports); its owner then controls what "
        "readers get",
    )
    outgoing_hosts: values.OutgoingHosts = Field(
        (),
        description="hosts that are not public but allowed for [outgoing requests](proxy.md#outgoing-requests), such "
        "as `styles.internal`",
    )
    proposal_days: int = Field(
        90,
        ge=1,
        le=3_660,
        description="days for which texts of [submissions](submissions.md) that were declined, withdrawn or changed "
        "by a reviewer are kept, 1 to 3660",
    )
    notify_urls: values.NotifyUrls | None = Field(
        None,
        description="URLs of webhooks that get [notices](submissions.md#notices), separated by commas; requires "
        "`logoadmin[client]`",
    )
    admin_password: values.FirstPassword | None = Field(
        None, description="password of the first administrator; by default generated"
    )
    argon2_memory_kib: int = Field(19_456, ge=8, le=4_194_304, description="memory for each password hash, in KiB")
    argon2_passes: int = Field(2, ge=1, le=100, description="passes for each password hash")
    log_level: values.Level = Field("warning", description="`debug`, `info`, `warning` or `error`")
    log_format: values.LogFormat = Field("text", description="`text` or [`json`](watch.md#the-log)")
    drain_seconds: int = Field(
        5,
        ge=0,
        le=3_600,
        description="seconds that current requests may take [after SIGTERM](upgrade.md#stopping), up to 3600",
    )
    metrics_port: int | None = Field(
        None,
        ge=0,
        le=MAX_PORT,
        description="port for [metrics](watch.md#metrics), 0 for a free one; by default no metrics",
    )
    metrics_host: values.Address = Field("127.0.0.1", description="address for metrics")

    # Not a setting: the flag, variable or file of each setting that has one.
    _sources: Mapping[str, str] = PrivateAttr(default_factory=dict)

    @property
    def sources(self) -> Mapping[str, str]:
        """The origin of each setting that was given: a flag, a variable or a file."""
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
    def _is_plain(cls, value: Any, info: ValidationInfo) -> Any:
        # In TOML, true would be 1 and 2.0 would be 2.
        is_number = cls.model_fields[info.field_name or ""].annotation in (int, int | None, ByteSize)
        if is_number and isinstance(value, bool | float):
            raise ValueError("should be a whole number")
        if isinstance(value, str) and any(c == "\0" or "\ud800" <= c <= "\udfff" for c in value):
            raise ValueError("should be text in UTF-8 without the character U+0000")
        return value

    @model_validator(mode="after")
    def _fit_together(self) -> "Settings":
        self._check_single_sign_on()
        if self.port and self.metrics_port == self.port:
            raise ValueError("metrics_port must not be port: metrics have a listener of their own")
        return self

    def _check_single_sign_on(self) -> None:
        given = {name for name in type(self).model_fields if name.startswith("oidc_") and getattr(self, name)}
        if not given:
            return
        if self.oidc_issuer is None or not given.issuperset(_TOGETHER):
            missing = ", ".join(name for name in _TOGETHER if name not in given)
            raise ValueError(f"{missing} must be set as well: single sign-on needs {', '.join(_TOGETHER)}")
        if self.oidc_issuer == values.GITHUB and (self.oidc_roles or self.oidc_default_role is None):
            raise ValueError("oidc_default_role must be set, and oidc_roles must not: GitHub has no groups")
        if not self.oidc_roles and self.oidc_default_role is None:
            raise ValueError("oidc_roles or oidc_default_role must be set: nobody could sign in through the issuer")
        # Without TLS, the issuer is contacted only where nobody can listen: on this machine or a listed host.
        host = values.host_of(self.oidc_issuer) or ""
        if not (self.oidc_issuer.startswith("https:") or is_loopback(host) or host in self.outgoing_hosts):
            raise ValueError("oidc_issuer should begin with https://, or its host should be in outgoing_hosts")


def settings_of(**values: Any) -> Settings:
    """Return settings from arguments alone; None means unset.

    Raises:
        SettingsError: the message names each wrong setting and the reason, never its value.
    """
    values = {name: value for name, value in values.items() if value is not None}
    try:
        return Settings(**values)
    except ValidationError as error:
        problems = problems_of(error, {})
    raise wrong_settings(problems)


def problems_of(error: ValidationError, sources: Mapping[str, str]) -> list[str]:
    """Return a problem of each wrong setting, with the setting and its source unless the message names it."""
    found: dict[str, str] = {}
    for entry in error.errors(include_url=False, include_context=False, include_input=False):
        name = ".".join(part for part in entry["loc"] if isinstance(part, str))  # without list indexes
        source = sources.get(name.partition(".")[0])
        place = f"{name} ({source}): " if source else f"{name}: " if name else ""
        found.setdefault(name, f"{place}{entry['msg'].removeprefix('Value error, ')}")
    return [*found.values()]


def wrong_settings(problems: Iterable[str]) -> SettingsError:
    """Return the error that lists all problems."""
    return SettingsError(f"Settings are wrong: {'; '.join(problems)}")
