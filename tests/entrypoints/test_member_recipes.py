"""The examples of docs/sign-in-links, run against the service (contract R5)."""

import asyncio
import runpy
from pathlib import Path
from types import SimpleNamespace
from typing import Final
from urllib.parse import parse_qs, urlencode, urlsplit

import pytest

import logoadmin
from logoadmin.domain.identity.one_time_sign_in import SignInWithLink
from logoadmin.domain.identity.service_keys import CreateKey
from tests.services import in_thread

pytestmark = [pytest.mark.rule("contract R5"), pytest.mark.server("a web server in a thread")]

EXAMPLES: Final = Path(__file__).parents[2] / "docs/sign-in-links"
SECRET: Final = "of the forum"
PASSWORD: Final = "a long one of the administrator"


def test_a_starlette_site_signs_its_members_in(monkeypatch: pytest.MonkeyPatch) -> None:
    with logoadmin.connect(access="guarded", admin_password=PASSWORD) as gallery:
        tokens = gallery.sessions.sign_in(logoadmin.SignIn(username="admin", password=PASSWORD))
        caller = gallery.sessions.caller(tokens.access_token)
        with in_thread(logoadmin.asgi(gallery)) as address:
            key = gallery.keys.create(CreateKey(name="site", scope=("users:write",)), caller).key
            monkeypatch.setenv("GALLERY_URL", address)
            monkeypatch.setenv("GALLERY_KEY", key)
            names = runpy.run_path(str(EXAMPLES / "starlette_site.py"))
            mia = SimpleNamespace(id=1042, display_name="Mia", avatar=None)
            response = asyncio.run(names["submit"](SimpleNamespace(user=mia)))
        assert (response.status_code, response.headers["cache-control"]) == (303, "no-store")
        assert urlsplit(response.headers["location"]).path == "/console/submit"
        link = SignInWithLink(link=response.headers["location"].replace("%23", "#").rpartition("#link=")[2])
        member = gallery.sessions.caller(gallery.links.sign_in(link).access_token)
        assert gallery.sessions.me(logoadmin.WhoAmI(), member).username == "Mia"


def test_a_response_of_discourse_is_bound_to_one_browser(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("FORUM_URL", "https://forum.example")
    monkeypatch.setenv("DISCOURSE_CONNECT_SECRET", SECRET)
    names = runpy.run_path(str(EXAMPLES / "discourse.py"))
    session: dict[str, str] = {}
    url = urlsplit(names["to_forum"](session, "https://site.example/back"))
    asked = {name: values[0] for name, values in parse_qs(url.query).items()}
    assert (url.hostname, url.path) == ("forum.example", "/session/sso_provider")
    assert asked["sig"] == names["signature"](asked["sso"].encode())
    payload = {name: values[0] for name, values in parse_qs(names["b64decode"](asked["sso"]).decode()).items()}
    answer = urlencode({"nonce": payload["nonce"], "external_id": "1042", "username": "Mia"}).encode()
    sso = names["b64encode"](answer).decode()
    sig = names["signature"](sso.encode())
    for other, given in (({}, sig), ({"nonce": "another"}, sig), (dict(session), "0" * 64), (dict(session), "é")):
        with pytest.raises(PermissionError):
            names["member_of"](other, sso, given)
    assert vars(names["member_of"](session, sso, sig)) == {"id": 1042, "display_name": "Mia", "avatar": None}
    with pytest.raises(PermissionError):  # a second time
        names["member_of"](session, sso, sig)
