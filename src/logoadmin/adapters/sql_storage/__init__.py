"""Storage in an SQL database: SQLite, MariaDB or MySQL.

From the outside in: :mod:`storage` runs unit-of-work functions in transactions; the :mod:`repositories` query the
:mod:`tables`. :mod:`resilience` has the connection pool and the failure log. :mod:`databases` has
a folder with the dialect of each database, :mod:`schema` creates the tables.
"""

from logoadmin.adapters.sql_storage.databases import files_of, path_of
from logoadmin.adapters.sql_storage.pool import STEP_TIMEOUT
from logoadmin.adapters.sql_storage.storage import SqlStorage, open_sql_storage

__all__ = ["STEP_TIMEOUT", "SqlStorage", "files_of", "open_sql_storage", "path_of"]
