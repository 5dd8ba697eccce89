"""The published gallery as pure functions: records in, files out (contract L1, L2)."""
