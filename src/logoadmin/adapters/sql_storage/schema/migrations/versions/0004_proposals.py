"""Add the proposals, and the submitters of changes."""

import sqlalchemy as sa
from alembic import context, op

from logoadmin.adapters.sql_storage.schema.migrations.numbers import number_before, number_of
from logoadmin.adapters.sql_storage.tables.columns import LongText

revision, down_revision = number_of(__file__), number_before(__file__)


def upgrade() -> None:
    """Create what an attempt that failed later has not created."""
    # The history may name an origin that older programs do not know.
    op.execute(f"UPDATE logoadmin_version SET usable_from = '{revision}'")  # noqa: S608 (our own)
    found = sa.inspect(op.get_bind())
    counters = {column["name"] for column in found.get_columns("state")}
    for name in ("proposal_id", "proposal_version"):
        if name not in counters:
            op.add_column("state", sa.Column(name, sa.Integer, nullable=False, server_default="0"))
    if "submitter_id" not in {column["name"] for column in found.get_columns("changes")}:
        op.add_column("changes", sa.Column("submitter_id", sa.Integer))
    if not found.has_table("proposals"):
        op.create_table(
            "proposals",
            sa.Column("proposal_id", sa.Integer, primary_key=True, autoincrement=False),
            sa.Column("version", sa.Integer, nullable=False),
            sa.Column("state", sa.String(16), nullable=False),
            sa.Column("user_id", sa.Integer),
            sa.Column("title", sa.String(200), nullable=False),
            sa.Column("note", sa.String(2000), nullable=False),
            sa.Column("kinds", sa.Integer, nullable=False),
            sa.Column("created_at", sa.BigInteger, nullable=False),
            sa.Column("waiting_since", sa.BigInteger, nullable=False),
            sa.Column("reason", sa.String(1000)),
            sa.Column("decided_at", sa.BigInteger),
            sa.Column("decided_by", sa.Integer),
            sa.Column("request_id", sa.String(128)),
            sa.Column("first_change", sa.Integer),
            sa.Column("last_change", sa.Integer),
            sa.Column("changes", LongText, nullable=False),
            **context.config.attributes["table_options"],
        )
    indexes = {index["name"] for index in sa.inspect(op.get_bind()).get_indexes("proposals")}
    for columns in (["user_id", "state"], ["state"]):
        name = f"ix_proposals_{'_'.join(columns)}"
        if name not in indexes:
            op.create_index(name, "proposals", columns)
