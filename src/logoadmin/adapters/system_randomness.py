"""Real randomness."""

import secrets


class SystemRandomness:
    """A :class:`~logoadmin.ports.randomness.Randomness` that asks the operating system."""

    def text(self) -> str:
        """Return 256 random bits in 43 characters of URL-safe base64."""
        return secrets.token_urlsafe(32)
