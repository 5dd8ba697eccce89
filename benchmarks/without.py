"""logoadmin without a part of it, to see what that costs or spares: ``python -m benchmarks.without history serve``."""

import sys
from typing import Any, Final

from logoadmin.domain import transactions
from logoadmin.domain.audit import change_log
from logoadmin.entrypoints.cli import main
from logoadmin.entrypoints.http_api import response_cache


def _nothing(*_: Any, **__: Any) -> None:
    """Do nothing, and allow everything."""


def _version(*_: Any) -> int:
    return 0


def _replace(owner: object, name: str, by: Any = _nothing) -> None:
    """Replace what is there; a name that has changed must not leave a part in."""
    getattr(owner, name)
    setattr(owner, name, by)


def history() -> None:
    """Let changes leave no trace, and nobody be asked for their rights."""
    for name in ("record", "check_escalation", "check_key", "close"):
        _replace(change_log.ChangeLog, name)
    _replace(change_log.ChangeLog, "version", _version)
    _replace(transactions.Transactions, "_rights")


def cache() -> None:
    """Let each answer be made anew, as the first one after a change is."""
    _replace(response_cache, "_may_be_stored")


_PARTS: Final = {"history": history, "cache": cache}


if __name__ == "__main__":
    _PARTS[sys.argv.pop(1)]()
    main()
