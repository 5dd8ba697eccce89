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
from logoadmin.entrypoints.http_api.operation import PATH_FIELD
from logoadmin.entrypoints.http_api.responses import sendable

# Where other services have what this one has elsewhere.
_HINTS: Final = {
    "/metrics": "Not Found; metrics have a listener of their own, see the setting metrics_port",
    **dict.fromkeys(("/health", "/healthz"), "Not Found; health checks are at /livez and /readyz"),
}


@dataclass(slots=True)
class _PathNode:
    """A node in the tree of paths.

    Attributes:
        below: the nodes below it, by the segment that leads there.
        field: the one that any other segment leads to.
        app: what answers here.
        names: the fields on the way.
    """

    below: "dict[str, _PathNode]" = dataclasses.field(default_factory=dict)
    field: "_PathNode | None" = None
    app: ASGIApp | None = None
    names: Sequence[str] = ()

    def grow(self, segment: str) -> "_PathNode":
        """Return the node that a segment of a template leads to."""
        if PATH_FIELD.fullmatch(segment) is None:
            return self.below.setdefault(segment, _PathNode())
        self.field = self.field or _PathNode()
        return self.field


class PathRouter(Router):
    """Knows the paths of the operations as a tree of their segments, and the others as Starlette does.

    To try one path after the other, as Starlette does, takes longer than many an answer. What is said in full comes
    before a field, which would take it for its own.
    """

    def __init__(self, paths: Mapping[str, ASGIApp], others: Sequence[Route]) -> None:
        super().__init__([*others], redirect_slashes=False, default=self._not_found)
        for route in others:
            # Starlette's `$` lets a newline follow, and so a path that no proxy takes for this one.
            route.path_regex = re.compile(route.path_regex.pattern.removesuffix("$") + r"\Z")
        self._root = _PathNode()
        for path, app in paths.items():
            node = self._root
            for segment in path.split("/"):
                node = node.grow(segment)
            node.app, node.names = app, PATH_FIELD.findall(path)

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Pass a request on to what answers on its path."""
        # Routes go by the paths as they were sent: a slash that is escaped separates nothing (RFC 3986 §2.2).
        if b"%2f" in (scope.get("raw_path") or b"").lower():
            await self._not_found(scope, receive, send)
            return
        app = self._app_of(scope) if scope["type"] == "http" else None
        await (super().__call__ if app is None else app)(scope, receive, send)

    def _app_of(self, scope: Scope) -> ASGIApp | None:
        """Return what answers a request, and put the fields of the path into its scope."""
        node, values = self._root, []
        for segment in _path_below(scope).split("/"):
            following = node.below.get(segment)
            if following is None and segment:
                following = node.field
                values.append(segment)
            if following is None:
                return None
            node = following
        if node.app is None:  # a segment of longer paths, such as that of an id
            return None
        scope["path_params"] = dict(zip(node.names, values, strict=True))
        return node.app

    async def _not_found(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] == "http":
            await sendable(error_response(HttpError(404, self._hint(scope))), scope)(scope, receive, send)
        else:  # a WebSocket, refused before it begins
            await WebSocketClose()(scope, receive, send)

    def _hint(self, scope: Scope) -> str | None:
        """Return where a request should go whose path is nearly right; a redirect would lose its body."""
        path = _path_below(scope)
        if path.endswith("/") and self._app_of({**scope, "path": scope["path"][:-1]}) is not None:
            return "Not Found; this path exists without the slash at its end"
        return _HINTS.get(path)


def _path_below(scope: Scope) -> str:
    """Return the path below the prefix that the application is mounted at."""
    path: str = scope["path"]
    root: str = scope.get("root_path", "")
    return path.removeprefix(root) if root and path.startswith(f"{root}/") else path
