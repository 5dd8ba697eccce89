"""Writes that are one transaction, each of which may be undone alone."""

from collections.abc import Callable
from typing import TypeVar

from logoadmin.adapters.sql_storage.driver_errors import DriverErrors, Failure
from logoadmin.adapters.sql_storage.transaction import Transaction
from logoadmin.domain.model.errors import StorageUnavailable
from logoadmin.ports.storage import UnitOfWork

Answer = TypeVar("Answer")


class Group:
    """Writes of one thread in one transaction; after a failure of the database nothing more is done in it."""

    def __init__(self, server: str, driver_errors: DriverErrors, transaction: Transaction, uow: UnitOfWork) -> None:
        self._server = server
        self._driver_errors = driver_errors
        self._transaction = transaction
        self._uow = uow
        self._failure: Failure | None = None

    def run(self, work: Callable[[UnitOfWork], Answer]) -> Answer:
        """Return the answer of work, which undoes itself alone if it raises."""
        if self._failure is None:
            try:
                return self._part(work)
            except Exception as error:
                self._failure = self._driver_errors.failure(error)
                if self._failure is None:
                    raise
        raise StorageUnavailable(self._server, self._failure.cause)

    def check(self) -> None:
        """Raise what the database failed with, if it did."""
        if self._failure is not None:
            raise self._failure

    def _part(self, work: Callable[[UnitOfWork], Answer]) -> Answer:
        savepoint = self._transaction.savepoint()
        try:
            answer = work(self._uow)
        except BaseException as error:
            if self._failure is None and self._driver_errors.failure(error) is None:
                self._transaction.roll_back(savepoint)
            raise
        self._transaction.release(savepoint)
        return answer
