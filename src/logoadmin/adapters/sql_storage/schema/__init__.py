"""The tables as a whole: creating them, checking that they fit, and migrations."""
