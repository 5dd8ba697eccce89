"""The tables of users and roles, their sessions, keys and preferences, and attempts to sign in."""

from typing import Final

from sqlalchemy import (
    BigInteger,
    Boolean,
    Column,
    ForeignKey,
    Index,
    Integer,
    String,
    Table,
    Text,
    UniqueConstraint,
)

from logoadmin.adapters.sql_storage.tables.columns import (
    HASH,
    OPAQUE,
    created_at_column,
    id_column,
    metadata,
    records_table,
    user_id_column,
)
from logoadmin.domain.kernel.kinds import (
    ROLES,
    USERS,
)
from logoadmin.domain.kernel.limits import (
    MAX_ADDRESS,
    MAX_AVATAR,
    MAX_NAME,
    MAX_SCOPES,
    MAX_SESSION_ID,
    MAX_USER_AGENT,
)

roles: Final = records_table(
    ROLES,
    Column("name", String(MAX_NAME), nullable=False),
    # Scope tokens contain no spaces, so they are stored as one text, joined as in RFC 6749.
    Column("scope", String(MAX_SCOPES * (MAX_NAME + 1)), nullable=False),
)

users: Final = records_table(
    USERS,
    Column("username", String(MAX_NAME), nullable=False),
    Column("avatar", String(MAX_AVATAR)),
    Column("role_id", Integer, ForeignKey("roles.role_id"), nullable=False),
    Column("password", String(HASH)),
    Column("active", Boolean, nullable=False, server_default="1"),
)

# In the order of the fields of a Session.
sessions: Final = Table(
    "sessions",
    metadata,
    Column("session_id", String(MAX_SESSION_ID), primary_key=True),
    user_id_column(),
    created_at_column(),
    Column("expires_at", BigInteger, nullable=False),
    Column("refreshed_at", BigInteger),
    Column("address", String(MAX_ADDRESS)),
    Column("user_agent", String(MAX_USER_AGENT)),
    Column("factor", String(16), nullable=False, server_default="password"),
    Index(None, "user_id"),
    Index(None, "expires_at"),
)

refresh_tokens: Final = Table(
    "refresh_tokens",
    metadata,
    Column("token_hash", String(OPAQUE), primary_key=True),
    Column("session_id", String(MAX_SESSION_ID), ForeignKey("sessions.session_id", ondelete="CASCADE"), nullable=False),
    Column("used_at", BigInteger),
    Index(None, "session_id"),
)

preferences: Final = Table(
    "preferences",
    metadata,
    user_id_column(primary_key=True),
    # JSON.
    Column("value", Text, nullable=False),
)

service_keys: Final = Table(
    "service_keys",
    metadata,
    id_column("key_id"),
    user_id_column(),
    Column("name", String(MAX_NAME), nullable=False),
    Column("scope", String(MAX_SCOPES * (MAX_NAME + 1)), nullable=False),
    Column("key_hash", String(OPAQUE), nullable=False),
    created_at_column(),
    Column("expires_at", BigInteger),
    Column("last_used_at", BigInteger),
    UniqueConstraint("key_hash"),
    Index(None, "user_id"),
)

sign_in_attempts: Final = Table(
    "sign_in_attempts",
    metadata,
    Column("counted", String(OPAQUE), primary_key=True),
    Column("attempts", Integer, nullable=False),
    Column("ends_at", BigInteger, nullable=False),
    Index(None, "ends_at"),
)
