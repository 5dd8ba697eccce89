"""The console: its page and the modules of the page (contract J1, J2)."""
