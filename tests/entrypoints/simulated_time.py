"""An event loop with a simulated clock: waits of hours take no time."""

import asyncio
import selectors
from collections.abc import Coroutine
from typing import Any, TypeVar

T = TypeVar("T")


class _Selector(selectors.DefaultSelector):
    now = 0.0

    def select(self, timeout: float | None = None) -> Any:
        self.now += timeout or 0
        return super().select(0)


class _Loop(asyncio.SelectorEventLoop):
    def __init__(self) -> None:
        self._told = _Selector()
        super().__init__(self._told)

    def time(self) -> float:
        return self._told.now


def run(main: Coroutine[Any, Any, T]) -> T:
    """Run a coroutine in which sleeps and timeouts take no real time."""
    with asyncio.Runner(loop_factory=_Loop) as runner:
        return runner.run(main)
