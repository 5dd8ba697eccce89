"""The priorities of the queue for decoding pictures (contract P1)."""

import time
from concurrent.futures import ThreadPoolExecutor

import pytest

from logoadmin.domain.gallery.picture_queue import PictureQueue
from logoadmin.domain.kernel.errors import TooManyPictures

pytestmark = pytest.mark.rule("contract P1")


def test_callers_who_may_write_go_first_and_then_cheap_pictures() -> None:
    queue, order = PictureQueue(), list[str]()

    def send(name: str, cost: int, may_write: bool) -> None:
        with queue.turn(cost, may_write=may_write):
            order.append(name)

    with ThreadPoolExecutor(5) as threads, queue.turn(1, may_write=False):
        for waiting, each in enumerate(
            (("dear", 9, False), ("cheap", 2, False), ("same", 2, False), ("mine", 99, True))
        ):
            threads.submit(send, *each)
            while len(queue) <= waiting:
                time.sleep(0.001)
    assert order == ["mine", "cheap", "same", "dear"]


def test_a_full_queue_accepts_only_callers_who_may_write() -> None:
    queue = PictureQueue()

    def send(may_write: bool) -> None:
        with queue.turn(1, may_write=may_write):
            pass

    with ThreadPoolExecutor(9) as threads:
        with queue.turn(1, may_write=False):
            sent = [threads.submit(send, False) for _ in range(6)]
            while len(queue) < 6:
                time.sleep(0.001)
            with pytest.raises(TooManyPictures, match="at once") as error:
                send(False)
            assert error.value.retry_after == 10
            sent.append(threads.submit(send, True))
        assert [each.result() for each in sent] == [None] * 7
