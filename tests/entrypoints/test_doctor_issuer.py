"""What doctor finds out about the issuer of single sign-on (contract O7, K4)."""

import time
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.entrypoints.command_line import Run
from tests.issuer import CLIENT_ID, CLIENT_SECRET, FakeIssuer, fake_issuer

pytestmark = [
    pytest.mark.server("an issuer in a thread"),
    pytest.mark.usefixtures("empty_directory"),
    pytest.mark.rule("contract O7"),
]


@pytest.fixture
def fake(tmp_path: Path) -> Iterator[FakeIssuer]:
    with fake_issuer() as running:
        settings(tmp_path, running.url)
        yield running


def settings(
    tmp_path: Path, url: str, roles: str = 'editors = "member"', *, secret: str = CLIENT_SECRET, more: str = ""
) -> None:
    file = tmp_path / "logoadmin.toml"
    file.write_text(
        f'{more}oidc_issuer = "{url}"\noidc_client_id = "{CLIENT_ID}"\noidc_client_secret = "{secret}"\n'
        f"[oidc_roles]\n{roles}\n"
    )
    file.chmod(0o600)


def said(run: Run, check: str) -> str:
    ended = run("doctor")
    assert "s3cret" not in ended.out + ended.err
    return next((" ".join(line.split()) for line in ended.out.splitlines() if f" {check} " in line), "")


def test_an_issuer_in_order_is_ok(run: Run, fake: FakeIssuer) -> None:
    run("init")
    assert said(run, "issuer") == f"ok issuer {fake.url} has usable metadata and keys"
    assert said(run, "client of issuer") == "ok client of issuer its id and secret are accepted"
    assert said(run, "clock of issuer").startswith("ok clock of issuer")
    assert said(run, "roles of issuer") == "ok roles of issuer all exist"


def test_what_is_wrong_with_the_issuer_is_said(run: Run, fake: FakeIssuer) -> None:
    fake.metadata = {"issuer": "https://other.example"}
    assert "another issuer than oidc_issuer" in said(run, "issuer")
    fake.metadata = {"code_challenge_methods_supported": ["plain"]}
    assert said(run, "issuer").startswith("warning issuer the metadata do not announce PKCE")
    fake.metadata, fake.keys = {}, []
    assert said(run, "issuer").startswith("wrong issuer")


def test_a_wrong_secret_is_wrong(run: Run, fake: FakeIssuer, tmp_path: Path) -> None:
    settings(tmp_path, fake.url, secret="s3cret of another client")
    assert said(run, "issuer").startswith("ok")
    told = said(run, "client of issuer")
    assert told.startswith("wrong client of issuer the issuer refuses oidc_client_id or oidc_client_secret")


def test_behind_a_proxy_single_sign_on_needs_the_public_url(run: Run, fake: FakeIssuer, tmp_path: Path) -> None:
    settings(tmp_path, fake.url, more='access = "guarded"\ntrusted_proxies = ["127.0.0.1"]\n')
    told = said(run, "public_url")
    assert "wrong public_url not set: single sign-on leads browsers back to http://localhost:0/console/" in told
    assert "register it, followed by /console/, at the issuer" in told
    settings(tmp_path, fake.url)
    assert said(run, "public_url").startswith("ok")


@pytest.mark.parametrize(("ahead", "verdict"), [(30, "warning"), (-30, "warning"), (90, "wrong"), (-90, "wrong")])
def test_clocks_are_compared(run: Run, fake: FakeIssuer, ahead: int, verdict: str) -> None:
    fake.clock = lambda: time.time() + ahead
    assert said(run, "clock of issuer").startswith(verdict)


def test_a_role_that_does_not_exist_is_wrong(run: Run, fake: FakeIssuer, tmp_path: Path) -> None:
    run("init")
    settings(tmp_path, fake.url, 'editors = "painter"\nothers = 2\nfriends = "99"')
    assert said(run, "roles of issuer").startswith("wrong roles of issuer painter, 99 in oidc_roles")
