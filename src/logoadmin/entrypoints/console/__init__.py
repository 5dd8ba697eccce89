"""The console's page and its modules (contract J1, J2)."""
