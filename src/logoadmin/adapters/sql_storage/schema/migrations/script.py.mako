"""${message}."""

from alembic import context, op
import sqlalchemy as sa

revision = ${repr(up_revision)}
down_revision = ${repr(down_revision)}


def upgrade() -> None:
    """Bear to be repeated: MySQL keeps the first half when the second one fails."""
    # Only if programs that do not know this step cannot use the tables after it (decision 0035), and then first of all:
    # op.execute(f"UPDATE logoadmin_version SET usable_from = '{revision}'")
    ${upgrades if upgrades else "pass"}
