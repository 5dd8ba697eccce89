"""What doctor finds in the settings of single sign-on (contract O7, K4)."""

from pathlib import Path

import pytest

from tests.entrypoints.command_line import Run

pytestmark = [
    pytest.mark.usefixtures("empty_directory"),
    pytest.mark.rule("contract O7"),
]


def settings(tmp_path: Path, roles: str = 'editors = "member"', *, more: str = "") -> None:
    file = tmp_path / "logoadmin.toml"
    file.write_text(
        f'{more}oidc_issuer = "https://issuer.example"\noidc_client_id = "gallery"\noidc_client_secret = "s3cret"\n'
        f"[oidc_roles]\n{roles}\n"
    )
    file.chmod(0o600)


def said(run: Run, check: str) -> str:
    ended = run("doctor")
    assert "s3cret" not in ended.out + ended.err
    return next((" ".join(line.split()) for line in ended.out.splitlines() if f" {check} " in line), "")


def test_behind_a_proxy_single_sign_on_needs_the_public_url(run: Run, tmp_path: Path) -> None:
    settings(tmp_path, more='access = "guarded"\ntrusted_proxies = ["127.0.0.1"]\n')
    told = said(run, "public_url")
    assert "wrong public_url not set: single sign-on leads browsers back to http://localhost:0/console/" in told
    assert "register it, followed by /console/, at the issuer" in told
    settings(tmp_path)
    assert said(run, "public_url").startswith("ok")


def test_a_role_that_does_not_exist_is_wrong(run: Run, tmp_path: Path) -> None:
    run("init")
    settings(tmp_path, 'editors = "painter"\nothers = 2\nfriends = "99"')
    assert said(run, "issuer").startswith("wrong issuer painter, 99 in oidc_roles")
    settings(tmp_path)
    assert said(run, "issuer").startswith("ok")
