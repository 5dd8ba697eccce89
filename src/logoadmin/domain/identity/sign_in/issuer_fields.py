"""The fields of a sign-in through an issuer of OpenID Connect (contract O7)."""

from typing import Annotated, Any

from pydantic import Field, Strict

from logoadmin.domain.kernel.limits import described

# RFC 6749 §A.11: printable ASCII.
_VISIBLE_ASCII = r"^[\x20-\x7E]+$"
# RFC 3986: the characters that need no escape (RFC 7636 §4.1).
_UNRESERVED = r"^[A-Za-z0-9._~\-]+$"


def _text(minimum: int, maximum: int, pattern: str) -> tuple[Any, ...]:
    return Strict(), Field(min_length=minimum, max_length=maximum, pattern=pattern, repr=False)


IssuerCode = Annotated[
    str,
    *_text(1, 4_096, _VISIBLE_ASCII),
    described("The `code` with which the issuer sent the browser back, usable once.", "SplxlOBeZQQYbYS6WxSbIA"),
]
CodeVerifier = Annotated[
    str,
    *_text(43, 128, _UNRESERVED),
    described(
        "The PKCE verifier, whose SHA-256 the browser sent to the issuer.",
        "dBjftJeZ4CVP-mB92K27uhbUJU1p1r_wW1gFWFOEjXk",
    ),
]
Nonce = Annotated[
    str,
    *_text(16, 255, _UNRESERVED),
    described("The nonce that the browser sent to the issuer, random for each sign-in.", "n-0S6_WzA2Mj0S6_WzA2Mj"),
]
RedirectUri = Annotated[
    str,
    *_text(1, 2_048, _VISIBLE_ASCII),
    described("Where the issuer sent the browser: `redirect_uri` of the ways.", "http://localhost:8000/console/"),
]
