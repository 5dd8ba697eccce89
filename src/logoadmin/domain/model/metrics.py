"""What is counted while a program runs, for those who watch it (contract K2).

A series has slots of its own, one double for each combination of its labels. The slots of one process may lie in memory
that another one reads, and that the next process goes on with: so nothing is lost with a process.
"""

import threading
from bisect import bisect_left
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from functools import cached_property
from itertools import product
from typing import Final, Literal

from logoadmin.domain.model.causes import Cause

# The upper ends of the buckets of a histogram, in seconds; one more is for all that took longer.
BUCKETS: Final = (0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1.0, 2.5, 10.0)
_BYTES: Final = 8  # of a double


@dataclass(frozen=True)
class Series:
    """One row: what is counted, under which name.

    Attributes:
        name: the name for Prometheus, with its unit.
        type: a counter only rises; a gauge is how it is now; a histogram has seconds, by :data:`BUCKETS`.
        text: what it is, in a line.
        labels: the names of its labels, each with all values that it may have.
    """

    name: str
    type: Literal["counter", "gauge", "histogram"]
    text: str
    labels: tuple[tuple[str, tuple[str, ...]], ...] = ()

    @cached_property
    def combinations(self) -> Sequence[tuple[str, ...]]:
        """All values of the labels together, in the order of their slots."""
        return tuple(product(*(values for _, values in self.labels)))

    @cached_property
    def slots(self) -> int:
        """How many doubles it takes; a histogram has its buckets, those that took longer, and the sum."""
        return len(BUCKETS) + 2 if self.type == "histogram" else len(self.combinations)


class Tally:
    """How often something happened in this process. Safe to use from several threads.

    Attributes:
        slots: the doubles of a series.
        index: which of them is that of some values of its labels.
    """

    def __init__(self, series: Series, slots: "memoryview[float]") -> None:
        self.slots = slots
        self.index = {labels: number for number, labels in enumerate(series.combinations)}
        self._lock = threading.Lock()

    def add(self, *labels: str, amount: float = 1.0) -> None:
        """Add to a counter, or to a gauge, under the values of its labels."""
        number = self.index[labels]
        with self._lock:
            self.slots[number] += amount

    def set(self, value: float) -> None:
        """Say how a gauge without labels is now."""
        self.slots[0] = value

    def observe(self, seconds: float) -> None:
        """Count a duration in the histogram, in the first bucket that holds it."""
        number = bisect_left(BUCKETS, seconds)
        with self._lock:
            self.slots[number] += 1
            self.slots[-1] += seconds


class Counters:
    """All that a process counts.

    Args:
        series: those that lie in the memory, in this order; others get memory of their own when they are asked for.
        memory: so many doubles as :func:`size` says.
    """

    def __init__(self, series: Iterable[Series] = (), memory: "memoryview[float] | None" = None) -> None:
        self._tallies: dict[Series, Tally] = {}
        self._lock = threading.Lock()
        if memory is not None:
            for one in series:
                self._tallies[one] = Tally(one, memory[: one.slots])
                memory = memory[one.slots :]

    def of(self, series: Series) -> Tally:
        """Return where a series is counted."""
        with self._lock:
            if series not in self._tallies:
                own = memoryview(bytearray(_BYTES * series.slots))
                self._tallies[series] = Tally(series, own.cast("d"))
            return self._tallies[series]

    def forget_present(self) -> None:
        """Set all gauges to nothing, for a process that is no more; what was counted stays."""
        for series, tally in self._tallies.items():
            if series.type == "gauge":
                tally.set(0)


def size(series: Iterable[Series]) -> int:
    """Return how many doubles series take together."""
    return sum(one.slots for one in series)


# What came of a call that did not get its answer is told by the cause; with `not_tried` the breaker kept it back.
DATABASE_CALLS: Final = Series(
    "logoadmin_database_calls_total",
    "counter",
    "Calls of the database, by what came of them.",
    (("outcome", ("ok", "not_tried", *(cause.code for cause in Cause))),),
)
DATABASE_CALL_SECONDS: Final = Series(
    "logoadmin_database_call_seconds", "histogram", "Time of a call of the database, with waits and repeats."
)
DATABASE_BREAKER_OPEN: Final = Series(
    "logoadmin_database_breaker_open", "gauge", "Processes that leave the database alone because it was out of reach."
)
SIGN_INS: Final = Series(
    "logoadmin_sign_ins_total",
    "counter",
    "Sign-ins by password: ok, failed for a wrong name or password, refused after too many of these.",
    (("outcome", ("ok", "failed", "refused")),),
)
CORE_SERIES: Final = (DATABASE_CALLS, DATABASE_CALL_SECONDS, DATABASE_BREAKER_OPEN, SIGN_INS)
