"""The tables of the history, stored responses and the secrets of the service."""

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
    OPAQUE,
    LongText,
    id_column,
    metadata,
)
from logoadmin.domain.kernel.limits import (
    MAX_CHANGE_NOTE,
    MAX_NAME,
)

# The name of the secret with the address that a gallery was moved to (contract K9).
MOVED_TO: Final = "moved_to"
secrets: Final = Table(
    "secrets",
    metadata,
    Column("name", String(MAX_NAME), primary_key=True),
    Column("value", Text, nullable=False),
)

# In the order of the fields of a Change.
changes: Final = Table(
    "changes",
    metadata,
    id_column("change_id"),
    Column("at", BigInteger, nullable=False),
    # No foreign key: the history outlasts the users.
    Column("user_id", Integer),
    Column("action", String(64), nullable=False),
    Column("kind", String(16), nullable=False),
    Column("record_id", Integer, nullable=False),
    # JSON.
    Column("before", LongText),
    Column("after", LongText),
    Column("request_id", String(OPAQUE)),
    Column("origin", String(16)),
    Column("undoes", Integer),
    Column("submitter_id", Integer),
    Column("source", String(16)),
    Column("note", String(MAX_CHANGE_NOTE)),
    # Not a field of a Change.
    Column("act_id", Integer),
    Index(None, "kind", "record_id", "change_id"),
    *(Index(None, name) for name in ("kind", "user_id", "action", "request_id", "at")),
)

acts: Final = Table(
    "acts",
    metadata,
    id_column("act_id"),
    Column("last_id", Integer, nullable=False),
    Column("request_id", String(OPAQUE), unique=True),
    Column("undoes", Integer),
    Column("undone_by", String(OPAQUE)),
    # JSON.
    Column("summary", LongText, nullable=False),
)

stored_responses: Final = Table(
    "stored_responses",
    metadata,
    Column("key_hash", String(OPAQUE), primary_key=True),
    Column("response", LongText, nullable=False),
    Column("expires_at", BigInteger, nullable=False),
    Index(None, "expires_at"),
)
