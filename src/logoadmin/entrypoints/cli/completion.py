"""Completing what is typed, in the shells that click knows (contract K4)."""

import click


@click.command()
@click.argument("shell", type=click.Choice(["bash", "zsh", "fish"]))
@click.pass_context
def completion(context: click.Context, shell: str) -> None:
    """Print a script with which SHELL completes commands, options and their values."""
    from click.shell_completion import get_completion_class

    # By the names that click itself looks for when the script has it complete.
    name = "logoadmin"
    found = get_completion_class(shell)
    assert found is not None  # noqa: S101 (the choices above are those it has)
    click.echo(found(context.find_root().command, {}, name, f"_{name.upper()}_COMPLETE").source())
