"""Results of commands, which the fixture ``run`` runs in this process."""

from collections.abc import Callable
from dataclasses import dataclass, field


@dataclass(frozen=True)
class CommandResult:
    """The result of a command; the request ID it printed is kept apart, since it differs every time."""

    code: int
    out: str
    err: str
    request: str = field(default="", compare=False)


Run = Callable[..., CommandResult]


def assert_one_line(result: CommandResult, code: int, *parts: str) -> None:
    assert result.code == code, result
    assert result.out == ""
    assert result.err.count("\n") == 1, result.err
    assert result.err.startswith("logoadmin: ")
    for part in parts:
        assert part in result.err, result.err
    assert "Traceback" not in result.err
