"""The help of groups: commands by task, each with its whole line."""

from collections.abc import Mapping, Sequence
from typing import Any

import click


class Commands(click.Group):
    """A group whose help lists its commands as they were added, under the headings of tasks if there are any."""

    def __init__(self, *args: Any, tasks: Mapping[str, Sequence[str]] | None = None, **options: Any) -> None:
        super().__init__(*args, **options)
        self.tasks = tasks
        self.group_class = Commands

    def list_commands(self, ctx: click.Context) -> list[str]:  # noqa: ARG002 (as click calls it)
        """Return the names of the commands in the order of the help."""
        return [name for names in self.tasks.values() for name in names] if self.tasks else list(self.commands)

    def format_commands(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:
        """Write each command with its first sentence, which click would cut off."""
        tasks = self.tasks or {"Commands": self.list_commands(ctx)}
        width = max(len(name) for names in tasks.values() for name in names)
        for task, names in tasks.items():
            with formatter.section(task):
                rows = [(name.ljust(width), self.commands[name].get_short_help_str(limit=10_000)) for name in names]
                formatter.write_dl(rows)
