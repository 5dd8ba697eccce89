"""Interleaved measurements: candidates take turns, so that other load on the machine affects all of them alike."""

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
    """The number of rounds, and the duration of each in seconds if it can be chosen."""

    count: int
    seconds: int

    def slower(self, times: int) -> "Rounds":
        """Return fewer and longer rounds, for servers with only a few responses per second."""
        return Rounds(math.ceil(self.count / 2), self.seconds * times)


def interleave(
    candidates: Mapping[Name, Candidate], measure: Callable[[Candidate], Measured], rounds: int
) -> dict[Name, list[Measured]]:
    """Return the measurements of each candidate, one per round; each round begins with a different candidate."""
    names = list(candidates)
    measured: dict[Name, list[Measured]] = {name: [] for name in names}
    for number in range(rounds):
        first = number % len(names)
        for name in names[first:] + names[:first]:
            measured[name].append(measure(candidates[name]))
    return measured


def median_ratio(these: list[float], those: list[float]) -> float:
    """Return the median of the ratios of two candidates in the same rounds."""
    return median(this / that for this, that in zip(these, those, strict=True))
