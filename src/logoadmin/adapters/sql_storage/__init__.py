"""Storage in a database that speaks SQL: SQLite, MariaDB or MySQL.

From the outside in: :mod:`storage` runs work in transactions; the repositories are in :mod:`records`, :mod:`sessions`
and :mod:`changes`; :mod:`tables` is what they query. :mod:`dialects` knows how the databases differ, :mod:`faults` what
their errors mean. :mod:`schema` makes the tables, by :mod:`migrations`.
"""

from logoadmin.adapters.sql_storage.storage import SqlStorage, open_sql_storage

__all__ = ["SqlStorage", "open_sql_storage"]
