"""Databases that released versions made, which every later version opens (contract K7)."""
