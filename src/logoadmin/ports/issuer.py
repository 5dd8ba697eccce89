"""The issuer whose users may sign in: of OpenID Connect, or GitHub (contract O7)."""

from dataclasses import dataclass, field
from typing import Protocol


@dataclass(frozen=True, slots=True)
class Authorization:
    """Where and how browsers ask the issuer for a code (RFC 6749 §4.1.1).

    Attributes:
        endpoint: the URL, https, or http if the issuer itself is http.
        scope: the scopes to ask for, separated by spaces; empty for none. With ``openid``, a nonce is sent as well.
        issuer: the identifier of the issuer in its responses, ``iss`` (RFC 9207).
        iss_in_response: whether the issuer adds ``iss`` to every response (RFC 9207), so that one without it is forged.
    """

    endpoint: str
    scope: str
    issuer: str
    iss_in_response: bool


@dataclass(frozen=True, slots=True)
class Redemption:
    """A code that a browser received, with the secrets of its sign-in.

    Attributes:
        code: the code.
        code_verifier: the secret whose hash the browser sent with its request (RFC 7636).
        nonce: the text that the ID token must repeat; without a meaning at GitHub, which has none.
        redirect_uri: where the browser received the code.
    """

    code: str = field(repr=False)
    code_verifier: str = field(repr=False)
    nonce: str = field(repr=False)
    redirect_uri: str


@dataclass(frozen=True, slots=True)
class IssuedIdentity:
    """A person as the issuer identifies them.

    Attributes:
        subject: the id at the issuer, 1 to 255 printable characters; compared exactly, and never used again.
        groups: the names of their groups, at most 1,000, each of 1 to 255 characters; None if the issuer has no groups.
        names: what they may be called, the best first: not unique, not checked, and no proof of anything.
        authenticated_at: when the issuer authenticated them, as Unix time; None if it does not say.
        avatar: the https URL of their avatar, at most 4,096 printable characters; None for none.
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
        name: its host or name, for people.
        client_id: what this service is called there.
        return_url: where browsers come back from it.
    """

    url: str
    name: str
    client_id: str
    return_url: str

    def authorization(self) -> Authorization:
        """Return where browsers go.

        Raises:
            IssuerUnavailable: the issuer is out of reach, or its metadata cannot be used.
        """

    def redeem(self, redemption: Redemption, now: int) -> IssuedIdentity:
        """Exchange a code and return the person to whom the issuer gave it.

        Args:
            redemption: the code with its secrets.
            now: the time, as Unix time.

        Raises:
            IssuerRefused: must be raised unless the issuer accepted the code and everything that it says is right.
            IssuerUnavailable: the issuer is out of reach, or its metadata or keys cannot be used.
        """
