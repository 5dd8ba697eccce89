"""A stand-in for GitHub on loopback, which behaves as documented unless a test makes it lie.

See https://docs.github.com/apps/oauth-apps and https://docs.github.com/rest/users/users.
"""

import secrets
import ssl
from collections.abc import Mapping
from contextlib import AbstractContextManager
from dataclasses import dataclass, field
from typing import Any, Final
from urllib.parse import urlencode

from logoadmin.adapters.httpcore_outgoing import GuardedOutgoing
from logoadmin.adapters.oauth_issuer.github import GitHubIssuer
from tests.issuer import REDIRECT_URI, VERIFIER, Answer, Asked, StandIn, challenge_of, standing

CLIENT_ID: Final = "Ov23liGallery"
CLIENT_SECRET: Final = "s3cret-of-the-oauth-app"
_CONTEXT: Final = ssl.create_default_context()  # shared, since loading the system's certificates is slow
# Another app, whose codes and tokens must not be accepted.
OTHER_ID: Final = "Ov23liOther"
ANN_ID: Final = 583_231
API: Final = "/api"
AUTHORIZE: Final = "/login/oauth/authorize"
TOKEN: Final = "/login/oauth/access_token"
USER: Final = f"{API}/user"


def account(id_: object, login: object) -> dict[str, Any]:
    """Return a user as in the API, for a token without a scope, so without the private mail address."""
    avatar = f"https://avatars.githubusercontent.com/u/{id_}?v=4"
    return {"login": login, "id": id_, "avatar_url": avatar, "type": "User", "name": "Ann Other", "email": None}


@dataclass
class FakeGitHub(StandIn):
    """The state of GitHub, which tests change.

    Attributes:
        person: the signed-in user.
        apps: the callback URLs of OAuth apps, by their client ids.
        granted: the scopes that the user has granted to the app before, which a token without a scope gets again.
        revoked: whether users revoke a token before it is used.
    """

    person: dict[str, Any] = field(default_factory=lambda: account(ANN_ID, "ann"))
    apps: dict[str, str] = field(default_factory=lambda: dict.fromkeys((CLIENT_ID, OTHER_ID), REDIRECT_URI))
    granted: str = ""
    revoked: bool = False

    def issuer(self, client_secret: str = CLIENT_SECRET) -> GitHubIssuer:
        outgoing = GuardedOutgoing(["127.0.0.1"], context=_CONTEXT)
        return GitHubIssuer(CLIENT_ID, client_secret, REDIRECT_URI, outgoing, url=self.url, api=f"{self.url}{API}")

    def code(self, client_id: str = CLIENT_ID, verifier: str = VERIFIER) -> str:
        """Return the code of a sign-in, as a browser would receive it."""
        return self._authorized({"client_id": client_id, "code_challenge": challenge_of(verifier)})

    def routes(self) -> dict[str, Answer]:
        return {AUTHORIZE: self._authorize, TOKEN: self._token, USER: self._user}

    def _authorize(self, asked: Asked) -> tuple[int, Any]:
        """Redirect the browser back with a code, as if the user had just agreed."""
        query = asked.query
        if query.get("client_id") not in self.apps:
            return 404, {}
        back = self.apps[query["client_id"]]
        if query["redirect_uri"] != back:
            return 302, f"{back}?{urlencode({'error': 'redirect_uri_mismatch', 'state': query['state']})}"
        response = {"code": self._authorized(query), "state": query["state"], "iss": f"{self.url}/login/oauth"}
        return 302, f"{back}?{urlencode(response)}"

    def _token(self, asked: Asked) -> tuple[int, Any]:
        """Exchange a code. Errors also have status 200, and responses are forms unless JSON is requested."""
        response = self._exchanged(asked.form)
        return 200, response if asked.headers.get("accept") == "application/json" else urlencode(response)

    def _exchanged(self, form: Mapping[str, str]) -> dict[str, str]:
        if form.get("client_id") not in self.apps or form.get("client_secret") != CLIENT_SECRET:
            return _refusal("incorrect_client_credentials", "The client_id and/or client_secret passed are incorrect.")
        if form.get("redirect_uri", REDIRECT_URI) != self.apps[form["client_id"]]:
            return _refusal("redirect_uri_mismatch", "The redirect_uri MUST match the registered callback URL.")
        sign_in = self._codes.pop(form.get("code", ""), None)
        challenge = challenge_of(form.get("code_verifier", ""))
        if sign_in is None or sign_in["client_id"] != form["client_id"] or sign_in["code_challenge"] != challenge:
            return _refusal("bad_verification_code", "The code passed is incorrect or expired.")
        token = f"gho_{secrets.token_hex(18)}"
        if not self.revoked:
            self._tokens[token] = sign_in["person"]
        return {"access_token": token, "token_type": "bearer", "scope": self.granted}

    def _user(self, asked: Asked) -> tuple[int, Any]:
        if "user-agent" not in asked.headers:
            return 403, {"message": "Request forbidden by administrative rules."}
        person = self._person_of(asked)
        return (401, {"message": "Bad credentials", "status": "401"}) if person is None else (200, person)


def _refusal(error: str, description: str) -> dict[str, str]:
    return {"error": error, "error_description": description, "error_uri": f"/apps/#{error}"}


def fake_github() -> AbstractContextManager[FakeGitHub]:
    """Run a stand-in for GitHub."""
    return standing(FakeGitHub)
