"""One connection, and what its client may take of the server (contract A21, H4).

It is always in one of three states, which follow from what uvicorn keeps: a head is awaited or unfinished (``scope`` is
not that of ``cycle``), a body is unfinished (``cycle.more_body``), or the request is whole. Only the first two have a
time limit, so a request that comes all at once, as nearly all do, never touches a timer.
"""

import asyncio
import heapq
import logging
from math import inf
from operator import itemgetter
from typing import Any

import httptools
from uvicorn.config import Config
from uvicorn.protocols.http.httptools_impl import STATUS_LINE
from uvicorn.server import ServerState

from logoadmin.entrypoints.http_api.errors import HttpError, error_response
from logoadmin.entrypoints.http_api.health import STOPPING
from logoadmin.entrypoints.http_api.uploads import STEADY
from logoadmin.entrypoints.server.protocol.answers import CLOSE, Answer, Output
from logoadmin.entrypoints.server.protocol.bodies import UnfinishedBody
from logoadmin.entrypoints.server.protocol.deadline import Deadline
from logoadmin.entrypoints.server.protocol.heads import CheckedHeads, refusal_of
from logoadmin.entrypoints.server.protocol.readers import Reader

log = logging.getLogger("logoadmin.http")


class BoundedProtocol(CheckedHeads):
    """One connection; a subclass may have other bounds."""

    def __init__(
        self,
        config: Config,
        server_state: ServerState,
        app_state: dict[str, Any],
        _loop: asyncio.AbstractEventLoop | None = None,
    ) -> None:
        super().__init__(config, server_state, app_state, _loop)
        self._deadline = Deadline(self.loop, self._late)
        self._ignores_input = False  # what else the client sends is thrown away
        self._is_last = STOPPING in app_state  # the next request, or the one that is there
        self._refusal: HttpError | None = None  # to be answered after the earlier requests
        self._body: UnfinishedBody | None = None
        self._body_bytes = 0  # of all bodies
        self._fed = 0  # bytes since the head began, or since a part of a body

    # What arrives.

    def connection_made(self, transport: asyncio.Transport) -> None:  # type: ignore[override]  # as uvicorn has it
        super().connection_made(transport)
        self._reader = Reader(self.loop, type(self), transport)
        self._output = Output(transport)
        if len(self.connections) > self.most_connections():
            self._make_room()
        self._deadline.within(self.head_seconds)

    def connection_lost(self, exc: Exception | None) -> None:
        super().connection_lost(exc)
        self._deadline.end()
        self._reader.end()

    def data_received(self, data: bytes) -> None:
        """Take what has come; this stands in for uvicorn's method, so that the usual request costs no more."""
        if self._ignores_input:
            return
        scope, cycle, body, body_bytes = self.scope, self.cycle, self._body, self._body_bytes
        try:
            self.feed(data)
        except httptools.HttpParserError as error:
            self._refuse(refusal_of(error))
            return
        if body is not None and not body.cycle.more_body:
            self._body = None
            self._fed = 0
            self._deadline.lift()
            body.arrived()
        if self.cycle is None or self.cycle.scope is not self.scope or self.cycle.more_body:
            alike = self.cycle is cycle and self._body_bytes == body_bytes and self._body is body
            self._fed = self._fed + len(data) if alike else 0
            self._await_the_rest()
        elif self.scope is not scope:  # empty lines alone do not keep a connection
            self._deadline.lift()
            self._fed = 0

    def eof_received(self) -> bool:  # type: ignore[override]  # as uvicorn has it
        """Keep the connection of a client that has said everything until it is answered."""
        if self._answering():
            self._ignores_input, self.cycle.keep_alive = True, False
            return True
        return False

    def on_headers_complete(self) -> None:
        """Have the request answered, if its head is right."""
        answer = self.app = Answer(self.config.loaded_app, self._reader, self._output)
        self.scope[STEADY] = []  # type: ignore[typeddict-unknown-key]  # a key of ours
        super().on_headers_complete()
        if self.parser.should_upgrade():
            return  # uvicorn made nothing of it yet: it comes again, without the offer
        answer.cycle = self.cycle  # in time: the task has not begun to run
        self.cycle.transport = self._output
        if self._is_last:
            self.cycle.keep_alive = False

    def on_body(self, body: bytes) -> None:
        self._body_bytes += len(body)
        super().on_body(body)

    # What does not arrive.

    def _await_the_rest(self) -> None:
        """Give the client its time for the head or the body that is unfinished."""
        if self._fed > self.head_bytes:
            self._refuse(self.head_too_large())
        elif self.cycle is not None and self.cycle.scope is self.scope:
            if self._body is None:
                self._await_body()
        elif self.begun_head is not self.scope:
            self.begun_head = self.scope
            self._deadline.within(self.head_seconds)

    def _await_body(self) -> None:
        now = self.loop.time()
        self._body = UnfinishedBody(self.cycle, self.linger, type(self), now, self._body_bytes)
        self._deadline.within(self._body.seconds(now))

    def _late(self) -> None:
        """Close, refuse or wait on: the deadline has passed."""
        if self.transport.is_closing():
            return
        if self._ignores_input or self._idle():
            self.transport.close()
        elif self._answering():
            self._deadline.within(self.head_seconds)  # a slow answer is not the client's fault
        elif self._body is not None:
            self._look_at(self._body)
        else:
            self._refuse(HttpError(408, "The head of the request did not arrive in time"))

    def _look_at(self, body: UnfinishedBody) -> None:
        now = self.loop.time()
        if self.flow.read_paused:  # an application that does not read is not the client's fault either
            body.extend(self._body_bytes)
        elif body.is_late(now, self._body_bytes):
            self._refuse(HttpError(408, "The body of the request did not arrive in time"))
            return
        self._deadline.within(body.seconds(now))

    def pause_writing(self) -> None:
        """Begin to measure how much the client takes, and in what time."""
        super().pause_writing()
        self._reader.keeps_waiting()

    def resume_writing(self) -> None:
        super().resume_writing()
        self._reader.goes_on()

    def _make_room(self) -> None:
        """End the connections that have kept the server waiting the longest, rather than refuse others (contract H4).

        First of those who take no answer, and where there are none, of those who take theirs slowly.
        """
        connections = (one for one in self.connections if isinstance(one, BoundedProtocol) and one is not self)
        others = [one for one in connections if not one.transport.is_closing()]
        waiting = [(one._deadline.due, one) for one in others if not one._answering()]
        waiting = waiting or [(one._reader.since, one) for one in others if one._reader.since < inf]
        # Some at once, because it takes a look at all of them.
        for _, one in heapq.nsmallest(len(waiting) // 16 + 1, waiting, key=itemgetter(0)):
            one.transport.abort()

    # What is answered.

    def _idle(self) -> bool:
        """Return whether all requests are answered and no other has begun."""
        return self.cycle is not None and self.cycle.response_complete and self.cycle.scope is self.scope

    def _answering(self) -> bool:
        """Return whether the application owes an answer that comes before one that the server gives itself."""
        cycle = self.cycle
        if cycle is None or (cycle.response_complete and not self.pipeline):
            return False
        unfinished_itself = cycle.scope is self.scope and cycle.more_body
        return bool(self.pipeline) or cycle.response_started or not unfinished_itself

    def _refuse(self, refusal: HttpError) -> None:
        """Answer the client in the place of the application, when it is its turn, and listen no longer."""
        self._ignores_input = True
        self._deadline.lift()
        if not self._answering():
            self._answer_with(refusal)
        elif self.cycle.scope is self.scope and self.cycle.more_body and not self.pipeline:
            self._output.close()  # its answer has begun, so there is no other way to say it
        else:
            self._refusal = refusal

    def _answer_with(self, refusal: HttpError) -> None:
        if self.transport.is_closing():
            return
        log.info("Refused %s with %d: %s", self.client and self.client[0], refusal.status, refusal)
        if self.cycle is not None and not self.cycle.response_complete:
            self.cycle.disconnected, self.cycle.waiting_for_100_continue = True, False
            self.cycle.message_event.set()
        response = error_response(HttpError(refusal.status, refusal.detail, CLOSE))
        headers = (*self.server_state.default_headers, *response.raw_headers)
        fields = (b"%b: %b\r\n" % header for header in headers)
        self.transport.write(b"".join((STATUS_LINE[refusal.status], *fields, b"\r\n", response.body)))
        self.linger()

    def on_response_complete(self) -> None:
        """Begin the next answer; this stands in for uvicorn's method, which makes a timer each time."""
        self.server_state.total_requests += 1
        if self.transport.is_closing():
            return
        self.flow.resume_reading()
        if self.pipeline:
            cycle, app = self.pipeline.pop()
            task = self.loop.create_task(cycle.run_asgi(app))
            self.tasks.add(task)
            task.add_done_callback(self.tasks.discard)
        elif not self._ignores_input:
            self._deadline.within(self.timeout_keep_alive)
        if self._refusal is not None and not self._answering():
            self._answer_with(self._refusal)

    def linger(self) -> None:
        """Close, but first give the client time to read the answer while it still sends.

        Bytes that nobody has read when a socket is closed make the other side throw away what it has not read.
        """
        if not self.transport.is_closing():
            self._ignores_input = True
            self._output.flush()
            self.transport.write_eof()
            self.flow.resume_reading()
            self._deadline.within(self.linger_seconds)

    def retire(self) -> None:
        """Take one more request at most, the one in flight if its answer has not begun, and say so in the answer.

        Nobody who has sent a request finds the connection closed: an idle one ends in its own time (contract K5).
        """
        self._is_last = True
        if self.cycle is not None and not self.cycle.response_started:
            self.cycle.keep_alive = False
        if self._body is not None:
            self._body.keep_alive = False

    def shutdown(self) -> None:
        """Retire; a body that is not there may take no longer than the rest."""
        self.retire()
        if self._body is not None and not self._ignores_input:
            self._deadline.within(self._body.shorten(self.loop.time()))
