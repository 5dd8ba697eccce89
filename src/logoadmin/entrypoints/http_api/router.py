"""From the path of a request to what answers it."""

import dataclasses
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Final

from starlette.routing import Route, Router
from starlette.types import ASGIApp, Receive, Scope, Send
from starlette.websockets import WebSocketClose

from logoadmin.entrypoints.http_api.errors import HttpError, error_response
from logoadmin.entrypoints.http_api.responses import sendable

_IN_PATH: Final = re.compile(r"{(\w+)}")


@dataclass(slots=True)
class _Place:
    """A place in the tree of paths.

    Attributes:
        below: the places below it, by the segment that leads there.
        field: the one that any other segment leads to.
        app: what answers here.
        names: the fields on the way.
    """

    below: "dict[str, _Place]" = dataclasses.field(default_factory=dict)
    field: "_Place | None" = None
    app: ASGIApp | None = None
    names: Sequence[str] = ()

    def grow(self, segment: str) -> "_Place":
        """Return the place that a segment of a template leads to."""
        if _IN_PATH.fullmatch(segment) is None:
            return self.below.setdefault(segment, _Place())
        self.field = self.field or _Place()
        return self.field


class PathRouter(Router):
    """Knows the paths of the operations as a tree of their segments, and the others as Starlette does.

    To try one path after the other, as Starlette does, takes longer than many an answer. What is said in full comes
    before a field, which would take it for its own.
    """

    def __init__(self, paths: Mapping[str, ASGIApp], others: Sequence[Route]) -> None:
        super().__init__([*others], redirect_slashes=False, default=_not_found)
        for route in others:
            # Starlette's `$` lets a newline follow, and so a path that no proxy takes for this one.
            route.path_regex = re.compile(route.path_regex.pattern.removesuffix("$") + r"\Z")
        self._root = _Place()
        for path, app in paths.items():
            place = self._root
            for segment in path.split("/"):
                place = place.grow(segment)
            place.app, place.names = app, _IN_PATH.findall(path)

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Answer one request."""
        # Routes go by the paths as they were sent: a slash that is escaped separates nothing (RFC 3986 §2.2).
        if b"%2f" in (scope.get("raw_path") or b"").lower():
            await _not_found(scope, receive, send)
            return
        app = self._app_of(scope) if scope["type"] == "http" else None
        await (super().__call__ if app is None else app)(scope, receive, send)

    def _app_of(self, scope: Scope) -> ASGIApp | None:
        """Return what answers a request, and put the fields of the path into its scope."""
        place, values = self._root, []
        for segment in _path_below(scope).split("/"):
            following = place.below.get(segment)
            if following is None and segment:
                following = place.field
                values.append(segment)
            if following is None:
                return None
            place = following
        scope["path_params"] = dict(zip(place.names, values, strict=True))
        return place.app


def _path_below(scope: Scope) -> str:
    """Return the path below the prefix that the application is mounted at."""
    path: str = scope["path"]
    root: str = scope.get("root_path", "")
    return path.removeprefix(root) if root and path.startswith(f"{root}/") else path


async def _not_found(scope: Scope, receive: Receive, send: Send) -> None:
    if scope["type"] == "http":
        await sendable(error_response(HttpError(404)), scope)(scope, receive, send)
    else:  # a WebSocket, refused before it begins
        await WebSocketClose()(scope, receive, send)
