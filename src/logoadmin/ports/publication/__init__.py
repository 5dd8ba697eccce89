"""The ports of the published gallery."""
