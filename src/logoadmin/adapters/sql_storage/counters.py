"""The counters of a database: the last ids issued, and the last change of each kind (contract A2)."""

from collections.abc import Mapping

from logoadmin.domain.kernel.errors import Conflict
from logoadmin.domain.kernel.limits import MAX_COUNTED_ID, MAX_ID


class Counters:
    """The counters as a write has raised them.

    Auto-increment values cannot be used as ids: a rollback does not return them, and databases count differently.

    Attributes:
        values: the counters, by the name of the field with the id, or of the kind's version.
    """

    __slots__ = ("_issued", "_stored", "values")

    def __init__(self, stored: Mapping[str, int]) -> None:
        self._stored, self.values = stored, dict(stored)
        self._issued: dict[str, int] = {}

    def raised(self) -> dict[str, int]:
        """Return those that the database does not have yet."""
        return {name: value for name, value in self.values.items() if value != self._stored[name]}

    def restore(self, values: Mapping[str, int]) -> None:
        """Take back the ids issued since the counters had these values."""
        self.values = dict(values)
        self._issued.clear()

    def next_id(self, name: str) -> int:
        """Return the next id for a field of this name.

        Raises:
            Conflict: no ids are left (contract A2).
        """
        id_ = self.values[name] + 1
        if id_ > MAX_ID:
            raise Conflict(f"No {name} is left")
        self.values[name] = self._issued[name] = id_
        return id_

    def is_above_all(self, name: str, id_: int) -> bool:
        """Return whether a write knows that an id is free because it is higher than any issued before.

        Ids above MAX_COUNTED_ID are chosen by callers, so any of them may exist.
        """
        return self.values.get(name, MAX_COUNTED_ID) < id_ <= MAX_COUNTED_ID

    def take_unused(self, name: str, id_: int) -> bool:
        """Return whether a write can tell that no record has an id; it then counts as issued."""
        if self._issued.pop(name, None) == id_:
            return True
        is_unused = self.is_above_all(name, id_)
        if is_unused:
            self.values[name] = id_
        return is_unused

    def count(self, number: int, *names: str) -> None:
        """Record an id that was not issued here, or the number of a change."""
        for name in names:
            self.values[name] = max(number, self.values[name])


NO_COUNTERS = Counters({})
