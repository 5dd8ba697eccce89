"""Logos, themes, their authors and their pictures."""
