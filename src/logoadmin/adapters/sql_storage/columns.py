"""The columns that several tables have, and the metadata of all tables."""

from typing import Any, Final

from sqlalchemy import BigInteger, Column, ForeignKey, Integer, LargeBinary, MetaData, Text

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
