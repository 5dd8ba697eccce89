"""Runs the migrations on the connection from :mod:`logoadmin.adapters.sql_storage.schema`."""

from alembic import context

from logoadmin.adapters.sql_storage.tables import VERSION_TABLE, metadata

context.configure(
    connection=context.config.attributes["connection"],
    target_metadata=metadata,
    version_table=VERSION_TABLE,
    render_as_batch=True,
)
# No transaction here: the caller has begun one, if the database supports that for tables.
context.run_migrations()
