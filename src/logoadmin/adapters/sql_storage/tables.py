"""The tables, as the newest migration leaves them; ``tests/adapters/test_sql_migrations.py`` compares the two.

They say what queries need to know. How a server is to compare text is said where the tables are made, in
``migrations``, because it depends on the server. Ids are given by :mod:`~logoadmin.adapters.sql_storage.transaction`,
never by the database.
"""

from typing import Final

from sqlalchemy import (
    BigInteger,
    Boolean,
    Column,
    ForeignKey,
    Index,
    Integer,
    MetaData,
    String,
    Table,
    Text,
    UniqueConstraint,
)
from sqlalchemy.dialects.mysql import MEDIUMTEXT
from sqlalchemy.types import TypeEngine

from logoadmin.domain.model.limits import (
    MAX_ARTWORK_NAME,
    MAX_AVATAR,
    MAX_NAME,
    MAX_PREVIEW_URL,
    MAX_SCOPES,
    MAX_TARGET,
)
from logoadmin.domain.model.records import Kind

VERSION_TABLE: Final = "logoadmin_version"
# A hash of the password, the token or the session: whatever makes them, they fit.
_SEALED: Final = 255
_OPAQUE: Final = 128
# How long the parts are that are kept of names. A few parts of one of these lengths cover any part that is searched.
PARTS: Final = (4, 3, 2, 1)

metadata: Final = MetaData(
    naming_convention={
        "ix": "ix_%(table_name)s_%(column_0_N_name)s",
        "uq": "uq_%(table_name)s_%(column_0_N_name)s",
        "fk": "fk_%(table_name)s_%(column_0_N_name)s",
        "pk": "pk_%(table_name)s",
    }
)


def _id(name: str) -> Column[int]:
    return Column(name, Integer, primary_key=True, autoincrement=False)


def _created_at() -> Column[int]:
    return Column("created_at", BigInteger, nullable=False)


def _version() -> Column[int]:
    return Column("version", Integer, nullable=False, server_default="0")


def _folded(name_length: int) -> Column[str]:
    # A name as it is searched; folding makes at most three characters of one.
    return Column("folded", String(3 * name_length), nullable=False, server_default="")


def _long() -> TypeEngine[str]:
    # MySQL's TEXT ends at 65,535 bytes, a quarter of what may be four bytes a character.
    return Text().with_variant(MEDIUMTEXT(), "mysql", "mariadb")


roles: Final = Table(
    "roles",
    metadata,
    _id("role_id"),
    Column("name", String(MAX_NAME), nullable=False),
    # Scope-tokens hold no space, so the space-joined text of RFC 6749 is theirs.
    Column("scope", String(MAX_SCOPES * (MAX_NAME + 1)), nullable=False),
    _created_at(),
    _version(),
    _folded(MAX_NAME),
    UniqueConstraint("name"),
)

users: Final = Table(
    "users",
    metadata,
    _id("user_id"),
    Column("username", String(MAX_NAME), nullable=False),
    Column("avatar", String(MAX_AVATAR)),
    Column("role_id", Integer, ForeignKey("roles.role_id"), nullable=False),
    _created_at(),
    Column("password", String(_SEALED)),
    _version(),
    _folded(MAX_NAME),
    UniqueConstraint("username"),
    Index(None, "role_id"),
)

authors: Final = Table(
    "authors",
    metadata,
    _id("author_id"),
    Column("user_id", Integer, nullable=False),
    Column("username", String(MAX_NAME), nullable=False),
    _created_at(),
    _version(),
    _folded(MAX_NAME),
    UniqueConstraint("user_id"),
    UniqueConstraint("username"),
)


def _artworks(name: str, id_name: str) -> Table:
    return Table(
        name,
        metadata,
        _id(id_name),
        Column("name", String(MAX_ARTWORK_NAME), nullable=False),
        Column("preview_url", String(MAX_PREVIEW_URL), nullable=False),
        Column("target", String(MAX_TARGET), nullable=False),
        Column("active", Boolean, nullable=False),
        _created_at(),
        Column("custom_css", _long(), nullable=False),
        _version(),
        _folded(MAX_ARTWORK_NAME),
        Index(None, "target"),
        Index(None, "active"),
    )


