"""The results of checks (contract K4)."""

import os
import shutil
import tempfile
from dataclasses import dataclass
from enum import Enum
from pathlib import Path
from typing import Final

# The problem that no user with all rights can sign in, and its solution.
NO_ADMINISTRATOR: Final = "nobody who may do everything can sign in"
LET_IN: Final = (
    "logoadmin user code NAME prints a code for one sign-in, logoadmin user password NAME sets a password; "
    "check the settings password_sign_in, public_url and oidc_issuer"
)
# The bytes written to test for free space: more than a commit needs.
_TRIAL: Final = 256 * 1024


class Verdict(Enum):
    """The outcome of a check."""

    OK = "ok"
    WARNING = "warning"
    WRONG = "wrong"


@dataclass(frozen=True, slots=True)
class Result:
    """The result of one check.

    Attributes:
        check: its name, one or two words.
        verdict: its outcome.
        text: the finding, without secrets.
        cure: what to do; empty for nothing.
    """

    check: str
    verdict: Verdict
    text: str
    cure: str = ""


def ok(check: str, text: str) -> Result:
    """Return the result of a check that passed."""
    return Result(check, Verdict.OK, text)


def warning(check: str, text: str, cure: str) -> Result:
    """Return a problem that does not stop the service yet, or makes it less secure."""
    return Result(check, Verdict.WARNING, text, cure)


def wrong(check: str, text: str, cure: str) -> Result:
    """Return a problem that stops the service, or lets others do harm."""
    return Result(check, Verdict.WRONG, text, cure)


def free_space(directory: Path) -> int:
    """Return the free bytes of a directory; raise OSError if nothing can be written, as with a full disk or a quota."""
    with tempfile.TemporaryFile(dir=directory) as trial:
        trial.write(bytes(_TRIAL))
        trial.flush()
        os.fsync(trial.fileno())
    return shutil.disk_usage(directory).free
