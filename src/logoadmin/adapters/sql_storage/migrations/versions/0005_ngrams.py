"""The n-grams of names of all kinds are in one table.

Every step bears to be repeated: MySQL keeps the first half when the second one fails.
"""

from typing import Any

import sqlalchemy as sa
from alembic import context, op

revision = "0005"
down_revision = "0004"

# With the first character of its n-grams.
_KINDS = {"role": "r", "user": "u", "author": "a", "theme": "t", "logo": "l"}
_SIZES = (1, 2, 3, 4)
_LONGEST_NAME = 384
_AT_ONCE = 250


def upgrade() -> None:
    """Make it, keep the n-grams of every name, and drop the tables that had those of one kind each."""
    _make_table("ngrams", sa.Column("gram", sa.String(5), nullable=False), _number("record_id"))
    _make_table("ngram_places", _number("ends"), _number("size"))
    places = sa.table("ngram_places", sa.column("ends"), sa.column("size"))
    rows = [{"ends": ends, "size": size} for size in _SIZES for ends in range(size, _LONGEST_NAME + 1)]
    op.get_bind().execute(_unless_there(places.insert()), rows)
    for kind, prefix in _KINDS.items():
        if sa.inspect(op.get_bind()).has_table(f"{kind}_name_parts"):
            _keep_ngrams(kind, prefix)
            op.drop_table(f"{kind}_name_parts")


def _make_table(name: str, *columns: sa.Column[Any]) -> None:
    if not sa.inspect(op.get_bind()).has_table(name):
        op.create_table(
            name,
            *columns,
            sa.PrimaryKeyConstraint(*(column.name for column in columns), name=f"pk_{name}"),
            sqlite_with_rowid=False,
            **context.config.attributes["table_options"],
        )


def _number(name: str) -> sa.Column[int]:
    return sa.Column(name, sa.Integer, nullable=False, autoincrement=False)


def _unless_there(insert: sa.Insert) -> sa.Insert:
    return insert.prefix_with("OR IGNORE", dialect="sqlite").prefix_with("IGNORE", dialect="mysql")


def _keep_ngrams(kind: str, prefix: str) -> None:
    connection = op.get_bind()
    key: sa.ColumnClause[int] = sa.column(f"{kind}_id")
    named = sa.table(f"{kind}s", key, sa.column("folded"))
    page = sa.select(key, named.c.folded).where(key > sa.bindparam("after")).order_by(key)
    insert = _unless_there(sa.table("ngrams", sa.column("gram"), sa.column("record_id")).insert())
    after = -1
    while rows := connection.execute(page.limit(_AT_ONCE), {"after": after}).all():
        grams = {(prefix + part, id_) for id_, name in rows for part in _parts_of(name)}
        connection.execute(insert, [{"gram": gram, "record_id": id_} for gram, id_ in sorted(grams)])
        after = rows[-1][0]


def _parts_of(name: str) -> set[str]:
    return {name[at : at + length] for length in _SIZES for at in range(len(name) - length + 1)}
