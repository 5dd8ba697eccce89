"""The tables, as the newest migration leaves them.

``tests/adapters/test_sql_migrations.py`` compares the two.

They contain the details that queries need. Collations are in ``migrations``, because they depend on the server.
:mod:`~logoadmin.adapters.sql_storage.transaction` issues the ids, never the database.
"""

from collections.abc import Mapping
from typing import Any, Final

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

from logoadmin.adapters.sql_storage import columns
from logoadmin.adapters.sql_storage.columns import (
    HASH,
    OPAQUE,
    SHA256,
    LongBinary,
    LongText,
    created_at_column,
    id_column,
    user_id_column,
)
from logoadmin.adapters.sql_storage.identity.sign_in_tables import SIGN_IN_TABLES
from logoadmin.domain.kernel.kinds import (
    ARTWORK_KINDS,
    AUTHORS,
    KINDS,
    ROLES,
    USERS,
    AnyArtworkKind,
    AnyKind,
    ArtworkKind,
)
from logoadmin.domain.kernel.limits import (
    MAX_ADDRESS,
    MAX_ARTWORK_NAME,
    MAX_AVATAR,
    MAX_NAME,
    MAX_PREVIEW_URL,
    MAX_REASON,
    MAX_SCOPES,
    MAX_SESSION_ID,
    MAX_TARGET,
    MAX_USER_AGENT,
)
from logoadmin.domain.kernel.records import Kind
from logoadmin.ports.storage import WriteLock

VERSION_TABLE: Final = "logoadmin_version"
# With all tables, once this module has been imported.
metadata: Final = columns.metadata


def filter_indexes(kind: AnyKind) -> tuple[tuple[str, ...], ...]:
    """Return the columns of the indexes for the filters of a kind, combined filters first."""
    alone = tuple((field,) for field in kind.filters if field not in kind.unique)
    return (kind.filters, *alone) if len(kind.filters) > 1 else alone


def _records(kind: AnyKind, *columns: Column[Any]) -> Table:
    """Return the table of a kind of record, with the columns of all kinds."""
    names = {column.name: column for column in columns}
    length: int = names[kind.name_field].type.length  # type: ignore[attr-defined]  # a name is a text
    return Table(
        kind.plural,
        metadata,
        id_column(kind.id_field),
        *columns,
        created_at_column(),
        Column("version", Integer, nullable=False, server_default="0"),
        # The casefolded name for searching; folding makes at most three characters of one.
        Column("name_casefold", String(3 * length), nullable=False, server_default=""),
        *(UniqueConstraint(field) for field in kind.unique if field != kind.id_field),
        *(Index(None, *fields) for fields in filter_indexes(kind)),
        # The orders of sorted lists, ids last.
        Index(None, "name_casefold"),
        Index(None, "version"),
    )


roles: Final = _records(
    ROLES,
    Column("name", String(MAX_NAME), nullable=False),
    # Scope tokens contain no spaces, so they are stored as one text, joined as in RFC 6749.
    Column("scope", String(MAX_SCOPES * (MAX_NAME + 1)), nullable=False),
)

users: Final = _records(
    USERS,
    Column("username", String(MAX_NAME), nullable=False),
    Column("avatar", String(MAX_AVATAR)),
    Column("role_id", Integer, ForeignKey("roles.role_id"), nullable=False),
    Column("password", String(HASH)),
)

authors: Final = _records(
    AUTHORS,
    Column("user_id", Integer, nullable=False),
    Column("username", String(MAX_NAME), nullable=False),
)


def _artworks(kind: AnyArtworkKind) -> Table:
    return _records(
        kind,
        Column("name", String(MAX_ARTWORK_NAME), nullable=False),
        Column("preview_url", String(MAX_PREVIEW_URL), nullable=False),
        Column("target", String(MAX_TARGET), nullable=False),
        Column("active", Boolean, nullable=False),
        Column("custom_css", LongText, nullable=False),
    )


