"""What a database may answer instead of doing what it was asked, and the one place where SQLAlchemy's errors are named.

The class of a driver's error says little, its code does; the table of codes is the dialect's.
"""

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from enum import Enum
from typing import Any

from sqlalchemy import exc


class Fault(Enum):
    """How a transaction failed through no fault of its own."""

    GONE = "the server cannot be reached, or the connection to it was lost"
    BUSY = "the server is there and cannot do it"
    DENIED = "the database user may not do that"
    CONFLICT = "another transaction was in the way, and the whole of this one is undone"
    REFUSED = "a key refused a record, and nothing that stands in its way can be seen"


class Failure(Exception):
    """A transaction failed. Never leaves the adapter.

    Attributes:
        fault: how.
        code: the driver's number for it, for the log.
        error: the driver's own error.
        lost: whether a connection broke that had worked before.
        unsure: whether the transaction may have been kept all the same.
    """

    def __init__(
        self, fault: Fault, code: object, error: Exception, *, lost: bool = False, unsure: bool = False
    ) -> None:
        self.fault, self.code, self.error, self.lost, self.unsure = fault, code, error, lost, unsure
        super().__init__(f"{fault.name} {code}")


@contextmanager
def translated(
    judge: Callable[[BaseException], tuple[Fault | None, object]], driver: Any, *, connected: bool = False
) -> Iterator[None]:
    """Turn what the database raises into :class:`Failure`; what it cannot be blamed for passes as it is.

    Args:
        judge: the dialect's judgement of a driver's error: the fault, and the code that told it.
        driver: the module of the driver, with the errors that each driver has (PEP 249).
        connected: whether a connection that worked is in use, which may then be the one that is lost.
    """
    try:
        yield
    except exc.TimeoutError as error:
        raise Failure(Fault.BUSY, "pool", error) from None
    except driver.IntegrityError as error:
        raise Failure(Fault.REFUSED, judge(error)[1], error) from None
    except (driver.Error, exc.DBAPIError) as error:
        # SQLAlchemy's own come from what it asks of a new connection, or of the tables.
        fault, code = judge(getattr(error, "orig", None) or error)
        if fault is None:
            raise
        raise Failure(fault, code, error, lost=connected and fault is Fault.GONE) from None
