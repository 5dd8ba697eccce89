"""The end of a command: the message on standard error, and the exit code."""

import sys
from io import TextIOWrapper
from typing import Final, NoReturn

import click

from logoadmin.domain.kernel.errors import InvalidInput, InvalidLines, LogoAdminError, SettingsError
from logoadmin.entrypoints.cli.commands import cli
from logoadmin.entrypoints.one_line import on_one_line

_USAGE: Final = 2
_FAILURE: Final = 1
_INTERRUPTED: Final = 130


def main() -> NoReturn:
    """Run the command line and exit: 0 for success, 1 for failure, 2 for wrong usage or settings."""
    for stream in (sys.stdout, sys.stderr):
        if isinstance(stream, TextIOWrapper):  # a terminal may not support every character
            stream.reconfigure(errors="backslashreplace")
    try:
        cli.main(standalone_mode=False)
    except click.exceptions.Exit as stop:
        sys.exit(stop.exit_code)
    except click.exceptions.NoArgsIsHelpError as error:
        click.echo(error.format_message(), err=True)
        sys.exit(_USAGE)
    except click.UsageError as error:
        command = error.ctx.command_path if error.ctx else "logoadmin"
        message = " ".join(error.format_message().split())  # click puts choices on separate lines
        _exit(_USAGE, f"{message.rstrip('.?')}. See: {command} --help")
    except click.Abort:
        _exit(_INTERRUPTED, "Interrupted")
    except InvalidInput as error:
        problems = (f"{'.'.join(map(str, problem.loc))}: {problem.msg}" for problem in error.problems)
        _exit(_FAILURE, "; ".join(problems))
    except InvalidLines as error:
        _exit(_FAILURE, f"{error}; nothing was imported")
    except OSError as error:
        text = error.strerror or str(error)
        _exit(_FAILURE, text if error.filename is None else f"{error.filename or repr('')}: {text}")
    except SettingsError as error:
        _exit(_USAGE, str(error))
    except LogoAdminError as error:
        _exit(_FAILURE, error.explained)
    sys.exit(0)


def _exit(code: int, text: str) -> NoReturn:
    click.echo(on_one_line(f"logoadmin: {text}"), err=True)
    sys.exit(code)
