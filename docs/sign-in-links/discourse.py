"""Finds the member of a Discourse forum who uses a browser, with the forum as DiscourseConnect provider.

Redirect the browser to `to_forum`; when it returns, pass `sso` and `sig` of the query to `member_of`.
"""

import hashlib
import hmac
import os
import secrets
from base64 import b64decode, b64encode
from types import SimpleNamespace
from urllib.parse import parse_qs, urlencode

FORUM = os.environ["FORUM_URL"]  # https://forum.example
SECRET = os.environ["DISCOURSE_CONNECT_SECRET"].encode()


def signature(payload: bytes) -> str:
    """Return the signature, which proves that a payload is from this site or the forum."""
    return hmac.new(SECRET, payload, hashlib.sha256).hexdigest()


def to_forum(session: dict[str, str], back: str) -> str:
    """Return the address of the forum that leads back to a page; the session belongs to the browser."""
    session["nonce"] = secrets.token_urlsafe(32)
    payload = b64encode(urlencode({"nonce": session["nonce"], "return_sso_url": back}).encode())
    return f"{FORUM}/session/sso_provider?{urlencode({'sso': payload.decode(), 'sig': signature(payload)})}"


def member_of(session: dict[str, str], sso: str, sig: str) -> SimpleNamespace:
    """Return the member, for `link_for`; raise PermissionError if the response is forged or for another browser."""
    if not hmac.compare_digest(signature(sso.encode()).encode(), sig.encode()):
        raise PermissionError("the response is not from the forum")
    nonce = session.pop("nonce", "")
    found = {name: values[0] for name, values in parse_qs(b64decode(sso).decode()).items()}
    if not nonce or found.get("nonce") != nonce:
        raise PermissionError("the response is not for this browser")
    return SimpleNamespace(id=int(found["external_id"]), display_name=found["username"], avatar=found.get("avatar_url"))
