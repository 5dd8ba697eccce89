"""Sessions and their tokens (contract C)."""
