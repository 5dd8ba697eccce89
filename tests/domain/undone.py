"""Run commands in one stocked gallery, each undone by :meth:`LogoAdmin.atomic`."""

from collections.abc import Callable
from contextlib import suppress
from typing import TypeVar

from logoadmin import Caller, LogoAdmin, LogoAdminError
from logoadmin.domain.kernel.command import Command
from logoadmin.ports.storage import Storage
from tests.gallery import ask, sample

Answer = TypeVar("Answer")


class _Undone(Exception):
    """Ends a block to roll it back."""


def undone(gallery: LogoAdmin, work: Callable[[LogoAdmin, Storage], Answer]) -> Answer:
    """Return the result of work on a gallery and its storage, and undo its changes."""
    answers: list[Answer] = []

    def block(bound: LogoAdmin) -> None:
        answers.append(work(bound, bound._storage))
        raise _Undone

    with suppress(_Undone):
        gallery.atomic(block)
    return answers[0]


def error_of(gallery: LogoAdmin, kind: type[Command], who: Caller) -> LogoAdminError | None:
    """Return the error of a command with its usual values, None for success, and undo its changes."""

    def tried(bound: LogoAdmin, _: object) -> LogoAdminError | None:
        try:
            ask(bound, sample(kind), who)
        except LogoAdminError as error:
            return error
        return None

    return undone(gallery, tried)
