"""The tables of all rooms, as the newest migration leaves them.

``tests/adapters/test_sql_migrations.py`` compares the two.

They contain the details that queries need. Collations are in ``migrations``, because they depend on the server.
:mod:`~logoadmin.adapters.sql_storage.transaction` issues the ids, never the database.
"""

from collections.abc import Mapping
from typing import Final

from sqlalchemy import BigInteger, Column, Integer, Table

from logoadmin.adapters.sql_storage.tables import changes_tables as changes_tables
from logoadmin.adapters.sql_storage.tables import kernel_tables as kernel_tables
from logoadmin.adapters.sql_storage.tables.columns import filter_indexes as filter_indexes
from logoadmin.adapters.sql_storage.tables.columns import id_column
from logoadmin.adapters.sql_storage.tables.columns import metadata as metadata
from logoadmin.adapters.sql_storage.tables.gallery_tables import ARTWORK_TABLES, authors, picture_names
from logoadmin.adapters.sql_storage.tables.identity_tables import (
    roles,
    sign_in_attempts,
    users,
)
from logoadmin.adapters.sql_storage.tables.publication_tables import withdrawals
from logoadmin.domain.kernel.kinds import KINDS, ArtworkKind
from logoadmin.domain.kernel.records import Kind

VERSION_TABLE: Final = "logoadmin_version"

TABLES: Final[Mapping[Kind, Table]] = {Kind.ROLE: roles, Kind.USER: users, Kind.AUTHOR: authors, **ARTWORK_TABLES}

# The one row of the table, which a write locks until its end. It has the last ids issued, the last change of each kind
# in ``<kind>_version``, and the number of writes in ``writes``: every write changes it, so that a cluster detects two
# concurrent writes on different servers.
COUNTED: Final = (
    "change_id",
    *(kind.id_field for kind in KINDS.values() if kind.gives_ids),
    *(kind.link_id_field for kind in KINDS.values() if isinstance(kind, ArtworkKind)),
    *(f"{kind}_version" for kind in Kind),
    *("proposal_id", "proposal_version", "notice_id", "key_id", "factor_id", "event_id"),
)
STATE_ID: Final = 1
# Tables whose new rows replace those with the same key.
REPLACED_TABLES: Final = frozenset({withdrawals, picture_names, sign_in_attempts})
state: Final = Table(
    "state",
    metadata,
    id_column("state_id"),
    *(Column(name, Integer, nullable=False, server_default="0") for name in COUNTED),
    Column("writes", BigInteger, nullable=False, server_default="0"),
)
