"""SQLite: a file."""
