"""Add the notices that are still to be sent, and the last id of one."""

import sqlalchemy as sa
from alembic import context, op

from logoadmin.adapters.sql_storage.schema.migrations.numbers import number_before, number_of

revision, down_revision = number_of(__file__), number_before(__file__)


def upgrade() -> None:
    """Create what an attempt that failed later has not created."""
    found = sa.inspect(op.get_bind())
    if "notice_id" not in {column["name"] for column in found.get_columns("state")}:
        op.add_column("state", sa.Column("notice_id", sa.Integer, nullable=False, server_default="0"))
    if not found.has_table("notices"):
        op.create_table(
            "notices",
            sa.Column("notice_id", sa.Integer, primary_key=True, autoincrement=False),
            sa.Column("receiver", sa.String(128), nullable=False),
            sa.Column("event", sa.String(32), nullable=False),
            sa.Column("kind", sa.String(16), nullable=False),
            sa.Column("id", sa.Integer, nullable=False),
            sa.Column("text", sa.String(1000), nullable=False),
            sa.Column("due_at", sa.BigInteger, nullable=False),
            sa.Column("attempts", sa.Integer, nullable=False),
            **context.config.attributes["table_options"],
        )
    if "ix_notices_due_at" not in {index["name"] for index in sa.inspect(op.get_bind()).get_indexes("notices")}:
        op.create_index("ix_notices_due_at", "notices", ["due_at"])
