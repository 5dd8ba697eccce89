"""Implementations of the ports; each is named ``<technology>_<port>`` after the port that it implements."""
