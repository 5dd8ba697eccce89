"""Second factors: authenticator apps, passkeys and recovery codes (contract O1, O2, O4)."""
