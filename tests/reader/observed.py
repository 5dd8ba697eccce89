"""Compares the observations of a reader with the expected ones."""

import json
from collections.abc import Mapping, Sequence
from dataclasses import asdict, replace
from typing import Any

from tests.reader.hostile_server import HostileServer
from tests.reader.vectors import ANY_ERROR, Seen, Story

# The fields of Seen except the requests, which the server records.
Observed = Mapping[str, Any]


def folder(story: Story) -> str:
    return story.name.replace(" ", "-")


def publish(server: HostileServer, story: Story) -> str:
    """Serve the first step of a story, and return the address of its gallery."""
    return server.publish(folder(story), *(step.files for step in story.steps))


def compare(seen: Seen, observed: Observed, requests: Sequence[str], where: str) -> None:
    """Compare an observation with the expected one."""
    expected = json.loads(json.dumps(asdict(seen)))
    assert {**expected, "requests": 0} == {**observed, "error": expected["error"], "requests": 0}, where
    assert bool(observed["error"]) == bool(seen.error), (where, observed["error"])
    if seen.error != ANY_ERROR:
        assert observed["error"].endswith(seen.error), (where, observed["error"])
    if seen.requests is not None:
        assert list(requests) == list(seen.requests), where


def compare_all(
    server: HostileServer, stories: Sequence[Story], observed: Mapping[str, Sequence[Observed]], *, cached: bool
) -> None:
    """Compare all observations; with a cache before the reader, it alone knows which requests are conditional."""
    for story in stories:
        steps = server.requests(folder(story))
        for number, step in enumerate(story.steps):
            seen, requests = step.seen, steps[number]
            if cached and seen.requests is not None:
                requests = [path.rstrip("?") for path in requests]
                seen = replace(seen, requests=[path.rstrip("?") for path in seen.requests])
            compare(seen, observed[story.name][number], requests, f"{story.name}, step {number + 1}")
