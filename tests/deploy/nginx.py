"""A proxy in front of services or of a published folder: nginx with the configurations of deploy/, including TLS."""

import json
import os
import re
import shutil
import socket
import subprocess
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import Any, Final

from tests.certificates import make_certificate
from tests.mariadb import free_port, search_path
from tests.options import skip_without
from tests.services import Answer, ask, comes_true
from tests.write_log import Address

PASSWORD: Final = "correct horse battery"


@dataclass(frozen=True)
class Front:
    """The ports and the certificate of a proxy, and the prefix of the services behind it."""

    https: int
    plain: int
    certificate: Path
    prefix: str = ""

    @property
    def address(self) -> Address:
        return Address(f"https://127.0.0.1:{self.https}{self.prefix}", self.certificate, within=60)

    def ask(self, method: str, path: str, body: Any = None, **headers: str) -> Answer:
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


ROOT: Final = Path(__file__).parents[2]
PREFIX: Final = "/gallery"
# The settings of logoadmin in the comment of deploy/nginx.conf.
SETTINGS: Final = {
    "LOGOADMIN_HOSTS": "gallery.example",
    "LOGOADMIN_TRUSTED_PROXIES": "127.0.0.1,::1",
    "LOGOADMIN_ROOT_PATH": PREFIX,
}
# The surrounding configuration of a distribution, in the test's directory.
_AROUND: Final = """
daemon off;
pid {0}/pid;
error_log {0}/error.log;
events {{}}
http {{
    access_log off;
    client_body_temp_path {0}/bodies;
    proxy_temp_path {0}/answers;
    fastcgi_temp_path {0}/fastcgi;
    scgi_temp_path {0}/scgi;
    uwsgi_temp_path {0}/uwsgi;
    include {0}/recipe.conf;
}}
"""


@contextmanager
def nginx(directory: Path, port: int) -> Iterator[Front]:
    """Run it in front of a service, which may start later."""
    recipe = placed(_recipe("nginx.conf"), {"server 127.0.0.1:8000": f"server 127.0.0.1:{port}"})
    with _running(directory, "gallery.example", recipe) as made:
        yield made


@contextmanager
def nginx_for_folder(directory: Path, published: Path) -> Iterator[Front]:
    """Run it for a published gallery, whose folder has the name that deploy/nginx-gallery.conf expects."""
    assert published.name == "gallery"
    recipe = placed(_recipe("nginx-gallery.conf"), {"root /srv/logoadmin;": f"root {published.parent};"})
    with _running(directory, "readers.example", recipe) as made:
        yield made


@contextmanager
def _running(directory: Path, name: str, recipe: str) -> Iterator[Front]:
    """Run it with a recipe, whose ports and whose certificate for a name are replaced."""
    program = shutil.which("nginx", path=search_path())
    if program is None:
        skip_without("NGINX", "nginx is not installed")
    made = Front(free_port(), free_port(), make_certificate(directory), PREFIX)
    places = {
        "listen 443 ssl": f"listen 127.0.0.1:{made.https} ssl",
        "listen 80;": f"listen 127.0.0.1:{made.plain};",
        f"/etc/nginx/tls/{name}": str(made.certificate.with_suffix("")),
    }
    (directory / "recipe.conf").write_text(placed(recipe, places))
    user = "user root;\n" if os.getuid() == 0 else ""  # otherwise its workers could not write to the directory
    configuration, log = directory / "nginx.conf", directory / "error.log"
    configuration.write_text(user + _AROUND.format(directory))
    command = [program, "-p", str(directory), "-e", str(log), "-c", str(configuration)]
    process = subprocess.Popen(command, stderr=subprocess.DEVNULL)
    try:
        comes_true(partial(_accepts, made.https), despite=(ConnectionError,))
        yield made
    finally:
        process.terminate()
        process.wait(30)


def _recipe(name: str) -> str:
    """Return a configuration of deploy/ without its listeners on IPv6."""
    return re.sub(r"^ *listen \[::\].*\n", "", (ROOT / "deploy" / name).read_text("utf-8"), flags=re.MULTILINE)


def _accepts(port: int) -> bool:
    socket.create_connection(("127.0.0.1", port), timeout=10).close()
    return True
