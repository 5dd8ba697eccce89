"""All tables, as the newest migration leaves them; those of records are in ``record_tables``.

``tests/adapters/test_sql_migrations.py`` compares the two.

They contain the details that queries need. Collations are in ``migrations``, because they depend on the server.
:mod:`~logoadmin.adapters.sql_storage.counters` issues the ids, never the database.
"""

from collections.abc import Mapping
from typing import Final

from sqlalchemy import BigInteger, Boolean, Column, ForeignKey, Index, Integer, String, Table, Text, UniqueConstraint

from logoadmin.adapters.sql_storage.record_tables import (
    ARTWORK_TABLES,
    HASH,
    OPAQUE,
    SHA256,
    LongText,
    authors,
    created_at_column,
    id_column,
    picture_names,
    records_table,
    user_id_column,
    withdrawals,
)
from logoadmin.adapters.sql_storage.record_tables import metadata as metadata
from logoadmin.domain.kernel import limits
from logoadmin.domain.kernel.kinds import KINDS, ROLES, USERS, ArtworkKind
from logoadmin.domain.kernel.records import Kind

roles: Final = records_table(
    ROLES,
    Column("name", String(limits.MAX_NAME), nullable=False),
    # Scope tokens contain no spaces, so they are stored as one text, joined as in RFC 6749.
    Column("scope", String(limits.MAX_SCOPES * (limits.MAX_NAME + 1)), nullable=False),
)

users: Final = records_table(
    USERS,
    Column("username", String(limits.MAX_NAME), nullable=False),
    Column("avatar", String(limits.MAX_AVATAR)),
    Column("role_id", Integer, ForeignKey("roles.role_id"), nullable=False),
    Column("password", String(HASH)),
    Column("active", Boolean, nullable=False, server_default="1"),
)

# In the order of the fields of a Session.
sessions: Final = Table(
    "sessions",
    metadata,
    Column("session_id", String(limits.MAX_SESSION_ID), primary_key=True),
    user_id_column(),
    created_at_column(),
    Column("expires_at", BigInteger, nullable=False),
    Column("refreshed_at", BigInteger),
    Column("address", String(limits.MAX_ADDRESS)),
    Column("user_agent", String(limits.MAX_USER_AGENT)),
    Column("factor", String(16), nullable=False, server_default="password"),
    Index(None, "user_id"),
    Index(None, "expires_at"),
)

refresh_tokens: Final = Table(
    "refresh_tokens",
    metadata,
    Column("token_hash", String(OPAQUE), primary_key=True),
    Column(
        "session_id",
        String(limits.MAX_SESSION_ID),
        ForeignKey("sessions.session_id", ondelete="CASCADE"),
        nullable=False,
    ),
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
    Column("name", String(limits.MAX_NAME), nullable=False),
    Column("scope", String(limits.MAX_SCOPES * (limits.MAX_NAME + 1)), nullable=False),
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


# Of the kinds of factors, the purposes of challenges and the events.
_WORD: Final = 32

# In the order of the fields of a Factor, apart from the hash.
factors: Final = Table(
    "factors",
    metadata,
    id_column("factor_id"),
    user_id_column(),
    Column("kind", String(_WORD), nullable=False),
    Column("name", String(limits.MAX_NAME), nullable=False),
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
    Column("user_name", String(limits.MAX_NAME)),
    Column("address", String(limits.MAX_ADDRESS)),
    Column("user_agent", String(limits.MAX_USER_AGENT)),
    Column("factor", String(_WORD)),
    Column("count", Integer, nullable=False),
    Column("by_user_id", Integer),
    Column("by_user_name", String(limits.MAX_NAME)),
    Column("user_since", Integer, nullable=False, default=0, server_default="0"),
    Index(None, "user_id", "event_id"),
    Index(None, "event", "at"),
    Index(None, "at"),
)


# The name of the secret with the address that a gallery was moved to (contract K9).
MOVED_TO: Final = "moved_to"
secrets: Final = Table(
    "secrets",
    metadata,
    Column("name", String(limits.MAX_NAME), primary_key=True),
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
    Column("note", String(limits.MAX_CHANGE_NOTE)),
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


# Without foreign keys: proposals outlast users.
proposals: Final = Table(
    "proposals",
    metadata,
    id_column("proposal_id"),
    Column("version", Integer, nullable=False),
    Column("state", String(16), nullable=False),
    Column("user_id", Integer),
    Column("user_since", Integer, nullable=False, server_default="0"),
    Column("title", String(limits.MAX_PROPOSAL_TITLE), nullable=False),
    Column("note", String(limits.MAX_PROPOSAL_NOTE), nullable=False),
    Column("kinds", Integer, nullable=False),
    created_at_column(),
    Column("waiting_since", BigInteger, nullable=False),
    Column("reason", String(limits.MAX_DECLINE_REASON)),
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
    Column("text", String(limits.MAX_NOTICE), nullable=False),
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


VERSION_TABLE: Final = "logoadmin_version"

TABLES: Final[Mapping[Kind, Table]] = {Kind.ROLE: roles, Kind.USER: users, Kind.AUTHOR: authors, **ARTWORK_TABLES}

# The one row of the table, which a write locks until its end. It has the last ids issued, the last change of each kind
# in ``<kind>_version``, and the number of writes in ``writes``: every write changes it, so that a cluster detects two
# concurrent writes on different servers.
COUNTED: Final = (
    "change_id",
    *(kind.id_field for kind in KINDS.values() if kind.gives_ids),
    *(kind.link_id_field for kind in KINDS.values() if isinstance(kind, ArtworkKind)),
    *(f"{kind}_version" for kind in Kind),
    *("proposal_id", "proposal_version", "notice_id", "key_id", "factor_id", "event_id"),
)
STATE_ID: Final = 1
# Tables whose new rows replace those with the same key.
REPLACED_TABLES: Final = frozenset({withdrawals, picture_names, sign_in_attempts})
state: Final = Table(
    "state",
    metadata,
    id_column("state_id"),
    *(Column(name, Integer, nullable=False, server_default="0") for name in COUNTED),
    Column("writes", BigInteger, nullable=False, server_default="0"),
)
