"""Logos, themes and their authors, and the settings of administrators."""
