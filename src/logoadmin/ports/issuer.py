"""The issuer whose users may sign in: an OpenID Connect issuer, or GitHub (contract O7)."""

from dataclasses import dataclass
from typing import Protocol


@dataclass(frozen=True, slots=True)
class Authorization:
    """Where and how browsers ask the issuer for a code (RFC 6749 §4.1.1).

    Attributes:
        endpoint: the URL, https, or http if the issuer itself is http.
        scope: the scopes to ask for, separated by spaces; empty for none. With ``openid``, a nonce is sent as well.
        issuer: the identifier of the issuer in its responses, ``iss`` (RFC 9207).
        iss_in_response: whether the issuer adds ``iss`` to every response (RFC 9207), so that any without it is forged.
    """

    endpoint: str
    scope: str
    issuer: str
    iss_in_response: bool


@dataclass(frozen=True, slots=True)
class IssuedIdentity:
    """A person as the issuer identifies them.

    Attributes:
        subject: the id at the issuer, 1 to 255 printable characters; compared exactly, and never reused.
        groups: the names of their groups, at most 1,000, each of 1 to 255 characters; None if the issuer has no groups.
        names: possible names, the best first; neither unique nor verified, and proof of nothing.
        authenticated_at: when the issuer authenticated them, as Unix time; None if unknown.
        avatar: the https URL of their avatar, at most 4,096 printable characters; None without one.
    """

    subject: str
    groups: tuple[str, ...] | None
    names: tuple[str, ...]
    authenticated_at: int | None = None
    avatar: str | None = None


class Issuer(Protocol):
    """An issuer. Safe to use from several threads.

    Attributes:
        url: its identifier, as in the setting ``oidc_issuer``; with a subject, it identifies a person.
        name: its host or name, for display.
        client_id: the id of this service there.
        return_url: the URL to which browsers return.
    """

    url: str
    name: str
    client_id: str
    return_url: str

    def authorization(self) -> Authorization:
        """Return where to send browsers.

        Raises:
            IssuerUnavailable: the issuer is out of reach, or its metadata cannot be used.
        """

    def redeem(self, code: str, code_verifier: str, nonce: str, now: int) -> IssuedIdentity:
        """Exchange a code that a browser received at ``return_url``, and return the person for whom it was issued.

        Args:
            code: the code.
            code_verifier: the secret whose hash the browser sent with its request (RFC 7636).
            nonce: the text that the ID token must repeat; unused for GitHub, which has none.
            now: the time, as Unix time.

        Raises:
            IssuerRefused: must be raised unless the issuer accepted the code and its whole response is valid.
            IssuerUnavailable: the issuer is out of reach, or its metadata or keys cannot be used.
        """
