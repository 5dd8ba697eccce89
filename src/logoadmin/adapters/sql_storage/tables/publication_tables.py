"""The table of withdrawals."""

from typing import Final

from sqlalchemy import BigInteger, Column, Index, Integer, String, Table

from logoadmin.adapters.sql_storage.tables.columns import metadata
from logoadmin.domain.kernel.limits import MAX_REASON

# In the order of the fields of a Withdrawal. They have no foreign keys: they outlast the records.
withdrawals: Final = Table(
    "withdrawals",
    metadata,
    Column("kind", String(16), primary_key=True),
    Column("record_id", Integer, primary_key=True, autoincrement=False),
    Column("at", BigInteger, nullable=False),
    Column("reason", String(MAX_REASON)),
    Index(None, "at"),
    # For those with a reason, which are few.
    Index(None, "reason"),
)
