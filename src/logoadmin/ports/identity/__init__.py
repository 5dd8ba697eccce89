"""The ports of identity."""
