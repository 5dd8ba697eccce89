"""An index by which expired sessions are found.

It bears to be repeated: MySQL keeps it when the note that it was made fails.
"""

import sqlalchemy as sa
from alembic import op

revision = "0003"
down_revision = "0002"


def upgrade() -> None:
    """Make it, unless it is there."""
    name = "ix_sessions_expires_at"
    if name not in {index["name"] for index in sa.inspect(op.get_bind()).get_indexes("sessions")}:
        op.create_index(name, "sessions", ["expires_at"])
