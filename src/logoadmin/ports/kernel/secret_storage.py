"""The secrets of the service, such as its keys."""

from collections.abc import Mapping, Sequence
from typing import Protocol


class Secrets(Protocol):
    """The secrets of the service."""

    def get(self, name: str) -> str | None:
        """Return a secret, or None. In :meth:`Storage.write`, others must not change it before the end."""

    def several(self, names: Sequence[str]) -> Mapping[str, str]:
        """Return those of some secrets that exist, by their names."""

    def put(self, name: str, value: str) -> None:
        """Store a new secret."""

    def replace(self, name: str, value: str) -> None:
        """Store a secret, replacing the current one of that name."""
