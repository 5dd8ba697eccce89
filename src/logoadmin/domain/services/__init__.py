"""The use cases. Each module first says what may be asked, its commands, and then does it."""
