"""What is found when somebody checks whether a service can do its work (contract K4)."""

from dataclasses import dataclass
from enum import Enum


class Verdict(Enum):
    """How a check came out."""

    OK = "ok"
    WARNING = "warning"
    WRONG = "wrong"


@dataclass(frozen=True, slots=True)
class Result:
    """What one check found.

    Attributes:
        check: its name, one or two words.
        verdict: how it came out.
        text: what was found, never with a secret.
        cure: what to do about it; empty where nothing is to be done.
    """

    check: str
    verdict: Verdict
    text: str
    cure: str = ""


def ok(check: str, text: str) -> Result:
    """Return that a check found nothing wrong."""
    return Result(check, Verdict.OK, text)


def warning(check: str, text: str, cure: str) -> Result:
    """Return what works and may not do so for long, or not as safely as it could."""
    return Result(check, Verdict.WARNING, text, cure)


def wrong(check: str, text: str, cure: str) -> Result:
    """Return what keeps the service from its work, or lets others do harm."""
    return Result(check, Verdict.WRONG, text, cure)
