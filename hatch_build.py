"""Build hook: the wheel has the console as the bundle of ``make build``, or else as plain modules (contract J5)."""

from pathlib import Path
from typing import Any, Final

from hatchling.builders.config import BuilderConfig
from hatchling.builders.hooks.plugin.interface import BuildHookInterface

CONSOLE: Final = "src/logoadmin/entrypoints/console"
BUNDLE: Final = "build/console"


class ConsoleBuildHook(BuildHookInterface[BuilderConfig]):
    """Adds what browsers load, which pyproject.toml excludes; an editable install serves the plain modules."""

    def initialize(self, version: str, build_data: dict[str, Any]) -> None:
        """Have the files of one of the folders included."""
        if version == "editable":
            return
        plain, bundle = (_files_of(Path(self.root, folder)) for folder in (CONSOLE, BUNDLE))
        if bundle and min(map(_changed, bundle.values())) < max(map(_changed, plain.values())):
            raise RuntimeError(f"{BUNDLE} is older than the console: run make bundle, or remove it to build without it")
        for name, file in (bundle or plain).items():
            build_data["force_include"][str(file)] = f"{CONSOLE.removeprefix('src/')}/{name}"


def _files_of(folder: Path) -> dict[str, Path]:
    """Return what browsers load from a folder, by name."""
    return {
        file.relative_to(folder).as_posix(): file
        for file in folder.rglob("*.*")
        if file.suffix not in {".py", ".pyc"} and not file.name.endswith(".d.ts")
    }


def _changed(file: Path) -> float:
    return file.stat().st_mtime
