"""The table of results with their targets."""

from collections.abc import Iterable
from dataclasses import dataclass
from typing import Final

_HEADINGS: Final = ("What", "Database", "Found", "Wanted", "")


@dataclass(frozen=True, slots=True)
class Target:
    """A bound that a value must reach or must not exceed."""

    sign: str
    bound: float

    def is_reached(self, value: float) -> bool:
        """Return whether a value meets the target."""
        return value >= self.bound if self.sign == "≥" else value <= self.bound


def at_least(bound: float) -> Target:
    """Return a lower bound."""
    return Target("≥", bound)


def at_most(bound: float) -> Target:
    """Return an upper bound."""
    return Target("≤", bound)


@dataclass(frozen=True, slots=True)
class Result:
    """One line of the table.

    Attributes:
        what: the measurement.
        where: the kind of database, if any.
        value: the median, in ``unit``.
        unit: the unit of the value, such as ``x usual`` for a multiple of the usual way.
        target: the target, if any.
    """

    what: str
    where: str
    value: float
    unit: str
    target: Target | None = None

    @property
    def is_missed(self) -> bool:
        """Whether a target was set and not reached."""
        return self.target is not None and not self.target.is_reached(self.value)

    def cells(self) -> tuple[str, ...]:
        """Return the cells of the line."""
        found = f"{self.value:.3g} {self.unit}"
        if self.target is None:
            return self.what, self.where, found, "", ""
        wanted = f"{self.target.sign} {self.target.bound:g}"
        return self.what, self.where, found, wanted, "MISSED" if self.is_missed else "reached"


def table(results: Iterable[Result]) -> str:
    """Return the results, line by line."""
    rows = [_HEADINGS, *(result.cells() for result in results)]
    widths = [max(map(len, column)) for column in zip(*rows, strict=True)]
    lines = ["  ".join(map(str.ljust, row, widths)).rstrip() for row in rows]
    return "\n".join([lines[0], "-" * max(map(len, lines)), *lines[1:]])
