"""The tables of proposals, of notices, and of what members have seen."""

from typing import Final

from sqlalchemy import BigInteger, Column, Index, Integer, String, Table, Text

from logoadmin.adapters.sql_storage.tables.columns import (
    OPAQUE,
    LongText,
    created_at_column,
    id_column,
    metadata,
    user_id_column,
)
from logoadmin.domain.kernel.limits import MAX_DECLINE_REASON, MAX_NOTICE, MAX_PROPOSAL_NOTE, MAX_PROPOSAL_TITLE

# Without foreign keys: proposals outlast users.
proposals: Final = Table(
    "proposals",
    metadata,
    id_column("proposal_id"),
    Column("version", Integer, nullable=False),
    Column("state", String(16), nullable=False),
    Column("user_id", Integer),
    Column("user_since", Integer, nullable=False, server_default="0"),
    Column("title", String(MAX_PROPOSAL_TITLE), nullable=False),
    Column("note", String(MAX_PROPOSAL_NOTE), nullable=False),
    Column("kinds", Integer, nullable=False),
    created_at_column(),
    Column("waiting_since", BigInteger, nullable=False),
    Column("reason", String(MAX_DECLINE_REASON)),
    Column("decided_at", BigInteger),
    Column("decided_by", Integer),
    Column("request_id", String(OPAQUE)),
    Column("first_change", Integer),
    Column("last_change", Integer),
    Column("unapplied_since", BigInteger),
    Column("undone_change", Integer),
    Column("size", Integer, nullable=False, server_default="0"),
    # JSON, as the changes, which come last, so that SQLite reads the other columns without them.
    Column("summary", LongText),
    Column("changes", LongText, nullable=False),
    Index(None, "user_id", "state"),
    Index(None, "user_id", "decided_at"),
    Index(None, "state"),
    Index(None, "first_change"),
    Index(None, "unapplied_since"),
)

# In the order of the fields of a StoredNotice.
notices: Final = Table(
    "notices",
    metadata,
    id_column("notice_id"),
    Column("receiver", String(OPAQUE), nullable=False),
    Column("event", String(32), nullable=False),
    Column("kind", String(16), nullable=False),
    Column("id", Integer, nullable=False),
    Column("text", String(MAX_NOTICE), nullable=False),
    Column("due_at", BigInteger, nullable=False),
    Column("attempts", Integer, nullable=False),
    Index(None, "due_at"),
)

# The fields of SeenNotices.
seen_notices: Final = Table(
    "seen_notices",
    metadata,
    user_id_column(primary_key=True),
    Column("at", BigInteger, nullable=False),
    # Words, separated by spaces.
    Column("of_that_second", Text, nullable=False),
)
