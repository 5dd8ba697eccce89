"""The numbers of migrations, which come from their file names alone."""

import re
from pathlib import Path
from typing import Final

from logoadmin.domain.kernel.errors import StartError

# The first letter of numbers since the first release; older databases have another one, or none.
RELEASED: Final = "w"
_NAME: Final = re.compile(r"([0-9]{4})_[a-z0-9_]+\.py")
# The line of every migration that gives it its number; one that is written out could differ from the file name.
_REVISION: Final = "revision, down_revision = number_of(__file__), number_before(__file__)\n"
_WRITTEN_OUT: Final = re.compile(r"['\"]([a-z][0-9]{4})['\"]")


def number_of(file: str | Path) -> str:
    """Return the number of a migration."""
    return RELEASED + Path(file).name[:4]


def number_before(file: str | Path) -> str | None:
    """Return the number of the migration before another one, None for the first."""
    earlier = [number for number in numbers(Path(file).parent) if number < number_of(file)]
    return earlier[-1] if earlier else None


def numbers(folder: Path) -> list[str]:
    """Return the numbers of all migrations in a folder, in ascending order."""
    return sorted(number_of(file) for file in folder.glob("[0-9]*_*.py"))


def check_numbers(folder: Path) -> None:
    """Make sure that every migration in a folder has the number that its file name says.

    Raises:
        StartError: one has not; the text names it and the mend.
    """
    known: dict[str, Path] = {}
    for file in sorted(folder.glob("*.py")):
        if file.name == "__init__.py":
            continue
        if not _NAME.fullmatch(file.name):
            raise StartError(f"The migration {file.name} has no number; name it like 0002_subject.py")
        if (other := known.setdefault(number_of(file), file)) is not file:
            raise StartError(f"The migrations {other.name} and {file.name} have the same number; give one the next")
        text = file.read_text(encoding="utf-8")
        if _REVISION not in text:
            raise StartError(f"The migration {file.name} lacks the line: {_REVISION.strip()}")
        if written_out := _WRITTEN_OUT.search(text):
            raise StartError(f"The migration {file.name} has the number {written_out[1]}; use revision instead")
