"""Databases of released versions, which every later version opens (contract K7)."""
