"""From which migration on programs can use the tables (decision 0035), which these before it do not say.

It bears to be repeated: MySQL keeps it when the note that it was made fails.
"""

import sqlalchemy as sa
from alembic import op

revision = "0009"
down_revision = "0008"


def upgrade() -> None:
    """Add the column, unless it is there."""
    if "usable_from" not in {column["name"] for column in sa.inspect(op.get_bind()).get_columns("logoadmin_version")}:
        op.add_column(
            "logoadmin_version", sa.Column("usable_from", sa.String(32), nullable=False, server_default=revision)
        )
