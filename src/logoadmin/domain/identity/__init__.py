"""Users, roles, ways to sign in, and rights."""
