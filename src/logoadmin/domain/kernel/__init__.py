"""What every context builds on: records, limits, errors, rights, use cases and the change log."""
