"""logoadmin without one of its parts, to measure that part: ``python -m benchmarks.without history serve``."""

import sys
from typing import Any, Final

from logoadmin.domain.kernel import audited_records, change_log, gate
from logoadmin.entrypoints.cli import main
from logoadmin.entrypoints.http_api import response_cache


def _nothing(*_: Any, **__: Any) -> None:
    """Do nothing, and allow everything."""


def _version(*_: Any) -> int:
    return 0


def _replace(owner: object, name: str, by: Any = _nothing) -> None:
    """Replace an attribute; fail if its name has changed."""
    getattr(owner, name)
    setattr(owner, name, by)


def history() -> None:
    """Switch off the history and the checks of rights."""
    for owner, names in {
        change_log.ChangeLog: ("record", "store"),
        audited_records.Escalation: ("check", "check_key"),
    }.items():
        for name in names:
            _replace(owner, name)
    _replace(change_log.ChangeLog, "version", _version)
    _replace(gate.Gate, "_rights")


def cache() -> None:
    """Switch off the response cache, so that each response is rendered."""
    _replace(response_cache.ResponseCache, "keep")


_PARTS: Final = {"history": history, "cache": cache}


if __name__ == "__main__":
    _PARTS[sys.argv.pop(1)]()
    main()
