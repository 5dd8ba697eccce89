"""The log of the service: plain lines on standard error, one for each record (contract A21)."""

import logging
import sys
import time
from datetime import UTC, datetime
from typing import Final

from starlette.types import ASGIApp, Message, Receive, Scope, Send

from logoadmin.entrypoints.http_api.errors import CAUSES, note_cause

_ACCESS: Final = logging.getLogger("logoadmin.access")


def configure_logging(level: str) -> None:
    """Log to standard error: this program and its server from a level on, others from warnings on."""
    handler = logging.StreamHandler(sys.stderr)
    handler.setFormatter(OneLine())
    chosen = logging.getLevelNamesMapping()[level.upper()]
    logging.basicConfig(handlers=[handler], level=max(chosen, logging.WARNING), force=True)
    logging.getLogger("logoadmin").setLevel(chosen)
    logging.getLogger("uvicorn").setLevel(chosen)


class OneLine(logging.Formatter):
    """One line for each record, whatever is in it.

    A control character in a path would otherwise forge lines, or speak to the terminal of who reads them (uvicorn
    CVE-2020-7694). What comes of a traceback is on the line, too.
    """

    def format(self, record: logging.LogRecord) -> str:
        """Return the line: time, level, process, logger and message."""
        at = datetime.fromtimestamp(record.created, UTC).isoformat(timespec="milliseconds")
        text = f"{at} {record.levelname} {record.process} {record.name}: {super().format(record)}"
        if text.isprintable():
            return text
        return "".join(c if c.isprintable() else c.encode("unicode_escape").decode() for c in text)


def with_access_log(app: ASGIApp) -> ASGIApp:
    """Return an application that logs its requests, or the same one where nobody would see that."""
    return AccessLog(app) if _ACCESS.isEnabledFor(logging.INFO) else app


class AccessLog:
    """Logs method, path, status and milliseconds of each request; query and headers may hold secrets.

    After the status comes what was the matter with the database, as a code (contract K3).
    """

    def __init__(self, app: ASGIApp) -> None:
        self._app = app

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] != "http":
            await self._app(scope, receive, send)
            return
        causes: list[str] = []
        scope[CAUSES] = causes
        status: int | str = "unanswered"

        async def send_and_note(message: Message) -> None:
            nonlocal status
            if message["type"] == "http.response.start":
                status = message["status"]
            await send(message)

        start = time.perf_counter()
        try:
            await self._app(scope, receive, send_and_note)
        except Exception as error:
            note_cause(scope, error)
            raise
        finally:
            spent = (time.perf_counter() - start) * 1000
            outcome = " ".join([str(status), *causes])
            _ACCESS.info("%s %s %s %.1f ms", scope["method"], scope["path"], outcome, spent)
