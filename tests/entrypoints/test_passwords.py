"""New passwords over HTTP and on the command line (contract O5)."""

from pathlib import Path
from typing import Any

import pytest

import logoadmin
from logoadmin.domain.identity.sign_in_rules import SignInRules
from logoadmin.domain.kernel.access import Policy
from logoadmin.domain.logo_admin import LogoAdmin
from tests.asgi import AppClient
from tests.entrypoints.command_line import CommandResult, Run, assert_one_line
from tests.entrypoints.conftest import Headers
from tests.gallery import ADMIN_PASSWORD, FrozenClock, WatchedStorage, gallery_on, stock

pytestmark = pytest.mark.rule("contract O5")

OWN = "/api/users/7/password"
TOO_SHORT = {"msg": "String should have at least 8 characters", "type": "string_too_short"}
COMMON = {"msg": "Password should not be one of the most common ones", "type": "value_error"}


@pytest.fixture
def access() -> Policy:
    return Policy.GUARDED


@pytest.fixture
def gallery(watched: WatchedStorage, clock: FrozenClock, access: Policy) -> LogoAdmin:
    """A stocked gallery with the rules of the policy ``guarded``."""
    made = gallery_on(watched, clock, access, sign_in=SignInRules(min_password_length=8))
    stock(made)
    return made


def test_an_unacceptable_password_is_a_problem_of_the_body(client: AppClient, admin: Headers) -> None:
    """ASVS 6.2.1 and 6.2.4."""
    for password, problem in (("1234567", TOO_SHORT), ("iloveyou", COMMON)):
        user = {"user_id": 8, "username": "ben", "password": password}
        rows: tuple[tuple[str, str, Any, tuple[object, ...]], ...] = (
            ("POST", "/api/users", user, ()),
            ("PUT", OWN, {"password": password}, ()),
            ("POST", "/api/changes", {"changes": [{"kind": "user", "create": user}]}, ("changes", 0, "create")),
        )
        for method, path, body, place in rows:
            answer = client.request(method, path, json=body, headers=admin)
            expected = [{"loc": ["body", *place, "password"], **problem}]
            assert (answer.status_code, answer.json()["detail"]) == (422, expected)
    assert client.get("/api/users/8", headers=admin).status_code == 404


def test_changing_the_own_password_requires_the_current_one(client: AppClient, ann: Headers) -> None:
    """ASVS 6.2.3."""
    answer = client.put(OWN, json={"password": "long and rare"}, headers=ann)
    missing = {"loc": ["body", "current_password"], "msg": "Field required", "type": "missing"}
    assert (answer.status_code, answer.json()["detail"]) == (422, [missing])
    wrong = {"password": "long and rare", "current_password": "wrong"}
    answer = client.put(OWN, json=wrong, headers=ann)
    assert (answer.status_code, answer.json()["detail"]) == (403, "Incorrect password")
    assert "www-authenticate" not in answer.headers


@pytest.fixture
def guarded(empty_directory: Path, monkeypatch: pytest.MonkeyPatch) -> pytest.MonkeyPatch:
    """Set the policy ``guarded`` for the command line in an empty directory."""
    assert empty_directory
    monkeypatch.setenv("LOGOADMIN_ACCESS", "guarded")
    return monkeypatch


@pytest.mark.rule("contract H3")
@pytest.mark.parametrize(
    ("password", "sentence"),
    [
        ("1234567", "String should have at least 8 characters"),
        ("Password1", "Password should not be one of the most common ones"),
    ],
)
def test_the_first_password_is_refused_before_anything_is_created(
    run: Run, guarded: pytest.MonkeyPatch, password: str, sentence: str
) -> None:
    guarded.setenv("LOGOADMIN_ADMIN_PASSWORD", password)
    for command in ("init", "serve"):
        assert run(command) == CommandResult(2, "", f"logoadmin: Settings are wrong: admin_password: {sentence}\n")
    with pytest.raises(logoadmin.SettingsError, match=sentence):
        logoadmin.connect("sqlite:///logoadmin.db", access="guarded", admin_password=password)
    assert not Path("logoadmin.db").exists()
    guarded.setenv("LOGOADMIN_ADMIN_PASSWORD", ADMIN_PASSWORD)
    assert run("init").code == 0
    guarded.setenv("LOGOADMIN_ADMIN_PASSWORD", password)  # no longer used
    assert run("init").code == 0


def test_the_command_line_accepts_no_bad_password(run: Run, guarded: pytest.MonkeyPatch) -> None:
    assert run("init").code == 0
    assert_one_line(run("user", "create", "7", "ann", stdin="1234567\n"), 1, "password: ", "at least 8 characters")
    assert_one_line(run("user", "password", "admin", stdin="Password1\n"), 1, "password: ", "the most common ones")
    assert run("user", "create", "7", "ann", stdin="long and rare\n").code == 0
    guarded.setenv("LOGOADMIN_MIN_PASSWORD_LENGTH", "14")
    assert_one_line(run("user", "password", "ann", stdin="long and rare\n"), 1, "at least 14 characters")
    guarded.setenv("LOGOADMIN_ACCESS", "open")
    assert run("user", "password", "ann", stdin="1\n").code == 0
