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

from logoadmin.domain.limits import MAX_AVATAR, MAX_NAME, MAX_PIECE_NAME, MAX_PREVIEW_URL, MAX_SCOPES, MAX_TARGET

VERSION_TABLE: Final = "logoadmin_version"
# A hash of the password, the token or the session: whatever makes them, they fit.
_SEALED: Final = 255
_OPAQUE: Final = 128

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


def _css() -> TypeEngine[str]:
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
    UniqueConstraint("user_id"),
    UniqueConstraint("username"),
)


def _pieces(name: str, id_name: str) -> Table:
    return Table(
        name,
        metadata,
        _id(id_name),
        Column("name", String(MAX_PIECE_NAME), nullable=False),
        Column("preview_url", String(MAX_PREVIEW_URL), nullable=False),
        Column("target", String(MAX_TARGET), nullable=False),
        Column("active", Boolean, nullable=False),
        _created_at(),
        # Last: SQLite walks through what stands before a column to get at it.
        Column("custom_css", _css(), nullable=False),
    )


def _links(name: str, id_name: str, pieces_id: str) -> Table:
    piece_id = pieces_id.split(".")[1]
    return Table(
        name,
        metadata,
        _id(id_name),
        Column(piece_id, Integer, ForeignKey(pieces_id, ondelete="CASCADE"), nullable=False),
        Column("author_id", Integer, ForeignKey("authors.author_id", ondelete="CASCADE"), nullable=False),
        UniqueConstraint(piece_id, "author_id"),
        Index(None, "author_id", piece_id),
    )


themes: Final = _pieces("themes", "theme_id")
logos: Final = _pieces("logos", "logo_id")
theme_authors: Final = _links("theme_authors", "theme_author_id", "themes.theme_id")
logo_authors: Final = _links("logo_authors", "logo_author_id", "logos.logo_id")

sessions: Final = Table(
    "sessions",
    metadata,
    Column("session_id", String(_OPAQUE), primary_key=True),
    Column("user_id", Integer, ForeignKey("users.user_id", ondelete="CASCADE"), nullable=False),
    _created_at(),
    Column("expires_at", BigInteger, nullable=False),
    Index(None, "user_id"),
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

counters: Final = Table(
    "counters",
    metadata,
    Column("name", String(MAX_NAME), primary_key=True),
    Column("last_id", Integer, nullable=False),
)
COUNTED: Final = ("role_id", "author_id", "theme_id", "logo_id", "theme_author_id", "logo_author_id")
