"""Hashes of tokens that nothing else is made of, and no stored response or session from before.

A client may have used the plain SHA-256 of a token, which was stored, as the key of a response that holds the next
one: a copy of the database could open live sessions, so all of them end. Service keys go on; their hashes are hashed
again. Every step is idempotent: MySQL keeps the first half when the second one fails.
"""

import base64
import hashlib

import sqlalchemy as sa
from alembic import context, op
from sqlalchemy.dialects.mysql import MEDIUMTEXT

revision = "0010"
down_revision = "0009"

_OLD_LENGTH = 64  # the new hashes are shorter


def upgrade() -> None:
    """Hash the hashes of service keys again, end all sessions, and replace the table of stored responses."""
    op.execute("UPDATE logoadmin_version SET usable_from = '0010'")
    connection = op.get_bind()
    keys = sa.table("service_keys", sa.column("key_id"), sa.column("key_hash"))
    old = [tuple(row) for row in connection.execute(sa.select(keys)) if len(row.key_hash) == _OLD_LENGTH]
    if old:
        change = keys.update().where(keys.c.key_id == sa.bindparam("key")).values(key_hash=sa.bindparam("hash"))
        connection.execute(change, [{"key": key_id, "hash": _stored_hash(key_hash)} for key_id, key_hash in old])
    op.execute("DELETE FROM refresh_tokens")
    op.execute("DELETE FROM sessions")
    there = sa.inspect(connection)
    if there.has_table("first_answers"):
        op.drop_table("first_answers")
    if not there.has_table("stored_responses"):
        op.create_table(
            "stored_responses",
            sa.Column("key_hash", sa.String(128), nullable=False),
            sa.Column("encrypted", sa.Text().with_variant(MEDIUMTEXT(), "mysql", "mariadb"), nullable=False),
            sa.Column("expires_at", sa.BigInteger, nullable=False),
            sa.PrimaryKeyConstraint("key_hash", name="pk_stored_responses"),
            sa.Index("ix_stored_responses_expires_at", "expires_at"),
            **context.config.attributes["table_options"],
        )


def _stored_hash(plain: str) -> str:
    digest = hashlib.sha256(f"logoadmin service key {plain}".encode()).digest()
    return base64.urlsafe_b64encode(digest).decode().rstrip("=")
