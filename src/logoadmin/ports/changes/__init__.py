"""The ports of proposals."""
