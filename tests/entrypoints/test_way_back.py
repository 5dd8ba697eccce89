"""Every lockout has one command: the commands, and the table in docs/people.md (contract O6)."""

import io
import json
import re
import time
from collections.abc import Iterator
from contextlib import nullcontext
from pathlib import Path
from typing import Any, Final

import httpx2
import pytest
from pyotp import TOTP

import logoadmin
from logoadmin import LogoAdmin, SecondFactorRequired, SetPassword, SignIn, SignInRefused
from logoadmin.domain.kernel.access import SignedIn
from logoadmin.domain.public_url import LOCAL
from tests.asgi import AppClient
from tests.domain.identity import test_passkeys
from tests.entrypoints.conftest import Run, check
from tests.passkeys import Authenticator
from tests.services import start

pytestmark = [pytest.mark.rule("contract O6"), pytest.mark.usefixtures("empty_directory")]

DATABASE: Final = "sqlite:///logoadmin.db"
DOCS: Final = Path(__file__).parents[2] / "docs" / "people.md"
CODE: Final = re.compile(r"([0-9A-HJKMNP-TV-Z]{4}-){5}[0-9A-HJKMNP-TV-Z]{4}\n")


@pytest.fixture
def gallery(initialised: None) -> Iterator[LogoAdmin]:  # noqa: ARG001 (its database is opened)
    """A gallery whose user ann, 7, has a password and an authenticator app."""
    with logoadmin.connect(DATABASE, access="open") as found:
        found.users.create(logoadmin.CreateUser(user_id=7, username="ann", password="ann's password"))
        yield found


def enrol(gallery: LogoAdmin, name: str = "Phone") -> logoadmin.NewTotp:
    who = gallery.sessions.caller(password(gallery).access_token)
    made = gallery.factors.enrol_totp(logoadmin.EnrolTotp(name=name), who)
    code = TOTP(made.secret).now()
    gallery.factors.confirm_totp(logoadmin.ConfirmTotp(factor_id=made.factor_id, code=code), who)
    return made


def password(gallery: LogoAdmin, text: str = "ann's password") -> logoadmin.Tokens:
    return gallery.sessions.sign_in(SignIn(username="ann", password=text))


def with_code(gallery: LogoAdmin, code: str, username: str = "ann") -> logoadmin.Tokens:
    return gallery.sign_in_codes.sign_in(logoadmin.SignInWithCode(username=username, code=code))


@pytest.mark.parametrize("named", ["ann", "7", "name:ann"])
def test_user_code_prints_only_the_code_on_standard_output(run: Run, gallery: LogoAdmin, named: str) -> None:
    enrol(gallery)
    ended = run("user", "code", named, "--database", DATABASE)
    assert ended.code == 0
    assert CODE.fullmatch(ended.out)
    assert ended.err.startswith("ann signs in with it once within 10 minutes, at http://localhost")
    assert with_code(gallery, ended.out.strip())
    with pytest.raises(SignInRefused):
        with_code(gallery, ended.out.strip())


def test_user_factors_lists_and_removes_them_and_ends_sessions(run: Run, gallery: LogoAdmin) -> None:
    check(run, ("user factors ann", "", ""))
    factor = enrol(gallery, "Phone\N{RIGHT-TO-LEFT OVERRIDE}")
    listed = run("user", "factors", "7")
    assert (listed.code, listed.err) == (0, "")
    assert r"Phone\u202e" in listed.out
    printed = json.loads(listed.out)
    assert (printed["factor_id"], printed["kind"], "secret" in printed) == (factor.factor_id, "totp", False)
    open_session = with_code(gallery, run("user", "code", "ann").out.strip())
    check(run, ("user factors ann --remove", "", "Removed 1 second factor of user 7\n"))
    with pytest.raises(logoadmin.InvalidToken):
        gallery.sessions.me(logoadmin.WhoAmI(), gallery.sessions.caller(open_session.access_token))
    assert password(gallery)
    check(run, ("user factors ann --remove", "", "Removed 0 second factors of user 7\n"))


