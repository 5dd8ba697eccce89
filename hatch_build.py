"""Build hook: the wheel has the console's modules without their comments, which are a third of them (contract J5)."""

import re
from pathlib import Path
from tempfile import mkdtemp
from typing import Any, Final

from hatchling.builders.config import BuilderConfig
from hatchling.builders.hooks.plugin.interface import BuildHookInterface

CONSOLE: Final = "src/logoadmin/entrypoints/console"
# Comments on lines of their own. A test makes sure that nothing else in the modules looks like one.
_COMMENTS: Final = re.compile(r"^[ \t]*(?:/\*\*(?:(?!\*/).)*\*/|//[^\n]*)[ \t]*$", re.MULTILINE | re.DOTALL)


class ConsoleBuildHook(BuildHookInterface[BuilderConfig]):
    """Replaces the modules, which pyproject.toml excludes; an editable install serves them as they are."""

    def initialize(self, version: str, build_data: dict[str, Any]) -> None:
        """Write the modules without comments, and have them included."""
        if version == "editable":
            return
        source, target = Path(self.root, CONSOLE), Path(mkdtemp())
        for module in source.rglob("*.js"):
            name = module.relative_to(source)
            if name.parts[0] != "vendor":
                stripped = target / name
                stripped.parent.mkdir(parents=True, exist_ok=True)
                stripped.write_text(_without_comments(module.read_text("utf-8")), "utf-8")
                build_data["force_include"][str(stripped)] = f"{CONSOLE.removeprefix('src/')}/{name.as_posix()}"


def _without_comments(module: str) -> str:
    """Return a module without its comments; each line keeps its number."""
    return _COMMENTS.sub(lambda found: "\n" * found[0].count("\n"), module)
