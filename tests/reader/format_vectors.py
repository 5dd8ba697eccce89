"""Writes the test vectors of docs/read.md: ``python -m tests.reader.format_vectors``.

They are the stories that every reader passes, as far as they do not depend on a server that misbehaves or on a
store that was damaged. Each file is an array of vectors with a ``name`` and ``steps``, which share one store:

    do: ``open``, the program starts, with the ``keys`` as JWKs; or ``check``, it looks for news.
    now: its clock.
    files: the files of the server by path, as text or as ``{"base64": "..."}``; any other path is 404.
    expect.fails: whether the step fails.
    expect.new: for a check that succeeds, whether anything is new since the last one, or since the start.
    expect.version: that of the newest pointer that was kept; ``null`` for none.
    expect.logos, expect.themes: the ids of the records that may be applied.
    expect.withdrawn: the entries that became known in a check: ``kind``, ``id``, ``severity``.
"""

import base64
import json
from collections.abc import Callable, Iterable, Iterator, Mapping
from pathlib import Path
from typing import Any, Final

from tests.reader import stories
from tests.reader.publisher import Answer
from tests.reader.vectors import Step, Story

FOLDER: Final = Path(__file__).parents[2] / "docs/gallery-vectors"
_GROUPS: Final[Mapping[str, tuple[Callable[[], Iterable[Story]], ...]]] = {
    "contents": (stories.valid, stories.texts),
    "withdrawals": (stories.takedowns,),
    "signatures": (stories.forgeries,),
    "order": (stories.old_and_foreign,),
    "keys": (stories.rotations,),
    "files": (stories.spoiled_files,),
    "payloads": (stories.bad_payloads,),
}


def vectors() -> Iterator[tuple[str, str]]:
    for name, groups in _GROUPS.items():
        found = [_vector(story) for group in groups for story in group() if _is_plain(story)]
        yield f"{name}.json", json.dumps(found, ensure_ascii=False, indent=1) + "\n"


def _is_plain(story: Story) -> bool:
    answers = [answer for step in story.steps for answer in step.files.values()]
    is_undamaged = not story.broken_store and not any(step.spoil or step.checks for step in story.steps)
    return is_undamaged and all(answer == Answer(answer.body) for answer in answers)


def _vector(story: Story) -> dict[str, Any]:
    return {"name": story.name, "steps": [_step(story, number, step) for number, step in enumerate(story.steps)]}


def _step(story: Story, number: int, step: Step) -> dict[str, Any]:
    opens, seen = step.opens or number == 0, step.seen
    return {
        "do": "open" if opens else "check",
        **({"keys": [key.jwk for key in step.keys or story.keys]} if opens else {}),
        "now": step.now,
        "files": {path: _content(answer.body) for path, answer in step.files.items()},
        "expect": {
            "fails": bool(seen.error),
            **({} if opens or seen.error else {"new": seen.changed}),
            "version": seen.version,
            "logos": list(seen.logos),
            "themes": list(seen.themes),
            **({} if opens else {"withdrawn": list(map(list, seen.withdrawn))}),
        },
    }


def _content(body: bytes) -> Any:
    try:
        return body.decode()
    except UnicodeDecodeError:
        return {"base64": base64.b64encode(body).decode()}


if __name__ == "__main__":
    for name, content in vectors():
        (FOLDER / name).write_text(content, "utf-8")
