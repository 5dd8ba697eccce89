"""Add who caused an event of somebody else's account, the undoing of proposals, and what names pictures."""

from typing import Any

import sqlalchemy as sa
from alembic import context, op

from logoadmin.adapters.sql_storage.schema.migrations.numbers import number_before, number_of
from logoadmin.adapters.sql_storage.tables.columns import LongText

revision, down_revision = number_of(__file__), number_before(__file__)


def upgrade() -> None:
    """Add what an attempt that failed later has not added."""
    user_since = sa.Column("user_since", sa.Integer, nullable=False, server_default="0")
    _add_columns("events", sa.Column("by_user_id", sa.Integer), sa.Column("by_user_name", sa.String(64)), user_since)
    _add_columns(
        "proposals",
        sa.Column("undone_change", sa.Integer),
        sa.Column("unapplied_since", sa.BigInteger),
        sa.Column("user_since", sa.Integer, nullable=False, server_default="0"),
        sa.Column("size", sa.Integer, nullable=False, server_default="0"),
        sa.Column("summary", LongText),
    )
    _add_indexes("proposals", ["first_change"], ["unapplied_since"])
    kept_until = sa.Column("kept_until", sa.BigInteger, nullable=False, server_default="0")
    ground = sa.Column("ground", sa.String(5), nullable=False, server_default="light")
    _add_columns("pictures", sa.Column("sender_id", sa.Integer), kept_until, ground)
    _add_indexes("pictures", ["named", "kept_until"], ["sender_id"])
    if "ix_pictures_named_sent_at" in _indexes("pictures"):
        op.drop_index("ix_pictures_named_sent_at", "pictures")
    if not sa.inspect(op.get_bind()).has_table("picture_names"):
        op.create_table(
            "picture_names",
            sa.Column("kind", sa.String(16), primary_key=True),
            sa.Column("record_id", sa.Integer, primary_key=True, autoincrement=False),
            sa.Column("picture", sa.String(64), primary_key=True),
            sa.Column("standing", sa.Integer, nullable=False),
            **context.config.attributes["table_options"],
        )
    _add_indexes("picture_names", ["picture", "standing"], ["standing", "picture"])


def _add_columns(table: str, *columns: sa.Column[Any]) -> None:
    known = {column["name"] for column in sa.inspect(op.get_bind()).get_columns(table)}
    for column in columns:
        if column.name not in known:
            op.add_column(table, column)


def _add_indexes(table: str, *indexes: list[str]) -> None:
    known = _indexes(table)
    for columns in indexes:
        name = f"ix_{table}_{'_'.join(columns)}"
        if name not in known:
            op.create_index(name, table, columns)


def _indexes(table: str) -> set[str | None]:
    return {index["name"] for index in sa.inspect(op.get_bind()).get_indexes(table)}
