"""The tables, by room."""
