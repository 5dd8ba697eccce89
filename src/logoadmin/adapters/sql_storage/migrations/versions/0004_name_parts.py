"""The parts of names, by which they are found; names as a whole need no index any more.

Every step bears to be repeated: MySQL keeps the first half when the second one fails.
"""

import sqlalchemy as sa
from alembic import context, op

revision = "0004"
down_revision = "0003"

_KINDS = ("role", "user", "author", "theme", "logo")
_LENGTHS = (4, 3, 2, 1)
_AT_ONCE = 250


def upgrade() -> None:
    """Make their tables and keep the parts of every name."""
    for kind in _KINDS:
        _make_table(kind)
        _keep_parts(kind)
        _drop_index(f"{kind}s", f"ix_{kind}s_folded")


def _make_table(kind: str) -> None:
    if not sa.inspect(op.get_bind()).has_table(f"{kind}_name_parts"):
        op.create_table(
            f"{kind}_name_parts",
            sa.Column("part", sa.String(4), nullable=False),
            sa.Column(f"{kind}_id", sa.Integer, nullable=False, autoincrement=False),
            sa.PrimaryKeyConstraint("part", f"{kind}_id", name=f"pk_{kind}_name_parts"),
            sqlite_with_rowid=False,
            **context.config.attributes["table_options"],
        )


def _keep_parts(kind: str) -> None:
    connection = op.get_bind()
    key: sa.ColumnClause[int] = sa.column(f"{kind}_id")
    named = sa.table(f"{kind}s", key, sa.column("folded"))
    page = sa.select(key, named.c.folded).where(key > sa.bindparam("after")).order_by(key)
    insert = sa.table(f"{kind}_name_parts", sa.column("part"), sa.column(key.name)).insert()
    insert = insert.prefix_with("OR IGNORE", dialect="sqlite").prefix_with("IGNORE", dialect="mysql")
    after = -1
    while rows := connection.execute(page.limit(_AT_ONCE), {"after": after}).all():
        parts = {(part, id_) for id_, name in rows for part in _parts_of(name)}
        connection.execute(insert, [{"part": part, key.name: id_} for part, id_ in sorted(parts)])
        after = rows[-1][0]


def _parts_of(name: str) -> set[str]:
    return {name[at : at + length] for length in _LENGTHS for at in range(len(name) - length + 1)}


def _drop_index(table: str, name: str) -> None:
    if name in {index["name"] for index in sa.inspect(op.get_bind()).get_indexes(table)}:
        op.drop_index(name, table)
