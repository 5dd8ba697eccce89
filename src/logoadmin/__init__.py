"""Administration of a gallery of site logos and themes (contract H6).

:func:`connect` opens a gallery in a database or in memory, and :func:`asgi` makes a web application of it::

    import logoadmin

    with logoadmin.connect("memory:") as gallery:
        ann = gallery.authors.create(logoadmin.CreateAuthor(user_id=7, username="Ann"))

Importing this loads neither database nor web code: the names in ``__init__.pyi`` are loaded on first use.
"""

from functools import lru_cache
from typing import Any


@lru_cache(maxsize=1)
def _stub() -> tuple[dict[str, str], list[str]]:
    """Return the module of each name, and ``__all__``, from ``__init__.pyi``, where type checkers read them."""
    import ast

    with open(f"{__file__.removesuffix('c')}i", "rb") as stub:
        body = ast.parse(stub.read()).body
    imports = [node for node in body if isinstance(node, ast.ImportFrom)]
    common = [ast.literal_eval(node.value) for node in body if isinstance(node, ast.Assign | ast.AugAssign)]
    modules = {alias.name: f"{__name__}.{node.module}" for node in imports for alias in node.names}
    return modules, [name for names in common for name in names]


def __getattr__(name: str) -> Any:
    if name == "__version__":
        from importlib.metadata import version

        return version(__name__)
    modules, common = _stub()
    if name == "__all__":
        return common
    if name not in modules:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    from importlib import import_module

    globals()[name] = found = getattr(import_module(modules[name]), name)
    return found


def __dir__() -> list[str]:
    return [*_stub()[0]]
