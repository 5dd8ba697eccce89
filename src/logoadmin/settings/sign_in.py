"""The settings for sign-in (contract O)."""

import re
from collections.abc import Mapping
from typing import Annotated, Any, Final
from urllib.parse import urlsplit

from pydantic import BaseModel, Field, SecretStr, field_validator, model_validator

from logoadmin.domain.identity.sign_in_rules import SecondFactorPolicy
from logoadmin.domain.kernel.access import is_loopback
from logoadmin.domain.public_url import canonical_host
from logoadmin.settings.values import CaseInsensitive, FactorKey, PublicUrlText, split

# It is compared with the metadata and tokens of the issuer, character by character.
_ISSUER: Final = re.compile(r"https?://[^/?#@\\\s]+(/[!$-.0-;=A-Z_a-z~/%]*)?", re.ASCII)
_MAX_URL: Final = 2_048
_MAX_TEXT: Final = 255
_MAX_ROLES: Final = 1_000
# Not an OpenID Connect issuer, so it has a separate adapter.
GITHUB: Final = "https://github.com"
_TOGETHER: Final = ("oidc_issuer", "oidc_client_id", "oidc_client_secret")


class SignInSettings(BaseModel, defer_build=True):
    """A part of :class:`~logoadmin.settings.settings.Settings`."""

    oidc_issuer: str | None = Field(
        None,
        description="URL of the issuer for [single sign-on](people.md#single-sign-on), exactly as in its metadata, or "
        "`https://github.com`; requires `logoadmin[client]`",
    )
    oidc_client_id: str | None = Field(None, description="id of this service at the issuer")
    oidc_client_secret: SecretStr | None = Field(None, description="secret of this service at the issuer")
    oidc_roles: tuple[str, ...] = Field(
        (),
        description="[roles of groups](people.md#roles-of-groups), by name or id, such as `editors=editor,staff=2`; "
        "the user's first group counts",
    )
    oidc_default_role: str | None = Field(
        None, description="role of users whose groups have no role; by default they cannot sign in"
    )
    public_url: PublicUrlText | None = Field(
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
    second_factor: Annotated[SecondFactorPolicy, CaseInsensitive] = Field(
        "optional",
        description="`optional`, or `required` for users who can change something",
    )
    factor_key: FactorKey | None = Field(
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

    @field_validator("oidc_issuer")
    @classmethod
    def _is_issuer(cls, value: str | None) -> str | None:
        if value is not None and (len(value) > _MAX_URL or not _ISSUER.fullmatch(value) or host_of(value) is None):
            raise ValueError(
                "should be the URL of the issuer as in its metadata, without a query and without credentials, such as "
                "https://login.example/realms/gallery",
            )
        return GITHUB if value is not None and value.lower().rstrip("/") == GITHUB else value

    @field_validator("oidc_client_id", "oidc_client_secret")
    @classmethod
    def _is_sent(cls, value: str | SecretStr | None) -> str | SecretStr | None:
        text = value.get_secret_value() if isinstance(value, SecretStr) else value
        if text is not None and not (0 < len(text) <= _MAX_URL and text.isprintable()):
            raise ValueError("should be a text of printable characters, as the issuer has it")
        return value

    @field_validator("oidc_roles", mode="before")
    @classmethod
    def _are_roles(cls, value: Any) -> Any:
        listed = split(value)
        if isinstance(listed, Mapping):
            # In TOML, an id is a number; a bool is an int.
            listed = [f"{group}={role}" if type(role) in (str, int) else "" for group, role in listed.items()]
        if not isinstance(listed, list | tuple) or len(listed) > _MAX_ROLES or not all(map(_is_assignment, listed)):
            raise ValueError("should be groups with their roles, separated by commas, such as editors=editor,staff=2")
        return tuple("=".join(_parts(entry)) for entry in listed)

    @field_validator("oidc_default_role", mode="before")
    @classmethod
    def _is_role(cls, value: Any) -> Any:
        return str(value) if isinstance(value, int) and not isinstance(value, bool) else value

    @model_validator(mode="after")
    def _belongs_together(self) -> "SignInSettings":
        if not any(getattr(self, name) for name in SignInSettings.model_fields if name.startswith("oidc_")):
            return self
        missing = [name for name in _TOGETHER if getattr(self, name) is None]
        if missing:
            raise ValueError(f"{', '.join(missing)} must be set as well: single sign-on needs {', '.join(_TOGETHER)}")
        if self.oidc_issuer == GITHUB and (self.oidc_roles or self.oidc_default_role is None):
            raise ValueError("oidc_default_role must be set, and oidc_roles must not: GitHub has no groups")
        if not self.oidc_roles and self.oidc_default_role is None:
            raise ValueError("oidc_roles or oidc_default_role must be set: nobody could sign in through the issuer")
        return self


def roles_of(settings: SignInSettings) -> tuple[tuple[str, str], ...]:
    """Return the groups at the issuer with their roles, by precedence."""
    return tuple(_parts(entry) for entry in settings.oidc_roles)


def host_of(url: str) -> str | None:
    """Return the host of a URL in its canonical form; None if it has no usable one."""
    try:
        parts = urlsplit(url)
        return canonical_host(parts.hostname or "") if parts.port != 0 else None
    except ValueError:
        return None


def is_encrypted(url: str, listed: tuple[str, ...]) -> bool:
    """Return whether an issuer is contacted with TLS, or where nobody can listen: on this machine or a listed host."""
    host = host_of(url) or ""
    return url.startswith("https:") or is_loopback(host) or host in listed


def _is_assignment(entry: object) -> bool:
    if not isinstance(entry, str):
        return False
    group, role = _parts(entry)
    return all(0 < len(part) <= _MAX_TEXT and part.isprintable() for part in (group, role))


def _parts(entry: str) -> tuple[str, str]:
    """Return group and role; a group such as ``cn=editors`` may contain an equals sign."""
    group, _, role = entry.rpartition("=")
    return group.strip(), role.strip()
