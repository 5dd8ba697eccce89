"""Events: what happened when users signed in, and to what they sign in with (contract O9)."""
