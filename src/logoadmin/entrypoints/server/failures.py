"""Responses for an application that fails, and a line in the log (contract A21, E1)."""

import asyncio
import logging
from collections.abc import Awaitable

from starlette.requests import ClientDisconnect
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from logoadmin.domain.model.errors import LogoAdminError, StorageUnavailable
from logoadmin.entrypoints.http_api.errors import HttpError, error_response, note_cause

log = logging.getLogger("logoadmin.http")


class FailureResponses:
    """Responds where an application raises an error; a response that has begun is broken off."""

    def __init__(self, app: ASGIApp) -> None:
        self._app = app

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        has_begun = False

        def send_and_note(message: Message) -> Awaitable[None]:
            nonlocal has_begun
            has_begun = True
            return send(message)

        try:
            await self._app(scope, receive, send_and_note)
        except asyncio.CancelledError:
            log.warning("%s %s was cancelled: the service is stopping", scope["method"], scope["path"])
            refusal = HttpError(503, "The service is stopping", {"connection": "close"})
        except HttpError as error:
            refusal = error
        except Exception as error:
            note_cause(scope, error)
            _log(scope, error)
            refusal = HttpError(500, headers={"connection": "close"})
        else:
            return
        if not has_begun:
            await error_response(refusal)(scope, receive, send)
        # Else the server closes the connection, because the response has no end.


def _log(scope: Scope, error: Exception) -> None:
    request = scope["method"], scope["path"]
    if isinstance(error, ClientDisconnect):
        log.info("The response to %s %s broke off: %s", *request, error)
    elif isinstance(error, StorageUnavailable):
        log.warning("The response to %s %s broke off: %s (%s)", *request, error, error.cause.code)
    elif isinstance(error, LogoAdminError):
        log.warning("The response to %s %s broke off: %s", *request, error)
    else:
        log.error("The response to %s %s failed: %s", *request, error, exc_info=error)
