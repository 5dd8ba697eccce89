"""Calls to a database that fails: the connection pool and the log of failures."""
