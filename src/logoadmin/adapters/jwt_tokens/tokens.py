"""Access tokens as JWTs after RFC 9068, checked as RFC 8725 advises (contract C2)."""

import re
import uuid
from collections.abc import Mapping, Sequence
from functools import cached_property, lru_cache
from typing import Any, Final

from logoadmin.adapters.jwt_tokens.keys import Key
from logoadmin.domain.kernel.access import CLOCK_SKEW, SignedIn
from logoadmin.domain.kernel.errors import InvalidToken
from logoadmin.domain.kernel.limits import MAX_ID, MAX_NAME, MAX_SCOPES
from logoadmin.ports.tokens import Grant

_TYPE: Final = "at+jwt"
_CACHED: Final = 1024  # tokens
# What nobody is granted more than; and by how many characters tokens of other keys may be longer than ours of that.
_LONGEST_GRANT: Final = Grant(MAX_ID, "x" * 64, 2**53, 2**53, ("x" * MAX_NAME,) * MAX_SCOPES)
_SPARE: Final = 4096
_DIGITS: Final = re.compile("[0-9]{1,10}")
_CLAIMS: Final = ("iss", "aud", "sub", "sid", "iat", "exp", "jti")


class JwtTokens:
    """The :class:`~logoadmin.ports.tokens.TokenSigner` and ``TokenVerifier`` of the service."""

    def __init__(self, keys: Sequence[Key], issuer: str, audience: str, lifetime: int = 86_400) -> None:
        """Sign with the first key and verify with all of them.

        Args:
            keys: the keys.
            issuer, audience: ``iss`` and ``aud`` of the tokens.
            lifetime: the longest time from ``iat`` to ``exp`` that is accepted, in seconds.

        Raises:
            ValueError: the first key cannot sign.
        """
        self._signer = keys[0]
        if self._signer.signing is None:
            raise ValueError("the first key has no private part")
        self._signing = self._signer.signing
        self._keys: dict[str, Key] = {}
        for key in keys:
            self._keys.setdefault(key.kid, key)
        # Earlier versions knew one shared key, and their tokens have no kid.
        self._shared = tuple(key for key in self._keys.values() if key.algorithm == "HS256")
        self._public = tuple(
            {**key.public, "kid": key.kid, "use": "sig", "alg": key.algorithm}
            for key in self._keys.values()
            if key.public is not None
        )
        self._issuer = issuer
        self._audience = audience
        self._lifetime = lifetime
        self._distrusted: set[str] = set()
        # Checking a signature takes as long as a write, and clients send the same token many times.
        self._verified = lru_cache(_CACHED)(self._genuine)

    @cached_property
    def _longest(self) -> int:
        """The length of tokens above which none was issued here, so that they are not worth a look."""
        return len(self.sign(_LONGEST_GRANT)) + _SPARE

    def sign(self, grant: Grant) -> str:
        """Return a JWT with the claims of the grant."""
        import jwt  # here, because many programs need no token, and it takes a while

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
        headers = {"typ": _TYPE, "kid": self._signer.kid}
        return jwt.encode(claims, self._signing, algorithm=self._signer.algorithm, headers=headers)

    def verify(self, token: str, now: int) -> SignedIn:
        """Return whom the token was made for.

        Raises:
            InvalidToken: it is not one of ours, or not good at ``now``.
        """
        begins, ends, caller, key = self._verified(token)
        if not begins - CLOCK_SKEW <= now < ends:
            raise InvalidToken
        if key.trusted_since is not None and not self._is_trusted(key, key.trusted_since, now):
            raise InvalidToken
        return caller

    def public_keys(self) -> Sequence[Mapping[str, str]]:
        """Return the public keys as JWKs."""
        return self._public

    def _is_trusted(self, key: Key, since: int, now: int) -> bool:
        """Return whether an earlier key is still trusted; once it is not, a clock that is set back changes nothing."""
        if not -CLOCK_SKEW <= now - since < self._lifetime:
            self._distrusted.add(key.kid)
        return key.kid not in self._distrusted

    def _genuine(self, token: str) -> tuple[int, int, SignedIn, Key]:
        """Return from when and until when a token of ours is good, whom it was made for, and its key."""
        import jwt

        if len(token) > self._longest:
            raise InvalidToken
        try:
            decoded, key = self._decoded(token)
        except (jwt.InvalidTokenError, ValueError):  # ValueError: text that is not even base64 or UTF-8
            raise InvalidToken from None
        claims: dict[str, Any] = decoded["payload"]
        issued_at, expires_at, user_id, session_id = (claims[name] for name in ("iat", "exp", "sub", "sid"))
        not_before = claims.get("nbf", issued_at)
        # A bool is an int, and PyJWT takes text for a time.
        are_times = all(type(time) is int for time in (issued_at, expires_at, not_before))
        is_user = _DIGITS.fullmatch(user_id) is not None and int(user_id) <= MAX_ID and isinstance(session_id, str)
        if decoded["header"].get("typ") != _TYPE or not are_times or not is_user:
            raise InvalidToken
        if expires_at - issued_at > self._lifetime:
            raise InvalidToken
        return max(issued_at, not_before), expires_at, SignedIn(int(user_id), session_id), key

    def _decoded(self, token: str) -> tuple[dict[str, Any], Key]:
        import jwt

        # Only the header, which is not trusted: it merely selects one of our keys.
        header = jwt.get_unverified_header(f"{token.partition('.')[0]}..")
        for key in self._candidates(header):
            try:
                decoded = jwt.decode_complete(
                    token,
                    key.verifying,
                    # The algorithm of the key, whatever the header says: a public key is never a shared one.
                    algorithms=[key.algorithm],
                    issuer=self._issuer,
                    audience=self._audience,
                    # The times are compared above, with the clock of the service.
                    options={"require": list(_CLAIMS), "verify_exp": False, "verify_iat": False, "verify_nbf": False},
                )
            except jwt.InvalidSignatureError:
                continue
            return decoded, key
        raise InvalidToken

    def _candidates(self, header: Mapping[str, Any]) -> Sequence[Key]:
        if "kid" not in header:
            return self._shared
        named = self._keys.get(header["kid"])
        return () if named is None else (named,)
