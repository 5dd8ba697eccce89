"""Add who caused an event of somebody else's account."""

import sqlalchemy as sa
from alembic import op

from logoadmin.adapters.sql_storage.schema.migrations.numbers import number_before, number_of

revision, down_revision = number_of(__file__), number_before(__file__)


def upgrade() -> None:
    """Add what an attempt that failed later has not added."""
    known = {column["name"] for column in sa.inspect(op.get_bind()).get_columns("events")}
    for column in (sa.Column("by_user_id", sa.Integer), sa.Column("by_user_name", sa.String(64))):
        if column.name not in known:
            op.add_column("events", column)
