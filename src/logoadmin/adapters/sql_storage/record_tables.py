"""The tables of records and what goes with them, and the columns that several tables have."""

from collections.abc import Mapping, Sequence
from typing import Any, Final

from sqlalchemy import (
    BigInteger,
    Boolean,
    Column,
    ForeignKey,
    Index,
    Integer,
    LargeBinary,
    MetaData,
    String,
    Table,
    Text,
    UniqueConstraint,
)

from logoadmin.domain.kernel import limits
from logoadmin.domain.kernel.kinds import ARTWORK_KINDS, AUTHORS, AnyArtworkKind, AnyKind
from logoadmin.domain.kernel.records import Kind

# Hashes of passwords, tokens and sessions, long enough for any algorithm.
HASH: Final = 255
OPAQUE: Final = 128
# In hexadecimal digits.
SHA256: Final = 64


class LongText(Text):
    """A text of some megabytes. A database whose texts are shorter by default renders another type."""


class LongBinary(LargeBinary):
    """Some megabytes. A database whose binary values are shorter by default renders another type."""


metadata: Final = MetaData(
    naming_convention={
        "ix": "ix_%(table_name)s_%(column_0_N_name)s",
        "uq": "uq_%(table_name)s_%(column_0_N_name)s",
        "fk": "fk_%(table_name)s_%(column_0_N_name)s",
        "pk": "pk_%(table_name)s",
    }
)


def id_column(name: str) -> Column[int]:
    """Return an id, which is issued by :mod:`~logoadmin.adapters.sql_storage.counters`."""
    return Column(name, Integer, primary_key=True, autoincrement=False)


def created_at_column() -> Column[int]:
    """Return the time when a row was created."""
    return Column("created_at", BigInteger, nullable=False)


def user_id_column(*, primary_key: bool = False, nullable: bool = False) -> Column[Any]:
    """Return the id of the user with whom a row goes."""
    user = ForeignKey("users.user_id", ondelete="CASCADE")
    return Column("user_id", Integer, user, primary_key=primary_key, autoincrement=False, nullable=nullable)


def column_name(field: str) -> str:
    """Return the column of a field; one for a member of a field is named after the member."""
    return field.rpartition(".")[2]


def filter_indexes(kind: AnyKind) -> tuple[tuple[str, ...], ...]:
    """Return the columns of the indexes for the filters of a kind, combined filters first."""
    alone = tuple((field,) for field in kind.filters if field not in kind.unique)
    return (kind.filters, *alone) if len(kind.filters) > 1 else alone


def records_table(kind: AnyKind, *columns: Column[Any], last: Sequence[Column[Any]] = ()) -> Table:
    """Return the table of a kind of record, with the columns of all kinds.

    Long texts come last, so that the other columns are read without them.
    """
    names = {column.name: column for column in columns}
    length: int = names[kind.name_field].type.length  # type: ignore[attr-defined]  # a name is a text
    return Table(
        kind.plural,
        metadata,
        id_column(kind.id_field),
        *columns,
        created_at_column(),
        Column("version", Integer, nullable=False, server_default="0"),
        # The name as searches compare it, with at most three characters for one.
        Column("name_casefold", String(3 * length), nullable=False, server_default=""),
        *last,
        *(UniqueConstraint(column_name(field)) for field in kind.unique if field != kind.id_field),
        *(Index(None, *fields) for fields in filter_indexes(kind)),
        # The orders of sorted lists, ids last.
        Index(None, "name_casefold"),
        Index(None, "version"),
    )


authors: Final = records_table(
    AUTHORS, Column("user_id", Integer, nullable=False), Column("username", String(limits.MAX_NAME), nullable=False)
)


def _artworks(kind: AnyArtworkKind) -> Table:
    return records_table(
        kind,
        Column("name", String(limits.MAX_ARTWORK_NAME), nullable=False),
        Column("preview_url", String(limits.MAX_PREVIEW_URL), nullable=False),
        Column("target", String(limits.MAX_TARGET), nullable=False),
        Column("active", Boolean, nullable=False),
        # The one in the details.
        Column("origin", String(limits.MAX_ORIGIN)),
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
        Column("tag", String(limits.MAX_TAG), primary_key=True),
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


# In the order of the fields of a Withdrawal. They have no foreign keys: they outlast the records.
withdrawals: Final = Table(
    "withdrawals",
    metadata,
    Column("kind", String(16), primary_key=True),
    Column("record_id", Integer, primary_key=True, autoincrement=False),
    Column("at", BigInteger, nullable=False),
    Column("reason", String(limits.MAX_REASON)),
    Index(None, "at"),
    # For those with a reason, which are few.
    Index(None, "reason"),
)
