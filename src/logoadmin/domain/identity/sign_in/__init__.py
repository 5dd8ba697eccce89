"""The ways to sign in, and the limits on them (contract C1, O)."""
