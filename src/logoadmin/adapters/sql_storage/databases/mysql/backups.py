"""Backups of a server, which its own programs make and load."""

import shlex
from pathlib import Path
from typing import NoReturn

from sqlalchemy import URL

from logoadmin.domain.model.errors import StartError


def refuse_to_back_up(url: URL, target: Path) -> NoReturn:
    """Raise a StartError with the command that makes a backup."""
    dump = f"mariadb-dump --single-transaction --skip-add-locks --result-file={shlex.quote(str(target))}"
    raise StartError(f"The server's own program makes the copy: (umask 077; {_command(url, dump)})")


def refuse_to_restore(url: URL, source: Path) -> NoReturn:
    """Raise a StartError with the command that loads a backup."""
    raise StartError(
        "The server's own program loads the copy, into an empty database: "
        f"{_command(url, 'mariadb')} < {shlex.quote(str(source))}; then run logoadmin restore --loaded"
    )


def _command(url: URL, program: str) -> str:
    """Return the command line of a program, which prompts for the password, since others can read arguments."""
    socket = url.query.get("unix_socket")
    where = {"socket": socket} if socket else {"host": url.host, "port": url.port}
    given = {**where, "user": url.username, "default-character-set": "utf8mb4"}
    options = " ".join(f"--{name}={shlex.quote(str(value))}" for name, value in given.items() if value)
    return f"{program} {options} --password {shlex.quote(str(url.database))}"
