"""How the service is set up (contract H1, K4): all that can be set, and where that is read."""

from logoadmin.settings.settings import Settings, settings_of
from logoadmin.settings.sources import SettingsInForce, load_settings, settings_in_force

__all__ = ["Settings", "SettingsInForce", "load_settings", "settings_in_force", "settings_of"]
