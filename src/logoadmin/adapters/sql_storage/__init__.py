"""Storage in a database that speaks SQL: SQLite, MariaDB or MySQL.

From the outside in: :mod:`storage` runs work in transactions, :mod:`unit_of_work` holds the repositories, which are in
:mod:`repositories`, :mod:`artworks` and :mod:`sessions`; :mod:`tables` is what they query. :mod:`dialects` knows how
the databases differ, :mod:`faults` what their errors mean. :mod:`schema` makes the tables, by :mod:`migrations`.
"""

from logoadmin.adapters.sql_storage.storage import SqlStorage, open_sql_storage

__all__ = ["SqlStorage", "open_sql_storage"]
