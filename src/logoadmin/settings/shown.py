"""The settings as people may read them, without secrets (contract K4)."""

import json
from typing import Any, Final

from pydantic import SecretStr

from logoadmin.settings.settings import Settings

HIDDEN: Final = "***"


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
