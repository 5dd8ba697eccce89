"""What the layers of one request share, the access log of a server among them (contract K3)."""

from dataclasses import dataclass, field
from typing import Final

from starlette.types import Scope

from logoadmin.domain.model.access import Caller
from logoadmin.entrypoints.http_api.operation import Operation

_IN_SCOPE: Final = "logoadmin.request"


@dataclass(slots=True)
class RequestState:
    """What is known of a request so far.

    Attributes:
        began: when it was first seen, by ``time.perf_counter``, if that was before it is measured.
        deadline: when its response is due, by the clock of the event loop.
        operation: the operation that serves it.
        caller: who sent it.
        version: the version of all records, looked up before they are read, see :class:`DataVersion`.
        causes: codes of what went wrong, for the log.
    """

    began: float | None = None
    deadline: float | None = None
    operation: Operation | None = None
    caller: Caller | None = None
    version: object | None = None
    causes: list[str] = field(default_factory=list)


def state_of(scope: Scope) -> RequestState:
    """Return the state of a request; it begins with the first call of this."""
    state: RequestState | None = scope.get(_IN_SCOPE)
    if state is None:
        state = scope[_IN_SCOPE] = RequestState()
    return state
