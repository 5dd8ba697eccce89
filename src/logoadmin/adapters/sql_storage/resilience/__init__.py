"""Calls to a database that fails: the connection pool, the circuit breaker and the log of failures."""
