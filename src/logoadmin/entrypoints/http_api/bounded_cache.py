"""What is kept to be used again, within a bound."""

import threading
from collections import OrderedDict
from collections.abc import Hashable
from typing import Final, Generic, TypeVar

Value = TypeVar("Value")

# What an entry takes in memory beside its content.
_BESIDE: Final = 2_048  # bytes


class BoundedCache(Generic[Value]):
    """Values that were put or taken lately, no more bytes of them than a bound. Safe to use from several threads."""

    def __init__(self, most: int) -> None:
        """Keep up to so many bytes, or else the last value alone."""
        self._most = most
        self._values: OrderedDict[Hashable, tuple[Value, int]] = OrderedDict()
        self._size = 0
        self._lock = threading.Lock()

    def get(self, key: Hashable) -> Value | None:
        """Return a value, if it is there."""
        with self._lock:
            if key not in self._values:
                return None
            self._values.move_to_end(key)
            return self._values[key][0]

    def put(self, key: Hashable, value: Value, content: int) -> Value:
        """Keep a value whose content is so many bytes long, and return it; those that nobody took for longest go."""
        size = content + _BESIDE
        with self._lock:
            _, known = self._values.pop(key, (value, 0))
            self._values[key] = value, size
            self._size += size - known
            while self._size > self._most and len(self._values) > 1:
                self._size -= self._values.popitem(last=False)[1][1]
        return value
