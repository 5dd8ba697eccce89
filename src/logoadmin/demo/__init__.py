"""A gallery in memory with invented artworks and people, for newcomers (contract Q4)."""

import secrets
from collections.abc import Mapping
from typing import Any, NamedTuple

from pydantic import SecretStr

from logoadmin.bootstrap import open_gallery
from logoadmin.domain.kernel.errors import StartError
from logoadmin.domain.logo_admin import LogoAdmin
from logoadmin.extras import install_extra
from logoadmin.settings import Settings
from logoadmin.starting import MEMORY


def demo_settings(settings: Settings) -> Settings:
    """Return the settings of a demo, which stores nothing; the listener's settings are unchanged."""
    chosen: dict[str, Any] = {"database": SecretStr(MEMORY), "workers": 1, "gallery_title": "Demo gallery"}
    sources = {**settings.sources, **dict.fromkeys(chosen, "--demo")}
    return settings.model_copy(update=chosen).given_by(sources)


class Demo(NamedTuple):
    """An opened demo, with the passwords of an administrator, a moderator and a member, by username."""

    gallery: LogoAdmin
    passwords: Mapping[str, str]


def open_demo(settings: Settings, *, counted: bool = False) -> Demo:
    """Open a gallery in memory with a week of changes, whose events may be counted (contract K2).

    Raises:
        StartError: Pillow, which draws its pictures, is not installed.
    """
    try:
        from logoadmin.demo.stock import DemoClock, stock
    except ModuleNotFoundError as error:
        raise StartError(f"{error.name} is not installed", install_extra("pictures")) from error
    clock = DemoClock()
    # Set here, because the console demands a new password in place of a generated first one.
    password = settings.admin_password or SecretStr(secrets.token_urlsafe(12))
    shown = {} if settings.admin_password else {"admin": password.get_secret_value()}
    gallery = open_gallery(settings.model_copy(update={"admin_password": password}), counted=counted, demo_clock=clock)
    return Demo(gallery, {**shown, **stock(gallery, clock)})
