"""Add whether an issuer refused a user."""

import sqlalchemy as sa
from alembic import op

from logoadmin.adapters.sql_storage.schema.migrations.numbers import number_before, number_of

revision, down_revision = number_of(__file__), number_before(__file__)


def upgrade() -> None:
    """Add the column, unless an attempt that failed later has added it."""
    if "refused" not in {column["name"] for column in sa.inspect(op.get_bind()).get_columns("identities")}:
        op.add_column("identities", sa.Column("refused", sa.Boolean, nullable=False, server_default="0"))
