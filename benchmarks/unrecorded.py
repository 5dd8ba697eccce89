"""logoadmin without history and rights, to see what they cost: ``python -m benchmarks.unrecorded serve``."""

from typing import Any

from logoadmin.domain import ledger, transactions
from logoadmin.entrypoints.cli import main


def _nothing(*_: Any, **__: Any) -> None:
    """Do nothing, and allow everything."""


def _version(*_: Any) -> int:
    return 0


def switch_off() -> None:
    """Let changes leave no trace, and nobody be asked for their rights."""
    for name in ("note", "judge", "judge_user", "close"):
        setattr(ledger.Ledger, name, _nothing)
    setattr(ledger.Ledger, "version", _version)  # noqa: B010 (mypy would rightly refuse the assignment)
    setattr(transactions.Transactions, "_rights", _nothing)  # noqa: B010 (the same)


if __name__ == "__main__":
    switch_off()
    main()
