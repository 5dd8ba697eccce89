"""The tables of factors, recovery codes, challenges, identities and events (contract O)."""

from typing import Final

from sqlalchemy import BigInteger, Boolean, Column, Index, Integer, String, Table, Text, UniqueConstraint

from logoadmin.adapters.sql_storage.tables.columns import (
    HASH,
    OPAQUE,
    SHA256,
    LongText,
    created_at_column,
    id_column,
    metadata,
    user_id_column,
)
from logoadmin.domain.kernel.limits import MAX_ADDRESS, MAX_NAME, MAX_USER_AGENT

# Of the kinds of factors, the purposes of challenges and the events.
_WORD: Final = 32

# In the order of the fields of a Factor, apart from the hash.
factors: Final = Table(
    "factors",
    metadata,
    id_column("factor_id"),
    user_id_column(),
    Column("kind", String(_WORD), nullable=False),
    Column("name", String(MAX_NAME), nullable=False),
    created_at_column(),
    Column("secret", Text, nullable=False),
    Column("credential", Text),
    Column("counter", BigInteger, nullable=False),
    Column("confirmed", Boolean, nullable=False),
    Column("last_used_at", BigInteger),
    # Of the credential, which is too long for a key.
    Column("credential_hash", String(SHA256)),
    UniqueConstraint("credential_hash"),
    Index(None, "user_id"),
)

recovery_codes: Final = Table(
    "recovery_codes",
    metadata,
    Column("code_hash", String(OPAQUE), primary_key=True),
    user_id_column(),
    Index(None, "user_id"),
)

# In the order of the fields of a Challenge.
challenges: Final = Table(
    "challenges",
    metadata,
    Column("challenge_hash", String(OPAQUE), primary_key=True),
    Column("purpose", String(_WORD), nullable=False),
    user_id_column(nullable=True),
    Column("data", Text, nullable=False),
    Column("expires_at", BigInteger, nullable=False),
    Index(None, "user_id"),
    Index(None, "expires_at"),
)

# In the order of the fields of an Identity, apart from the hash.
identities: Final = Table(
    "identities",
    metadata,
    # Of the issuer and the subject, which are too long for a key.
    Column("identity_hash", String(SHA256), primary_key=True),
    Column("issuer", Text, nullable=False),
    Column("subject", String(HASH), nullable=False),
    user_id_column(),
    # JSON.
    Column("group_list", LongText, nullable=False),
    Column("refused", Boolean, nullable=False, server_default="0"),
    Index(None, "user_id"),
)

# In the order of the fields of a SignInEvent.
events: Final = Table(
    "events",
    metadata,
    id_column("event_id"),
    Column("at", BigInteger, nullable=False),
    Column("event", String(_WORD), nullable=False),
    # No foreign key: events outlast the users.
    Column("user_id", Integer),
    Column("user_name", String(MAX_NAME)),
    Column("address", String(MAX_ADDRESS)),
    Column("user_agent", String(MAX_USER_AGENT)),
    Column("factor", String(_WORD)),
    Column("count", Integer, nullable=False),
    Column("by_user_id", Integer),
    Column("by_user_name", String(MAX_NAME)),
    Column("user_since", Integer, nullable=False, default=0, server_default="0"),
    Index(None, "user_id", "event_id"),
    Index(None, "event", "at"),
    Index(None, "at"),
)
