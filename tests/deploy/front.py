"""A proxy in front of services, and requests to it."""

import json
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Final

from tests.services import Answer, ask

PASSWORD: Final = "correct horse battery"


@dataclass(frozen=True)
class Front:
    """The ports and the certificate of a proxy, and the prefix of the services behind it."""

    https: int
    plain: int
    certificate: Path
    prefix: str = ""

    def ask(self, method: str, path: str, body: Any = None, **headers: str) -> Answer:
        """Make a request with TLS to a path below the prefix."""
        return ask(self.https, self.certificate, method, self.prefix + path, body, **headers)

    def sign_in(self, **headers: str) -> str:
        """Return the value of the authorization header of the administrator."""
        answer = self.ask("POST", "/api/auth/token", {"username": "admin", "password": PASSWORD}, **headers)
        assert answer.status == 200, answer
        return f"Bearer {json.loads(answer.body)['access_token']}"

    def redirects_to_tls(self) -> None:
        """Fail if a request without TLS is not redirected to the same path with it."""
        path = f"{self.prefix}/api/logos?limit=1"
        answer = ask(self.plain, None, "GET", path, Host="gallery.example")
        assert (answer.status, answer.headers["Location"]) == (308, f"https://gallery.example{path}")
        assert self.ask("GET", "/livez").headers["Strict-Transport-Security"] == "max-age=31536000"

    def knows_its_peer(self) -> None:
        """Fail if the address of a session is another one than that of the connection, whatever the client sends."""
        bearer = self.sign_in(X_Forwarded_For="192.0.2.7")
        sessions = self.ask("GET", "/api/auth/sessions", Authorization=bearer, X_Forwarded_For="192.0.2.7").body
        assert b"127.0.0.1" in sessions
        assert b"192.0.2.7" not in sessions


def placed(text: str, places: Mapping[str, str]) -> str:
    """Return a configuration with examples replaced, all of which must occur in it."""
    for example, place in places.items():
        assert example in text
        text = text.replace(example, place)
    return text
