"""What several commands read and print: commands with the given options, and lists as JSON Lines."""

from collections.abc import Iterable, Mapping
from datetime import UTC, datetime
from typing import TYPE_CHECKING, Any, TypeVar

import click

from logoadmin.domain.kernel.errors import InvalidInput
from logoadmin.entrypoints.one_line import as_json_line

if TYPE_CHECKING:
    from logoadmin.domain.kernel.command import Command

Asked = TypeVar("Asked", bound="Command")

json_option = click.option("--json", "as_json", is_flag=True, help="Print JSON Lines, with every field.")


def command_of(command: type[Asked], asked: Mapping[str, Any]) -> Asked:
    """Return a command with the options that were given, named in errors as on the command line."""
    from logoadmin.settings.plain_words import plain_words

    try:
        return command(**{name: value for name, value in asked.items() if value is not None})
    except InvalidInput as error:
        problems = [f"{_written(str(problem.loc[0]))}: {plain_words(problem.msg)}" for problem in error.problems]
    raise click.UsageError("; ".join(problems))


def _written(name: str) -> str:
    """Return an option or an argument as it is written."""
    for parameter in click.get_current_context().command.params:
        if parameter.name == name:
            return parameter.opts[0] if isinstance(parameter, click.Option) else parameter.human_readable_name
    return name


def print_lines(listed: type, entries: Iterable[Any]) -> None:
    """Print entries as JSON Lines, without characters that a terminal would obey."""
    from pydantic import TypeAdapter

    line = TypeAdapter(listed).serializer.to_json
    for entry in entries:
        click.echo(as_json_line(line(entry).decode()).encode())


def day_of(at: int) -> str:
    """Return the day of a Unix time, in UTC."""
    return datetime.fromtimestamp(at, UTC).date().isoformat()
