"""Administration of a gallery of site logos and themes (contract H6).

:func:`connect` opens a gallery on a database or in memory, and :func:`asgi` makes a web application of it::

    import logoadmin

    with logoadmin.connect("memory:") as gallery:
        ann = gallery.authors.create(logoadmin.CreateAuthor(user_id=7, username="Ann"))

Importing this loads neither database nor web code: the names in ``__init__.pyi`` are loaded when they are used.
"""

from typing import Any

from lazy_loader import attach_stub

_load, __dir__, __all__ = attach_stub(__name__, __file__)


def __getattr__(name: str) -> Any:
    if name == "__version__":
        from importlib.metadata import version

        return version(__name__)
    return _load(name)
