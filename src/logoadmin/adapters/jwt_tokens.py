"""Access tokens as JWTs after RFC 9068, checked as RFC 8725 advises (contract C2)."""

import re
import uuid
from typing import Any, Final

import jwt

from logoadmin.domain.access import SignedIn
from logoadmin.domain.errors import InvalidToken, SettingsError
from logoadmin.domain.limits import MAX_ID
from logoadmin.ports.tokens import Grant

_ALGORITHM: Final = "HS256"
_TYPE: Final = "at+jwt"
_SHORTEST_KEY: Final = 32  # bytes, RFC 7518 §3.2
_LONGEST_TOKEN: Final = 4096  # characters; ours have some hundred
# How far the clocks of two machines may be apart before the one calls the other's tokens not yet good, in seconds.
_CLOCK_SKEW: Final = 10
_DIGITS: Final = re.compile("[0-9]{1,10}")
_CLAIMS: Final = ("iss", "aud", "sub", "sid", "iat", "exp", "jti")


class JwtTokens:
    """The :class:`~logoadmin.ports.tokens.TokenSigner` and ``TokenVerifier`` of the service, with HS256."""

    def __init__(self, key: str, issuer: str, audience: str) -> None:
        """Sign and verify with a key.

        Raises:
            SettingsError: the key has less than 32 bytes.
        """
        if len(key.encode()) < _SHORTEST_KEY:
            raise SettingsError(
                f"The token key is too short: LOGOADMIN_TOKEN_KEY needs at least {_SHORTEST_KEY} bytes, "
                "for example from: openssl rand -base64 32"
            )
        self._key = key
        self._issuer = issuer
        self._audience = audience

    def sign(self, grant: Grant) -> str:
        """Return a JWT that says what was granted."""
        claims = {
            "iss": self._issuer,
            "aud": self._audience,
            "sub": str(grant.user_id),
            "sid": grant.session_id,
            "iat": grant.issued_at,
            "exp": grant.expires_at,
            "jti": uuid.uuid4().hex,
            "scope": " ".join(grant.scope),
        }
        return jwt.encode(claims, self._key, algorithm=_ALGORITHM, headers={"typ": _TYPE})

    def verify(self, token: str, now: int) -> SignedIn:
        """Return whom the token was made for.

        Raises:
            InvalidToken: it is not one of ours, or not good at ``now``.
        """
        claims = self._claims(token)
        issued_at, expires_at, user_id = claims["iat"], claims["exp"], claims["sub"]
        not_before = claims.get("nbf", issued_at)
        for time in (issued_at, expires_at, not_before):
            if type(time) is not int:  # a bool is an int, and PyJWT takes text
                raise InvalidToken
        if not max(issued_at, not_before) - _CLOCK_SKEW <= now < expires_at:
            raise InvalidToken
        if not (_DIGITS.fullmatch(user_id) and int(user_id) <= MAX_ID and isinstance(claims["sid"], str)):
            raise InvalidToken
        return SignedIn(int(user_id), claims["sid"])

    def _claims(self, token: str) -> dict[str, Any]:
        if len(token) > _LONGEST_TOKEN:
            raise InvalidToken
        try:
            decoded = jwt.decode_complete(
                token,
                self._key,
                algorithms=[_ALGORITHM],
                issuer=self._issuer,
                audience=self._audience,
                # The times are compared above, with the clock of the service.
                options={"require": list(_CLAIMS), "verify_exp": False, "verify_iat": False, "verify_nbf": False},
            )
        except (jwt.InvalidTokenError, ValueError):  # ValueError: text that is not even base64 or UTF-8
            raise InvalidToken from None
        if decoded["header"].get("typ") != _TYPE:
            raise InvalidToken
        claims: dict[str, Any] = decoded["payload"]
        return claims
