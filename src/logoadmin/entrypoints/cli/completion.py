"""Shell completion (contract K4)."""

import click


@click.command()
@click.argument("shell", type=click.Choice(["bash", "zsh", "fish"]))
@click.pass_context
def completion(context: click.Context, shell: str) -> None:
    """Print a script that makes SHELL complete commands, options and their values."""
    from click.shell_completion import get_completion_class

    # These are the names that click uses when the script calls it.
    name = "logoadmin"
    found = get_completion_class(shell)
    assert found is not None  # noqa: S101 (click has a class for each of the choices)
    click.echo(found(context.find_root().command, {}, name, f"_{name.upper()}_COMPLETE").source())
