"""The tables of withdrawals, pins and published indexes."""

from typing import Final

from sqlalchemy import (
    BigInteger,
    Column,
    Index,
    Integer,
    String,
    Table,
    Text,
)

from logoadmin.adapters.sql_storage.tables.columns import (
    SHA256,
    LongText,
    metadata,
)
from logoadmin.domain.kernel.limits import (
    MAX_REASON,
)

# In the order of the fields of a Withdrawal. Withdrawals and pins have no foreign keys: they outlast the records.
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

# In the order of the fields of a Pin, apart from the hash.
pins: Final = Table(
    "pins",
    metadata,
    Column("kind", String(16), primary_key=True),
    Column("record_id", Integer, primary_key=True, autoincrement=False),
    # Of the URL, which is too long for a key.
    Column("url_hash", String(SHA256), primary_key=True),
    Column("url", LongText, nullable=False),
    Column("sheet", String(SHA256)),
    Column("offered", String(SHA256)),
    Column("failure", Text),
    Column("checked_at", BigInteger, nullable=False),
    Index(None, "offered"),
)

sheets: Final = Table(
    "sheets",
    metadata,
    Column("sha256", String(SHA256), primary_key=True),
    Column("css", LongText, nullable=False),
)
