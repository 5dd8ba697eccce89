"""Add whether users are active."""

import sqlalchemy as sa
from alembic import op

from logoadmin.adapters.sql_storage.schema.migrations.numbers import number_before, number_of

revision, down_revision = number_of(__file__), number_before(__file__)


def upgrade() -> None:
    """Add what an attempt that failed later has not added."""
    # Older programs would let suspended users in.
    op.execute(f"UPDATE logoadmin_version SET usable_from = '{revision}'")  # noqa: S608 (our own)
    if "active" not in {column["name"] for column in sa.inspect(op.get_bind()).get_columns("users")}:
        op.add_column("users", sa.Column("active", sa.Boolean, nullable=False, server_default="1"))
