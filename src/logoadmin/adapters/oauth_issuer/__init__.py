"""Issuers of OpenID Connect, and GitHub (contract O7)."""
