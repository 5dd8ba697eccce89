"""Measure how much there is to read, and write it into docs/architecture.md: ``python -m benchmarks.structure``."""

import re
import sys
import tempfile
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from types import FrameType
from typing import Final

import logoadmin

ROOT: Final = Path(__file__).parent.parent
PACKAGE: Final = ROOT / "src" / "logoadmin"
PAGE: Final = ROOT / "docs" / "architecture.md"
_BLOCK: Final = re.compile(r"(?<=<!-- structure -->\n).*?(?=<!-- end of structure -->)", re.DOTALL)
# Lists kept by hand, verified here, as in "**Files of a new field:** `domain/model/records.py`, `...`."
_TOUCHED: Final = re.compile(r"^\*\*Files of a new (\w+):\*\*((?:.+\n)+)", re.MULTILINE)


@dataclass
class Way:
    """What is called of the package while something is done."""

    calls: int = 0
    changes: int = 0
    files: dict[str, None] = field(default_factory=dict)
    _last: str = ""

    def follow(self, work: Callable[[], object]) -> "Way":
        """Do it, and count calls and changes from one file to another."""
        sys.setprofile(self._look)
        try:
            work()
        finally:
            sys.setprofile(None)
        return self

    def _look(self, frame: FrameType, event: str, _: object) -> None:
        file = Path(frame.f_code.co_filename)
        if event == "call" and file.is_relative_to(PACKAGE):
            name = file.relative_to(PACKAGE).as_posix()
            self.calls += 1
            self.changes += name != self._last
            self.files[name] = None
            self._last = name


def ways() -> Mapping[str, Way]:
    """Return the ways through the library on SQLite, once everything is warm."""
    command = logoadmin.CreateLogo(
        name="Aurora", preview_url="https://example.org/a.png", target="forum", custom_css=""
    )
    asked = logoadmin.GetLogo(logo_id=1)
    with (
        tempfile.TemporaryDirectory() as directory,
        logoadmin.connect(f"sqlite:///{directory}/gallery.db") as gallery,
    ):
        for _ in range(2):
            gallery.logos.create(command)
            gallery.logos.get(asked)
        return {
            "creating a logo": Way().follow(lambda: gallery.logos.create(command)),
            "reading a logo": Way().follow(lambda: gallery.logos.get(asked)),
        }


def touched() -> Mapping[str, tuple[str, ...]]:
    """Return the files that a new field, kind or operation touches, as docs/extend.md lists them."""
    text = (ROOT / "docs" / "extend.md").read_text(encoding="utf-8")
    found = {what: tuple(re.findall(r"`([^`]+)`", files)) for what, files in _TOUCHED.findall(text)}
    missing = [name for files in found.values() for name in files if not (PACKAGE / name).exists()]
    if missing:
        raise FileNotFoundError(f"docs/extend.md names what is not there: {missing}")
    return found


def block() -> str:
    """Return what stands in docs/architecture.md."""
    return "\n".join(_lines())


def _lines() -> Iterator[str]:
    yield from ("", "| | Files | Lines |", "|---|---|---|")
    for place in ("src", "tests"):
        files = sorted((ROOT / place).rglob("*.py"))
        lines = sum(len(file.read_text(encoding="utf-8").splitlines()) for file in files)
        yield f"| `{place}` | {len(files)} | {lines:,} |"
    yield from ("", "| On SQLite, through the library | Files | Calls | Changes of file |", "|---|---|---|---|")
    followed = ways()
    for what, way in followed.items():
        yield f"| {what} | {len(way.files)} | {way.calls} | {way.changes} |"
    for what, way in followed.items():
        yield from ("", f"The way of {what}: {', '.join(f'`{name}`' for name in way.files)}.")
    yield from ("", "| Something new | Files that it touches, beside tests and docs |", "|---|---|")
    for what, names in touched().items():
        yield f"| {what} | {len(names)} |"
    yield from ("", "")


def written() -> str:
    """Return what stands in docs/architecture.md now."""
    found = _BLOCK.search(PAGE.read_text(encoding="utf-8"))
    return found[0] if found else ""


if __name__ == "__main__":
    now = block()
    PAGE.write_text(_BLOCK.sub(lambda _: now, PAGE.read_text(encoding="utf-8")), encoding="utf-8")
