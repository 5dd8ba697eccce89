"""The log of the service, on standard error: a line for each event, as text or as JSON (contract A21, K3)."""

import json
import logging
import os
import sys
import threading
import time
from contextlib import suppress
from datetime import UTC, datetime
from queue import SimpleQueue
from typing import Final

from logoadmin.entrypoints.one_line import on_one_line

log = logging.getLogger("logoadmin.server")

_MAX_QUEUED: Final = 1_048_576  # bytes of lines that wait to be written
_PIECE: Final = 2_048  # bytes written at once: pipes keep up to 4 KiB in one piece, whichever processes write to them
_LAST_LINES: Final = 1  # seconds for which the end of the program waits for the last lines
# Where in a record the fields are that a request has beside its line.
FIELDS: Final = "logoadmin_request"


def configure_logging(level: str, form: str = "text") -> None:
    """Log to standard error, as ``text`` or ``json``: this program and its server from a level on, others warnings."""
    handler = QueuedHandler(sys.stderr.fileno())
    handler.setFormatter(JsonFormatter() if form == "json" else LineFormatter())
    chosen = logging.getLevelNamesMapping()[level.upper()]
    logging.basicConfig(handlers=[handler], level=max(chosen, logging.WARNING), force=True)
    logging.getLogger("logoadmin").setLevel(chosen)
    logging.getLogger("uvicorn").setLevel(logging.CRITICAL)  # what it logs is logged here


class QueuedHandler(logging.Handler):
    """Writes lines in a thread, so that a log that nobody reads stops nothing else: lines are then dropped and counted.

    The standard library's ``QueueHandler`` would drop tracebacks before they are formatted, and its ``QueueListener``
    waits at the end without a limit.
    """

    def __init__(self, descriptor: int) -> None:
        """Write to a file descriptor; past Python's own streams, whose locks the end of the program would wait for."""
        super().__init__()
        self._descriptor = descriptor
        self._lines: SimpleQueue[bytes] = SimpleQueue()
        self._queued = self._dropped = 0  # bytes, lines: changed under the handler's lock alone
        self._written = 0  # bytes: changed by the thread alone
        threading.Thread(target=self._write, name="log", daemon=True).start()

    def emit(self, record: logging.LogRecord) -> None:
        line = f"{self.format(record)}\n".encode(errors="backslashreplace")
        if self._queued - self._written + len(line) > _MAX_QUEUED:
            self._dropped += 1
        else:
            self._queued += len(line)
            self._lines.put(line)

    def flush(self) -> None:
        """Wait for a moment until all lines are written; the standard library calls this at the end of the program."""
        deadline = time.monotonic() + _LAST_LINES
        while self._written < self._queued and time.monotonic() < deadline:
            time.sleep(0.01)

    def _write(self) -> None:
        reported = 0
        while True:
            lines = self._lines.get()
            while not self._lines.empty() and len(lines) < _PIECE:
                lines += self._lines.get()
            with suppress(OSError):  # nobody reads any more
                _write_all(self._descriptor, lines)
            self._written += len(lines)
            if self._dropped > reported and self._lines.empty():
                dropped, reported = self._dropped - reported, self._dropped
                text = "%d lines of the log were dropped, because nobody read it"
                self.handle(log.makeRecord(log.name, logging.WARNING, __file__, 0, text, (dropped,), None))


def _write_all(descriptor: int, lines: bytes) -> None:
    while lines:
        lines = lines[os.write(descriptor, lines) :]


class LineFormatter(logging.Formatter):
    """One line for each record, whatever is in it.

    A control character in a path could otherwise forge lines, or control the reader's terminal (uvicorn CVE-2020-7694).
    A traceback is on the same line.
    """

    def format(self, record: logging.LogRecord) -> str:
        """Return the line: time, level, process, logger and message."""
        said = super().format(record)
        return on_one_line(f"{_time(record)} {record.levelname} {record.process} {record.name}: {said}")


class JsonFormatter(logging.Formatter):
    """One JSON object for each record, in ASCII: nothing in it can end the line or speak to a terminal."""

    def format(self, record: logging.LogRecord) -> str:
        """Return the line: ``time``, ``level``, ``process``, ``logger``, ``message``, and what requests have."""
        line = {
            "time": _time(record),
            "level": record.levelname,
            "process": record.process,
            "logger": record.name,
            "message": record.getMessage(),
            **getattr(record, FIELDS, {}),
        }
        if record.exc_info:
            line["exception"] = self.formatException(record.exc_info)
        return json.dumps(line)


def _time(record: logging.LogRecord) -> str:
    return datetime.fromtimestamp(record.created, UTC).isoformat(timespec="milliseconds")
