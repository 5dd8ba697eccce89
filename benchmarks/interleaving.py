"""Interleaved measurements: candidates take turns, so that other load on the machine affects all of them."""

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
    """The number of rounds, and the seconds of each where that can be chosen."""

    count: int
    seconds: int

    def slower(self, times: int) -> "Rounds":
        """Return fewer and longer rounds, for responses of which only some are sent per second."""
        return Rounds(math.ceil(self.count / 2), self.seconds * times)


def interleave(
    candidates: Mapping[Name, Candidate], measure: Callable[[Candidate], Measured], rounds: int
) -> dict[Name, list[Measured]]:
    """Return the measurements of each candidate, one value per round; each round begins with another candidate."""
    names = list(candidates)
    measured: dict[Name, list[Measured]] = {name: [] for name in names}
    for number in range(rounds):
        first = number % len(names)
        for name in names[first:] + names[:first]:
            measured[name].append(measure(candidates[name]))
    return measured


def median_ratio(these: list[float], those: list[float]) -> float:
    """Return the median of each candidate's ratio to the others in the same round."""
    return median(this / that for this, that in zip(these, those, strict=True))
