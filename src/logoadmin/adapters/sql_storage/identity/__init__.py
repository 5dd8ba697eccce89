"""Sessions, keys, factors and events."""
