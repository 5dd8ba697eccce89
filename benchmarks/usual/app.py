"""The endpoints; the environment variable DATABASE is the URL of the database."""

import hashlib
import os
import secrets
import time
from collections.abc import Iterator
from typing import Annotated, Any

import jwt
from argon2 import PasswordHasher
from argon2.exceptions import VerificationError
from fastapi import Depends, FastAPI, HTTPException
from pydantic import BaseModel, ConfigDict, Field
from sqlalchemy import select
from sqlalchemy.exc import IntegrityError
from sqlalchemy.orm import Session, joinedload, selectinload, sessionmaker

from benchmarks.usual.models import Author, Logo, RefreshToken, SignedIn, User, engine_of


class Answer(BaseModel):
    """Base of the responses."""

    model_config = ConfigDict(from_attributes=True)


class UserAnswer(Answer):
    """A user."""

    user_id: int
    username: str
    avatar: str | None
    role_id: int
    created_at: int


class AuthorAnswer(Answer):
    """An author."""

    author_id: int
    user_id: int
    username: str
    created_at: int


class LogoAnswer(Answer):
    """A logo."""

    logo_id: int
    name: str
    preview_url: str
    target: str
    custom_css: str
    active: bool
    authors: list[AuthorAnswer]
    created_at: int


class TokensAnswer(Answer):
    """The response to a sign-in."""

    access_token: str
    token_type: str = "bearer"
    expires_in: int = 900
    refresh_token: str
    scope: str


class Input(BaseModel):
    """Base of the request bodies."""

    model_config = ConfigDict(extra="forbid")


class NewAuthor(Input):
    """A new author."""

    user_id: int = Field(strict=True, ge=0, le=2_147_483_647)
    username: str = Field(min_length=1, max_length=64)


class SignIn(Input):
    """Name and password."""

    username: str = Field(min_length=1, max_length=64)
    password: str = Field(min_length=1, max_length=256)


app = FastAPI()
hasher = PasswordHasher(time_cost=2, memory_cost=19_456, parallelism=1)
Sessions = sessionmaker(engine_of(os.environ["DATABASE"]), expire_on_commit=False)


def session_of_request() -> Iterator[Session]:
    """Yield a database session for one request."""
    with Sessions() as session:
        yield session


Db = Annotated[Session, Depends(session_of_request)]


@app.get("/api/users", response_model=list[UserAnswer])
def list_users(session: Db) -> Any:
    """Return all users."""
    return session.scalars(select(User).order_by(User.user_id)).all()


@app.get("/api/logos", response_model=list[LogoAnswer])
def list_logos(session: Db) -> Any:
    """Return all logos with their authors."""
    return session.scalars(select(Logo).options(selectinload(Logo.authors)).order_by(Logo.logo_id)).all()


@app.get("/api/logos/{logo_id}", response_model=LogoAnswer)
def get_logo(logo_id: int, session: Db) -> Any:
    """Return a logo with its authors."""
    logo = session.get(Logo, logo_id, options=[joinedload(Logo.authors)])
    if logo is None:
        raise HTTPException(404, f"Logo {logo_id} not found")
    return logo


@app.post("/api/authors", response_model=AuthorAnswer, status_code=201)
def create_author(new: NewAuthor, session: Db) -> Any:
    """Create an author."""
    author = Author(**new.model_dump(), created_at=int(time.time()))
    session.add(author)
    try:
        session.commit()
    except IntegrityError:
        raise HTTPException(409, "Duplicate entry") from None
    return author


@app.post("/api/auth/token", response_model=TokensAnswer)
def sign_in(credentials: SignIn, session: Db) -> Any:
    """Begin a session."""
    user = session.scalar(select(User).where(User.username == credentials.username))
    if user is None or not _is_right(user.password, credentials.password):
        raise HTTPException(401, "Incorrect username or password")
    now, session_id, refresh_token = int(time.time()), secrets.token_urlsafe(32), secrets.token_urlsafe(32)
    stored = RefreshToken(token_hash=hashlib.sha256(refresh_token.encode()).hexdigest())
    expires_at = now + 30 * 86_400
    session.add(
        SignedIn(
            session_id=session_id, user_id=user.user_id, created_at=now, expires_at=expires_at, refresh_tokens=[stored]
        )
    )
    session.commit()
    claims: dict[str, Any] = {"iss": "usual", "aud": "usual", "sub": str(user.user_id), "sid": session_id}
    claims |= {"jti": secrets.token_hex(16), "iat": now, "exp": now + 900, "scope": user.role.scope}
    token = jwt.encode(claims, "a key that is long enough for HS256", algorithm="HS256")
    return TokensAnswer(access_token=token, refresh_token=refresh_token, scope=user.role.scope)


def _is_right(hashed: str | None, password: str) -> bool:
    try:
        return hasher.verify(hashed or "", password)
    except VerificationError:
        return False
