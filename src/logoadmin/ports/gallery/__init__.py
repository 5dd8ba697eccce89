"""The ports of the gallery."""
