"""Versions, the history, service keys, stored responses, sign-in attempts; all counters in one row.

Every step bears to be repeated: MySQL keeps the first half when the second one fails.
"""

from typing import Any

import sqlalchemy as sa
from alembic import context, op
from sqlalchemy.dialects.mysql import MEDIUMTEXT

revision = "0002"
down_revision = "0001"

# Of each table: its id, the name that is searched for, how long that may be.
_NAMED = (
    ("roles", "role_id", "name", 64),
    ("users", "user_id", "username", 64),
    ("authors", "author_id", "username", 64),
    ("themes", "theme_id", "name", 128),
    ("logos", "logo_id", "name", 128),
)
_COUNTED = ("role_id", "author_id", "theme_id", "logo_id", "theme_author_id", "logo_author_id")
_COUNTED_NOW = (
    *("change_id", *_COUNTED, "key_id"),
    *("role_version", "user_version", "author_version", "theme_version", "logo_version"),
)
_AT_ONCE = 5000


def upgrade() -> None:
    """Make them, and keep every record and every counter."""
    for table, id_name, name, length in _NAMED:
        _add(table, sa.Column("version", sa.Integer, nullable=False, server_default="0"))
        _add(table, sa.Column("folded", sa.String(3 * length), nullable=False, server_default=""))
        _fold(table, id_name, name)
        _index(table, "folded")
    for table in ("themes", "logos"):
        _index(table, "target")
        _index(table, "active")
    _make_service_keys()
    _make_changes()
    _make_stored_responses()
    _make_sign_in_attempts()
    _move_counters()


def _make_service_keys() -> None:
    _create(
        "service_keys",
        sa.Column("key_id", sa.Integer, nullable=False, autoincrement=False),
        sa.Column("user_id", sa.Integer, nullable=False),
        sa.Column("name", sa.String(64), nullable=False),
        sa.Column("scope", sa.String(4160), nullable=False),
        sa.Column("key_hash", sa.String(128), nullable=False),
        sa.Column("created_at", sa.BigInteger, nullable=False),
        sa.Column("expires_at", sa.BigInteger),
        sa.Column("last_used_at", sa.BigInteger),
        sa.PrimaryKeyConstraint("key_id", name="pk_service_keys"),
        sa.UniqueConstraint("key_hash", name="uq_service_keys_key_hash"),
        sa.ForeignKeyConstraint(["user_id"], ["users.user_id"], name="fk_service_keys_user_id", ondelete="CASCADE"),
    )
    _index("service_keys", "user_id")


def _make_changes() -> None:
    _create(
        "changes",
        sa.Column("change_id", sa.Integer, nullable=False, autoincrement=False),
        sa.Column("at", sa.BigInteger, nullable=False),
        sa.Column("user_id", sa.Integer),
        sa.Column("action", sa.String(64), nullable=False),
        sa.Column("kind", sa.String(16), nullable=False),
        sa.Column("record_id", sa.Integer, nullable=False),
        sa.Column("request_id", sa.String(128)),
        sa.Column("before", _long()),
        sa.Column("after", _long()),
        sa.PrimaryKeyConstraint("change_id", name="pk_changes"),
    )
    _index("changes", "kind", "record_id", "change_id")


def _make_stored_responses() -> None:
    _create(
        "first_answers",
        sa.Column("key_hash", sa.String(128), nullable=False),
        sa.Column("sealed", _long(), nullable=False),
        sa.Column("expires_at", sa.BigInteger, nullable=False),
        sa.PrimaryKeyConstraint("key_hash", name="pk_first_answers"),
    )
    _index("first_answers", "expires_at")


def _make_sign_in_attempts() -> None:
    _create(
        "sign_in_attempts",
        sa.Column("counted", sa.String(128), nullable=False),
        sa.Column("attempts", sa.Integer, nullable=False),
        sa.Column("ends_at", sa.BigInteger, nullable=False),
        sa.PrimaryKeyConstraint("counted", name="pk_sign_in_attempts"),
    )
    _index("sign_in_attempts", "ends_at")


def _move_counters() -> None:
    """Put what the table of counters says into one row, and drop the table once the row is there."""
    _create(
        "state",
        sa.Column("state_id", sa.Integer, nullable=False, autoincrement=False),
        *(sa.Column(name, sa.Integer, nullable=False, server_default="0") for name in _COUNTED_NOW),
        sa.PrimaryKeyConstraint("state_id", name="pk_state"),
    )
    connection = op.get_bind()
    state = sa.table("state", sa.column("state_id"), *map(sa.column, _COUNTED_NOW))
    moved = connection.execute(sa.select(state.c.state_id)).first() is not None
    if not moved:
        counters = sa.table("counters", sa.column("name"), sa.column("last_id"))
        rows = connection.execute(sa.select(counters.c.name, counters.c.last_id))
        last_ids = {row.name: row.last_id for row in rows}
        connection.execute(state.insert().values(state_id=1, **last_ids))
    if sa.inspect(connection).has_table("counters"):
        op.drop_table("counters")


def _fold(table: str, id_name: str, name: str) -> None:
    connection = op.get_bind()
    of = sa.table(table, sa.column(id_name), sa.column(name), sa.column("folded"))
    change = of.update().where(of.c[id_name] == sa.bindparam("key")).values(folded=sa.bindparam("as"))
    after = -1
    while True:
        page = sa.select(of.c[id_name], of.c[name]).where(of.c[id_name] > after).order_by(of.c[id_name])
        rows = connection.execute(page.limit(_AT_ONCE)).all()
        if not rows:
            return
        connection.execute(change, [{"key": id_, "as": text.casefold()} for id_, text in rows])
        after = rows[-1][0]


def _add(table: str, column: sa.Column[Any]) -> None:
    if column.name not in {there["name"] for there in sa.inspect(op.get_bind()).get_columns(table)}:
        op.add_column(table, column)


def _create(name: str, *items: Any) -> None:
    if not sa.inspect(op.get_bind()).has_table(name):
        op.create_table(name, *items, **context.config.attributes["table_options"])


def _index(table: str, *columns: str) -> None:
    name = f"ix_{table}_{'_'.join(columns)}"
    if name not in {index["name"] for index in sa.inspect(op.get_bind()).get_indexes(table)}:
        op.create_index(name, table, list(columns))


def _long() -> Any:
    return sa.Text().with_variant(MEDIUMTEXT(), "mysql", "mariadb")
