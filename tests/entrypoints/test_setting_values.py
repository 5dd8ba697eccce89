"""The values that settings accept and refuse (contract H1, H5, A22, F2, L8, O7, O8, Q2)."""

import re
import sys
from pathlib import Path
from typing import Any, Final

import pytest

from logoadmin.adapters.oauth_issuer.github import GitHubIssuer
from logoadmin.bootstrap import issuer_of, open_gallery
from logoadmin.domain.kernel.errors import OutgoingError, SettingsError, StartError
from logoadmin.ports.issuer import Authorization
from logoadmin.settings import load_settings, settings_of
from logoadmin.settings.rules import sign_in_rules
from tests.issuer import fake_issuer

pytestmark = pytest.mark.usefixtures("empty_directory")

CLIENT: dict[str, Any] = {"oidc_issuer": "https://login.example", "oidc_client_id": "a", "oidc_client_secret": "s3cret"}
ROLES: dict[str, Any] = {"oidc_roles": "editors=member"}
WHOLE: dict[str, Any] = CLIENT | ROLES | {"outgoing_hosts": ["idp.internal"]}
SUBMIT: Final = "https://site.example/submit?a"
# Accepted values, with their converted form if it differs.
# fmt: off
TAKEN: Final[tuple[tuple[str, tuple[Any, ...], dict[Any, Any]], ...]] = (
    ("gallery_home", ("https://a.example", "http://a.example:8/b?c#d", "HTTPS://ä.example/ä", ""), {}),
    ("gallery_submit", (False, SUBMIT), {"true": True, "false": False}),
    ("gallery_report", ("", "https://a.example/report?page={url}", "MAILTO:us@a.example?body={url}"), {}),
    # Unchanged, because it is compared.
    ("oidc_issuer", (
        *("https://login.example", "https://login.example/", "https://login.example:8443/realms/a", "https://[::1]/x"),
        *("http://localhost:8080/realms/a", "http://127.0.0.1:9", "http://[::1]:9", "http://idp.internal/x"),
    ), {}),
)
# fmt: on
ISSUER: Final = "should be the URL of the issuer"
GROUPS: Final = "should be groups with their roles"
NETWORKS: Final = "should be IP addresses and networks, separated by commas, such as 127.0.0.1,10.0.0.0/8,fd00::/8"
NAMES: Final = "should be names or addresses without ports, separated by commas, such as styles.internal,10.0.0.5"
PREFIX: Final = (
    "should begin with / and not end with it, such as /gallery; "
    "between them are letters, digits and the characters - . _ ~"
)
NO_PROXIES: Final[tuple[Any, ...]] = ("*", "localhost", "10.0.0.1/8", "127.0.0.1 ::1", "127.0.0.1:80", "1", [1], 1)
NO_NAMES: Final[tuple[Any, ...]] = ("a/b", "gallery.example:80!", "a b", "u@a", ["a,b"], [1], 1, {}, [None])
# Settings that are refused: the words, which pydantic finds itself for what is no text, and the values.
REFUSED: Final[tuple[tuple[str, str, tuple[Any, ...]], ...]] = (
    *((name, "should be a name or an address alone", ("", "[::1]", "http://gallery.example", "gallery.example/"))
        for name in ("host", "metrics_host")),
    ("admin_password", "must not be empty; without it, a password is generated", ("",)),
    ("admin_password", "must not be longer than 256 characters", ("x" * 257,)),
    ("gallery_title", "", ("", " ", "a\nb", "\ud800", "x" * 101)),
    ("gallery_home", "should be an http or https URL", (
        *("javascript:alert(1)", "//a.example", "a.example", "https://", "https://u:p@a.example", "https://a b"),
        "https://a\n",
    )),
    ("gallery_submit", "", ("javascript:alert(1)", "", "maybe", "https://u:p@a.example", "mailto:a@b.example")),
    ("gallery_report", "should be an http or https URL", (
        *("javascript:{url}", "mailto:", "mailto:a b@c.example", "data:text/html,x", "{url}"),
    )),
    ("oidc_issuer", ISSUER, (
        *("", "login.example", "ftp://login.example", "https://", "https:///x", "https://u:p@login.example"),
        *("https://login.example/?a", "https://login.example/#a", "https://login.example/a b", "https://a..b"),
        *("https://login.example/\n", "https://login.example:99999", "javascript:alert(1)", "https://0x7f.1"),
        "https://login.example/" + "x" * 2048,
    )),
    ("oidc_client_id", "", ("", "a\nb", "a\0")),
    ("oidc_client_secret", "", ("", "a\nb", "a\0")),
    ("oidc_roles", GROUPS, (
        *("a", "=x", "a=", "a=x,b", {"a": ""}, {"": "x"}, {"a": None}, {"a": ["x"]}, {"a": 1.5}, 5, ["a"], [5]),
        *({"a": True}, "a\nb=x", f"{'a' * 256}=x", ["a=x"] * 1_001),
    )),
    ("trusted_proxies", NETWORKS, (*NO_PROXIES, *([wrong] for wrong in (*NO_PROXIES, {}, None)))),
    ("hosts", "should be names or addresses", NO_NAMES),
    ("origins", "should be", NO_NAMES),
    ("outgoing_hosts", NAMES, (
        *(*NO_NAMES, "a:80", "*", "*.a", "http://a", "10.0.0.0/8", "127.1", "0x7f.1", "017700000001", "fe80::1%lo"),
        *("a..b", "é", f"{'a' * 64}.b", "a." * 127 + "b"),
    )),
    ("notify_urls", "should be URLs that begin with https://", (
        *("hook", "ftp://a/b", "https://", "https://u:p@a/b", "https://a/b#c", "https://a/b c"),
        f"https://a/{'b' * 2048}",
    )),
    ("root_path", PREFIX, (
        *("/", "gallery", "/a/", "//a", "/a//b", "/a?b", "/a#b", "/a b", "/a%20b", "/é", "/a\n", "/.", "/a/../b"),
        "http://a/b",
    )),
    ("public_url", "should be", (
        *("gallery.example", "https://a?b", "https://a#b", "https://u:p@a", "ftp://a", "http://a", "http://192.0.2.1"),
        *("https://a/..", "https://a/b//", "https://", "https://a:0", "null", "*", ""),
    )),
)  # fmt: skip


