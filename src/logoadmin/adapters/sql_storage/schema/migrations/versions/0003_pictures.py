"""Add the pictures, and the last change of one."""

import sqlalchemy as sa
from alembic import context, op

from logoadmin.adapters.sql_storage.schema.migrations.numbers import number_before, number_of
from logoadmin.adapters.sql_storage.tables.columns import LongBinary

revision, down_revision = number_of(__file__), number_before(__file__)


def upgrade() -> None:
    """Create what an attempt that failed later has not created."""
    # The history may name a kind that older programs do not know, and they would not note which pictures are named.
    op.execute(f"UPDATE logoadmin_version SET usable_from = '{revision}'")  # noqa: S608 (our own)
    found = sa.inspect(op.get_bind())
    if "picture_version" not in {column["name"] for column in found.get_columns("state")}:
        op.add_column("state", sa.Column("picture_version", sa.Integer, nullable=False, server_default="0"))
    if not found.has_table("pictures"):
        op.create_table(
            "pictures",
            sa.Column("picture", sa.String(64), primary_key=True),
            sa.Column("sent_sha256", sa.String(64)),
            sa.Column("sent_at", sa.BigInteger, nullable=False),
            sa.Column("width", sa.Integer, nullable=False),
            sa.Column("height", sa.Integer, nullable=False),
            sa.Column("frames", sa.Integer, nullable=False),
            sa.Column("size", sa.Integer, nullable=False),
            sa.Column("stored_bytes", sa.Integer, nullable=False),
            sa.Column("named", sa.Boolean, nullable=False),
            sa.Column("removed", sa.Boolean, nullable=False),
            sa.Column("content", LongBinary),
            sa.Column("thumbnail", LongBinary),
            **context.config.attributes["table_options"],
        )
    indexes = {index["name"] for index in sa.inspect(op.get_bind()).get_indexes("pictures")}
    for columns in (["sent_sha256"], ["named", "sent_at"], ["stored_bytes"]):
        name = f"ix_pictures_{'_'.join(columns)}"
        if name not in indexes:
            op.create_index(name, "pictures", columns)
