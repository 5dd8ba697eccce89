"""Identity: users and roles, how people sign in, and what they may do."""
