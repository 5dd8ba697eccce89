"""The settings as people may read them, without secrets (contract J8, K4)."""

import json
import os
from typing import Any, Final

from pydantic import SecretStr

from logoadmin.domain.kernel.records import ServiceSetting
from logoadmin.settings.settings import ARGUMENT, Settings

HIDDEN: Final = "***"
# Files and directories, of which administrators without access to the machine read no more than the name.
_PATHS: Final = frozenset({"token_key_files", "gallery_dir", "gallery_key_file"})


def shown(settings: Settings) -> dict[str, Any]:
    """Return the settings as JSON values, with ``***`` for each secret."""
    values = settings.model_dump(mode="json")
    secret = {name: HIDDEN for name in values if isinstance(getattr(settings, name), SecretStr)}
    return {**values, **secret, "public_url": settings.effective_public_url.base}


def written(value: Any) -> str | None:
    """Return a value of :func:`shown` as it is written in an environment variable; None for nothing."""
    match value:
        case list():
            return ",".join(map(str, value)) or None
        case dict():
            return json.dumps(value, ensure_ascii=False) if value else None
        case bool():
            return str(value).lower()
        case _:
            return None if value in (None, "") else str(value)


def service_settings(settings: Settings) -> tuple[ServiceSetting, ...]:
    """Return the settings as administrators read them in the console: no secret, and no place on the server.

    Of a gallery in another program, they are those that the program gave: it decides the others in its own ways.
    """
    values = shown(settings)
    values |= {name: _names(values[name]) for name in _PATHS}
    sources = settings.sources
    names = sources if ARGUMENT in sources.values() else values
    return tuple(ServiceSetting(name, written(values[name]), _names(sources.get(name))) for name in names)


def _names(paths: Any) -> Any:
    """Return each path without its directory."""
    if isinstance(paths, list):
        return [*map(_names, paths)]
    return paths and os.path.basename(os.path.normpath(paths))
