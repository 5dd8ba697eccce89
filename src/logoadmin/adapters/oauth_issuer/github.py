"""GitHub as an issuer: OAuth with PKCE, and the user of its API (contract O7).

GitHub is not an OpenID Connect issuer: it signs nothing for this service, and has no nonce. Its data about a person is
trusted because it comes over TLS from GitHub itself, for a token that this client has just received for the code. PKCE
and ``state`` bind the code to the browser.
"""

from collections.abc import Mapping
from typing import Any, Final

from logoadmin.adapters.oauth_issuer import asking
from logoadmin.domain.kernel.limits import MAX_AVATAR
from logoadmin.ports.issuer import Authorization, IssuedIdentity
from logoadmin.ports.outgoing import ConfidentialOutgoing

# Otherwise, the token endpoint responds with a form.
_AS_JSON: Final = {"Accept": "application/json"}
_API: Final = {"Accept": "application/vnd.github+json", "X-GitHub-Api-Version": "2022-11-28"}
_MAX_ID: Final = 2**63 - 1
_WAIT: Final = "wait: GitHub limits the number of requests"


class GitHubIssuer:
    """The :class:`~logoadmin.ports.issuer.Issuer` for users of GitHub."""

    name = "GitHub"

    def __init__(
        self,
        client_id: str,
        client_secret: str,
        return_url: str,
        outgoing: ConfidentialOutgoing,
        *,
        url: str = "https://github.com",
        api: str = "https://api.github.com",
    ) -> None:
        """Use an OAuth app, whose authorization callback URL is ``return_url``; ``url`` identifies the issuer."""
        self.url, self.client_id, self.return_url = url, client_id, return_url
        self._secret, self._api = client_secret, api
        self._requests = asking.IssuerRequests(self.name, outgoing)

    def authorization(self) -> Authorization:
        """Without a scope, GitHub gives access only to public data."""
        oauth = f"{self.url}/login/oauth"
        # Its documentation does not promise ``iss``, but responses have it since 2026.
        return Authorization(f"{oauth}/authorize", "", oauth, iss_in_response=False)

    def redeem(self, code: str, code_verifier: str, nonce: str, now: int) -> IssuedIdentity:
        del nonce, now  # nothing has a nonce or a time
        client = {"client_id": self.client_id, "client_secret": self._secret}
        form = {**asking.code_form(code, code_verifier, self.return_url), **client}
        try:
            received = self._requests.ask(f"{self.url}/login/oauth/access_token", form=form, headers=_AS_JSON)
            return _identity_of(self._user(asking.bearer(asking.token_response(received).get("access_token"))))
        except asking.Unusable as wrong:
            raise self._requests.refused(wrong) from None

    def _user(self, authorization: str) -> Mapping[str, Any]:
        received = self._requests.ask(f"{self._api}/user", headers={**_API, "Authorization": authorization})
        if received.status == 403:  # as 429
            raise self._requests.unavailable("responds with status 403", _WAIT)
        if received.status != 200:
            raise asking.Unusable(f"its API responds with status {received.status}")
        return asking.json_object(received, "user")


def _identity_of(user: Mapping[str, Any]) -> IssuedIdentity:
    """Return the person of a user in the API. Logins can be renamed and reused; the number stays."""
    number, login, avatar = user.get("id"), user.get("login"), user.get("avatar_url")
    if type(number) is not int or not 0 < number <= _MAX_ID:  # a bool is an int
        raise asking.Unusable("the id of the user is missing or unusable")
    if not isinstance(login, str):
        raise asking.Unusable("the login of the user is missing")
    if not isinstance(avatar, str) or not avatar.isprintable() or len(avatar) > MAX_AVATAR:
        avatar = ""
    return IssuedIdentity(str(number), None, (login,), avatar=avatar if avatar.startswith("https://") else None)
