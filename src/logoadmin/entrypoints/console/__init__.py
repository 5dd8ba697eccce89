"""The console: its page and modules, and how they are served (contract J1, J2)."""
