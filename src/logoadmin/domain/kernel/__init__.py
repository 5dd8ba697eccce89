"""The base of every context: records, limits, errors, rights, use cases and the change log."""
