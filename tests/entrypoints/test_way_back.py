"""Every lock-out has one command: the commands, and the table in docs/sign-in.md (contract O6)."""

import io
import re
from collections.abc import Iterator
from pathlib import Path
from typing import Final

import pytest
from pyotp import TOTP

import logoadmin
from logoadmin import (
    ConfirmTotp,
    CreateUser,
    EnrolTotp,
    ListedFactor,
    LogoAdmin,
    SecondFactorRequired,
    SignIn,
    SignInRefused,
    SignInWithCode,
)
from tests.entrypoints.command_line import CommandResult, Run, says_one_line

pytestmark = [pytest.mark.rule("contract O6"), pytest.mark.usefixtures("empty_directory")]

DATABASE: Final = "sqlite:///logoadmin.db"
DOCS: Final = Path(__file__).parents[2] / "docs" / "sign-in.md"
CODE: Final = re.compile(r"([0-9A-HJKMNP-TV-Z]{4}-){5}[0-9A-HJKMNP-TV-Z]{4}\n")


@pytest.fixture
def gallery(run: Run) -> Iterator[LogoAdmin]:
    """A gallery whose user ann, 7, has a password and an authenticator app."""
    assert run("init").code == 0
    with logoadmin.connect(DATABASE) as found:
        found.users.create(CreateUser(user_id=7, username="ann", password="ann's password"))
        yield found


def enrol(gallery: LogoAdmin, name: str = "Phone") -> ListedFactor:
    who = gallery.sessions.caller(password(gallery).access_token)
    made = gallery.factors.enrol_totp(EnrolTotp(name=name), who)
    code = TOTP(made.secret).now()
    return gallery.factors.confirm_totp(ConfirmTotp(factor_id=made.factor_id, code=code), who)


def password(gallery: LogoAdmin, text: str = "ann's password") -> logoadmin.Tokens:
    return gallery.sessions.sign_in(SignIn(username="ann", password=text))


def with_code(gallery: LogoAdmin, code: str, username: str = "ann") -> logoadmin.Tokens:
    return gallery.sign_in_codes.sign_in(SignInWithCode(grant_type="sign_in_code", username=username, code=code))


@pytest.mark.parametrize("named", ["ann", "7", "name:ann"])
def test_user_code_prints_a_code_alone_on_standard_output(run: Run, gallery: LogoAdmin, named: str) -> None:
    enrol(gallery)
    ended = run("user", "code", named, "--database", DATABASE)
    assert ended.code == 0
    assert CODE.fullmatch(ended.out)
    assert ended.err.startswith("ann signs in with it once within 10 minutes, at http://localhost")
    assert with_code(gallery, ended.out.strip())
    with pytest.raises(SignInRefused):
        with_code(gallery, ended.out.strip())


def test_user_code_names_the_public_url(run: Run, gallery: LogoAdmin, monkeypatch: pytest.MonkeyPatch) -> None:
    assert gallery
    monkeypatch.setenv("LOGOADMIN_PUBLIC_URL", "https://gallery.example/a")
    assert run("user", "code", "ann").err.endswith(" at https://gallery.example/a\n")


def test_user_factors_lists_and_removes_them_and_ends_sessions(run: Run, gallery: LogoAdmin) -> None:
    assert run("user", "factors", "ann") == CommandResult(0, "", "User 7 has no second factor\n")
    factor = enrol(gallery, "Phone\N{RIGHT-TO-LEFT OVERRIDE}")
    listed = run("user", "factors", "7")
    assert (listed.code, listed.err) == (0, "")
    assert re.fullmatch(rf" *{factor.factor_id}  totp     used \d{{4}}-\d\d-\d\d  Phone\\u202e\n", listed.out)
    open_session = with_code(gallery, run("user", "code", "ann").out.strip())
    assert run("user", "factors", "ann", "--remove").out == "Removed 1 second factor of user 7\n"
    with pytest.raises(logoadmin.InvalidToken):
        gallery.sessions.me(logoadmin.WhoAmI(), gallery.sessions.caller(open_session.access_token))
    assert password(gallery)
    assert run("user", "factors", "ann", "--remove").out == "Removed 0 second factors of user 7\n"


@pytest.mark.parametrize("command", ["code", "factors"])
def test_a_user_who_is_missing_is_named(run: Run, gallery: LogoAdmin, command: str) -> None:
    assert gallery
    says_one_line(run("user", command, "bob"), 1, "User bob not found")


@pytest.mark.parametrize(
    ("options", "is_kept"), [((), True), (("--factors", "keep"), True), (("--factors", "remove"), False)]
)
def test_user_password_keeps_factors_unless_told_otherwise(
    run: Run, gallery: LogoAdmin, options: tuple[str, ...], is_kept: bool
) -> None:
    enrol(gallery)
    ended = run("user", "password", "ann", *options, stdin="another one\n")
    fate = "kept" if is_kept else "removed"
    assert (ended.code, ended.out) == (0, f"Changed the password of user 7; 1 second factor {fate}\n")
    if is_kept:
        with pytest.raises(SecondFactorRequired):
            password(gallery, "another one")
    else:
        assert password(gallery, "another one")


@pytest.mark.parametrize(("answer", "is_kept"), [("n\n", True), ("\n", True), ("y\n", False)])
def test_user_password_asks_in_a_terminal(
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


def test_a_password_that_is_refused_leaves_the_factors(run: Run, gallery: LogoAdmin) -> None:
    enrol(gallery)
    assert run("user", "password", "ann", "--factors", "remove", stdin="\n").code == 1
    with pytest.raises(SecondFactorRequired):
        password(gallery)
