"""The tables."""

from typing import Any

from sqlalchemy import Column, Engine, ForeignKey, Integer, String, Table, Text, UniqueConstraint, create_engine, event
from sqlalchemy.orm import DeclarativeBase, Mapped, mapped_column, relationship


class Base(DeclarativeBase):
    """All tables."""


class Role(Base):
    """The rights of a user."""

    __tablename__ = "roles"

    role_id: Mapped[int] = mapped_column(primary_key=True)
    name: Mapped[str] = mapped_column(String(64), unique=True)
    scope: Mapped[str] = mapped_column(String(4160))
    created_at: Mapped[int]


class User(Base):
    """A user that can sign in."""

    __tablename__ = "users"

    user_id: Mapped[int] = mapped_column(primary_key=True, autoincrement=False)
    username: Mapped[str] = mapped_column(String(64), unique=True)
    avatar: Mapped[str | None] = mapped_column(String(4096))
    role_id: Mapped[int] = mapped_column(ForeignKey("roles.role_id"), index=True)
    created_at: Mapped[int]
    password: Mapped[str | None] = mapped_column(String(255))
    role: Mapped[Role] = relationship()


class SignedIn(Base):
    """A session of a user."""

    __tablename__ = "sessions"

    session_id: Mapped[str] = mapped_column(String(255), primary_key=True)
    user_id: Mapped[int] = mapped_column(ForeignKey("users.user_id", ondelete="CASCADE"), index=True)
    created_at: Mapped[int]
    expires_at: Mapped[int]
    refresh_tokens: Mapped[list["RefreshToken"]] = relationship()


class RefreshToken(Base):
    """A refresh token."""

    __tablename__ = "refresh_tokens"

    token_hash: Mapped[str] = mapped_column(String(255), primary_key=True)
    session_id: Mapped[str] = mapped_column(ForeignKey("sessions.session_id", ondelete="CASCADE"), index=True)
    used: Mapped[bool] = mapped_column(default=False)


class Author(Base):
    """An author of logos or themes."""

    __tablename__ = "authors"

    author_id: Mapped[int] = mapped_column(primary_key=True)
    user_id: Mapped[int] = mapped_column(unique=True)
    username: Mapped[str] = mapped_column(String(64), unique=True)
    created_at: Mapped[int]


def _links(kind: str) -> Table:
    return Table(
        f"{kind}_authors",
        Base.metadata,
        Column(f"{kind}_author_id", Integer, primary_key=True),
        Column(f"{kind}_id", ForeignKey(f"{kind}s.{kind}_id", ondelete="CASCADE"), nullable=False),
        Column("author_id", ForeignKey("authors.author_id", ondelete="CASCADE"), nullable=False, index=True),
        UniqueConstraint(f"{kind}_id", "author_id"),
    )


class _Artwork:
    name: Mapped[str] = mapped_column(String(128))
    preview_url: Mapped[str] = mapped_column(String(2048))
    target: Mapped[str] = mapped_column(String(64))
    custom_css: Mapped[str] = mapped_column(Text)
    active: Mapped[bool]
    created_at: Mapped[int]


class Theme(_Artwork, Base):
    """A theme of the gallery."""

    __tablename__ = "themes"

    theme_id: Mapped[int] = mapped_column(primary_key=True)
    authors: Mapped[list[Author]] = relationship(secondary=_links("theme"), order_by="theme_authors.c.theme_author_id")


class Logo(_Artwork, Base):
    """A logo of the gallery."""

    __tablename__ = "logos"

    logo_id: Mapped[int] = mapped_column(primary_key=True)
    authors: Mapped[list[Author]] = relationship(secondary=_links("logo"), order_by="logo_authors.c.logo_author_id")


def engine_of(url: str) -> Engine:
    """Return the engine of a database; a file is as durable in a power cut as logoadmin's."""
    engine = create_engine(url, pool_size=20, max_overflow=0)  # an overflow would reconnect for each request

    def begin(connection: Any, _: object) -> None:
        for pragma in ("busy_timeout=30000", "journal_mode=WAL", "synchronous=FULL", "foreign_keys=ON"):
            connection.execute(f"PRAGMA {pragma}")

    if engine.dialect.name == "sqlite":
        event.listen(engine, "connect", begin)
    return engine
