"""The page of the console and its modules (contract J1, J2)."""
