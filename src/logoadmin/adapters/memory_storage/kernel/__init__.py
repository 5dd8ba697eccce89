"""Records and their history."""
