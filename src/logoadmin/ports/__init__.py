"""Protocols for storage, clock, tokens, pictures and other needs of the core."""
