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
    """What a reader observes in a step.

    Attributes:
        version: of the newest verified pointer; None for none.
        logos: the ids of its logos.
        themes: the ids of its themes.
        changed: the result of the check; None if it fails, and of opening.
        error: the end of the text of its error, if it fails, or ``ANY_ERROR``.
        withdrawn: kind, id and severity of withdrawn records that it is notified of.
        requests: the files it asks for; those with a ``?`` conditionally. None if they do not matter.
    """

    version: int | None
    logos: Sequence[int] = ()
    themes: Sequence[int] = ()
    changed: bool | None = None
    error: str = ""
    withdrawn: Sequence[Sequence[Any]] = ()
    requests: Sequence[str] | None = None


@dataclass(frozen=True)
class Step:
    """One look at a gallery.

    Attributes:
        files: of the server; none is a server that is gone.
        seen: what the reader must observe.
        now: the reader's time.
        opens: whether the program starts again, with the same store.
        checks: whether it checks in the background then.
        spoil: what has happened to the store meanwhile: ``truncated``, ``altered`` or ``rubbish`` files, or ``missing``
            indexes.
        keys: the keys that it is opened with, if other ones.
    """

    files: Files
    seen: Seen
    now: int
    opens: bool = False
    checks: bool = False
    spoil: str = ""
    keys: Sequence[PublicKey] = ()


@dataclass(frozen=True)
class Story:
    """A series of steps, of which the first opens the gallery.

    Attributes:
        name: describes it.
        steps: the steps.
        keys: the keys that the reader is given.
        broken_store: whether nothing can be stored.
    """

    name: str
    steps: Sequence[Step]
    keys: Sequence[PublicKey] = (A,)
    broken_store: bool = False

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
