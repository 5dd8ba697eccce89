"""Signing in to a stocked gallery, and using the tokens."""

from collections.abc import Iterable
from typing import Final

from logoadmin import Caller, CreateKey, GetUser, InvalidToken, KeyHolder, LogoAdmin, SignedIn, Tokens
from logoadmin.adapters.argon2_passwords import Argon2Passwords
from logoadmin.domain.identity.sessions import Refresh, SignIn, WhoAmI
from logoadmin.domain.kernel.records import PasswordHash
from tests.gallery import ADMIN_PASSWORD, ANN_PASSWORD, failure, once

ANN: Final = SignIn(username="ann", password=ANN_PASSWORD)
ADMIN: Final = SignIn(username="admin", password=ADMIN_PASSWORD)


def caller(gallery: LogoAdmin, tokens: Tokens) -> SignedIn:
    found = gallery.sessions.caller(tokens.access_token)
    assert isinstance(found, SignedIn)
    return found


def refreshing(tokens: Tokens, key: str | None = None) -> Refresh:
    command = Refresh(refresh_token=tokens.refresh_token)
    return command if key is None else once(command, key)


def refresh(gallery: LogoAdmin, tokens: Tokens) -> Tokens:
    return gallery.sessions.refresh(refreshing(tokens))


def works(gallery: LogoAdmin, tokens: Tokens) -> bool:
    try:
        who = caller(gallery, tokens)
        gallery.users.get(GetUser(user_id=who.user_id), who)
    except InvalidToken:
        return False
    return True


def key_of(gallery: LogoAdmin, who: Caller, *scope: str, expires_in: int | None = None) -> KeyHolder:
    """Return the holder of a new service key of a caller."""
    made = gallery.keys.create(CreateKey(name="script", scope=scope, expires_in=expires_in), who)
    found = gallery.sessions.caller(made.key)
    assert isinstance(found, KeyHolder)
    return found


def works_as_key(gallery: LogoAdmin, key: KeyHolder) -> bool:
    error = failure(gallery.sessions.me, WhoAmI(), key)
    assert error in (None, InvalidToken)
    return error is None


class WatchedPasswords(Argon2Passwords):
    """Argon2 that records its calls."""

    def __init__(self, memory_kib: int = 8, passes: int = 1) -> None:
        super().__init__(memory_kib, passes)
        self.asked: list[str] = []
        self.classes: list[frozenset[str]] = []

    def hash(self, password: str) -> PasswordHash:
        self.asked.append("hash")
        return super().hash(password)

    def verify(self, hash_: PasswordHash | None, password: str) -> bool:
        self.asked.append("verify")
        return super().verify(hash_, password)

    def verify_others(self, hash_: PasswordHash | None, classes: Iterable[str], password: str) -> None:
        self.classes.append(frozenset(classes))
        super().verify_others(hash_, classes, password)
