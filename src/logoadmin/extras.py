"""How to install an extra of logoadmin, which is on no package index."""

import json
import shlex
from contextlib import suppress
from pathlib import Path
from typing import Final
from urllib.parse import unquote, urlsplit

_PACKAGE: Final = "logoadmin"


def install_extra(extra: str) -> str:
    """Return the remedy for a missing extra: the command that installs it from the source of this installation.

    The installer recorded that source: a wheel, a directory or a URL (PEP 610). If it did not, or the files are gone,
    the remedy names no source.
    """
    from importlib.metadata import PackageNotFoundError, distribution

    record = {}
    with suppress(PackageNotFoundError, ValueError):
        record = json.loads(distribution(_PACKAGE).read_text("direct_url.json") or "{}")
    place = _place(record)
    if place is None:
        return f"install logoadmin again, from its wheel or its source directory, with the extra [{extra}]"
    editable = "--editable " if record.get("dir_info", {}).get("editable") else ""
    requirement = f"{_PACKAGE}[{extra}] @ {place}" if "://" in place else f"{place}[{extra}]"
    return f"run pip install {editable}{shlex.quote(requirement)}"  # some shells read brackets as a pattern


def _place(record: dict[str, dict[str, str]]) -> str | None:
    """Return the path, or the URL, from which logoadmin was installed and can be installed again."""
    url = str(record.get("url", ""))
    if url.startswith("file:"):
        path = unquote(urlsplit(url).path)
        return path if Path(path).exists() else None
    version_control = record.get("vcs_info")
    if version_control:
        return f"{version_control['vcs']}+{url}@{version_control['commit_id']}"
    return url or None
