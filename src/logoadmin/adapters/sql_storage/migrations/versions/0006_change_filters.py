"""Indexes by which changes are found, and when the changes of each block of ids were made.

Every step bears to be repeated: MySQL keeps the first half when the second one fails.
"""

import sqlalchemy as sa
from alembic import context, op

revision = "0006"
down_revision = "0005"

_FOUND_BY = ("kind", "user_id", "action", "request_id")
_BLOCKS = (64, 4_096, 262_144)


def upgrade() -> None:
    """Make them, for the changes that are there, too."""
    there = {index["name"] for index in sa.inspect(op.get_bind()).get_indexes("changes")}
    for column in _FOUND_BY:
        if f"ix_changes_{column}" not in there:
            op.create_index(f"ix_changes_{column}", "changes", [column])
    _make_times()
    for size in _BLOCKS:
        _keep_times(size)


def _make_times() -> None:
    if sa.inspect(op.get_bind()).has_table("change_times"):
        return
    op.create_table(
        "change_times",
        sa.Column("size", sa.Integer, nullable=False, autoincrement=False),
        sa.Column("block", sa.Integer, nullable=False, autoincrement=False),
        sa.Column("earliest", sa.BigInteger, nullable=False),
        sa.Column("latest", sa.BigInteger, nullable=False),
        sa.PrimaryKeyConstraint("size", "block", name="pk_change_times"),
        sqlite_with_rowid=False,
        **context.config.attributes["table_options"],
    )


def _keep_times(size: int) -> None:
    id_: sa.ColumnClause[int] = sa.column("change_id", sa.Integer)
    at: sa.ColumnClause[int] = sa.column("at", sa.BigInteger)
    columns = ("size", "block", "earliest", "latest")
    times = sa.table("change_times", *map(sa.column, columns))
    changes, block = sa.table("changes"), id_ // size
    kept = sa.select(sa.func.max(times.c.block)).where(times.c.size == size)
    begin = op.get_bind().execute(kept).scalar()
    begin = 0 if begin is None else (begin + 1) * size
    last = op.get_bind().execute(sa.select(sa.func.max(id_)).select_from(changes)).scalar() or 0
    end = (last + 1) // size * size
    if begin >= end:
        return
    blocks = (
        sa.select(sa.literal(size), block, sa.func.min(at), sa.func.max(at))
        .select_from(changes)
        .where(id_ >= begin, id_ < end)
        .group_by(block)
    )
    op.execute(times.insert().from_select(columns, blocks))
