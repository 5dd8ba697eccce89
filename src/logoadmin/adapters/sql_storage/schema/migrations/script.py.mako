"""${message}."""

from alembic import context, op
import sqlalchemy as sa

from logoadmin.adapters.sql_storage.schema.migrations.numbers import number_before, number_of

revision, down_revision = number_of(__file__), number_before(__file__)


def upgrade() -> None:
    """Every migration is idempotent: MySQL keeps the first half when the second one fails."""
    # Only if programs that do not know this step cannot use the tables after it (decision 0035), and then first of all:
    # op.execute(f"UPDATE logoadmin_version SET usable_from = '{revision}'")
    ${upgrades if upgrades else "pass"}
