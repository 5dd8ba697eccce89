"""Add who caused an event of somebody else's account, and the undoing of proposals."""

import sqlalchemy as sa
from alembic import op

from logoadmin.adapters.sql_storage.schema.migrations.numbers import number_before, number_of

revision, down_revision = number_of(__file__), number_before(__file__)


def upgrade() -> None:
    """Add what an attempt that failed later has not added."""
    _add_columns("events", sa.Column("by_user_id", sa.Integer), sa.Column("by_user_name", sa.String(64)))
    _add_columns("proposals", sa.Column("undone_change", sa.Integer))
    _add_indexes("proposals", ["first_change"])


def _add_columns(table: str, *columns: sa.Column[object]) -> None:
    known = {column["name"] for column in sa.inspect(op.get_bind()).get_columns(table)}
    for column in columns:
        if column.name not in known:
            op.add_column(table, column)


def _add_indexes(table: str, *indexes: list[str]) -> None:
    known = {index["name"] for index in sa.inspect(op.get_bind()).get_indexes(table)}
    for columns in indexes:
        name = f"ix_{table}_{'_'.join(columns)}"
        if name not in known:
            op.create_index(name, table, columns)