def refused(**given: Any) -> str:
    with pytest.raises(SettingsError) as caught:
        settings_of(**given)
    assert "s3cret" not in str(caught.value)
    return str(caught.value)


@pytest.mark.rule("contract O7", "contract Q2")
@pytest.mark.parametrize(("name", "values", "others"), TAKEN)
def test_valid_values_are_accepted(
    name: str, values: tuple[Any, ...], others: dict[Any, Any], monkeypatch: pytest.MonkeyPatch
) -> None:
    for given, kept in [*zip(values, values, strict=True), *others.items()]:
        assert getattr(settings_of(**WHOLE | {name: given}), name) == kept
    with monkeypatch.context() as only:
        only.setenv("LOGOADMIN_GALLERY_SUBMIT", SUBMIT)
        assert load_settings().gallery_submit == SUBMIT


@pytest.mark.rule("contract O7", "contract Q2", "contract H1", "contract H5", "contract A22", "contract F2")
@pytest.mark.rule("contract L8", "contract O8", "contract H3")
@pytest.mark.parametrize(("name", "words", "values"), REFUSED)
def test_invalid_values_are_refused_with_an_explanation(name: str, words: str, values: tuple[Any, ...]) -> None:
    for value in values:
        text = refused(**WHOLE | {name: value})
        assert text.startswith(f"Settings are wrong: {name}: "), value
        assert words in text or "Input should be" in text, text


@pytest.mark.rule("contract O7")
@pytest.mark.parametrize("host", ["login.example", "10.0.0.1", "localhost.example"])
def test_only_listed_hosts_are_allowed_without_tls(host: str) -> None:
    given = CLIENT | ROLES | {"oidc_issuer": f"http://{host}/x"}
    assert "oidc_issuer should begin with https://" in refused(**given)
    assert settings_of(**given, outgoing_hosts=[host]).oidc_issuer


@pytest.mark.rule("contract O7")
def test_the_settings_of_the_client_are_required_together() -> None:
    for missing in CLIENT:
        given = {name: value for name, value in CLIENT.items() if name != missing}
        assert f"{missing} must be set as well" in refused(**given, **ROLES)
    expected = "oidc_issuer, oidc_client_id, oidc_client_secret must be set as well"
    assert expected in refused(**ROLES)
    assert expected in refused(oidc_default_role="1")
    assert "oidc_roles or oidc_default_role must be set" in refused(**CLIENT)
    assert settings_of(**CLIENT, oidc_default_role="1").oidc_default_role == "1"


@pytest.mark.rule("contract O7")
def test_github_has_no_groups() -> None:
    for url in ("https://github.com", "https://GitHub.com/"):
        given = CLIENT | {"oidc_issuer": url}
        settings = settings_of(**given, oidc_default_role="member", database="memory:")
        assert settings.oidc_issuer == "https://github.com"
        for roles_given in ({}, ROLES, ROLES | {"oidc_default_role": "member"}):
            expected = "oidc_default_role must be set, and oidc_roles must not: GitHub has no groups"
            assert expected in refused(**given, **roles_given)


@pytest.mark.rule("contract O7")
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


@pytest.mark.rule("contract O7")
@pytest.mark.parametrize(
    ("given", "expected"),
    [
        (" b = y , a=x,", (("b", "y"), ("a", "x"))),
        ("cn=editors=Editor", (("cn=editors", "Editor"),)),
        ({"b, c": "y", "a=1": 2}, (("b, c", "y"), ("a=1", "2"))),
        (["/community/editors=3"], (("/community/editors", "3"),)),
        ("", ()),
    ],
)
def test_roles_of_groups_keep_their_order(given: object, expected: tuple[tuple[str, str], ...]) -> None:
    assert (
        sign_in_rules(settings_of(**CLIENT, oidc_roles=given, oidc_default_role="1")).single_sign_on.roles == expected
    )


@pytest.mark.rule("contract O7")
def test_roles_come_from_a_table_and_from_the_environment(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "logoadmin.toml").write_text(
        'oidc_issuer = "https://login.example"\noidc_client_id = "a"\noidc_client_secret = "s"\noidc_default_role = 1\n'
        '[oidc_roles]\n"community/staff, all" = "admin"\neditors = 3\n'
    )
    settings = load_settings()
    assert sign_in_rules(settings).single_sign_on.roles == (("community/staff, all", "admin"), ("editors", "3"))
    assert sign_in_rules(settings).single_sign_on.named == ("admin", "3", "1")
    monkeypatch.setenv("LOGOADMIN_OIDC_ROLES", "x=y")
    assert sign_in_rules(load_settings()).single_sign_on.roles == (("x", "y"),)


@pytest.mark.rule("contract O7")
def test_a_private_issuer_is_allowed_but_style_sheets_on_it_are_not() -> None:
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


@pytest.mark.rule("contract O7")
def test_without_httpx2_an_issuer_is_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    settings = settings_of(**CLIENT, **ROLES, database="memory:")
    monkeypatch.setitem(sys.modules, "httpx2", None)
    with pytest.raises(StartError, match=r"needs httpx2; "):
        open_gallery(settings)
