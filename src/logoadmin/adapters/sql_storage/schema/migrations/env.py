"""Runs the steps on the connection that :mod:`logoadmin.adapters.sql_storage.schema.schema` hands over."""

from alembic import context

from logoadmin.adapters.sql_storage.tables import VERSION_TABLE, metadata

context.configure(
    connection=context.config.attributes["connection"],
    target_metadata=metadata,
    version_table=VERSION_TABLE,
    render_as_batch=True,
)
# No transaction here: whoever holds the connection has begun one, where the database has any for this.
context.run_migrations()
