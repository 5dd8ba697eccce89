"""All tables of the first release, as :mod:`logoadmin.adapters.sql_storage.tables` defines them.

Every migration is idempotent: MySQL keeps the first half when the second one fails. Until the first release this one
follows the definitions; the first migration after it freezes them here.
"""

import sqlalchemy as sa
from alembic import context, op

from logoadmin.adapters.sql_storage.tables import VERSION_TABLE, WRITE_LOCKS, metadata, state

revision = "w0001"
down_revision = None


def upgrade() -> None:
    """Create the tables and the rows of the write locks."""
    connection = op.get_bind()
    exact = sa.MetaData()
    for table in metadata.sorted_tables:
        table.to_metadata(exact).kwargs.update(context.config.attributes["table_options"])
    exact.create_all(connection)
    for table in metadata.sorted_tables:
        known = {index["name"] for index in sa.inspect(connection).get_indexes(table.name)}
        for index in table.indexes:
            if index.name not in known:
                index.create(connection)
    for state_id in WRITE_LOCKS.values():
        if not connection.execute(sa.select(state.c.state_id).where(state.c.state_id == state_id)).first():
            connection.execute(state.insert().values(state_id=state_id))
    # The oldest migration whose programs can use the tables (contract K7).
    if "usable_from" not in {column["name"] for column in sa.inspect(connection).get_columns(VERSION_TABLE)}:
        usable_from = sa.Column("usable_from", sa.String(32), nullable=False, server_default=revision)
        op.add_column(VERSION_TABLE, usable_from)
