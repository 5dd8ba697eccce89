"""Interleaved measuring: candidates are measured by turns, so that whatever else the machine does hits all alike."""

import math
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from statistics import median
from typing import TypeVar

Name = TypeVar("Name")
Candidate = TypeVar("Candidate")
Measured = TypeVar("Measured")


@dataclass(frozen=True, slots=True)
class Rounds:
    """How often each candidate is measured, and for how many seconds each time where that can be chosen."""

    count: int
    seconds: int

    def slower(self, times: int) -> "Rounds":
        """Return fewer and longer rounds, for answers of which there are only some in a second."""
        return Rounds(math.ceil(self.count / 2), self.seconds * times)


def interleave(
    candidates: Mapping[Name, Candidate], measure: Callable[[Candidate], Measured], rounds: int
) -> dict[Name, list[Measured]]:
    """Return what is measured of each candidate, one value for each round; each round begins with another of them."""
    names = list(candidates)
    measured: dict[Name, list[Measured]] = {name: [] for name in names}
    for number in range(rounds):
        first = number % len(names)
        for name in names[first:] + names[:first]:
            measured[name].append(measure(candidates[name]))
    return measured


def median_ratio(these: list[float], those: list[float]) -> float:
    """Return the median of how many times the others each is in the same round."""
    return median(this / that for this, that in zip(these, those, strict=True))
