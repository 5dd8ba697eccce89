"""The settings of single sign-on (contract O7, H1)."""

import re
import sys
from pathlib import Path
from typing import Any

import pytest

from logoadmin.adapters.oauth_issuer.github import GitHubIssuer
from logoadmin.bootstrap import issuer_of, open_gallery
from logoadmin.domain.kernel.errors import OutgoingError, SettingsError, StartError
from logoadmin.ports.issuer import Authorization
from logoadmin.settings import Settings, load_settings, settings_of
from logoadmin.settings.rules import sign_in_rules
from logoadmin.settings.sign_in import roles_of
from tests.issuer import fake_issuer

pytestmark = [pytest.mark.usefixtures("empty_directory"), pytest.mark.rule("contract O7")]

CLIENT: dict[str, Any] = {"oidc_issuer": "https://login.example", "oidc_client_id": "a", "oidc_client_secret": "s3cret"}
ROLES: dict[str, Any] = {"oidc_roles": "editors=member"}


def refused(**given: Any) -> str:
    with pytest.raises(SettingsError) as caught:
        settings_of(**given)
    assert "s3cret" not in str(caught.value)
    return str(caught.value)


def roles(settings: Settings) -> tuple[tuple[str, str], ...]:
    return roles_of(settings)


@pytest.mark.parametrize(
    "url",
    [
        *("https://login.example", "https://login.example/", "https://login.example:8443/realms/a", "https://[::1]/x"),
        *("http://localhost:8080/realms/a", "http://127.0.0.1:9", "http://[::1]:9", "http://idp.internal/x"),
    ],
)
def test_the_url_of_an_issuer(url: str) -> None:
    settings = settings_of(**CLIENT | ROLES | {"oidc_issuer": url}, outgoing_hosts=["idp.internal"])
    assert settings.oidc_issuer == url  # unchanged, because it is compared


@pytest.mark.parametrize(
    "url",
    [
        *("", "login.example", "ftp://login.example", "https://", "https:///x", "https://u:p@login.example"),
        *("https://login.example/?a", "https://login.example/#a", "https://login.example/a b", "https://a..b"),
        *("https://login.example/\n", "https://login.example:99999", "javascript:alert(1)", "https://0x7f.1"),
        "https://login.example/" + "x" * 2048,
    ],
)
def test_what_is_no_url_of_an_issuer(url: str) -> None:
    assert "should be the URL of the issuer" in refused(**CLIENT | ROLES | {"oidc_issuer": url})


@pytest.mark.parametrize("host", ["login.example", "10.0.0.1", "localhost.example"])
def test_only_listed_hosts_do_without_tls(host: str) -> None:
    given = CLIENT | ROLES | {"oidc_issuer": f"http://{host}/x"}
    assert "oidc_issuer should begin with https://" in refused(**given)
    assert settings_of(**given, outgoing_hosts=[host]).oidc_issuer


def test_all_settings_of_the_client_belong_together() -> None:
    for missing in CLIENT:
        given = {name: value for name, value in CLIENT.items() if name != missing}
        assert f"{missing} must be set as well" in refused(**given, **ROLES)
    expected = "oidc_issuer, oidc_client_id, oidc_client_secret must be set as well"
    assert expected in refused(**ROLES)
    assert expected in refused(oidc_default_role="1")
    assert "oidc_roles or oidc_default_role must be set" in refused(**CLIENT)
    assert settings_of(**CLIENT, oidc_default_role="1").oidc_default_role == "1"


def test_github_has_no_groups() -> None:
    for url in ("https://github.com", "https://GitHub.com/"):
        given = CLIENT | {"oidc_issuer": url}
        settings = settings_of(**given, oidc_default_role="member", database="memory:")
        assert settings.oidc_issuer == "https://github.com"
        assert isinstance(issuer_of(settings), GitHubIssuer)
        for roles_given in ({}, ROLES, ROLES | {"oidc_default_role": "member"}):
            expected = "oidc_default_role must be set, and oidc_roles must not: GitHub has no groups"
            assert expected in refused(**given, **roles_given)


