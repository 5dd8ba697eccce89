"""Implementations of the ports, each named ``<technology>_<port>``."""
