"""The columns that several tables have, the tables of records, and the metadata of all tables."""

from collections.abc import Sequence
from typing import Any, Final

from sqlalchemy import (
    BigInteger,
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

from logoadmin.domain.kernel.kinds import AnyKind

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
    """Return an id, which is issued by :mod:`~logoadmin.adapters.sql_storage.transaction`."""
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
