"""Dates and times as people write them, for options (contract G3)."""

import re
import time
from datetime import UTC, date, datetime, timedelta
from typing import Any, Final

import click

_DAYS_AGO: Final = {"today": 0, "yesterday": 1}
_AGO: Final = re.compile(r"([0-9]{1,9}) (minute|hour|day|week)s? ago", re.ASCII)
_DATE: Final = re.compile(r"[0-9]{4}-[0-9]{2}-[0-9]{2}", re.ASCII)
_TIME: Final = re.compile(_DATE.pattern + r"[T ][0-9]{2}:[0-9]{2}(:[0-9]{2})?(Z|[+-][0-9]{2}:[0-9]{2})?", re.ASCII)
_EPOCH: Final = datetime(1970, 1, 1, tzinfo=UTC)
_DAY: Final = timedelta(days=1)


class Moment(click.ParamType):  # type: ignore[type-arg]  # generic in the newest click only
    """A moment in whole Unix seconds: a number, or a date or time, in UTC unless it names its offset.

    A day begins the range of ``--since`` with its first second and ends that of ``--until`` with its last.
    """

    name = "time"

    def __init__(self, *, ends: bool) -> None:
        """Make the moment that begins a range, or that ends it."""
        self._ends = ends

    def convert(self, value: Any, param: click.Parameter | None, ctx: click.Context | None) -> int:
        """Return the Unix time of a text."""
        if isinstance(value, int):
            return value
        try:
            return self._moment(value.strip())
        except (ValueError, OverflowError):
            text = f"{value!r} is not a time: write yesterday, 2026-11-20, '2026-11-20 14:30' or '3 days ago'."
            self.fail(text, param, ctx)

    def _moment(self, text: str) -> int:
        if text.isascii() and text.removeprefix("-").isdecimal():
            return int(text)
        now = datetime.fromtimestamp(int(time.time()), UTC)
        if ago := _AGO.fullmatch(text):
            return _seconds(now - timedelta(**{f"{ago[2]}s": int(ago[1])}))
        if text == "now":
            return _seconds(now)
        if text in _DAYS_AGO or _DATE.fullmatch(text):
            day = now.date() - _DAYS_AGO[text] * _DAY if text in _DAYS_AGO else date.fromisoformat(text)
            begins = _seconds(datetime(day.year, day.month, day.day, tzinfo=UTC))
            return begins + int(_DAY.total_seconds()) - 1 if self._ends else begins
        if not _TIME.fullmatch(text):
            raise ValueError
        at = datetime.fromisoformat(text)
        return _seconds(at if at.tzinfo else at.replace(tzinfo=UTC))


def _seconds(at: datetime) -> int:
    return int((at - _EPOCH).total_seconds())
