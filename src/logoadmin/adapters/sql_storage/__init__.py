"""Storage in a database that speaks SQL: SQLite, MariaDB or MySQL.

From the outside in: :mod:`storage` runs work in transactions, on which the :mod:`repositories` work; :mod:`tables` is
what they query. :mod:`resilience` has the pool of connections and what spares callers a database that fails.
:mod:`databases` has a folder for each kind of database with what differs, :mod:`schema` creates the tables.
"""

from logoadmin.adapters.sql_storage.databases import files_of
from logoadmin.adapters.sql_storage.resilience.pool import STEP_TIMEOUT
from logoadmin.adapters.sql_storage.storage import SqlStorage, open_sql_storage

__all__ = ["STEP_TIMEOUT", "SqlStorage", "files_of", "open_sql_storage"]