def test_the_recipe_for_github_is_complete(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    page = (Path(__file__).parents[2] / "docs/people.md").read_text(encoding="utf-8")
    found = re.search(r"### GitHub\n.*?`(https:[^`]*/console/)`.*?```toml\n(.*?)```", page, re.DOTALL)
    assert found is not None
    callback, recipe = found.groups()
    (tmp_path / "logoadmin.toml").write_text(recipe)
    monkeypatch.setenv("LOGOADMIN_OIDC_CLIENT_SECRET", "s3cret")
    issuer = issuer_of(load_settings())
    assert isinstance(issuer, GitHubIssuer)
    assert issuer.return_url == callback
    assert issuer.authorization() == Authorization(
        *("https://github.com/login/oauth/authorize", "", "https://github.com/login/oauth"), iss_in_response=False
    )


@pytest.mark.parametrize("name", ["oidc_client_id", "oidc_client_secret"])
@pytest.mark.parametrize("value", ["", "a\nb", "a\0"])
def test_the_client_is_printable(name: str, value: str) -> None:
    assert name in refused(**CLIENT | ROLES | {name: value})


@pytest.mark.parametrize(
    ("given", "expected"),
    [
        ("a=x", (("a", "x"),)),
        (" b = y , a=x,", (("b", "y"), ("a", "x"))),
        ("cn=editors=Editor", (("cn=editors", "Editor"),)),
        ({"b, c": "y", "a=1": 2}, (("b, c", "y"), ("a=1", "2"))),
        (["/community/editors=3"], (("/community/editors", "3"),)),
        ("", ()),
    ],
)
def test_roles_of_groups_keep_their_order(given: object, expected: tuple[tuple[str, str], ...]) -> None:
    assert roles(settings_of(**CLIENT, oidc_roles=given, oidc_default_role="1")) == expected


@pytest.mark.parametrize(
    "given",
    [
        *("a", "=x", "a=", "a=x,b", {"a": ""}, {"": "x"}, {"a": None}, {"a": ["x"]}, {"a": 1.5}, 5, ["a"], [5]),
        *({"a": True}, "a\nb=x", f"{'a' * 256}=x", ["a=x"] * 1_001),
    ],
)
def test_what_assigns_no_role(given: object) -> None:
    assert "should be groups with their roles" in refused(**CLIENT, oidc_roles=given)


def test_roles_come_from_a_table_and_from_the_environment(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "logoadmin.toml").write_text(
        'oidc_issuer = "https://login.example"\noidc_client_id = "a"\noidc_client_secret = "s"\noidc_default_role = 1\n'
        '[oidc_roles]\n"community/staff, all" = "admin"\neditors = 3\n'
    )
    settings = load_settings()
    assert roles(settings) == (("community/staff, all", "admin"), ("editors", "3"))
    assert sign_in_rules(settings).single_sign_on.named == ("admin", "3", "1")
    monkeypatch.setenv("LOGOADMIN_OIDC_ROLES", "x=y")
    assert roles(load_settings()) == (("x", "y"),)


def test_a_private_issuer_is_reached_and_style_sheets_do_not_follow() -> None:
    """The issuer's host counts as listed, for the issuer alone (contract L8)."""
    with fake_issuer() as fake:
        settings = settings_of(**CLIENT | ROLES | {"oidc_issuer": fake.url}, database="memory:")
        issuer = issuer_of(settings)
        assert issuer is not None
        assert issuer.authorization().endpoint == f"{fake.url}/authorize"
        with open_gallery(settings) as gallery:
            outgoing = gallery._ports.outgoing
            assert outgoing is not None
            with pytest.raises(OutgoingError, match="not public"):
                outgoing.fetch(f"{fake.url}/keys", most=1_000, seconds=5)


def test_without_httpx2_there_is_no_issuer(monkeypatch: pytest.MonkeyPatch) -> None:
    settings = settings_of(**CLIENT, **ROLES, database="memory:")
    monkeypatch.setitem(sys.modules, "httpx2", None)
    with pytest.raises(StartError, match=r"needs httpx2; "):
        open_gallery(settings)
