"""Add where changes came from, and why they were made."""

import sqlalchemy as sa
from alembic import op

from logoadmin.adapters.sql_storage.schema.migrations.numbers import number_before, number_of

revision, down_revision = number_of(__file__), number_before(__file__)


def upgrade() -> None:
    """Add what an attempt that failed later has not added."""
    found = {column["name"] for column in sa.inspect(op.get_bind()).get_columns("changes")}
    for name, length in (("source", 16), ("note", 200)):
        if name not in found:
            op.add_column("changes", sa.Column(name, sa.String(length)))
