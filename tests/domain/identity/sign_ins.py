"""Signing in to a stocked gallery, and what the tokens are good for."""

from typing import Final

from logoadmin.domain.identity.sessions.session_records import Tokens
from logoadmin.domain.identity.sessions.sessions import Refresh
from logoadmin.domain.identity.sign_in.password import SignIn
from logoadmin.domain.identity.users import GetUser
from logoadmin.domain.kernel.access import SignedIn
from logoadmin.domain.kernel.errors import InvalidToken
from logoadmin.domain.logo_admin import LogoAdmin
from tests.gallery import ADMIN_PASSWORD, ANN_PASSWORD, once

ANN: Final = SignIn(username="ann", password=ANN_PASSWORD)
ADMIN: Final = SignIn(username="admin", password=ADMIN_PASSWORD)


def caller(gallery: LogoAdmin, tokens: Tokens) -> SignedIn:
    found = gallery.sessions.caller(tokens.access_token)
    assert isinstance(found, SignedIn)
    return found


def refreshing(tokens: Tokens, key: str | None = None) -> Refresh:
    """Return the command that refreshes tokens, perhaps under an idempotency key."""
    command = Refresh(grant_type="refresh_token", refresh_token=tokens.refresh_token)
    return command if key is None else once(command, key)


def refresh(gallery: LogoAdmin, tokens: Tokens) -> Tokens:
    return gallery.sessions.refresh(refreshing(tokens))


def works(gallery: LogoAdmin, tokens: Tokens) -> bool:
    """Return whether an access token still proves something."""
    try:
        who = caller(gallery, tokens)
        gallery.users.get(GetUser(user_id=who.user_id), who)
    except InvalidToken:
        return False
    return True
