"""New passwords over HTTP and on the command line (contract O5)."""

from pathlib import Path

import pytest

import logoadmin
from logoadmin.domain.identity.sign_in_rules import SignInRules
from logoadmin.domain.kernel.access import Policy
from logoadmin.domain.logo_admin import LogoAdmin
from tests.entrypoints.command_line import CommandResult, Run
from tests.gallery import (
    ADMIN_PASSWORD,
    FrozenClock,
    WatchedStorage,
    gallery_on,
    stock,
)

pytestmark = pytest.mark.rule("contract O5")


@pytest.fixture
def access() -> Policy:
    return Policy.GUARDED


@pytest.fixture
def gallery(watched: WatchedStorage, clock: FrozenClock, access: Policy) -> LogoAdmin:
    """A stocked gallery with the rules of the policy ``guarded``."""
    made = gallery_on(watched, clock, access, sign_in=SignInRules(min_password_length=8))
    stock(made)
    return made


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
