"""Storage in an SQL database: SQLite, MariaDB or MySQL.

From the outside in: :mod:`storage` runs unit-of-work functions in transactions, and :mod:`group_commit` those that
wait together in one; the repositories of :mod:`unit_of_work` query the :mod:`tables`. :mod:`pool` has the connections,
:mod:`failures` the failure log, :mod:`databases` the dialect of each database, and :mod:`schema` creates the tables.
"""

from logoadmin.adapters.sql_storage.databases import files_of, path_of
from logoadmin.adapters.sql_storage.pool import STEP_TIMEOUT
from logoadmin.adapters.sql_storage.storage import SqlStorage, open_sql_storage

__all__ = ["STEP_TIMEOUT", "SqlStorage", "files_of", "open_sql_storage", "path_of"]
