"""Issuers by OAuth, asked through the guarded way out: those of OpenID Connect, and GitHub (contract O7)."""
