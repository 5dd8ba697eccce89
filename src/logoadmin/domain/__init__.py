"""The rules of logoadmin, without a database, a clock or the web."""
