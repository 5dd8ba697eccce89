"""All tables of the first release.

Every migration is idempotent: MySQL keeps the first half when the second one fails. Released migrations never change.
"""

import sqlalchemy as sa
from alembic import context, op

from logoadmin.adapters.sql_storage.schema.migrations.numbers import number_before, number_of
from logoadmin.adapters.sql_storage.tables.columns import LongBinary, LongText

revision, down_revision = number_of(__file__), number_before(__file__)

_VERSION_TABLE = "logoadmin_version"
# The rows of the write locks.
_STATE_IDS = (1, 2)
_metadata = sa.MetaData(
    naming_convention={
        "ix": "ix_%(table_name)s_%(column_0_N_name)s",
        "uq": "uq_%(table_name)s_%(column_0_N_name)s",
        "fk": "fk_%(table_name)s_%(column_0_N_name)s",
        "pk": "pk_%(table_name)s",
    }
)
sa.Table(
    "authors",
    _metadata,
    sa.Column("author_id", sa.Integer, primary_key=True, autoincrement=False),
    sa.Column("user_id", sa.Integer, nullable=False),
    sa.Column("username", sa.String(64), nullable=False),
    sa.Column("created_at", sa.BigInteger, nullable=False),
    sa.Column("version", sa.Integer, nullable=False, server_default="0"),
    sa.Column("name_casefold", sa.String(192), nullable=False, server_default=""),
    sa.UniqueConstraint("username"),
    sa.UniqueConstraint("user_id"),
    sa.Index("ix_authors_name_casefold", "name_casefold"),
    sa.Index("ix_authors_version", "version"),
)
sa.Table(
    "changes",
    _metadata,
    sa.Column("change_id", sa.Integer, primary_key=True, autoincrement=False),
    sa.Column("at", sa.BigInteger, nullable=False),
    sa.Column("user_id", sa.Integer),
    sa.Column("action", sa.String(64), nullable=False),
    sa.Column("kind", sa.String(16), nullable=False),
    sa.Column("record_id", sa.Integer, nullable=False),
    sa.Column("before", LongText),
    sa.Column("after", LongText),
    sa.Column("request_id", sa.String(128)),
    sa.Column("origin", sa.String(16)),
    sa.Column("undoes", sa.Integer),
    sa.Index("ix_changes_action", "action"),
    sa.Index("ix_changes_at", "at"),
    sa.Index("ix_changes_kind", "kind"),
    sa.Index("ix_changes_kind_record_id_change_id", "kind", "record_id", "change_id"),
    sa.Index("ix_changes_request_id", "request_id"),
    sa.Index("ix_changes_user_id", "user_id"),
)
sa.Table(
    "events",
    _metadata,
    sa.Column("event_id", sa.Integer, primary_key=True, autoincrement=False),
    sa.Column("at", sa.BigInteger, nullable=False),
    sa.Column("event", sa.String(32), nullable=False),
    sa.Column("user_id", sa.Integer),
    sa.Column("user_name", sa.String(64)),
    sa.Column("address", sa.String(64)),
    sa.Column("user_agent", sa.String(256)),
    sa.Column("factor", sa.String(32)),
    sa.Column("count", sa.Integer, nullable=False),
    sa.Index("ix_events_at", "at"),
    sa.Index("ix_events_event_at", "event", "at"),
    sa.Index("ix_events_user_id_event_id", "user_id", "event_id"),
)
sa.Table(
    "logos",
    _metadata,
    sa.Column("logo_id", sa.Integer, primary_key=True, autoincrement=False),
    sa.Column("name", sa.String(128), nullable=False),
    sa.Column("preview_url", sa.String(2048), nullable=False),
    sa.Column("target", sa.String(64), nullable=False),
    sa.Column("active", sa.Boolean, nullable=False),
    sa.Column("custom_css", LongText, nullable=False),
    sa.Column("created_at", sa.BigInteger, nullable=False),
    sa.Column("version", sa.Integer, nullable=False, server_default="0"),
    sa.Column("name_casefold", sa.String(384), nullable=False, server_default=""),
    sa.Index("ix_logos_active", "active"),
    sa.Index("ix_logos_name_casefold", "name_casefold"),
    sa.Index("ix_logos_target", "target"),
    sa.Index("ix_logos_target_active", "target", "active"),
    sa.Index("ix_logos_version", "version"),
)
sa.Table(
    "pins",
    _metadata,
    sa.Column("kind", sa.String(16), primary_key=True),
    sa.Column("record_id", sa.Integer, primary_key=True, autoincrement=False),
    sa.Column("url_hash", sa.String(64), primary_key=True),
    sa.Column("url", LongText, nullable=False),
    sa.Column("sheet", sa.String(64)),
    sa.Column("offered", sa.String(64)),
    sa.Column("failure", sa.Text),
    sa.Column("checked_at", sa.BigInteger, nullable=False),
    sa.Index("ix_pins_offered", "offered"),
)
sa.Table(
    "published_indexes",
    _metadata,
    sa.Column("version", sa.Integer, nullable=False),
    sa.Column("sha256", sa.String(64), primary_key=True),
    sa.Column("size", sa.BigInteger, nullable=False),
    sa.Column("at", sa.BigInteger, nullable=False),
    sa.Column("body", LongBinary, nullable=False),
    sa.Column("fingerprints", LongBinary, nullable=False),
)
sa.Table(
    "roles",
    _metadata,
    sa.Column("role_id", sa.Integer, primary_key=True, autoincrement=False),
    sa.Column("name", sa.String(64), nullable=False),
    sa.Column("scope", sa.String(4160), nullable=False),
    sa.Column("created_at", sa.BigInteger, nullable=False),
    sa.Column("version", sa.Integer, nullable=False, server_default="0"),
    sa.Column("name_casefold", sa.String(192), nullable=False, server_default=""),
    sa.UniqueConstraint("name"),
    sa.Index("ix_roles_name_casefold", "name_casefold"),
    sa.Index("ix_roles_version", "version"),
)
sa.Table(
    "secrets",
    _metadata,
    sa.Column("name", sa.String(64), primary_key=True),
    sa.Column("value", sa.Text, nullable=False),
)
sa.Table(
    "sheets",
    _metadata,
    sa.Column("sha256", sa.String(64), primary_key=True),
    sa.Column("css", LongText, nullable=False),
)
sa.Table(
    "sign_in_attempts",
    _metadata,
    sa.Column("counted", sa.String(128), primary_key=True),
    sa.Column("attempts", sa.Integer, nullable=False),
    sa.Column("ends_at", sa.BigInteger, nullable=False),
    sa.Index("ix_sign_in_attempts_ends_at", "ends_at"),
)
sa.Table(
    "state",
    _metadata,
    sa.Column("state_id", sa.Integer, primary_key=True, autoincrement=False),
    sa.Column("change_id", sa.Integer, nullable=False, server_default="0"),
    sa.Column("role_id", sa.Integer, nullable=False, server_default="0"),
    sa.Column("author_id", sa.Integer, nullable=False, server_default="0"),
    sa.Column("theme_id", sa.Integer, nullable=False, server_default="0"),
    sa.Column("logo_id", sa.Integer, nullable=False, server_default="0"),
    sa.Column("theme_author_id", sa.Integer, nullable=False, server_default="0"),
    sa.Column("logo_author_id", sa.Integer, nullable=False, server_default="0"),
    sa.Column("role_version", sa.Integer, nullable=False, server_default="0"),
    sa.Column("user_version", sa.Integer, nullable=False, server_default="0"),
    sa.Column("author_version", sa.Integer, nullable=False, server_default="0"),
    sa.Column("theme_version", sa.Integer, nullable=False, server_default="0"),
    sa.Column("logo_version", sa.Integer, nullable=False, server_default="0"),
    sa.Column("settings_version", sa.Integer, nullable=False, server_default="0"),
    sa.Column("key_id", sa.Integer, nullable=False, server_default="0"),
    sa.Column("factor_id", sa.Integer, nullable=False, server_default="0"),
    sa.Column("event_id", sa.Integer, nullable=False, server_default="0"),
    sa.Column("writes", sa.BigInteger, nullable=False, server_default="0"),
)
sa.Table(
    "stored_responses",
    _metadata,
    sa.Column("key_hash", sa.String(128), primary_key=True),
    sa.Column("encrypted", LongText, nullable=False),
    sa.Column("expires_at", sa.BigInteger, nullable=False),
    sa.Index("ix_stored_responses_expires_at", "expires_at"),
)
sa.Table(
    "themes",
    _metadata,
    sa.Column("theme_id", sa.Integer, primary_key=True, autoincrement=False),
    sa.Column("name", sa.String(128), nullable=False),
    sa.Column("preview_url", sa.String(2048), nullable=False),
    sa.Column("target", sa.String(64), nullable=False),
    sa.Column("active", sa.Boolean, nullable=False),
    sa.Column("custom_css", LongText, nullable=False),
    sa.Column("created_at", sa.BigInteger, nullable=False),
    sa.Column("version", sa.Integer, nullable=False, server_default="0"),
    sa.Column("name_casefold", sa.String(384), nullable=False, server_default=""),
    sa.Index("ix_themes_active", "active"),
    sa.Index("ix_themes_name_casefold", "name_casefold"),
    sa.Index("ix_themes_target", "target"),
    sa.Index("ix_themes_target_active", "target", "active"),
    sa.Index("ix_themes_version", "version"),
)
sa.Table(
    "withdrawals",
    _metadata,
    sa.Column("kind", sa.String(16), primary_key=True),
    sa.Column("record_id", sa.Integer, primary_key=True, autoincrement=False),
    sa.Column("at", sa.BigInteger, nullable=False),
    sa.Column("reason", sa.String(200)),
    sa.Index("ix_withdrawals_at", "at"),
    sa.Index("ix_withdrawals_reason", "reason"),
)
sa.Table(
    "logo_authors",
    _metadata,
    sa.Column("logo_author_id", sa.Integer, primary_key=True, autoincrement=False),
    sa.Column("logo_id", sa.Integer, sa.ForeignKey("logos.logo_id", ondelete="CASCADE"), nullable=False),
    sa.Column("author_id", sa.Integer, sa.ForeignKey("authors.author_id", ondelete="CASCADE"), nullable=False),
    sa.UniqueConstraint("logo_id", "author_id"),
    sa.Index("ix_logo_authors_author_id_logo_id", "author_id", "logo_id"),
)
sa.Table(
    "theme_authors",
    _metadata,
    sa.Column("theme_author_id", sa.Integer, primary_key=True, autoincrement=False),
    sa.Column("theme_id", sa.Integer, sa.ForeignKey("themes.theme_id", ondelete="CASCADE"), nullable=False),
    sa.Column("author_id", sa.Integer, sa.ForeignKey("authors.author_id", ondelete="CASCADE"), nullable=False),
    sa.UniqueConstraint("theme_id", "author_id"),
    sa.Index("ix_theme_authors_author_id_theme_id", "author_id", "theme_id"),
)
sa.Table(
    "users",
    _metadata,
    sa.Column("user_id", sa.Integer, primary_key=True, autoincrement=False),
    sa.Column("username", sa.String(64), nullable=False),
    sa.Column("avatar", sa.String(4096)),
    sa.Column("role_id", sa.Integer, sa.ForeignKey("roles.role_id"), nullable=False),
    sa.Column("password", sa.String(255)),
    sa.Column("created_at", sa.BigInteger, nullable=False),
    sa.Column("version", sa.Integer, nullable=False, server_default="0"),
    sa.Column("name_casefold", sa.String(192), nullable=False, server_default=""),
    sa.UniqueConstraint("username"),
    sa.Index("ix_users_name_casefold", "name_casefold"),
    sa.Index("ix_users_role_id", "role_id"),
    sa.Index("ix_users_version", "version"),
)
sa.Table(
    "challenges",
    _metadata,
    sa.Column("challenge_hash", sa.String(128), primary_key=True),
    sa.Column("purpose", sa.String(32), nullable=False),
    sa.Column("user_id", sa.Integer, sa.ForeignKey("users.user_id", ondelete="CASCADE")),
    sa.Column("data", sa.Text, nullable=False),
    sa.Column("expires_at", sa.BigInteger, nullable=False),
    sa.Index("ix_challenges_expires_at", "expires_at"),
    sa.Index("ix_challenges_user_id", "user_id"),
)
sa.Table(
    "factors",
    _metadata,
    sa.Column("factor_id", sa.Integer, primary_key=True, autoincrement=False),
    sa.Column("user_id", sa.Integer, sa.ForeignKey("users.user_id", ondelete="CASCADE"), nullable=False),
    sa.Column("kind", sa.String(32), nullable=False),
    sa.Column("name", sa.String(64), nullable=False),
    sa.Column("created_at", sa.BigInteger, nullable=False),
    sa.Column("secret", sa.Text, nullable=False),
    sa.Column("credential", sa.Text),
    sa.Column("counter", sa.BigInteger, nullable=False),
    sa.Column("confirmed", sa.Boolean, nullable=False),
    sa.Column("last_used_at", sa.BigInteger),
    sa.Column("credential_hash", sa.String(64)),
    sa.UniqueConstraint("credential_hash"),
    sa.Index("ix_factors_user_id", "user_id"),
)
sa.Table(
    "identities",
    _metadata,
    sa.Column("identity_hash", sa.String(64), primary_key=True),
    sa.Column("issuer", sa.Text, nullable=False),
    sa.Column("subject", sa.String(255), nullable=False),
    sa.Column("user_id", sa.Integer, sa.ForeignKey("users.user_id", ondelete="CASCADE"), nullable=False),
    sa.Column("group_list", LongText, nullable=False),
    sa.Index("ix_identities_user_id", "user_id"),
)
sa.Table(
    "preferences",
    _metadata,
    sa.Column(
        "user_id", sa.Integer, sa.ForeignKey("users.user_id", ondelete="CASCADE"), primary_key=True, autoincrement=False
    ),
    sa.Column("value", sa.Text, nullable=False),
)
sa.Table(
    "recovery_codes",
    _metadata,
    sa.Column("code_hash", sa.String(128), primary_key=True),
    sa.Column("user_id", sa.Integer, sa.ForeignKey("users.user_id", ondelete="CASCADE"), nullable=False),
    sa.Index("ix_recovery_codes_user_id", "user_id"),
)
sa.Table(
    "second_factor_since",
    _metadata,
    sa.Column(
        "user_id", sa.Integer, sa.ForeignKey("users.user_id", ondelete="CASCADE"), primary_key=True, autoincrement=False
    ),
    sa.Column("at", sa.BigInteger, nullable=False),
)
sa.Table(
    "service_keys",
    _metadata,
    sa.Column("key_id", sa.Integer, primary_key=True, autoincrement=False),
    sa.Column("user_id", sa.Integer, sa.ForeignKey("users.user_id", ondelete="CASCADE"), nullable=False),
    sa.Column("name", sa.String(64), nullable=False),
    sa.Column("scope", sa.String(4160), nullable=False),
    sa.Column("key_hash", sa.String(128), nullable=False),
    sa.Column("created_at", sa.BigInteger, nullable=False),
    sa.Column("expires_at", sa.BigInteger),
    sa.Column("last_used_at", sa.BigInteger),
    sa.UniqueConstraint("key_hash"),
    sa.Index("ix_service_keys_user_id", "user_id"),
)
sa.Table(
    "sessions",
    _metadata,
    sa.Column("session_id", sa.String(128), primary_key=True),
    sa.Column("user_id", sa.Integer, sa.ForeignKey("users.user_id", ondelete="CASCADE"), nullable=False),
    sa.Column("created_at", sa.BigInteger, nullable=False),
    sa.Column("expires_at", sa.BigInteger, nullable=False),
    sa.Column("refreshed_at", sa.BigInteger),
    sa.Column("address", sa.String(64)),
    sa.Column("user_agent", sa.String(256)),
    sa.Column("factor", sa.String(16), nullable=False, server_default="password"),
    sa.Column("enrol_by", sa.BigInteger),
    sa.Index("ix_sessions_expires_at", "expires_at"),
    sa.Index("ix_sessions_user_id", "user_id"),
)
sa.Table(
    "refresh_tokens",
    _metadata,
    sa.Column("token_hash", sa.String(128), primary_key=True),
    sa.Column("session_id", sa.String(128), sa.ForeignKey("sessions.session_id", ondelete="CASCADE"), nullable=False),
    sa.Column("used", sa.Boolean, nullable=False),
    sa.Index("ix_refresh_tokens_session_id", "session_id"),
)


def upgrade() -> None:
    """Create the tables and the rows of the write locks."""
    connection = op.get_bind()
    for table in _metadata.sorted_tables:
        table.kwargs.update(context.config.attributes["table_options"])
    _metadata.create_all(connection)
    for table in _metadata.sorted_tables:
        known = {index["name"] for index in sa.inspect(connection).get_indexes(table.name)}
        for index in table.indexes:
            if index.name not in known:
                index.create(connection)
    state = _metadata.tables["state"]
    for state_id in _STATE_IDS:
        if not connection.execute(sa.select(state.c.state_id).where(state.c.state_id == state_id)).first():
            connection.execute(state.insert().values(state_id=state_id))
    # The oldest migration whose programs can use the tables (contract K7).
    if "usable_from" not in {column["name"] for column in sa.inspect(connection).get_columns(_VERSION_TABLE)}:
        usable_from = sa.Column("usable_from", sa.String(32), nullable=False, server_default=revision)
        op.add_column(_VERSION_TABLE, usable_from)