@pytest.mark.parametrize(("options", "is_kept"), [("", True), (" --factors keep", True), (" --factors remove", False)])
def test_user_password_keeps_factors_by_default(run: Run, gallery: LogoAdmin, options: str, is_kept: bool) -> None:
    """ASVS 6.4.3: a new password alone does not bypass the second factor."""
    enrol(gallery)
    fate = "kept" if is_kept else "removed"
    expected = f"Changed the password of user 7; 1 second factor {fate}\n"
    check(run, (f"user password ann{options}", "another one\n", expected))
    with pytest.raises(SecondFactorRequired) if is_kept else nullcontext():
        password(gallery, "another one")


@pytest.mark.parametrize(("answer", "is_kept"), [("n\n", True), ("\n", True), ("y\n", False)])
def test_user_password_prompts_in_a_terminal(
    run: Run, gallery: LogoAdmin, monkeypatch: pytest.MonkeyPatch, answer: str, is_kept: bool
) -> None:
    class Terminal(io.BytesIO):
        def isatty(self) -> bool:
            return True

    enrol(gallery)
    monkeypatch.setattr("click.termui.hidden_prompt_func", lambda _: "another one")
    with monkeypatch.context() as there:
        there.setattr(io, "BytesIO", Terminal)
        ended = run("user", "password", "ann", stdin=answer)
    assert "The user has 1 second factor, needed with the password. Remove, because they are lost? [y/N]" in ended.err
    assert ended.out.endswith(f"1 second factor {'kept' if is_kept else 'removed'}\n")


@pytest.mark.rule("contract C1")
def test_the_code_is_a_grant_over_http(run: Run, gallery: LogoAdmin) -> None:
    client = AppClient(logoadmin.asgi(gallery))
    answer = client.post("/api/auth/token", json=code_body(run, "ann"))
    assert (answer.status_code, answer.headers["cache-control"]) == (200, "no-store")
    wrong = client.post("/api/auth/token", json={**code_body(run, "ann"), "code": "wrong"})
    assert (wrong.status_code, wrong.json()) == (401, {"detail": "Incorrect username or code"})
    # A form is for passwords (RFC 6749).
    assert client.post("/api/auth/token", data=code_body(run, "ann")).status_code == 422


# The table of lock-outs


def lockouts() -> list[tuple[str, str]]:
    """Return the rows of the table: the reason, and the commands."""
    table = DOCS.read_text(encoding="utf-8").partition("<!-- lock-outs -->")[2].partition("<!-- end of")[0]
    rows = re.findall(r"^\| (.*?) \| (.*?) \|$", table, re.MULTILINE)
    return [(reason, command) for reason, command in rows if not reason.startswith(("-", "Locked out"))]


def command_in(reason: str) -> list[str]:
    """Return the words of the command for a reason, for ann."""
    ((_, cell),) = [row for row in lockouts() if reason in row[0]]
    found = re.search("`logoadmin (.*?)`", cell)
    assert found
    return found[1].replace("NAME", "ann").split()


def connected(**settings: Any) -> LogoAdmin:
    return logoadmin.connect(DATABASE, access="open", **settings)


def lets_in(run: Run, reason: str, **settings: Any) -> None:
    """Run the command for a reason, and sign in with what ann has then, under these settings."""
    words = command_in(reason)
    ended = run(*words, stdin="ann's password\n")
    assert ended.code == 0
    with connected(**settings) as gallery:
        assert with_code(gallery, ended.out.strip()) if words[1] == "code" else password(gallery)


def test_every_lockout_in_the_table_is_tested() -> None:
    tried = Path(__file__).read_text(encoding="utf-8")
    assert [f'"{reason}"' in tried for reason, _ in lockouts()] == [True] * 9


ISSUER: Final[dict[str, Any]] = {
    "oidc_issuer": "https://127.0.0.1:1",
    "oidc_client_id": "a",
    "oidc_client_secret": "b",
    "oidc_default_role": "member",
    "password_sign_in": False,
}
# The lost credentials of ann, and the settings that lock her out.
LOST: Final[tuple[tuple[str, str, dict[str, Any]], ...]] = (
    ("the phone, the passkey or the recovery codes are lost", "factor", {}),
    ("the password is lost", "password", {}),
    ("both are lost", "factor, password", {}),
    ("the user must get in at once, whatever is lost", "factor", {}),
    ("the issuer is unreachable or misconfigured", "", ISSUER),
    ("`password_sign_in` is false, and the passkey or the issuer does not work", "", {"password_sign_in": False}),
)


