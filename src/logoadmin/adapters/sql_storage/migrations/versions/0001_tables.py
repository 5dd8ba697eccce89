"""All tables of 0.1.0.

They are created from ``tables``, which later migrations change along with the tables: like every migration, these find
in a new database that there is nothing to do.
"""

from alembic import context, op
from sqlalchemy import MetaData, inspect, select

from logoadmin.adapters.sql_storage.tables import STATE_ID, metadata, state

revision, down_revision = "x0001", None


def upgrade() -> None:
    """Create the tables that are missing, their indexes, and the row of the write lock."""
    connection = op.get_bind()
    tables = MetaData(naming_convention=metadata.naming_convention)
    for table in metadata.sorted_tables:
        table.to_metadata(tables).kwargs.update(context.config.attributes["table_options"])
    tables.create_all(connection)
    # An attempt that failed may have left tables without their indexes.
    there = inspect(connection)
    for table in tables.sorted_tables:
        known = {index["name"] for index in there.get_indexes(table.name)}
        for index in table.indexes:
            if index.name not in known:
                index.create(connection)
    if not connection.execute(select(state.c.state_id)).first():
        connection.execute(state.insert().values(state_id=STATE_ID))
