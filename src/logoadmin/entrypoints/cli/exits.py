"""How a command ends: what is said on standard error, and the exit code."""

import sys
from typing import Final, NoReturn

import click

from logoadmin.domain.model.errors import InvalidLines, LogoAdminError, SettingsError, StorageUnavailable
from logoadmin.entrypoints.cli.commands import cli

_USAGE: Final = 2
_FAILURE: Final = 1
_INTERRUPTED: Final = 130


def main() -> NoReturn:
    """Run the command of this process's arguments and exit: 0 for done, 1 for failed, 2 for asked wrongly."""
    try:
        cli.main(standalone_mode=False)
    except click.exceptions.Exit as stop:
        sys.exit(stop.exit_code)
    except click.exceptions.NoArgsIsHelpError as error:
        click.echo(error.format_message(), err=True)
        sys.exit(_USAGE)
    except click.UsageError as error:
        command = error.ctx.command_path if error.ctx else "logoadmin"
        _exit(_USAGE, f"{error.format_message()} See: {command} --help")
    except click.Abort:
        _exit(_INTERRUPTED, "Interrupted")
    except InvalidLines as error:
        _exit(_FAILURE, f"{error}; nothing was imported")
    except StorageUnavailable as error:
        _exit(_FAILURE, f"{error}: {error.cause.text}; {error.cause.cure}")
    except OSError as error:
        _exit(_FAILURE, f"{error.filename}: {error.strerror}" if error.filename else str(error))
    except SettingsError as error:
        _exit(_USAGE, str(error))
    except LogoAdminError as error:
        _exit(_FAILURE, str(error))
    sys.exit(0)


def _exit(code: int, text: str) -> NoReturn:
    click.echo(f"logoadmin: {text}", err=True)
    sys.exit(code)
