"""The server of published galleries."""

from collections.abc import Iterator

import pytest

from tests.reader.hostile_server import HostileServer


@pytest.fixture(scope="module")
def server() -> Iterator[HostileServer]:
    with HostileServer().running() as running:
        yield running
