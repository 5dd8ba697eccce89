"""The state that the layers of one request share, including the access log of the server (contract K3)."""

from dataclasses import dataclass, field
from typing import Final

from starlette.types import Scope

from logoadmin.domain.model.access import Caller
from logoadmin.entrypoints.http_api.operation import Operation

_IN_SCOPE: Final = "logoadmin.request"


@dataclass(slots=True)
class RequestState:
    """The state of a request.

    Attributes:
        began: when it was first seen, by ``time.perf_counter``, if earlier than its measurement.
        deadline: when its response is due, by the event loop's clock.
        operation: the operation that serves it.
        caller: who sent it.
        version: the version of all records, read before the records, see :class:`DataVersion`.
        causes: codes of failures, for the log.
    """

    began: float | None = None
    deadline: float | None = None
    operation: Operation | None = None
    caller: Caller | None = None
    version: object | None = None
    causes: list[str] = field(default_factory=list)


def state_of(scope: Scope) -> RequestState:
    """Return the state of a request, created by the first call."""
    state: RequestState | None = scope.get(_IN_SCOPE)
    if state is None:
        state = scope[_IN_SCOPE] = RequestState()
    return state