@pytest.mark.parametrize(("reason", "lost", "settings"), LOST)
def test_every_lockout_has_its_command(
    run: Run, gallery: LogoAdmin, reason: str, lost: str, settings: dict[str, Any]
) -> None:
    if "factor" in lost:
        enrol(gallery)
    if "password" in lost:
        gallery.users.set_password(SetPassword(user_id=7, password="forgotten"))
    kept_out = (SecondFactorRequired, logoadmin.SignInForbidden, SignInRefused)
    with connected(**settings) as closed, pytest.raises(kept_out):
        password(closed)
    lets_in(run, reason, **settings)


def test_a_lockout_by_a_lost_factor_key_is_resolved(run: Run, gallery: LogoAdmin) -> None:
    assert gallery
    with connected(factor_key="a" * 32) as before:
        secret = enrol(before).secret
    with connected(factor_key="b" * 32) as after:
        with pytest.raises(SecondFactorRequired) as required:
            password(after)
        code = TOTP(secret).at(time.time() + 30)
        with pytest.raises(SignInRefused):
            after.factors.sign_in(logoadmin.SignInWithFactor(challenge=required.value.challenge, totp=code))
    lets_in(run, "`factor_key` is lost, so that codes of apps are refused", factor_key="b" * 32)


def test_a_lockout_by_another_public_url_is_resolved(run: Run, gallery: LogoAdmin) -> None:
    """Passkeys belong to the former host."""
    device = Authenticator(site=LOCAL)
    who = gallery.sessions.caller(password(gallery).access_token)
    assert isinstance(who, SignedIn)
    test_passkeys.enrol(gallery, who, device)
    with connected(public_url="https://gallery.example") as moved:
        with pytest.raises(SecondFactorRequired) as required:
            password(moved)
        assert required.value.passkey is not None
        answer = {"challenge": required.value.challenge, "passkey": device.get(required.value.passkey)}
        with pytest.raises(SignInRefused):
            moved.factors.sign_in(logoadmin.SignInWithFactor.model_validate(answer))
    reason = "the host in `public_url` has changed, so that passkeys do not work"
    lets_in(run, reason, public_url="https://gallery.example")


def test_a_lockout_by_a_missing_factor_is_resolved(run: Run, gallery: LogoAdmin) -> None:
    gallery.users.amend(logoadmin.AmendUser(user_id=7, role_id=2))
    settings: dict[str, Any] = {"second_factor": "required"}
    with connected(**settings) as strict, pytest.raises(logoadmin.EnrolmentRequired):
        strict.sessions.list(logoadmin.ListSessions(), strict.sessions.caller(password(strict).access_token))
    lets_in(run, "a second factor is required and missing", **settings)


# Without an administrator


@pytest.mark.slow("a process is started and stopped")
@pytest.mark.rule("contract B4", "contract O6", "contract O8")
def test_serve_warns_if_its_settings_lock_out_all_administrators(run: Run, tmp_path: Path) -> None:
    assert run("init").code == 0
    arguments = ("-m", "logoadmin", "serve", "--port", "0")
    served = start(*arguments, directory=tmp_path, environment={"LOGOADMIN_PASSWORD_SIGN_IN": "false"})
    try:
        assert served.address
        answer = httpx2.post(f"{served.address}/api/auth/token", json=code_body(run, "admin"))
        assert answer.status_code == 200
    finally:
        served.process.terminate()
        _, err = served.process.communicate(timeout=60)
    assert err.startswith("logoadmin: nobody who may do everything can sign in; logoadmin user code NAME prints a code")


def code_body(run: Run, username: str) -> dict[str, str]:
    code = run("user", "code", username).out.strip()
    return {"grant_type": "sign_in_code", "username": username, "code": code}