def _links(name: str, id_name: str, artworks_id: str) -> Table:
    artwork_id = artworks_id.split(".")[1]
    return Table(
        name,
        metadata,
        _id(id_name),
        Column(artwork_id, Integer, ForeignKey(artworks_id, ondelete="CASCADE"), nullable=False),
        Column("author_id", Integer, ForeignKey("authors.author_id", ondelete="CASCADE"), nullable=False),
        UniqueConstraint(artwork_id, "author_id"),
        Index(None, "author_id", artwork_id),
    )


themes: Final = _artworks("themes", "theme_id")
logos: Final = _artworks("logos", "logo_id")
theme_authors: Final = _links("theme_authors", "theme_author_id", "themes.theme_id")
logo_authors: Final = _links("logo_authors", "logo_author_id", "logos.logo_id")


def _parts(of: Table) -> Table:
    """Return the table of the parts of names, in which each part has the ids of its records in ascending order."""
    (key,) = of.primary_key
    return Table(
        f"{key.name.removesuffix('_id')}_name_parts",
        metadata,
        Column("part", String(max(PARTS)), primary_key=True),
        # No foreign key: it would have to have an index of its own.
        _id(key.name),
        sqlite_with_rowid=False,
    )


role_name_parts: Final = _parts(roles)
user_name_parts: Final = _parts(users)
author_name_parts: Final = _parts(authors)
theme_name_parts: Final = _parts(themes)
logo_name_parts: Final = _parts(logos)

sessions: Final = Table(
    "sessions",
    metadata,
    Column("session_id", String(_OPAQUE), primary_key=True),
    Column("user_id", Integer, ForeignKey("users.user_id", ondelete="CASCADE"), nullable=False),
    _created_at(),
    Column("expires_at", BigInteger, nullable=False),
    Index(None, "user_id"),
    Index(None, "expires_at"),
)

refresh_tokens: Final = Table(
    "refresh_tokens",
    metadata,
    Column("token_hash", String(_OPAQUE), primary_key=True),
    Column("session_id", String(_OPAQUE), ForeignKey("sessions.session_id", ondelete="CASCADE"), nullable=False),
    Column("used", Boolean, nullable=False),
    Index(None, "session_id"),
)

secrets: Final = Table(
    "secrets",
    metadata,
    Column("name", String(MAX_NAME), primary_key=True),
    Column("value", Text, nullable=False),
)

service_keys: Final = Table(
    "service_keys",
    metadata,
    _id("key_id"),
    Column("user_id", Integer, ForeignKey("users.user_id", ondelete="CASCADE"), nullable=False),
    Column("name", String(MAX_NAME), nullable=False),
    Column("scope", String(MAX_SCOPES * (MAX_NAME + 1)), nullable=False),
    Column("key_hash", String(_OPAQUE), nullable=False),
    _created_at(),
    Column("expires_at", BigInteger),
    Column("last_used_at", BigInteger),
    UniqueConstraint("key_hash"),
    Index(None, "user_id"),
)

changes: Final = Table(
    "changes",
    metadata,
    _id("change_id"),
    Column("at", BigInteger, nullable=False),
    # No foreign key: the history outlasts the users.
    Column("user_id", Integer),
    Column("action", String(64), nullable=False),
    Column("kind", String(16), nullable=False),
    Column("record_id", Integer, nullable=False),
    Column("request_id", String(_OPAQUE)),
    # JSON.
    Column("before", _long()),
    Column("after", _long()),
    Index(None, "kind", "record_id", "change_id"),
)

stored_responses: Final = Table(
    "first_answers",
    metadata,
    Column("key_hash", String(_OPAQUE), primary_key=True),
    Column("sealed", _long(), nullable=False),
    Column("expires_at", BigInteger, nullable=False),
    Index(None, "expires_at"),
)

sign_in_attempts: Final = Table(
    "sign_in_attempts",
    metadata,
    Column("counted", String(_OPAQUE), primary_key=True),
    Column("attempts", Integer, nullable=False),
    Column("ends_at", BigInteger, nullable=False),
    Index(None, "ends_at"),
)

# One row: whoever writes holds it until the end, so there is one write at a time. It has the last id of each kind and,
# as ``<kind>_version``, the last change of each kind.
COUNTED: Final = (
    *("change_id", "role_id", "author_id", "theme_id", "logo_id", "theme_author_id", "logo_author_id", "key_id"),
    *(f"{kind}_version" for kind in Kind),
)
state: Final = Table(
    "state",
    metadata,
    _id("state_id"),
    *(Column(name, Integer, nullable=False, server_default="0") for name in COUNTED),
)
