"""Stories of galleries and of a reader that comes back to them, valid and with each kind of attack (contract L6).

Each story is a series of steps. In each step, the server has other files, and the reader checks them; all readers must
observe the same.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Final

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
