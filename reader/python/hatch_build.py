"""Build hooks: modules, version and dependencies are those of the service and its src/logoadmin/reader."""

import re
import tomllib
from pathlib import Path
from typing import Any, Final

from hatchling.builders.config import BuilderConfig
from hatchling.builders.hooks.plugin.interface import BuildHookInterface
from hatchling.metadata.plugin.interface import MetadataHookInterface

SERVICE: Final = Path(__file__).parents[2]


class ServiceMetadata(MetadataHookInterface):
    """Adds version, Python and dependencies from the service's pyproject.toml."""

    def update(self, metadata: dict[str, Any]) -> None:
        """Add them to the metadata."""
        service = tomllib.loads((SERVICE / "pyproject.toml").read_text("utf-8"))["project"]
        metadata["version"] = service["version"]
        metadata["requires-python"] = service["requires-python"]
        known = [*service["dependencies"], *service["optional-dependencies"]["client"]]
        metadata["dependencies"] = [each for each in known if re.match(r"(cryptography|httpx2)\b", each)]


class ServiceModules(BuildHookInterface[BuilderConfig]):
    """Adds the modules of the wheel."""

    def initialize(self, version: str, build_data: dict[str, Any]) -> None:  # noqa: ARG002 (hatchling passes both)
        """Include the modules of the reader."""
        package = SERVICE / "src" / "logoadmin"
        for file in [package / "py.typed", *sorted((package / "reader").glob("*.py"))]:
            build_data["force_include"][str(file)] = f"logoadmin_reader/{file.name}"
