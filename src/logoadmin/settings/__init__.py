"""The settings of the service, and the places where they can be set (contract H1, K4)."""

from logoadmin.settings.settings import Settings, settings_of, wrong_settings
from logoadmin.settings.sources import load_settings

__all__ = ["Settings", "load_settings", "settings_of", "wrong_settings"]
