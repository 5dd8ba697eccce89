"""How many writes there were, which each of them changes.

It bears to be repeated: MySQL keeps it when the note that it was made fails.
"""

import sqlalchemy as sa
from alembic import op

revision = "0007"
down_revision = "0006"


def upgrade() -> None:
    """Make it, unless it is there."""
    if "writes" not in {column["name"] for column in sa.inspect(op.get_bind()).get_columns("state")}:
        op.add_column("state", sa.Column("writes", sa.BigInteger, nullable=False, server_default="0"))
