"""Savepoint scopes: parts of a write that can be undone alone."""

from collections.abc import Iterator
from contextlib import contextmanager

from logoadmin.adapters.sql_storage.driver_errors import DriverErrors, Failure
from logoadmin.adapters.sql_storage.transaction import Transaction
from logoadmin.domain.model.errors import StorageUnavailable


class Savepoints:
    """The savepoint scopes of one transaction. After a failure of the database, nothing more is done in it.

    Attributes:
        failure: the failure of the database in one of them, if any.
    """

    def __init__(self, server: str, driver_errors: DriverErrors, transaction: Transaction) -> None:
        self.failure: Failure | None = None
        self._server = server
        self._driver_errors = driver_errors
        self._transaction = transaction

    @contextmanager
    def scope(self) -> Iterator[None]:
        """Undo the statements of the scope if it raises.

        Raises:
            StorageUnavailable: the database failed, in this scope or before.
        """
        if self.failure is not None:
            raise StorageUnavailable(self._server, self.failure.cause)
        try:
            savepoint = self._transaction.savepoint()
            try:
                yield
            except BaseException as error:
                if self.failure is None and self._driver_errors.failure(error) is None:
                    self._transaction.roll_back(savepoint)
                raise
            self._transaction.release(savepoint)
        except Exception as error:
            self.failure = self.failure or self._driver_errors.failure(error)
            if self.failure is None:
                raise
            raise StorageUnavailable(self._server, self.failure.cause) from None
