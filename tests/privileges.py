"""Tests of file permissions, which do not apply to root."""

import contextlib
import os
from collections.abc import Iterator


@contextlib.contextmanager
def unprivileged() -> Iterator[None]:
    """Run as a user to whom file permissions apply, since tests may run as root."""
    if os.geteuid() != 0:
        yield
        return
    os.seteuid(65534)
    try:
        yield
    finally:
        os.seteuid(0)
