"""When a session was refreshed last, and from where it was begun; of those that are there that is not known.

It bears to be repeated: MySQL keeps the first columns when a later one fails.
"""

import sqlalchemy as sa
from alembic import op

revision = "0008"
down_revision = "0007"


def upgrade() -> None:
    """Add the columns that are not there yet."""
    there = {column["name"] for column in sa.inspect(op.get_bind()).get_columns("sessions")}
    for column in (
        sa.Column("refreshed_at", sa.BigInteger),
        sa.Column("address", sa.String(64)),
        sa.Column("user_agent", sa.String(256)),
    ):
        if column.name not in there:
            op.add_column("sessions", column)
