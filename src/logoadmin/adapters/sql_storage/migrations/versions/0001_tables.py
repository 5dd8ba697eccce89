"""All tables of the first version.

Every step bears to be repeated: MySQL keeps the first half when the second one fails.
"""

from typing import Any

import sqlalchemy as sa
from alembic import context, op
from sqlalchemy.dialects.mysql import MEDIUMTEXT

revision = "0001"
down_revision = None

_COUNTED = ("role_id", "author_id", "theme_id", "logo_id", "theme_author_id", "logo_author_id")


def upgrade() -> None:
    """Make all tables."""
    _people()
    for artwork in ("theme", "logo"):
        _artworks(artwork)
    _sessions()
    _create("secrets", _name(), sa.Column("value", sa.Text, nullable=False), _key("secrets", "name"))
    _create("counters", _name(), sa.Column("last_id", sa.Integer, nullable=False), _key("counters", "name"))
    counters = sa.table("counters", sa.column("name"), sa.column("last_id"))
    there = set(op.get_bind().execute(sa.select(counters.c.name)).scalars())
    for name in _COUNTED:
        if name not in there:
            op.execute(counters.insert().values(name=name, last_id=0))


def _people() -> None:
    _create(
        "roles",
        _id("role_id"),
        _name(),
        sa.Column("scope", sa.String(4160), nullable=False),
        _time("created_at"),
        _key("roles", "role_id"),
        sa.UniqueConstraint("name", name="uq_roles_name"),
    )
    _create(
        "users",
        _id("user_id"),
        sa.Column("username", sa.String(64), nullable=False),
        sa.Column("avatar", sa.String(4096)),
        _id("role_id"),
        _time("created_at"),
        sa.Column("password", sa.String(255)),
        _key("users", "user_id"),
        sa.UniqueConstraint("username", name="uq_users_username"),
        sa.ForeignKeyConstraint(["role_id"], ["roles.role_id"], name="fk_users_role_id"),
        sa.Index("ix_users_role_id", "role_id"),
    )
    _create(
        "authors",
        _id("author_id"),
        _id("user_id"),
        sa.Column("username", sa.String(64), nullable=False),
        _time("created_at"),
        _key("authors", "author_id"),
        sa.UniqueConstraint("user_id", name="uq_authors_user_id"),
        sa.UniqueConstraint("username", name="uq_authors_username"),
    )


def _artworks(artwork: str) -> None:
    artworks, artwork_id, links = f"{artwork}s", f"{artwork}_id", f"{artwork}_authors"
    _create(
        artworks,
        _id(artwork_id),
        sa.Column("name", sa.String(128), nullable=False),
        sa.Column("preview_url", sa.String(2048), nullable=False),
        sa.Column("target", sa.String(64), nullable=False),
        sa.Column("active", sa.Boolean, nullable=False),
        _time("created_at"),
        sa.Column("custom_css", sa.Text().with_variant(MEDIUMTEXT(), "mysql", "mariadb"), nullable=False),
        _key(artworks, artwork_id),
    )
    _create(
        links,
        _id(f"{artwork}_author_id"),
        _id(artwork_id),
        _id("author_id"),
        _key(links, f"{artwork}_author_id"),
        sa.UniqueConstraint(artwork_id, "author_id", name=f"uq_{links}_{artwork_id}_author_id"),
        sa.ForeignKeyConstraint(
            [artwork_id], [f"{artworks}.{artwork_id}"], name=f"fk_{links}_{artwork_id}", ondelete="CASCADE"
        ),
        sa.ForeignKeyConstraint(["author_id"], ["authors.author_id"], name=f"fk_{links}_author_id", ondelete="CASCADE"),
        sa.Index(f"ix_{links}_author_id_{artwork_id}", "author_id", artwork_id),
    )


def _sessions() -> None:
    _create(
        "sessions",
        sa.Column("session_id", sa.String(128), nullable=False),
        _id("user_id"),
        _time("created_at"),
        _time("expires_at"),
        _key("sessions", "session_id"),
        sa.ForeignKeyConstraint(["user_id"], ["users.user_id"], name="fk_sessions_user_id", ondelete="CASCADE"),
        sa.Index("ix_sessions_user_id", "user_id"),
    )
    _create(
        "refresh_tokens",
        sa.Column("token_hash", sa.String(128), nullable=False),
        sa.Column("session_id", sa.String(128), nullable=False),
        sa.Column("used", sa.Boolean, nullable=False),
        _key("refresh_tokens", "token_hash"),
        sa.ForeignKeyConstraint(
            ["session_id"], ["sessions.session_id"], name="fk_refresh_tokens_session_id", ondelete="CASCADE"
        ),
        sa.Index("ix_refresh_tokens_session_id", "session_id"),
    )


def _create(name: str, *items: Any) -> None:
    there = sa.inspect(op.get_bind())
    indexes = {item.name: [str(column) for column in item.expressions] for item in items if isinstance(item, sa.Index)}
    if not there.has_table(name):
        columns = [item for item in items if not isinstance(item, sa.Index)]
        op.create_table(name, *columns, **context.config.attributes["table_options"])
    known = {index["name"] for index in there.get_indexes(name)} if there.has_table(name) else set()
    for index, of in indexes.items():
        if index not in known:
            op.create_index(index, name, of)


def _id(name: str) -> sa.Column[int]:
    return sa.Column(name, sa.Integer, nullable=False, autoincrement=False)


def _time(name: str) -> sa.Column[int]:
    return sa.Column(name, sa.BigInteger, nullable=False)


def _name() -> sa.Column[str]:
    return sa.Column("name", sa.String(64), nullable=False)


def _key(table: str, name: str) -> sa.PrimaryKeyConstraint:
    return sa.PrimaryKeyConstraint(name, name=f"pk_{table}")
