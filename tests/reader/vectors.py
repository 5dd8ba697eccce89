"""Stories of galleries and of a reader that comes back to them, valid and with each kind of attack (contract L6).

Each story is a series of steps. In each step, the server has other files, and the reader checks them; all readers must
observe the same.
"""

import json
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass, replace
from typing import Any, Final

from logoadmin.reader.gallery import Gallery
from tests.reader.hostile_server import HostileServer
from tests.reader.publisher import A, Files, PublicKey

UNSIGNED: Final = "latest.json: not signed by a trusted key"
EXPIRED: Final = "latest.json: expired"
# An error whose text is that of the platform.
ANY_ERROR: Final = "*"


@dataclass(frozen=True)
class Seen:
    """What a reader observes in a step, with the ids of logos and themes."""

    version: int | None  # of the newest verified pointer
    logos: Sequence[int] = ()
    themes: Sequence[int] = ()
    changed: bool | None = None  # the result of the check; None if it fails, and of opening
    error: str = ""  # the end of the text of its error, if it fails, or ``ANY_ERROR``
    withdrawn: Sequence[Sequence[Any]] = ()  # kind, id and severity of withdrawn records that it is notified of
    # The files that it asks for; those with a ``?`` conditionally. None if they do not matter.
    requests: Sequence[str] | None = None


@dataclass(frozen=True)
class Step:
    """One look at a gallery."""

    files: Files  # of the server; none is a server that is gone
    seen: Seen
    now: int  # the reader's time
    opens: bool = False  # whether the program starts again, with the same store
    checks: bool = False  # whether it checks in the background then
    # What has happened to the store meanwhile: ``truncated``, ``altered`` or ``rubbish`` files, or ``missing`` indexes.
    spoil: str = ""
    keys: Sequence[PublicKey] = ()  # that it is opened with, if other ones


@dataclass(frozen=True)
class Story:
    """A series of steps, of which the first opens the gallery."""

    name: str
    steps: Sequence[Step]
    keys: Sequence[PublicKey] = (A,)  # that the reader is given
    broken_store: bool = False  # whether nothing can be stored

    @property
    def seconds(self) -> float | None:
        """The reader's patience, if it is to be short because the server is slow."""
        answers = (answer for step in self.steps for answer in step.files.values())
        return 1.0 if any(answer.slow or answer.drips or answer.claims for answer in answers) else None

    def script(self) -> Mapping[str, Any]:
        """Return what a reader needs to know of it."""
        return {
            "name": self.name,
            "brokenStore": self.broken_store,
            "seconds": self.seconds,
            "steps": [
                {
                    "now": step.now,
                    "opens": step.opens or number == 0,
                    "checks": step.checks,
                    "spoil": step.spoil,
                    "keys": [key.jwk for key in step.keys or self.keys],
                }
                for number, step in enumerate(self.steps)
            ],
        }


# The fields of Seen except the requests, which the server records.
Observed = Mapping[str, Any]


def shown_by(gallery: Gallery | None, withdrawn: Sequence[Mapping[str, Any]]) -> dict[str, Any]:
    """Return the observation of a reader in Python, which was notified of these withdrawn records."""
    return {
        "version": gallery and gallery.latest["version"],
        "logos": [logo["logo_id"] for logo in gallery.logos()] if gallery else [],
        "themes": [theme["theme_id"] for theme in gallery.themes()] if gallery else [],
        "withdrawn": [[each["kind"], each["id"], each["severity"]] for each in withdrawn],
    }


def folder(story: Story) -> str:
    return story.name.replace(" ", "-")


def publish(server: HostileServer, story: Story) -> str:
    """Serve the first step of a story, and return the address of its gallery."""
    return server.publish(folder(story), *(step.files for step in story.steps))


def compare(seen: Seen, observed: Observed, requests: Sequence[str], where: str) -> None:
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
