"""What an object keeps to itself, out of the reach of code that is given the object (contract G)."""

from typing import Any


def hidden(owner: type, slot: str) -> Any:
    """Take a slot out of a class, and return its descriptor, the only way to its values."""
    descriptor = vars(owner)[slot]
    delattr(owner, slot)
    return descriptor
