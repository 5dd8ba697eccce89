"""What several commands read and print: commands with the given options, and lists as JSON Lines."""

from collections.abc import Iterable, Mapping
from typing import TYPE_CHECKING, Any, TypeVar

import click

from logoadmin.domain.kernel.errors import InvalidInput
from logoadmin.entrypoints.one_line import as_json_line

if TYPE_CHECKING:
    from logoadmin.domain.kernel.command import Command

Asked = TypeVar("Asked", bound="Command")


def command_of(command: type[Asked], asked: Mapping[str, Any]) -> Asked:
    """Return a command with the options that were given."""
    try:
        return command(**{name: value for name, value in asked.items() if value is not None})
    except InvalidInput as error:
        problems = "; ".join(f"{problem.loc[0]}: {problem.msg}" for problem in error.problems)
    raise click.UsageError(problems)


def print_lines(listed: type, entries: Iterable[Any]) -> None:
    """Print entries as JSON Lines, without characters that a terminal would obey."""
    from pydantic import TypeAdapter

    line = TypeAdapter(listed).serializer.to_json
    for entry in entries:
        click.echo(as_json_line(line(entry).decode()).encode())
