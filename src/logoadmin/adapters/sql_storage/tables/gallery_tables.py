"""The tables of authors, artworks and their links, and of pictures."""

from collections.abc import Mapping
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
    UniqueConstraint,
)

from logoadmin.adapters.sql_storage.tables.columns import (
    SHA256,
    LongBinary,
    LongText,
    id_column,
    metadata,
    records_table,
)
from logoadmin.domain.kernel.kinds import (
    ARTWORK_KINDS,
    AUTHORS,
    AnyArtworkKind,
)
from logoadmin.domain.kernel.limits import (
    MAX_ARTWORK_NAME,
    MAX_NAME,
    MAX_ORIGIN,
    MAX_PREVIEW_URL,
    MAX_TAG,
    MAX_TARGET,
)
from logoadmin.domain.kernel.records import Kind

authors: Final = records_table(
    AUTHORS,
    Column("user_id", Integer, nullable=False),
    Column("username", String(MAX_NAME), nullable=False),
)


def _artworks(kind: AnyArtworkKind) -> Table:
    return records_table(
        kind,
        Column("name", String(MAX_ARTWORK_NAME), nullable=False),
        Column("preview_url", String(MAX_PREVIEW_URL), nullable=False),
        Column("target", String(MAX_TARGET), nullable=False),
        Column("active", Boolean, nullable=False),
        # The one in the details.
        Column("origin", String(MAX_ORIGIN)),
        # Details are canonical JSON.
        last=[Column("custom_css", LongText, nullable=False), Column("details", LongText)],
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


def _tags(kind: AnyArtworkKind) -> Table:
    """Return the tags in the details of artworks, by which these are found."""
    artwork = ForeignKey(f"{kind.plural}.{kind.id_field}", ondelete="CASCADE")
    return Table(
        f"{kind.kind}_tags",
        metadata,
        Column(kind.id_field, Integer, artwork, primary_key=True, autoincrement=False),
        Column("tag", String(MAX_TAG), primary_key=True),
        Index(None, "tag", kind.id_field),
    )


ARTWORK_TABLES: Final[Mapping[Kind, Table]] = {kind.kind: _artworks(kind) for kind in ARTWORK_KINDS}
LINK_TABLES: Final[Mapping[Kind, Table]] = {kind.kind: _links(kind) for kind in ARTWORK_KINDS}

TAG_TABLES: Final[Mapping[Kind, Table]] = {kind.kind: _tags(kind) for kind in ARTWORK_KINDS}

# The bytes come last, so that the other columns are read without them.
pictures: Final = Table(
    "pictures",
    metadata,
    Column("picture", String(SHA256), primary_key=True),
    Column("sent_sha256", String(SHA256), index=True),
    Column("sent_at", BigInteger, nullable=False),
    Column("width", Integer, nullable=False),
    Column("height", Integer, nullable=False),
    Column("frames", Integer, nullable=False),
    Column("size", Integer, nullable=False),
    # Of both files; 0 without them.
    Column("stored_bytes", Integer, nullable=False, index=True),
    # By the history.
    Column("named", Boolean, nullable=False),
    Column("removed", Boolean, nullable=False),
    Column("content", LongBinary),
    Column("thumbnail", LongBinary),
    # The user who sent it. No foreign key: it outlasts the users.
    Column("sender_id", Integer),
    Column("kept_until", BigInteger, nullable=False, server_default="0"),
    Column("ground", String(5), nullable=False, server_default="light"),
    Index(None, "named", "kept_until"),
    Index(None, "sender_id"),
)

# The pictures that records and waiting proposals name now, whether or not they are stored.
picture_names: Final = Table(
    "picture_names",
    metadata,
    Column("kind", String(16), primary_key=True),
    Column("record_id", Integer, primary_key=True, autoincrement=False),
    Column("picture", String(SHA256), primary_key=True),
    Column("standing", Integer, nullable=False),
    Index(None, "picture", "standing"),
    Index(None, "standing", "picture"),
)
