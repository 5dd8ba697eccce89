"""What a supervisor tells those who serve: in memory that they share, so that nothing has to be delivered."""

import multiprocessing
from enum import IntEnum
from typing import Final

_spawning = multiprocessing.get_context("spawn")

GRACE: Final = 10  # seconds in which requests in flight are finished when the service stops
RETIREMENT: Final = 120  # the same for one that is replaced: nobody waits for it


class Order(IntEnum):
    """How far it is with the end of one who serves (contract K5)."""

    SERVE = 0
    DRAIN = 1  # take connections still, each for one request, and be not ready
    RETIRE = 2  # take no more connections; finish what there is, while another one serves
    STOP = 3  # the same with the service, and sooner
    BREAK_OFF = 4  # end at once


class Orders:
    """The latest order to one who serves; it can be handed to the process that is started for it."""

    def __init__(self) -> None:
        self._latest = _spawning.RawValue("b", Order.SERVE)

    @property
    def latest(self) -> Order:
        """How far it is to go."""
        return Order(self._latest.value)

    def give(self, order: Order) -> None:
        """Order something, unless more than that was ordered before."""
        self._latest.value = max(order, self._latest.value)