def _links(kind: AnyArtworkKind) -> Table:
    return Table(
        f"{kind.kind}_authors",
        metadata,
        id_column(kind.link_id_field),
        Column(
            kind.id_field, Integer, ForeignKey(f"{kind.plural}.{kind.id_field}", ondelete="CASCADE"), nullable=False
        ),
        Column("author_id", Integer, ForeignKey("authors.author_id", ondelete="CASCADE"), nullable=False),
        UniqueConstraint(kind.id_field, "author_id"),
        Index(None, "author_id", kind.id_field),
    )


TABLES: Final[Mapping[Kind, Table]] = {
    Kind.ROLE: roles,
    Kind.USER: users,
    Kind.AUTHOR: authors,
    **{kind.kind: _artworks(kind) for kind in ARTWORK_KINDS},
}
LINK_TABLES: Final[Mapping[Kind, Table]] = {kind.kind: _links(kind) for kind in ARTWORK_KINDS}

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
    Column("enrol_by", BigInteger),
    Index(None, "user_id"),
    Index(None, "expires_at"),
)

refresh_tokens: Final = Table(
    "refresh_tokens",
    metadata,
    Column("token_hash", String(OPAQUE), primary_key=True),
    Column("session_id", String(MAX_SESSION_ID), ForeignKey("sessions.session_id", ondelete="CASCADE"), nullable=False),
    Column("used", Boolean, nullable=False),
    Index(None, "session_id"),
)

preferences: Final = Table(
    "preferences",
    metadata,
    user_id_column(primary_key=True),
    # JSON.
    Column("value", Text, nullable=False),
)

# The name of the secret with the address that a gallery was moved to (contract K9).
MOVED_TO: Final = "moved_to"
secrets: Final = Table(
    "secrets",
    metadata,
    Column("name", String(MAX_NAME), primary_key=True),
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
    Index(None, "kind", "record_id", "change_id"),
    *(Index(None, name) for name in ("kind", "user_id", "action", "request_id", "at")),
)

stored_responses: Final = Table(
    "stored_responses",
    metadata,
    Column("key_hash", String(OPAQUE), primary_key=True),
    Column("encrypted", LongText, nullable=False),
    Column("expires_at", BigInteger, nullable=False),
    Index(None, "expires_at"),
)

sign_in_attempts: Final = Table(
    "sign_in_attempts",
    metadata,
    Column("counted", String(OPAQUE), primary_key=True),
    Column("attempts", Integer, nullable=False),
    Column("ends_at", BigInteger, nullable=False),
    Index(None, "ends_at"),
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

# In the order of the fields of a PublishedIndex.
published_indexes: Final = Table(
    "published_indexes",
    metadata,
    Column("version", Integer, nullable=False),
    Column("sha256", String(SHA256), primary_key=True),
    Column("size", BigInteger, nullable=False),
    Column("at", BigInteger, nullable=False),
    Column("body", LongBinary, nullable=False),
    Column("fingerprints", LongBinary, nullable=False),
)

# One row for each write lock, which a write holds until its end. A row has the last ids issued under its lock, the last
# change of each kind in ``<kind>_version``, and the number of writes in ``writes``: every write changes its row, so
# that a cluster detects two concurrent writes on different servers.
COUNTED: Final[Mapping[WriteLock, tuple[str, ...]]] = {
    "records": (
        "change_id",
        *(kind.id_field for kind in KINDS.values() if kind.gives_ids),
        *(kind.link_id_field for kind in KINDS.values() if isinstance(kind, ArtworkKind)),
        *(f"{kind}_version" for kind in Kind),
    ),
    "sessions": ("key_id", "factor_id", "event_id"),
}
WRITE_LOCKS: Final[Mapping[WriteLock, int]] = {"records": 1, "sessions": 2}
# The tables written under the lock of sessions; stored responses are written under the lock of their write.
SESSION_TABLES: Final = frozenset(
    {
        *(sessions, refresh_tokens, preferences, service_keys, sign_in_attempts),
        *SIGN_IN_TABLES,
        *(pins, sheets, published_indexes),
    }
)
# Tables whose new rows replace those with the same key.
REPLACED_TABLES: Final = frozenset({withdrawals})
state: Final = Table(
    "state",
    metadata,
    id_column("state_id"),
    *(Column(name, Integer, nullable=False, server_default="0") for names in COUNTED.values() for name in names),
    Column("writes", BigInteger, nullable=False, server_default="0"),
)
