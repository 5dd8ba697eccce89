"""Requests to an issuer, and common parts of its responses (contract O7, RFC 6749)."""

import logging
import re
from collections.abc import Callable, Mapping
from threading import Lock
from typing import Any, Final, Generic, TypeVar

from pydantic_core import from_json

from logoadmin.domain.kernel.errors import IssuerRefused, IssuerUnavailable, OutgoingError
from logoadmin.ports.outgoing import ConfidentialOutgoing, Fetched

log = logging.getLogger("logoadmin.issuer")

Document = TypeVar("Document")

_MOST: Final = 256 * 1024  # bytes of a response
_SECONDS: Final = 5.0  # for each request
LIFETIME: Final = 3_600.0  # seconds for which a document is kept
# A failure is remembered, so that not every visitor of the sign-in page contacts an issuer that is down.
_FAILURE: Final = 10.0  # seconds
# The remedies for failed requests, by the reasons of the port.
_REACH: Final = "check that the issuer is running, and that firewalls and IPAddressDeny= let this machine reach it"
_CURES: Final = {
    "cannot be resolved": "correct the host in oidc_issuer, or the name resolution of this machine (DNS, /etc/hosts)",
    "has a certificate that cannot be verified": (
        "renew it with all intermediate certificates; if it is your own, name its authority in SSL_CERT_FILE"
    ),
    "does not speak TLS as expected": "check the port in oidc_issuer, and the TLS settings of the issuer",
}
_ERROR_CODE: Final = re.compile(r"[a-z_]{1,40}", re.ASCII)
_ACCESS_TOKEN: Final = re.compile(r"[!-~]{1,65536}", re.ASCII)


class Unusable(Exception):
    """An issuer's metadata, keys or tokens are invalid; the message has the reason, and nothing that was received."""


class IssuerRequests:
    """Requests to one issuer."""

    def __init__(self, name: str, outgoing: ConfidentialOutgoing) -> None:
        """Contact the issuer with this display name."""
        self._name, self._outgoing = name, outgoing

    def ask(
        self, url: str, *, form: Mapping[str, str] | None = None, headers: Mapping[str, str] | None = None
    ) -> Fetched:
        """Return the response to one request, whatever its status.

        Raises IssuerUnavailable without a response, or if the issuer is overloaded or has a fault.
        """
        try:
            received = self._outgoing.send(url, form=form, headers=headers or {}, most=_MOST, seconds=_SECONDS)
        except OutgoingError as error:
            raise self.unavailable(str(error), _CURES.get(error.reason, _REACH)) from None
        if received.status >= 500 or received.status == 429:
            raise self.unavailable(f"responds with status {received.status}", "check the log of the issuer")
        return received

    def unavailable(self, reason: str, *cure: str) -> IssuerUnavailable:
        """Return the error for an issuer that cannot be used, which is also logged."""
        log.warning("The issuer %s cannot be used: %s", self._name, reason)
        return IssuerUnavailable(self._name, reason, *cure)

    def refused(self, wrong: Unusable) -> IssuerRefused:
        """Return the error for a refused sign-in, whose reason is logged; clients do not learn it."""
        log.warning("Refused a sign-in at the issuer %s: %s", self._name, wrong)
        return IssuerRefused()


def code_form(code: str, code_verifier: str, redirect_uri: str) -> dict[str, str]:
    """Return the fields of a request that exchanges a code (RFC 6749 §4.1.3, RFC 7636 §4.5)."""
    parameters = {"code": code, "redirect_uri": redirect_uri, "code_verifier": code_verifier}
    return {"grant_type": "authorization_code", **parameters}


def token_response(received: Fetched) -> Mapping[str, Any]:
    """Return the content of a token endpoint's response to an accepted code.

    Raises Unusable if the endpoint refuses the code, or the response is not one for bearer tokens.
    """
    answer = json_object(received, "token response") if received.status == 200 else {}
    # GitHub refuses with status 200.
    if received.status != 200 or "error" in answer:
        raise Unusable(f"its token endpoint refuses the code{_reason(received)}")
    if str(answer.get("token_type")).lower() != "bearer":
        raise Unusable("its token response is not one for bearer tokens")
    return answer


def bearer(access_token: object) -> str:
    """Return the header ``Authorization`` with an access token; raise Unusable if it cannot be sent in a header."""
    if not isinstance(access_token, str) or not _ACCESS_TOKEN.fullmatch(access_token):
        raise Unusable("its token response has no usable access token")
    return f"Bearer {access_token}"


def json_object(received: Fetched, name: str) -> dict[str, Any]:
    """Return the JSON object in a response, which messages call ``name``; raise Unusable if there is none."""
    try:
        found = from_json(received.body, allow_inf_nan=False)
    except ValueError:
        found = None
    if not isinstance(found, dict):
        raise Unusable(f"its {name} cannot be read as a JSON object")
    return found


def _reason(received: Fetched) -> str:
    """Return the error code of a refusal, which distinguishes a wrong secret from a wrong code (RFC 6749 §5.2)."""
    try:
        code = json_object(received, "refusal").get("error")
    except Unusable:
        code = None
    is_code = isinstance(code, str) and _ERROR_CODE.fullmatch(code)
    return f": {code}" if is_code else f", with status {received.status}"


class Cached(Generic[Document]):
    """A cached document, which one thread at a time reads while the others wait for it."""

    def __init__(self, read: Callable[[], Document], monotonic: Callable[[], float]) -> None:
        self._read, self._monotonic = read, monotonic
        self._lock = Lock()
        self._known: tuple[float, Document] | None = None
        self._failed: tuple[float, IssuerUnavailable] | None = None

    def get(self, oldest: float = LIFETIME) -> Document:
        """Return the document, read at most ``oldest`` seconds ago; raise IssuerUnavailable if it cannot be read."""
        with self._lock:
            now = self._monotonic()
            if self._known is not None and now - self._known[0] < oldest:
                return self._known[1]
            if self._failed is not None and now - self._failed[0] < min(oldest, _FAILURE):
                raise IssuerUnavailable(self._failed[1].host, self._failed[1].reason, self._failed[1].cure)
            try:
                document = self._read()
            except IssuerUnavailable as error:
                self._failed = self._monotonic(), error.with_traceback(None)
                raise
            self._known = self._monotonic(), document
            return document
