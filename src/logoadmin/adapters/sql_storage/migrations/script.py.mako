"""${message}."""

from alembic import context, op
import sqlalchemy as sa

revision = ${repr(up_revision)}
down_revision = ${repr(down_revision)}


def upgrade() -> None:
    """Bear to be repeated: MySQL keeps the first half when the second one fails."""
    ${upgrades if upgrades else "pass"}
