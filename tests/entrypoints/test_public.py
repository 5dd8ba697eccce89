"""Public answers are always current, even those that are not a record (contract F1, F2)."""

import itertools
from collections.abc import Iterator
from contextlib import suppress
from dataclasses import replace
from typing import Any, cast

import pytest

from logoadmin.domain.kernel.access import PUBLIC
from logoadmin.domain.kernel.errors import Conflict, NotFound, Outdated
from logoadmin.domain.kernel.use_cases import rights_of
from logoadmin.domain.logo_admin import LogoAdmin
from logoadmin.entrypoints.http_api import app as module
from logoadmin.entrypoints.http_api.app import http_application
from logoadmin.entrypoints.http_api.operation import Operation
from logoadmin.entrypoints.http_api.operations import OPERATIONS
from tests.asgi import ask
from tests.gallery import ASKED
from tests.gallery import ask as perform

pytestmark = pytest.mark.rule("contract F1", "contract F2")

# Data of the caller, such as their keys, cannot be made public.
READS = [operation for operation in OPERATIONS if operation.method == "GET" and not operation.permission.signed_in]
# Removals go last, links before the records they join. Many changes at once go first: they name versions.
CHANGES = sorted(
    (
        operation
        for operation in OPERATIONS
        if operation.method != "GET" and not operation.path.startswith("/api/auth/")
    ),
    key=lambda operation: (operation.method == "DELETE", operation.service != "bulk", -operation.path.count("/")),
)


class Forgetful:
    """A gallery in which everything seems to have changed."""

    def __init__(self, gallery: LogoAdmin) -> None:
        self._gallery = gallery
        self._versions = itertools.count()

    def __getattr__(self, name: str) -> Any:
        return getattr(self._gallery, name)

    def data_version(self) -> int:
        return next(self._versions)


def changed(gallery: LogoAdmin) -> Iterator[str]:
    """Make every possible change, one after the other, and yield it."""
    for operation in CHANGES:
        with suppress(NotFound, Conflict, Outdated):  # removed or changed a moment ago, by another path
            perform(gallery, operation.command(**ASKED[operation.command][1]))
            yield operation.name


@pytest.mark.rule("contract E1")
@pytest.mark.parametrize("read", READS, ids=lambda operation: operation.name)
def test_a_public_response_is_never_stale(gallery: LogoAdmin, monkeypatch: pytest.MonkeyPatch, read: Operation) -> None:
    of, name = type(getattr(gallery, read.service)), read.use_case.__name__
    if read.permission != PUBLIC:
        monkeypatch.setattr(getattr(of, name), "right", {**rights_of(of, name), read.command: PUBLIC})
    monkeypatch.setattr(module, "OPERATIONS", [replace(operation) for operation in OPERATIONS])
    application, forgetful = http_application(gallery), http_application(cast(LogoAdmin, Forgetful(gallery)))
    path = read.path.format(**ASKED[read.command][1])
    for what in changed(gallery):
        answered = ask(application, "GET", path)
        uncached = ask(forgetful, "GET", path)
        assert (answered.status_code, answered.body) == (uncached.status_code, uncached.body), what
        assert answered.header("etag") == uncached.header("etag"), what
