"""Storage in a database that speaks SQL: SQLite, MariaDB or MySQL.

From the outside in: :mod:`storage` runs work in transactions; the repositories are in :mod:`records`, :mod:`sessions`
and :mod:`changes`; :mod:`tables` is what they query. :mod:`dialects` knows how the databases differ,
:mod:`driver_errors` what their errors mean. :mod:`schema` makes the tables, by :mod:`migrations`.
"""

from logoadmin.adapters.sql_storage.dialects import files_of
from logoadmin.adapters.sql_storage.guarded_pool import STEP_TIMEOUT
from logoadmin.adapters.sql_storage.storage import SqlStorage, open_sql_storage

__all__ = ["STEP_TIMEOUT", "SqlStorage", "files_of", "open_sql_storage"]
